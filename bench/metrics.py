"""What counting costs, and what `nexus metrics` shows of a memory that was used for a moment.

python bench/metrics.py
"""

from __future__ import annotations

import time
from tempfile import TemporaryDirectory

from nexus import Nexus
from nexus.cli.metrics import _show
from nexus.core.metrics import Metrics
from nexus.core.telemetry import Telemetry, step

ROUNDS = 100_000
TOPICS = ("kettle", "heron server", "orders database", "garden", "picture of the sea")


def microseconds(call) -> float:
    """CPU time of one call, the best of five series."""

    def series() -> float:
        started = time.thread_time()
        for _ in range(ROUNDS):
            call()
        return (time.thread_time() - started) / ROUNDS * 1e6

    return min(series() for _ in range(5))


def costs() -> dict[str, float]:
    metrics = Metrics()
    telemetry = Telemetry(metrics)

    def operation() -> None:
        with telemetry.doing("recall"):
            pass

    def untraced() -> None:
        with step("recall.keyword"):
            pass

    return {
        "count": microseconds(lambda: metrics.add("hits_total", (), 3)),
        "time": microseconds(lambda: metrics.took("strategy_seconds", "keyword", 0.004)),
        "operation": microseconds(operation),
        "step that nobody traces": microseconds(untraced),
    }


def used(nexus: Nexus) -> None:
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
    for name, cost in costs().items():
        print(f"{name}: {cost:.2f} µs of CPU")
    with TemporaryDirectory() as folder, Nexus.open(f"{folder}/memory.db") as nexus:
        used(nexus)
        _show(nexus.metrics(), as_json=False, again=False)


if __name__ == "__main__":
    main()
