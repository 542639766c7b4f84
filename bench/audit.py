"""What the audit costs: processor time of observe, recall and compose at each of its levels.

    python bench/audit.py            about a minute

One file for each level, with the same messages. Calls go round the levels one after the other, so
that other work on the machine meets all of them; told is the median of the processor time of the
whole process, background thread and all, for each call, and what it is beside `off`.
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

from nexus import Nexus
from nexus.config import AuditSettings, Settings
from nexus.core.audit import Level
from nexus.place import Place

RESULTS = Path(__file__).parent / "results" / "audit.json"
READS = 400
WORDS = "tea ledger harbour meeting green budget server Friday garden train report coffee".split()


def sentence(source: random.Random) -> str:
    return " ".join(source.choices(WORDS, k=12)).capitalize() + "."


def timed(calls: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The median processor time of each call in milliseconds, taken in turns."""
    taken: dict[str, list[float]] = {name: [] for name in calls}
    order = list(calls)
    for turn in range(rounds):
        for name in order[turn % len(order) :] + order[: turn % len(order)]:
            begun = time.process_time()
            calls[name]()
            taken[name].append((time.process_time() - begun) * 1000)
    return {name: round(median(some), 4) for name, some in taken.items()}


def opened(stack: ExitStack, folder: Path, level: str, *, background: bool) -> Place:
    settings = Settings(audit=AuditSettings(level=level))
    file = folder / f"{level}{background}.db"
    nexus = stack.enter_context(Nexus.open(file, settings=settings, background=background))
    return nexus.workspace("acme").room("design", participants=["alice", "bob"])


def measured(messages: int, rounds: int) -> dict[str, dict[str, float]]:
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        places = {
            level.value: opened(stack, Path(folder), level.value, background=False)
            for level in Level
        }
        for place in places.values():
            source = random.Random(7)
            place.observe_many(
                {"speaker": "alice", "text": sentence(source)} for _ in range(messages)
            )
            place.flush()
        asked = {name: random.Random(3) for name in places}

        def call(what: str, name: str) -> Callable[[], object]:
            def question() -> object:
                text = sentence(asked[name])
                return getattr(places[name], what)(*([] if what != "observe" else ["bob"]), text)

            return question

        found = {}
        for what in ("recall", "compose", "observe"):
            found[what] = timed({name: call(what, name) for name in places}, rounds)
        found["writing a read down"] = {name: written(place) for name, place in places.items()}
        return found


def written(place: Place) -> float:
    """Reads wait, and are written together: what that takes for each, in milliseconds."""
    auditor = place._parts.audit
    auditor.flush()
    for _ in range(READS):
        place.recent(1)
    begun = time.process_time()
    auditor.flush()
    return round((time.process_time() - begun) * 1000 / READS, 4)


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    reader.add_argument("--messages", type=int, default=1_000)
    reader.add_argument("--rounds", type=int, default=150)
    given = reader.parse_args()
    found = measured(given.messages, given.rounds)
    told = {
        what: {
            name: {"ms": ms, "beside_off": round(ms / levels["off"], 3) if levels["off"] else None}
            for name, ms in levels.items()
        }
        for what, levels in found.items()
    }
    result = {"at": datetime.now(UTC).isoformat(), "messages": given.messages, **told}
    RESULTS.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    for what, levels in told.items():
        line = ", ".join(f"{n} {v['ms']} ms ({v['beside_off']})" for n, v in levels.items())
        print(f"{what}: {line}")


if __name__ == "__main__":
    main()
