"""Job runner: claims due jobs, runs one step of each and schedules retries."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

from ..core.access import Grant
from ..core.errors import InvalidInput, JobFailed, LeaseLost, NexusError, Unavailable
from ..core.ids import WorkspaceId
from ..core.protocols.jobs import (
    FinishedStep,
    Job,
    JobState,
    JobStep,
    NewJob,
    RecurringJob,
    WorkspaceTurn,
)
from ..core.protocols.store import Store
from ..runtime.backoff import Backoff, redact_error
from ..runtime.leases import HEARTBEAT, LEASE_LOST_ERROR, MAX_LOST_LEASES
from ..telemetry.spans import Telemetry
from .schedule import ScheduledJob

INITIAL_BATCH, MAX_BATCH = 4, 200  # jobs claimed at a time; grows while they are quick
BATCH_TARGET_SECONDS = 0.5  # for all jobs of a batch
ENSURE_SECONDS = 60.0  # between checks for workspaces without jobs, while jobs are always due
RECORD_SECONDS = 0.05  # results of shorter steps are written together
RETRY_BACKOFF = Backoff(timedelta(minutes=1), timedelta(hours=6))
MAX_ATTEMPTS = 5  # after an error; then `nexus jobs retry` has to release the job
MAX_OUTAGES = 20  # about three days, while a part does not answer

log = logging.getLogger(__name__)


class JobRunner:
    """Runs the jobs of all workspaces when they are due."""

    def __init__(
        self,
        store: Store,
        schedule: Mapping[str, ScheduledJob],
        clock: Callable[[], datetime],
        telemetry: Telemetry | None = None,
    ) -> None:
        self._telemetry = telemetry or Telemetry()
        self._store = store
        self._schedule = schedule
        self._clock = clock
        self._batch_size = INITIAL_BATCH
        self._next_ensure = 0.0

    @property
    def names(self) -> list[str]:
        """The names of all jobs, sorted."""
        return sorted(self._schedule)

    def job_states(self, grant: Grant) -> list[JobState]:
        """Return the state of every job of a workspace, including jobs that never ran."""
        listed = self.job_rows(grant)
        known = {each.name for each in listed}
        fresh = [
            _initial_state(p.recurrence) for name, p in self._schedule.items() if name not in known
        ]
        return sorted([*listed, *fresh], key=lambda each: (each.name, each.key))

    def job_rows(self, grant: Grant) -> list[JobState]:
        """Return the stored job states. Jobs that this version does not know are never due."""
        return [
            each if each.name in self._schedule else replace(each, due_at=None)
            for each in self._store.jobs.list_jobs(grant)
        ]

    def check_names(self, names: Iterable[str]) -> None:
        """Raise InvalidInput for a name that no job has."""
        for name in names:
            if name not in self._schedule:
                raise InvalidInput(f"unknown job {name!r}; expected one of {', '.join(self.names)}")

    def run_due(
        self,
        *,
        names: Sequence[str] | None = None,
        after_step: Callable[[], None] = lambda: None,
        on_result: Callable[[Job, FinishedStep | None], None] = lambda *_: None,
    ) -> int:
        """Run one step of each claimed job; return the number of jobs.

        `after_step` is called after each step, for more urgent work. `on_result` receives each
        job with its result, or with None if the step failed.
        """
        wanted = [name for name in self._schedule if names is None or name in names]
        claimed = self._claim_due(wanted)
        left, alone = claimed, False
        ended: list[FinishedStep] = []
        started = began = time.monotonic()
        with HEARTBEAT.keep_renewing(
            lambda: self._renew_leases([*left, *(each.job for each in ended)])
        ):
            try:
                while left:
                    batch, later = self._take_batch(left, alone=alone)
                    done = self._run_steps(batch)
                    if not done:  # run each alone, so that only the failing job fails
                        alone = True
                        continue
                    left = later
                    ended += filter(None, done)
                    for job, each in zip(batch, done, strict=True):
                        on_result(job, each)
                    if time.monotonic() - began >= RECORD_SECONDS:
                        ended, began = self._record_finished(ended), time.monotonic()
                    after_step()
            finally:  # an error in a callback must not lose finished steps
                self._record_finished(ended)
        self._adjust_batch_size(len(claimed), time.monotonic() - started)
        return len(claimed)

    def _adjust_batch_size(self, done: int, seconds: float) -> None:
        """Set the next batch size to fit BATCH_TARGET_SECONDS, at most twice the current size."""
        if done:
            quick = int(done * BATCH_TARGET_SECONDS / max(seconds, 1e-6))
            self._batch_size = max(1, min(quick, 2 * self._batch_size, MAX_BATCH))

    def _claim_due(self, names: Sequence[str]) -> list[Job]:
        """Claim due jobs; if none are due, or every minute, create missing jobs of workspaces."""
        jobs, now = self._store.jobs, self._clock()
        claimed = jobs.claim(now=now, limit=self._batch_size, names=names)
        if not claimed or time.monotonic() >= self._next_ensure:
            self._next_ensure = time.monotonic() + ENSURE_SECONDS
            jobs.ensure_recurring([each.recurrence for each in self._schedule.values()], now=now)
        return claimed or jobs.claim(now=now, limit=self._batch_size, names=names)

    def _record_finished(self, finished: Sequence[FinishedStep]) -> list[FinishedStep]:
        self._store.jobs.finish(finished, now=self._clock())
        return []

    def run_now(
        self,
        workspace: WorkspaceId,
        name: str,
        report: Callable[[Mapping[str, int]], None] = lambda _: None,
    ) -> dict[str, int]:
        """Run a job to its end, due or not; return the counts of its last run.

        An interrupted run continues where it was. `report` is called with the counts so far.
        Raise Unavailable if another worker holds the job, and JobFailed if a step raises.
        """
        self.check_names([name])
        jobs = self._store.jobs
        jobs.schedule(workspace, [NewJob(name=name, due_at=self._clock())])
        while job := jobs.claim_one(workspace, name, now=self._clock()):
            with HEARTBEAT.keep_renewing(partial(self._renew_leases, [job])):
                done = self._run_step_now(job)
            jobs.finish([done], now=self._clock())
            report(done.counts)
            if done.step.cursor is None:
                return done.counts
        raise Unavailable(f"job {name!r} is running in another worker; try again later")

    def _run_step_now(self, job: Job) -> FinishedStep:
        """Run one step for a waiting caller; record and raise its error."""
        try:
            return self._try_step(job)
        except NexusError:
            raise
        except Exception as error:
            raise JobFailed(f"job {job.name!r} failed: {redact_error(repr(error))}") from error

    def _take_batch(self, left: Sequence[Job], *, alone: bool) -> tuple[list[Job], list[Job]]:
        """Split off the first job and those that can run in one call with it.

        A job runs alone after a failure and after the death of its worker.
        """
        first = left[0]
        if alone or first.error or self._schedule[first.name].run_many is None:
            return [first], [*left[1:]]
        batch: dict[WorkspaceId, Job] = {}
        later = []
        for job in left:
            if job.name == first.name and not job.error and job.workspace not in batch:
                batch[job.workspace] = job
            else:
                later.append(job)
        return [*batch.values()], later

    def _run_steps(self, jobs: Sequence[Job]) -> list[FinishedStep | None]:
        """Run a step of each job; a failed one gives None. Return [] if the batch failed."""
        if len(jobs) == 1:
            return [self._run_step(jobs[0])]
        try:
            return [*self._time_steps(jobs)]
        except Exception as error:  # each job is then run alone and records its own error  # noqa: BLE001
            log.info(
                "job %s in %d workspaces failed, running each alone: %r",
                jobs[0].name,
                len(jobs),
                error,
            )
            return []

    def _run_step(self, job: Job) -> FinishedStep | None:
        """Run one step; return None if it failed."""
        if job.attempts >= MAX_LOST_LEASES and job.error == LEASE_LOST_ERROR:
            self._record_failure(job, LEASE_LOST_ERROR, None)
            return None
        try:
            return self._try_step(job)
        except LeaseLost:
            log.info("job %s of %s was taken by another worker", job.name, job.workspace.value)
        except Unavailable as error:
            log.info("job %s of %s is retried later: %s", job.name, job.workspace.value, error)
        except Exception:
            log.exception("job %s of %s failed", job.name, job.workspace.value)
        return None

    def _try_step(self, job: Job) -> FinishedStep:
        """Run one step; on failure record the error and the retry time, then raise."""
        try:
            return self._time_steps([job])[0]
        except LeaseLost:
            raise
        except Unavailable as error:
            self._record_failure(job, str(error), self._retry_time(job, MAX_OUTAGES))
            raise
        except Exception as error:
            self._record_failure(job, repr(error), self._retry_time(job, MAX_ATTEMPTS))
            raise

    def _time_steps(self, jobs: Sequence[Job]) -> list[FinishedStep]:
        """Run a step of jobs of one name and measure it; each gets an equal share of the time."""
        began, name = time.monotonic(), jobs[0].name
        operation = self._telemetry.operation("job", job=name, workspace=jobs[0].workspace)
        with operation, self._store.with_leases([job.lease for job in jobs]):
            steps = self._call_job(jobs)
        seconds, metrics = (time.monotonic() - began) / len(jobs), self._telemetry.metrics
        for step in steps:
            metrics.observe_seconds("job_seconds", name, seconds)
            for result, count in step.counts.items():
                metrics.add("job_results_total", (name, result), count)
        return [
            FinishedStep(job=job, step=step, seconds=seconds)
            for job, step in zip(jobs, steps, strict=True)
        ]

    def _call_job(self, jobs: Sequence[Job]) -> list[JobStep]:
        scheduled, now = self._schedule[jobs[0].name], self._clock()
        if len(jobs) > 1 and scheduled.run_many:
            return scheduled.run_many(
                [WorkspaceTurn(job.workspace, job.cursor) for job in jobs], now
            )
        return [scheduled.run(job.workspace, now, job.cursor) for job in jobs]

    def _retry_time(self, job: Job, max_attempts: int) -> datetime | None:
        """Return the time of the next attempt; None after `max_attempts`."""
        dead = job.attempts + 1 >= max_attempts
        return None if dead else self._clock() + RETRY_BACKOFF.delay_after(job.attempts)

    def _renew_leases(self, jobs: Sequence[Job]) -> None:
        self._store.jobs.renew(list(jobs), now=self._clock())

    def _record_failure(self, job: Job, error: str, retry_at: datetime | None) -> None:
        self._store.jobs.fail([job], error=redact_error(error), retry_at=retry_at)


def _initial_state(recurrence: RecurringJob) -> JobState:
    return JobState(
        name=recurrence.name,
        key="",
        every=recurrence.every,
        on_news=recurrence.on_news,
        priority=recurrence.priority,
        due_at=None,
        running=False,
        attempts=0,
        error=None,
        dead=False,
        last_run_at=None,
        last_seconds=0.0,
        last_counts={},
    )
