"""The background thread: learns what was acknowledged, and stays out of the way meanwhile."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable

from ..core.errors import NexusError
from ..learn.learner import Learner
from .jobs import Runner

IDLE_SECONDS = 1.0  # look for work of other processes, and for retries that are due
BREATH_SECONDS = 0.005  # between batches, for those who are waiting
QUIET_SECONDS = 0.03  # without news: nobody is in the middle of telling something
BURST_SECONDS = 0.5  # and how long that is waited for
JOB_SECONDS = 60.0  # between looks for jobs, and before the first: who is soon gone does none
BEHIND_SECONDS = 0.1  # between looks while something has more to follow
FOLLOW_SECONDS = 5.0  # between looks for what others have written, or a part that was away
AWAY_SECONDS = 5.0  # before the next try, when something went wrong that nobody thought of

log = logging.getLogger(__name__)


class Worker:
    """Runs the learner whenever there is something to learn, and jobs when they are due.

    Jobs are done in short steps, and after each the learner comes first. `follow` does a little for
    what lies beside the records, and says whether there is more of it: whenever something was
    learned, and every few seconds.
    """

    def __init__(
        self,
        learner: Learner,
        jobs: Runner | None = None,
        follow: Callable[[], bool] = lambda: False,
    ) -> None:
        self._learner = learner
        self._jobs = jobs
        self._follow = follow
        self._next_jobs = time.monotonic() + JOB_SECONDS
        self._next_follow = time.monotonic()
        self._behind = False
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._calls: deque[Callable[[], None]] = deque()
        self._calling = threading.Lock()

    def later(self, call: Callable[[], None]) -> None:
        """Do this soon, and at the latest before the end."""
        self._calls.append(call)
        self.nudge()

    def hurry(self) -> None:
        """A job was asked for: look for what is due now."""
        self._next_jobs = time.monotonic()
        self.nudge()

    def nudge(self) -> None:
        """There is work. Starts the thread with the first of it."""
        self._wake.set()
        if self._thread is None:
            with self._lock:
                if self._thread is None and not self._stop.is_set():
                    self._thread = threading.Thread(
                        target=self._run, name="nexus-worker", daemon=True
                    )
                    self._thread.start()

    def _run(self) -> None:
        while not self._stop.is_set():
            self._wake.wait(BEHIND_SECONDS if self._behind else IDLE_SECONDS)
            self._let_them_finish()
            self._drain()

    def _let_them_finish(self) -> None:
        """Who tells much at once would wait for what is learned of it: one thread runs at a time.

        A question learns what it needs itself, so nobody misses anything meanwhile.
        """
        patience = time.monotonic() + BURST_SECONDS
        while self._wake.is_set() and time.monotonic() < patience:
            self._wake.clear()
            self._stop.wait(QUIET_SECONDS)
        self._wake.clear()

    def _drain(self) -> None:
        """Whatever goes wrong, this thread goes on: nobody else would learn anything."""
        self.finish_calls()
        try:
            self._learn()
            if time.monotonic() >= self._next_follow and not self._stop.is_set():
                self._behind = self._follow()
                self._next_follow = time.monotonic() + (0.0 if self._behind else FOLLOW_SECONDS)
            if time.monotonic() >= self._next_jobs and not self._stop.is_set() and self._jobs:
                did = self._jobs.run_due(between=self._learn)
                self._next_jobs = time.monotonic() + (IDLE_SECONDS if did else JOB_SECONDS)
        except NexusError as error:
            log.warning("background work will be tried again: %s", error)
        except Exception:
            log.exception("background work will be tried again")
            self._stop.wait(AWAY_SECONDS)

    def _learn(self) -> None:
        """Everything there is to learn, with a breath for those who wait."""
        while not self._stop.wait(BREATH_SECONDS) and self._learner.run_once():
            self._next_follow = time.monotonic()
            self.finish_calls()

    def finish_calls(self) -> None:
        """Do now what was left for later; whoever comes back from this sees it done."""
        with self._calling:
            while self._calls:
                try:
                    self._calls.popleft()()
                except NexusError as error:
                    log.warning("background work was not done: %s", error)
                except Exception:
                    log.exception("background work was not done")

    def stop(self) -> None:
        """Finish the batch at hand and end."""
        self._stop.set()
        self._wake.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        self.finish_calls()
