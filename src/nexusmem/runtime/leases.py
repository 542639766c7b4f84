"""Leases: exclusive, time-limited ownership of a task or job, renewed by a heartbeat."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from ..core.errors import NexusError
from ..core.ids import WorkspaceId

LEASE_DURATION = timedelta(seconds=30)  # renewed while the worker runs
MAX_LOST_LEASES = 1000  # about eight hours of crashed workers; then the work is given up
LEASE_LOST_ERROR = "the worker ended without a result"  # error of work with an expired lease


@dataclass(frozen=True, slots=True)
class Lease:
    """Exclusive ownership of a task or job.

    `fence` grows with each claim. A store compares it in the transaction of a write, so a worker
    that returns after its lease expired writes nothing.
    """

    workspace: WorkspaceId
    kind: str  # "event" | "job"
    target: tuple[int | str, ...]  # key of the task or job, known to its store only
    fence: int


BEAT_SECONDS = LEASE_DURATION.total_seconds() / 3
MAX_RENEWAL_SECONDS = 1200.0  # a worker that runs longer counts as hung and loses its lease

log = logging.getLogger(__name__)


class LeaseHeartbeat:
    """Renews all leases of this process in one thread, which ends when there are none."""

    def __init__(
        self, seconds: float = BEAT_SECONDS, max_seconds: float = MAX_RENEWAL_SECONDS
    ) -> None:
        self._seconds = seconds
        self._max_seconds = max_seconds
        self._renewals: dict[object, tuple[float, Callable[[], object]]] = {}
        self._lock = threading.Lock()
        self._is_running = False

    @contextmanager
    def keep_renewing(self, renew: Callable[[], object]) -> Iterator[None]:
        """Call `renew` periodically while the block runs."""
        token = object()
        with self._lock:
            self._renewals[token] = (time.monotonic(), renew)
            starts, self._is_running = not self._is_running, True
        if starts:
            threading.Thread(target=self._run, name="nexus-heartbeat", daemon=True).start()
        try:
            yield
        finally:
            with self._lock:
                del self._renewals[token]

    def _run(self) -> None:
        while self._has_renewals():
            time.sleep(self._seconds)
            now = time.monotonic()
            with self._lock:
                renewals = list(self._renewals.values())
            for since, renew in renewals:
                if self._seconds <= now - since <= self._max_seconds:
                    self._renew_one(renew)

    def _has_renewals(self) -> bool:
        with self._lock:
            self._is_running = bool(self._renewals)
            return self._is_running

    @staticmethod
    def _renew_one(renew: Callable[[], object]) -> None:
        try:
            renew()
        except NexusError as error:  # the next write raises LeaseLost
            log.info("lease not renewed: %s", error)
        except Exception:  # this thread must continue to renew the other leases
            log.exception("lease not renewed")


HEARTBEAT = LeaseHeartbeat()
