"""A server that a run starts for itself, and that never outlives it.

Nothing here needs pytest, so that the benches start the same servers.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Self

PATIENCE = 30.0  # seconds, until a server that does not start is given up
WATCH = Path(__file__).with_name("watch.py")
IN_MEMORY = Path("/dev/shm")


class Missing(Exception):
    """The service is not here, with the reason."""


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class Server:
    """One server: its folder, its process, and how it starts, ends and stands still.

    `folder` says on which disk its data are; without it they are in memory, where there is room
    for that. The server is stopped by `close()`, when the program ends, and also when the program
    is killed: a second process waits for that.
    """

    name = "server"
    polite = signal.SIGTERM
    patience = PATIENCE

    def __init__(self, folder: Path | None = None) -> None:
        parent = folder or (IN_MEMORY if IN_MEMORY.is_dir() else None)
        self.folder = Path(mkdtemp(prefix=f"nexus-{self.name}-", dir=parent))
        self.port = free_port()
        self.log = self.folder / "log"
        self._process: subprocess.Popen[bytes] | None = None
        self._ever_started = False
        self._watch = subprocess.Popen(
            [sys.executable, "-I", "-S", WATCH, self.folder, self.pid_file],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )
        atexit.register(self.close)

    # What each server does in its own way

    @property
    def pid_file(self) -> Path:
        return self.folder / "pid"

    def command(self) -> list[Any]:
        raise NotImplementedError

    def ready(self) -> bool:
        raise NotImplementedError

    def account(self) -> dict[str, Any]:
        """As whom it runs, in the words of `subprocess`."""
        return {}

    # What all of them do

    @property
    def pid(self) -> int:
        if self._process is None:
            raise RuntimeError(f"{self.name} is not running")
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> Self:
        """Start, again after a stop or a kill, on the same port; return when it answers."""
        until = time.monotonic() + self.patience
        while not self.running and not self._started(until):
            if time.monotonic() > until:
                raise RuntimeError(f"{self.name} does not start: {self.log.read_text()[-2000:]}")
            time.sleep(0.05)
            if not self._ever_started:  # somebody may have taken the port that was free
                self.port = free_port()
        self._ever_started = True
        return self

    def _started(self, until: float) -> bool:
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [str(word) for word in self.command()],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                start_new_session=True,
                **self.account(),
            )
        while time.monotonic() < until:
            if self._process.poll() is not None:
                return False
            if self.ready():
                return True
            time.sleep(0.005)
        return False

    def signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def stop(self, how: int | None = None) -> None:
        """Stop, politely unless told otherwise, and wait until it is gone."""
        if self._process is None:
            return
        if self.running:
            self.signal(signal.SIGCONT)
            self.signal(how or self.polite)
            try:
                self._process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._process = None

    def kill(self) -> None:
        """Gone in the middle of whatever it did."""
        self.stop(signal.SIGKILL)

    def freeze(self) -> None:
        """Stand still: connections stay open, and nothing answers."""
        self.signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self.signal(signal.SIGCONT)

    def close(self) -> None:
        """Stop for good, and leave nothing behind."""
        atexit.unregister(self.close)
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
        if self._watch.stdin:
            self._watch.stdin.close()
        self._watch.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
