"""Background worker: a thread that learns pending events and runs due jobs."""

from __future__ import annotations

import logging
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from datetime import datetime
from threading import Lock

from ..core.access import Viewer
from ..core.errors import NexusError
from ..core.ids import WorkspaceId
from ..core.protocols.usage_counts import NewUsage, UsageCounts
from ..learn.learner import Learner
from .job_runner import JobRunner

IDLE_SECONDS = 1.0  # between polls for retries and for work of other processes
PAUSE_SECONDS = 0.005  # between batches, so that waiting callers get the interpreter
QUIET_SECONDS = 0.03  # without new events: no caller is writing a burst
BURST_SECONDS = 0.5  # the longest wait for QUIET_SECONDS
JOB_SECONDS = 60.0  # between polls for jobs; also before the first, so short processes run none
BEHIND_SECONDS = 0.1  # between polls while replicas are behind
CATCH_UP_SECONDS = 5.0  # between polls for changes of other processes or replicas
AWAY_SECONDS = 5.0  # before the next attempt after an unexpected error

log = logging.getLogger(__name__)


class BackgroundWorker:
    """Thread that runs the learner when events are pending, and jobs when they are due.

    The learner takes precedence after each step of a job. `catch_up` updates replicas for a short
    time and returns whether they are still behind. It runs after learning and every few seconds.
    """

    def __init__(
        self,
        learner: Learner,
        jobs: JobRunner | None = None,
        catch_up: Callable[[], bool] = lambda: False,
    ) -> None:
        self._learner = learner
        self._jobs = jobs
        self._catch_up = catch_up
        self._next_jobs = time.monotonic() + JOB_SECONDS
        self._next_catch_up = time.monotonic()
        self._behind = False
        self._wake_event = threading.Event()
        self._stop_event = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._calls: deque[Callable[[], None]] = deque()
        self._calls_lock = threading.Lock()

    def submit(self, call: Callable[[], None]) -> None:
        """Run `call` soon, at the latest when the worker stops."""
        self._calls.append(call)
        self.wake()

    def wake_jobs(self) -> None:
        """Poll for due jobs now, because a caller requested one."""
        self._next_jobs = time.monotonic()
        self.wake()

    def wake(self) -> None:
        """Signal pending work; the first call starts the thread."""
        self._wake_event.set()
        if self._thread is None:
            with self._lock:
                if self._thread is None and not self._stop_event.is_set():
                    self._thread = threading.Thread(
                        target=self._run, name="nexus-worker", daemon=True
                    )
                    self._thread.start()

    def _run(self) -> None:
        while not self._stop_event.is_set():
            self._wake_event.wait(BEHIND_SECONDS if self._behind else IDLE_SECONDS)
            self._wait_for_quiet()
            self._run_pending()

    def _wait_for_quiet(self) -> None:
        """Wait until a burst of writes ends, for at most BURST_SECONDS.

        Python runs one thread at a time, so learning would slow the writer down. A query learns
        the events it needs, so no reader misses any.
        """
        deadline = time.monotonic() + BURST_SECONDS
        while self._wake_event.is_set() and time.monotonic() < deadline:
            self._wake_event.clear()
            self._stop_event.wait(QUIET_SECONDS)
        self._wake_event.clear()

    def _run_pending(self) -> None:
        """Run all pending work; the thread survives every error."""
        self.drain()
        try:
            self._learn_events()
            if time.monotonic() >= self._next_catch_up and not self._stop_event.is_set():
                self._behind = self._catch_up()
                self._next_catch_up = time.monotonic() + (0.0 if self._behind else CATCH_UP_SECONDS)
            if time.monotonic() >= self._next_jobs and not self._stop_event.is_set() and self._jobs:
                did = self._jobs.run_due(after_step=self._learn_events)
                self._next_jobs = time.monotonic() + (IDLE_SECONDS if did else JOB_SECONDS)
        except NexusError as error:
            log.warning("background work failed and is retried: %s", error)
        except Exception:
            log.exception("background work failed and is retried")
            self._stop_event.wait(AWAY_SECONDS)

    def _learn_events(self) -> None:
        """Learn all pending events, with a pause between batches."""
        while not self._stop_event.wait(PAUSE_SECONDS) and self._learner.run_once():
            self._next_catch_up = time.monotonic()
            self.drain()

    def drain(self) -> None:
        """Run all submitted calls before returning."""
        with self._calls_lock:
            while self._calls:
                try:
                    self._calls.popleft()()
                except NexusError as error:
                    log.warning("submitted call failed: %s", error)
                except Exception:
                    log.exception("submitted call failed")

    def stop(self) -> None:
        """Finish the current batch, join the thread and run the submitted calls."""
        self._stop_event.set()
        self._wake_event.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        self.drain()


MAX_PENDING = 64  # buffered contexts and recalls; then they are written


class UsageCounter:
    """Buffer of uses that are not written yet."""

    def __init__(self, uses: UsageCounts, *, enabled: bool = True) -> None:
        self._uses = uses
        self._enabled = enabled
        self._pending: dict[WorkspaceId, list[NewUsage]] = defaultdict(list)
        self._lock = Lock()
        self._pending_count = 0

    def record_shown(
        self, viewer: Viewer, ids: Iterable[str], at: datetime, thread: str | None = None
    ) -> int:
        """Buffer one use of each memory; a thread, or else a day, counts a memory once.

        Return the number of buffered contexts and recalls; 0 if nothing was buffered.
        """
        shown = tuple(dict.fromkeys(ids))
        if not shown or not self._enabled:
            return 0
        session = f"@{viewer.session}" if viewer.session else ""
        conversation = session + (f"={thread}" if thread else "" if session else f"~{at:%Y-%m-%d}")
        use = NewUsage(scope=viewer.shared_viewer.home, conversation=conversation, ids=shown, at=at)
        with self._lock:
            self._pending[viewer.workspace].append(use)
            self._pending_count += 1
            return self._pending_count

    def flush_before(self, catch_up: Callable[[], bool]) -> Callable[[], bool]:
        """Return a function that flushes the buffer and then calls `catch_up`."""

        def flush_and_catch_up() -> bool:
            self.flush()
            return catch_up()

        return flush_and_catch_up

    def flush(self) -> None:
        """Write the buffer, with one write per workspace; failed writes are logged and dropped."""
        with self._lock:
            pending, self._pending = self._pending, defaultdict(list)
            self._pending_count = 0
        for workspace, uses in pending.items():
            try:
                self._uses.add(workspace, uses)
            except NexusError as error:  # no caller waits or fails because of usage counts
                log.warning("usage counts were not written: %s", error)
