"""Audit log overhead: CPU time of observe, recall and compose at each audit level.

    python bench/audit.py            about a minute

One file per level, with the same messages. Calls rotate through the levels, so that other load
on the machine affects all of them. The result is the median CPU time per call of this process,
background thread included, and its ratio to level `off`.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from nexusmem import Nexus
from nexusmem.audit.records import AuditLevel
from nexusmem.config.settings import AuditSettings, Settings
from nexusmem.place.place import Place

RESULTS = Path(__file__).parent / "results" / "audit.json"
READS = 400  # in one audit batch
WORDS = "tea ledger harbour meeting green budget server Friday garden train report coffee".split()


def sentence(generator: random.Random) -> str:
    """Return a random sentence of twelve words."""
    return " ".join(generator.choices(WORDS, k=12)).capitalize() + "."


def measure_rotated(calls: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Return the median CPU milliseconds of each call, measured in rotation."""
    taken: dict[str, list[float]] = {name: [] for name in calls}
    order = list(calls)
    for round_number in range(rounds):
        for name in order[round_number % len(order) :] + order[: round_number % len(order)]:
            started = time.process_time()
            calls[name]()
            taken[name].append((time.process_time() - started) * 1000)
    return {name: round(median(times), 4) for name, times in taken.items()}


def open_room(stack: ExitStack, folder: Path, level: str, *, background: bool) -> Place:
    settings = Settings(audit=AuditSettings(level=level))
    file = folder / f"{level}{background}.db"
    nexus = stack.enter_context(Nexus.open(file, settings=settings, background=background))
    return nexus.workspace("acme").room("design", participants=["alice", "bob"])


def measure(messages: int, rounds: int) -> dict[str, dict[str, float]]:
    """Return the CPU milliseconds by operation and level."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        places = {
            level.value: open_room(stack, Path(folder), level.value, background=False)
            for level in AuditLevel
        }
        for place in places.values():
            generator = random.Random(7)
            place.observe_many(
                {"speaker": "alice", "text": sentence(generator)} for _ in range(messages)
            )
            place.flush()
        generators = {name: random.Random(3) for name in places}

        def call(operation: str, name: str) -> Callable[[], object]:
            def run() -> object:
                text = sentence(generators[name])
                return getattr(places[name], operation)(
                    *([] if operation != "observe" else ["bob"]), text
                )

            return run

        results = {}
        for operation in ("recall", "compose", "observe"):
            results[operation] = measure_rotated(
                {name: call(operation, name) for name in places}, rounds
            )
        results["write of an audited read"] = {
            name: measure_audit_write(place) for name, place in places.items()
        }
        return results


def measure_audit_write(place: Place) -> float:
    """Return the CPU milliseconds per read for writing a batch of audited reads."""
    auditor = place._parts.audit
    auditor.flush()
    for _ in range(READS):
        place.recent(1)
    started = time.process_time()
    auditor.flush()
    return round((time.process_time() - started) * 1000 / READS, 4)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--messages", type=int, default=1_000, help="messages per level")
    parser.add_argument("--rounds", type=int, default=150, help="calls per operation")
    options = parser.parse_args()
    results = measure(options.messages, options.rounds)
    report = {
        operation: {
            name: {
                "ms": ms,
                "relative_to_off": round(ms / levels["off"], 3) if levels["off"] else None,
            }
            for name, ms in levels.items()
        }
        for operation, levels in results.items()
    }
    result = {"at": datetime.now(UTC).isoformat(), "messages": options.messages, **report}
    RESULTS.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    for operation, levels in report.items():
        line = ", ".join(f"{n} {v['ms']} ms ({v['relative_to_off']})" for n, v in levels.items())
        print(f"{operation}: {line}")


if __name__ == "__main__":
    main()
