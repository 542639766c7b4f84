"""Doing what is due, step by step, and what happens when a step does not work."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

from ..core.access import Grant
from ..core.errors import InvalidInput, JobFailed, LeaseLost, NexusError, Unavailable
from ..core.heartbeat import HEARTBEAT
from ..core.ids import WorkspaceId
from ..core.jobs import Done, Job, JobState, NewJob, Recurring, Step, Turn
from ..core.leases import LOST, MOST_LOST
from ..core.protocols import Store
from ..core.retries import Waits, kept_error
from ..core.telemetry import Telemetry
from .schedule import Planned

AT_ONCE, MOST_AT_ONCE = 4, 200  # jobs that are taken together: more, while they are quick
QUICK_SECONDS = 0.5  # for all of them
PLANT_SECONDS = 60.0  # between looks for new workspaces, while there is always something to do
TOGETHER_SECONDS = 0.05  # steps as short as this are entered together
WAITS = Waits(timedelta(minutes=1), timedelta(hours=6))
MOST_ATTEMPTS = 5  # then somebody has to look at it;
MOST_OUTAGES = 20  # after about three days, if it is something else that is away

log = logging.getLogger(__name__)


class Runner:
    """Does the jobs of all workspaces, as they fall due."""

    def __init__(
        self,
        store: Store,
        planned: Mapping[str, Planned],
        clock: Callable[[], datetime],
        telemetry: Telemetry | None = None,
    ) -> None:
        self._telemetry = telemetry or Telemetry()
        self._store = store
        self._planned = planned
        self._clock = clock
        self._at_once = AT_ONCE
        self._next_plant = 0.0

    @property
    def names(self) -> list[str]:
        """The jobs there are."""
        return sorted(self._planned)

    def states(self, grant: Grant) -> list[JobState]:
        """How every job of a workspace stands, also one that was never due."""
        listed = self.rows(grant)
        known = {each.name for each in listed}
        fresh = [_never_run(p.when) for name, p in self._planned.items() if name not in known]
        return sorted([*listed, *fresh], key=lambda each: (each.name, each.key))

    def rows(self, grant: Grant) -> list[JobState]:
        """Those that were planted or asked for. What this version does not know is not late."""
        return [
            each if each.name in self._planned else replace(each, due_at=None)
            for each in self._store.jobs.listed(grant)
        ]

    def check_names(self, names: Iterable[str]) -> None:
        """Refuse a name that no job has."""
        for name in names:
            if name not in self._planned:
                known = ", ".join(self.names)
                raise InvalidInput(f"there is no job {name!r}; known are {known}")

    def run_due(
        self,
        *,
        names: Sequence[str] | None = None,
        between: Callable[[], None] = lambda: None,
        told: Callable[[Job, Done | None], None] = lambda *_: None,
    ) -> int:
        """Do a step of some of what is due; how many steps that were.

        `between` is called after each: there, whoever waits comes first. `told` hears of each,
        and of None if it did not work.
        """
        wanted = [name for name in self._planned if names is None or name in names]
        taken = self._taken(wanted)
        left, alone = taken, False
        ended: list[Done] = []
        started = began = time.monotonic()
        with HEARTBEAT.during(lambda: self._keep([*left, *(each.job for each in ended)])):
            try:
                while left:
                    some, later = self._alike(left, alone=alone)
                    done = self._steps(some)
                    if not done:  # each alone, so that what does not work fails alone
                        alone = True
                        continue
                    left = later
                    ended += filter(None, done)
                    for job, each in zip(some, done, strict=True):
                        told(job, each)
                    if time.monotonic() - began >= TOGETHER_SECONDS:
                        ended, began = self._enter(ended), time.monotonic()
                    between()
            finally:  # whatever goes wrong in between, what was done is entered
                self._enter(ended)
        self._learn_how_many(len(taken), time.monotonic() - started)
        return len(taken)

    def _learn_how_many(self, done: int, seconds: float) -> None:
        """How many to take next time: as many as are quick, and not many more than now."""
        if done:
            quick = int(done * QUICK_SECONDS / max(seconds, 1e-6))
            self._at_once = max(1, min(quick, 2 * self._at_once, MOST_AT_ONCE))

    def _taken(self, names: Sequence[str]) -> list[Job]:
        """What is due; now and then, and when nothing is, every workspace gets its jobs."""
        jobs, now = self._store.jobs, self._clock()
        taken = jobs.claim(now=now, limit=self._at_once, names=names)
        if not taken or time.monotonic() >= self._next_plant:
            self._next_plant = time.monotonic() + PLANT_SECONDS
            jobs.plant([each.when for each in self._planned.values()], now=now)
        return taken or jobs.claim(now=now, limit=self._at_once, names=names)

    def _enter(self, ended: Sequence[Done]) -> list[Done]:
        self._store.jobs.finish(ended, now=self._clock())
        return []

    def run_now(self, workspace: WorkspaceId, name: str) -> dict[str, int]:
        """Do a job to its end, whether it is due or not; what it did."""
        self.check_names([name])
        jobs = self._store.jobs
        jobs.schedule(workspace, [NewJob(name=name, due_at=self._clock())])
        while job := jobs.take(workspace, name, now=self._clock()):
            with HEARTBEAT.during(partial(self._keep, [job])):
                done = self._done_now(job)
            jobs.finish([done], now=self._clock())
            if done.step.cursor is None:
                return done.counts
        raise Unavailable(f"{name} is being done by somebody else right now; try again")

    def _done_now(self, job: Job) -> Done:
        """One step, for somebody who waits: what went wrong is kept, and told."""
        try:
            return self._tried(job)
        except NexusError:
            raise
        except Exception as error:
            raise JobFailed(f"{job.name} did not work: {kept_error(repr(error))}") from error

    def _alike(self, left: Sequence[Job], *, alone: bool) -> tuple[list[Job], list[Job]]:
        """The first and what can be done in one go with it, and the rest.

        What did not work before, or ended whoever did it, is done alone.
        """
        first = left[0]
        if alone or first.error or self._planned[first.name].together is None:
            return [first], [*left[1:]]
        some: dict[WorkspaceId, Job] = {}
        later = []
        for job in left:
            if job.name == first.name and not job.error and job.workspace not in some:
                some[job.workspace] = job
            else:
                later.append(job)
        return [*some.values()], later

    def _steps(self, jobs: Sequence[Job]) -> list[Done | None]:
        """A step of each, None where it did not work; nothing if they do not work together."""
        if len(jobs) == 1:
            return [self._step(jobs[0])]
        try:
            return [*self._timed(jobs)]
        except Exception as error:  # noqa: BLE001  # whosever it is will be told
            log.info("%s of %d workspaces: each alone (%r)", jobs[0].name, len(jobs), error)
            return []

    def _step(self, job: Job) -> Done | None:
        """One step; None if it did not work."""
        if job.attempts >= MOST_LOST and job.error == LOST:
            self._fail(job, LOST, None)
            return None
        try:
            return self._tried(job)
        except LeaseLost:
            log.info("%s of %s was done by somebody else meanwhile", job.name, job.workspace.value)
        except Unavailable as error:
            log.info("%s of %s waits: %s", job.name, job.workspace.value, error)
        except Exception:
            log.exception("%s of %s did not work", job.name, job.workspace.value)
        return None

    def _tried(self, job: Job) -> Done:
        """One step; if it does not work, the job keeps why, and when it is tried again."""
        try:
            return self._timed([job])[0]
        except LeaseLost:
            raise
        except Unavailable as error:
            self._fail(job, str(error), self._again(job, MOST_OUTAGES))
            raise
        except Exception as error:
            self._fail(job, repr(error), self._again(job, MOST_ATTEMPTS))
            raise

    def _timed(self, jobs: Sequence[Job]) -> list[Done]:
        """A step of each of these, which are of one name; each took its share of the time."""
        began, name = time.monotonic(), jobs[0].name
        doing = self._telemetry.doing("job", job=name, workspace=jobs[0].workspace)
        with doing, self._store.holding([job.lease for job in jobs]):
            steps = self._run(jobs)
        seconds, metrics = (time.monotonic() - began) / len(jobs), self._telemetry.metrics
        for step in steps:
            metrics.took("job_seconds", name, seconds)
            for result, count in step.counts.items():
                metrics.add("job_results_total", (name, result), count)
        return [
            Done(job=job, step=step, seconds=seconds) for job, step in zip(jobs, steps, strict=True)
        ]

    def _run(self, jobs: Sequence[Job]) -> list[Step]:
        planned, now = self._planned[jobs[0].name], self._clock()
        if len(jobs) > 1 and planned.together:
            return planned.together([Turn(job.workspace, job.cursor) for job in jobs], now)
        return [planned.run(job.workspace, now, job.cursor) for job in jobs]

    def _again(self, job: Job, most: int) -> datetime | None:
        """When to try again; None: somebody has to look at it."""
        gives_up = job.attempts + 1 >= most
        return None if gives_up else self._clock() + WAITS.after(job.attempts)

    def _keep(self, jobs: Sequence[Job]) -> None:
        self._store.jobs.keep(list(jobs), now=self._clock())

    def _fail(self, job: Job, error: str, retry_at: datetime | None) -> None:
        self._store.jobs.fail([job], error=kept_error(error), retry_at=retry_at)


def _never_run(when: Recurring) -> JobState:
    return JobState(
        name=when.name,
        key="",
        every=when.every,
        on_news=when.on_news,
        priority=when.priority,
        due_at=None,
        running=False,
        attempts=0,
        error=None,
        dead=False,
        last_run_at=None,
        last_seconds=0.0,
        last_counts={},
    )
