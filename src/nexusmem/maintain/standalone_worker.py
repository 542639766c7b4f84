"""Standalone worker: the loop of the command `nexus worker`."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic

from ..core.errors import NexusError
from ..core.protocols.jobs import FinishedStep, Job
from ..core.protocols.store import Store
from ..learn.learner import Learner
from .job_runner import JobRunner

IDLE_SECONDS = 1.0  # between polls for due jobs and unannounced events
AWAY_SECONDS = 5.0  # before the next attempt after an error
REPORT_SECONDS = 1.0

log = logging.getLogger(__name__)


@dataclass(slots=True)
class WorkerReport:
    """Counts of the work done so far."""

    learned: int = 0  # tasks
    steps: int = 0  # of jobs
    failed: int = 0  # steps of jobs that failed
    last: str = ""  # name and workspace of the last job


class StandaloneWorker:
    """Learns events and runs jobs until `stop`; the current step is finished first.

    `on_start` is called once, in the first round. `names` limits the jobs.
    """

    def __init__(
        self,
        store: Store,
        learner: Learner,
        jobs: JobRunner,
        *,
        on_start: Callable[[], None] = lambda: None,
        names: Sequence[str] | None = None,
        report: Callable[[WorkerReport], None] = lambda _: None,
    ) -> None:
        self._store = store
        self._learner = learner
        self._jobs = jobs
        self._on_start = on_start
        self._has_started = False
        self._names = names
        self._report = report
        self._reported_at = monotonic()
        self._stop_event = threading.Event()
        self.totals = WorkerReport()

    def stop(self) -> None:
        """Claim no further work. Safe to call from a signal handler."""
        self._stop_event.set()

    def run(self, *, once: bool = False) -> WorkerReport:
        """Work until `stop`, or (`once=True`) until no work is due."""
        while not self._stop_event.is_set():
            try:
                did = self._run_round()
            except Exception as error:
                if once:
                    raise
                unexpected = None if isinstance(error, NexusError) else error
                log.warning("work failed and is retried: %s", error, exc_info=unexpected)
                self._stop_event.wait(AWAY_SECONDS)
                continue
            if once and not did:
                break
            if not did:
                self._report_progress(now=True)
                self._store.queue.wait_for_work(self._stop_event, IDLE_SECONDS)
        self._report(self.totals)
        return self.totals

    def _run_round(self) -> int:
        """Learn all pending events and run one step of some jobs; return the amount of work."""
        if not self._has_started:
            self._on_start()
            self._has_started = True
        learned = self._learn_events()
        more = self._store.catch_up_replicas()
        steps = self._jobs.run_due(
            names=self._names, after_step=self._after_step, on_result=self._count_step
        )
        return learned + steps + more

    def _learn_events(self) -> int:
        learned = 0
        while not self._stop_event.is_set() and (count := self._learner.run_once()):
            learned += count
            self.totals.learned += count
            self._report_progress()
        return learned

    def _after_step(self) -> None:
        self._learn_events()
        self._report_progress()

    def _count_step(self, job: Job, done: FinishedStep | None) -> None:
        self.totals.steps += 1
        self.totals.failed += done is None
        self.totals.last = f"{job.name} of {job.workspace.value}"

    def _report_progress(self, *, now: bool = False) -> None:
        if now or monotonic() - self._reported_at >= REPORT_SECONDS:
            self._reported_at = monotonic()
            self._report(self.totals)
