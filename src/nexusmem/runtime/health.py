"""Health checks of `nexus doctor`."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

OK, NOTE, PROBLEM = "ok", "note", "problem"
ROUND_TRIPS = 5


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """Result of one check."""

    name: str
    state: str  # ok | note | problem
    detail: str


def measure_latency(call: Callable[[], object]) -> str:
    """Return the median duration of a few calls as text."""
    durations = []
    for _ in range(ROUND_TRIPS):
        start = time.perf_counter()
        call()
        durations.append(time.perf_counter() - start)
    return f"{median(durations) * 1000:.1f} ms for a round trip"
