"""Server processes for tests and benchmarks: start, stop, kill, freeze, and clean up.

This module does not import pytest, because the benchmarks start the same servers.
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
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from typing import Any, Self

START_SECONDS = 30.0  # a server that has not started or stopped by then has failed
WATCH = Path(__file__).with_name("watch.py")
IN_MEMORY = Path("/dev/shm")


class Missing(Exception):
    """The engine cannot be started on this machine; the text is the reason."""


def free_port() -> int:
    """Return a TCP port of 127.0.0.1 that no process listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def can_run(programs: Iterable[Path], account: Mapping[str, Any]) -> bool:
    """Return whether `account` (arguments of `subprocess`) may read and execute all `programs`."""
    try:
        runs = [
            subprocess.run([each, "--version"], capture_output=True, cwd="/", **account)
            for each in programs
        ]
    except OSError:
        return False
    return not any(run.returncode for run in runs)


def copy_for_account(
    folder: Path, parts: Sequence[str], programs: Sequence[str], account: Mapping[str, Any]
) -> Path:
    """Copy subfolders of `folder` to a folder that every account can read, and return the copy.

    `parts` are the subfolders to copy, `programs` are paths of programs inside them. A copy from
    an earlier run is used again. Raise Missing if `account` cannot run the programs from any of
    the folders for temporary files.
    """
    files = [(folder / program).stat() for program in programs]
    versions = [(file.st_mtime_ns, file.st_size) for file in files]
    identity = repr((str(folder), parts, versions, os.geteuid()))
    name = f"nexus-programs-{sha256(identity.encode()).hexdigest()[:16]}"
    parents = dict.fromkeys(map(Path, (gettempdir(), "/tmp", "/var/tmp", IN_MEMORY)))
    for parent in filter(Path.is_dir, parents):
        copy = parent / name
        if not copy.exists():
            _copy_readable(folder, parts, copy)
        # Another user could have put a folder of this name into a shared folder.
        is_ours = copy.stat().st_uid == os.geteuid()
        if is_ours and can_run((copy / program for program in programs), account):
            return copy
    searched = ", ".join(map(str, parents))
    raise Missing(f"another account can run {programs[0]} neither in {folder} nor in {searched}")


def _copy_readable(folder: Path, parts: Sequence[str], copy: Path) -> None:
    """Copy `parts` so that `copy` appears complete; several processes may do so concurrently."""
    partial = Path(mkdtemp(prefix=f"{copy.name}-", dir=copy.parent))
    for part in parts:
        shutil.copytree(folder / part, partial / part, symlinks=True)
    for path in (partial, *partial.rglob("*")):
        if not path.is_symlink():
            executable = path.is_dir() or path.stat().st_mode & 0o100
            path.chmod(0o755 if executable else 0o644)
    try:
        partial.rename(copy)
    except OSError:  # another worker was first
        shutil.rmtree(partial)


class Server:
    """A server process with a data folder and a port.

    The data are below `folder`, or in memory (/dev/shm) without it. `close()` stops the server.
    The end of this program stops it too, even by SIGKILL: the process `watch.py` waits for that.
    """

    name = "server"
    stop_signal = signal.SIGTERM
    start_seconds = START_SECONDS

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

    # Implemented by each kind of server

    @property
    def pid_file(self) -> Path:
        return self.folder / "pid"

    def command(self) -> list[Any]:
        raise NotImplementedError

    def ready(self) -> bool:
        raise NotImplementedError

    @staticmethod
    def account() -> dict[str, Any]:
        """Return the `user`, `group` and `extra_groups` arguments for `subprocess`."""
        return {}

    # Common to all servers

    @property
    def pid(self) -> int:
        if self._process is None:
            raise RuntimeError(f"{self.name} is not running")
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> Self:
        """Start or restart the server on the same port and return when it answers."""
        until = time.monotonic() + self.start_seconds
        while not self.running and not self._started(until):
            if time.monotonic() > until:
                raise RuntimeError(f"{self.name} does not start: {self.log.read_text()[-2000:]}")
            time.sleep(0.05)
            if not self._ever_started:  # another process may have taken the free port
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
        """Send signal `how` (default: the graceful one) and wait until the process has ended."""
        if self._process is None:
            return
        if self.running:
            self.signal(signal.SIGCONT)
            self.signal(how or self.stop_signal)
            try:
                self._process.wait(START_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._process = None

    def kill(self) -> None:
        """End the process with SIGKILL."""
        self.stop(signal.SIGKILL)

    def freeze(self) -> None:
        """Suspend the process: connections stay open, but the server does not answer."""
        self.signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self.signal(signal.SIGCONT)

    def close(self) -> None:
        """Stop the server and delete its folder."""
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
