"""Stops a server after the end of the program that started it: watch.py FOLDER PIDFILE

The standard input is a pipe from that program; it ends with the program, also after SIGKILL.
Then this script stops the server whose pid is in the first line of PIDFILE, and deletes FOLDER.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from pathlib import Path

STOP_SECONDS = 5.0  # then the server is killed


def server_pid(folder: str, pid_file: Path) -> int | None:
    """Return the pid of the server, or None if another program has this pid now."""
    try:
        pid = int(pid_file.read_text().split()[0])
        working_folder = Path(f"/proc/{pid}/cwd").readlink()
    except (OSError, ValueError, IndexError):
        return None
    return pid if working_folder.is_relative_to(folder) else None


def stop(folder: str, pid_file: Path) -> None:
    pid = server_pid(folder, pid_file)
    if pid is None:
        return
    os.kill(pid, signal.SIGCONT)
    os.kill(pid, signal.SIGINT)
    until = time.monotonic() + STOP_SECONDS
    while server_pid(folder, pid_file) == pid and time.monotonic() < until:
        time.sleep(0.02)
    if server_pid(folder, pid_file) == pid:
        os.kill(pid, signal.SIGKILL)


def main() -> None:
    folder, pid_file = sys.argv[1:]
    while os.read(0, 1024):
        pass
    stop(folder, Path(pid_file))
    shutil.rmtree(folder, ignore_errors=True)


main()
