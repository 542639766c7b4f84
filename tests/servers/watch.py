"""Stops a server when the program that started it is gone. Run by path: watch.py FOLDER PIDFILE

It reads its input, which ends when the other program does, however that ended. Then the server
whose number is the first line of PIDFILE is stopped, and FOLDER is removed.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from pathlib import Path

PATIENCE = 5.0  # seconds, until a server that was asked to stop is killed


def server_of(folder: str, pid_file: Path) -> int | None:
    """The number of the server, unless by now another program has that number."""
    try:
        pid = int(pid_file.read_text().split()[0])
        works_in = Path(f"/proc/{pid}/cwd").readlink()
    except (OSError, ValueError, IndexError):
        return None
    return pid if works_in.is_relative_to(folder) else None


def stop(folder: str, pid_file: Path) -> None:
    pid = server_of(folder, pid_file)
    if pid is None:
        return
    os.kill(pid, signal.SIGCONT)
    os.kill(pid, signal.SIGINT)
    until = time.monotonic() + PATIENCE
    while server_of(folder, pid_file) == pid and time.monotonic() < until:
        time.sleep(0.02)
    if server_of(folder, pid_file) == pid:
        os.kill(pid, signal.SIGKILL)


def main() -> None:
    folder, pid_file = sys.argv[1:]
    while os.read(0, 1024):
        pass
    stop(folder, Path(pid_file))
    shutil.rmtree(folder, ignore_errors=True)


main()
