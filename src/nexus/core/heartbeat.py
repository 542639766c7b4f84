"""Renewing what is held while something takes long: a lease during a model's answer."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .errors import NexusError
from .leases import LEASE

BEAT_SECONDS = LEASE.total_seconds() / 3
LONGEST_SECONDS = 1200.0  # whoever has hung for so long holds nothing any more

log = logging.getLogger(__name__)


class Heartbeat:
    """One thread for all that is held; it ends when nothing is."""

    def __init__(self, seconds: float = BEAT_SECONDS, longest: float = LONGEST_SECONDS) -> None:
        self._seconds = seconds
        self._longest = longest
        self._held: dict[object, tuple[float, Callable[[], object]]] = {}
        self._lock = threading.Lock()
        self._beating = False

    @contextmanager
    def during(self, renew: Callable[[], object]) -> Iterator[None]:
        """Call `renew` now and then, as long as this lasts."""
        held = object()
        with self._lock:
            self._held[held] = (time.monotonic(), renew)
            starts, self._beating = not self._beating, True
        if starts:
            threading.Thread(target=self._run, name="nexus-heartbeat", daemon=True).start()
        try:
            yield
        finally:
            with self._lock:
                del self._held[held]

    def _run(self) -> None:
        while self._goes_on():
            time.sleep(self._seconds)
            now = time.monotonic()
            with self._lock:
                old = [(since, renew) for since, renew in self._held.values()]
            for since, renew in old:
                if self._seconds <= now - since <= self._longest:
                    self._renew(renew)

    def _goes_on(self) -> bool:
        with self._lock:
            self._beating = bool(self._held)
            return self._beating

    @staticmethod
    def _renew(renew: Callable[[], object]) -> None:
        try:
            renew()
        except NexusError as error:  # then it is lost, and a write will say so
            log.info("a lease was not renewed: %s", error)
        except Exception:  # the others are held by this thread as well
            log.exception("a lease was not renewed")


HEARTBEAT = Heartbeat()
