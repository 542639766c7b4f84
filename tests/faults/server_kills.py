"""Kills a Postgres server repeatedly during writes. For tests and benchmarks."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from tests.faults.durability_checks import Acknowledged
from tests.servers.postgres import Database

CLIENT = Path(__file__).with_name("client.py")
SHORTEST, LONGEST = 0.1, 0.7  # seconds between two kills
RECOVERY_SECONDS = 30.0  # until the next acknowledged write
EVERY = 3  # kill the client with each third kill


class Client:
    """The writing program and its acknowledged writes."""

    def __init__(self, url: str, ledger: Path, threads: int) -> None:
        self._command = [sys.executable, str(CLIENT), url, str(ledger), str(threads)]
        self._ledger = ledger
        self._runs = 0
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._runs += 1
        self._process = subprocess.Popen([*self._command, str(self._runs)], stdout=subprocess.PIPE)
        assert self._process.stdout
        if self._process.stdout.readline() != b"ready\n":
            raise RuntimeError("the client does not start")

    def kill(self) -> None:
        if self._process:
            self._process.kill()
            self._process.wait()
            if self._process.stdout:
                self._process.stdout.close()
            self._process = None

    def acknowledged(self) -> int:
        return self._ledger.read_bytes().count(b"told ") if self._ledger.exists() else 0

    def wait_for_more(self) -> float:
        """Wait for the next acknowledged write; return the seconds."""
        before, started = self.acknowledged(), time.monotonic()
        while self.acknowledged() <= before:
            if self._process and self._process.poll() is not None:
                raise RuntimeError("the client ended by itself")
            if time.monotonic() > started + RECOVERY_SECONDS:
                raise RuntimeError(f"no write was acknowledged for {RECOVERY_SECONDS:.0f} seconds")
            time.sleep(0.01)
        return time.monotonic() - started

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()


@dataclass(frozen=True)
class Outcome:
    promised: Acknowledged
    back_after: tuple[float, ...]  # seconds from restart to the next acknowledged write


def kill_under_load(
    database: Database,
    folder: Path,
    kills: int,
    *,
    threads: int = 8,
    seed: int = 1,
    say: Callable[[], None] = lambda: None,
) -> Outcome:
    """Alternate `pg_ctl stop -m immediate` and SIGKILL of the postmaster, and restart it.

    The client continues and repeats unacknowledged writes.
    """
    numbers, server, ledger = random.Random(seed), database.server, folder / "acknowledged"
    back_after = []
    with Client(database.url, ledger, threads) as client:
        client.wait_for_more()
        for number in range(kills):
            time.sleep(numbers.uniform(SHORTEST, LONGEST))
            server.kill() if number % 2 else server.stop_immediately()
            if number % EVERY == EVERY - 1:
                client.kill()
            server.start()
            if number % EVERY == EVERY - 1:
                client.start()
            back_after.append(client.wait_for_more())
            say()
    return Outcome(Acknowledged.read(ledger), tuple(back_after))
