"""Metrics overhead, and the output of `nexus metrics` for a short session.

python bench/metrics.py
"""

from __future__ import annotations

import time
from tempfile import TemporaryDirectory

from nexusmem import Nexus
from nexusmem.cli.metrics import _print_snapshot
from nexusmem.telemetry.metrics import Metrics
from nexusmem.telemetry.spans import Telemetry, trace_step

ROUNDS = 100_000
TOPICS = ("kettle", "heron server", "orders database", "garden", "picture of the sea")


def microseconds(call) -> float:
    """Return the CPU microseconds of one call: the best of five series."""

    def series() -> float:
        started = time.thread_time()
        for _ in range(ROUNDS):
            call()
        return (time.thread_time() - started) / ROUNDS * 1e6

    return min(series() for _ in range(5))


def measure_costs() -> dict[str, float]:
    """Return the CPU microseconds of counters, timers, operations and untraced steps."""
    metrics = Metrics()
    telemetry = Telemetry(metrics)

    def operation() -> None:
        with telemetry.operation("recall"):
            pass

    def untraced() -> None:
        with trace_step("recall.keyword"):
            pass

    return {
        "counter": microseconds(lambda: metrics.add("hits_total", (), 3)),
        "timer": microseconds(
            lambda: metrics.observe_seconds("strategy_seconds", "keyword", 0.004)
        ),
        "operation": microseconds(operation),
        "step without a tracer": microseconds(untraced),
    }


def use_memory(nexus: Nexus) -> None:
    """Write, recall and compose so that all metrics have values."""
    room = nexus.workspace("acme").room("design", participants=["alice", "bob"])
    for number in range(200):
        topic = TOPICS[number % len(TOPICS)]
        room.observe("alice", f"We decided about the {topic}: number {number} is the one.")
    nexus.workspace("acme").flush()
    for number in range(100):
        room.recall(f"Which {TOPICS[number % len(TOPICS)]} did we choose?")
    for number in range(20):
        room.compose(f"What about the {TOPICS[number % len(TOPICS)]}?")


def main() -> None:
    for name, cost in measure_costs().items():
        print(f"{name}: {cost:.2f} µs of CPU")
    with TemporaryDirectory() as folder, Nexus.open(f"{folder}/memory.db") as nexus:
        use_memory(nexus)
        _print_snapshot(nexus.metrics(), as_json=False, repeats=False)


if __name__ == "__main__":
    main()
