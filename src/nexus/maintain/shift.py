"""A worker that has nothing else to do: `nexus worker`."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic

from ..core.errors import NexusError
from ..core.jobs import Done, Job
from ..core.protocols import Store
from ..learn.learner import Learner
from .jobs import Runner

IDLE_SECONDS = 1.0  # look for what is due, and for what nobody announced
AWAY_SECONDS = 5.0  # before the next try, when something that is needed did not answer
REPORT_SECONDS = 1.0

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Worked:
    """What was done so far."""

    learned: int = 0  # steps of events
    steps: int = 0  # of jobs
    failed: int = 0  # steps of jobs
    last: str = ""  # the last job, and whose it was


class Shift:
    """Learns and does jobs until it is told to end; what it has begun it ends first.

    `first` is done once, when it starts.
    """

    def __init__(
        self,
        store: Store,
        learner: Learner,
        jobs: Runner,
        *,
        first: Callable[[], None] = lambda: None,
        names: Sequence[str] | None = None,
        report: Callable[[Worked], None] = lambda _: None,
    ) -> None:
        self._store = store
        self._learner = learner
        self._jobs = jobs
        self._first = first
        self._has_begun = False
        self._names = names
        self._report = report
        self._reported = monotonic()
        self._until = threading.Event()
        self.worked = Worked()

    def end(self) -> None:
        """Take nothing more. May be called by a signal."""
        self._until.set()

    def run(self, *, once: bool = False) -> Worked:
        """Work until `end`, or (`once`) until nothing is left to do."""
        while not self._until.is_set():
            try:
                did = self._turn()
            except Exception as error:
                if once:
                    raise
                unforeseen = None if isinstance(error, NexusError) else error
                log.warning("work will be tried again: %s", error, exc_info=unforeseen)
                self._until.wait(AWAY_SECONDS)
                continue
            if once and not did:
                break
            if not did:
                self._tell(now=True)
                self._store.queue.listen(self._until, IDLE_SECONDS)
        self._report(self.worked)
        return self.worked

    def _turn(self) -> int:
        """Everything there is to learn, and a step of some jobs."""
        if not self._has_begun:
            self._first()
            self._has_begun = True
        learned = self._learn()
        more = self._store.follow()
        steps = self._jobs.run_due(names=self._names, between=self._between, told=self._told)
        return learned + steps + more

    def _learn(self) -> int:
        learned = 0
        while not self._until.is_set() and (some := self._learner.run_once()):
            learned += some
            self.worked.learned += some
            self._tell()
        return learned

    def _between(self) -> None:
        self._learn()
        self._tell()

    def _told(self, job: Job, done: Done | None) -> None:
        self.worked.steps += 1
        self.worked.failed += done is None
        self.worked.last = f"{job.name} of {job.workspace.value}"

    def _tell(self, *, now: bool = False) -> None:
        if now or monotonic() - self._reported >= REPORT_SECONDS:
            self._reported = monotonic()
            self._report(self.worked)
