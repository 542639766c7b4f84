"""The outbox of every SQL store, and how its workers hear of new work: LISTEN and NOTIFY.

Whoever appends does not notify in its own transaction: that would make all commits of a server
wait for each other. It is done a moment later, once for all that came meanwhile. Who misses it
finds the work a second later.
"""

from __future__ import annotations

import threading
import time
from typing import Any

import psycopg

from ...core.errors import NexusError
from ..sql.queue import SqlQueue
from ..sql.session import Connections
from .connections import ROLE, with_settings

MOMENT_SECONDS = 0.02  # in which more may come
SLICE_SECONDS = 0.25  # between looks whether to end


class PostgresQueue(SqlQueue):
    def __init__(self, connections: Connections, url: str) -> None:
        super().__init__(connections)
        self._url = url
        self._lock = threading.Lock()
        self._soon: threading.Timer | None = None
        self._listener: psycopg.Connection[Any] | None = None

    def announce(self) -> None:
        with self._lock:
            if self._soon is None:
                self._soon = threading.Timer(MOMENT_SECONDS, self._notify)
                self._soon.daemon = True
                self._soon.start()

    def _notify(self) -> None:
        with self._lock:
            self._soon = None
        try:
            self._connections.write(lambda session: session.run("announce"))
        except NexusError:
            return  # whoever works looks now and then

    def listen(self, until: threading.Event, seconds: float) -> bool:
        end = time.monotonic() + seconds
        while not until.is_set() and (left := end - time.monotonic()) > 0:
            try:
                heard = self._connected().notifies(timeout=min(left, SLICE_SECONDS), stop_after=1)
                if any(True for _ in heard):
                    return True
            except psycopg.Error:  # the server was started again: so is this
                self._hang_up()
                until.wait(min(left, SLICE_SECONDS))
        return False

    def _connected(self) -> psycopg.Connection[Any]:
        if self._listener is None or self._listener.closed:
            self._listener = psycopg.connect(
                with_settings(self._url, {}, {"role": ROLE}),
                autocommit=True,
                application_name="nexus-worker",
            )
            self._listener.execute("LISTEN nexus_work")
        return self._listener

    def _hang_up(self) -> None:
        if self._listener is not None:
            self._listener.close()
        self._listener = None

    def close(self) -> None:
        """Announce what was to be announced, and hear no more."""
        with self._lock:
            soon, self._soon = self._soon, None
        if soon is not None:
            soon.cancel()
            self._notify()
        self._hang_up()
