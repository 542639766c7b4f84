"""What `nexus doctor` finds, whatever it looks at."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

OK, NOTE, PROBLEM = "ok", "note", "problem"
ROUND_TRIPS = 5


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    name: str
    state: str  # ok | note | problem
    detail: str


def latency(ask: Callable[[], object]) -> str:
    """How long a round trip takes, in the middle of a few."""
    took = []
    for _ in range(ROUND_TRIPS):
        start = time.perf_counter()
        ask()
        took.append(time.perf_counter() - start)
    return f"{median(took) * 1000:.1f} ms for a round trip"
