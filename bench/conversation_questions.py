"""Questions in conversation: does a context find what the last message is about?

    python bench/conversation_questions.py                                the twelve exchanges
    python bench/conversation_questions.py --data TALK.jsonl --misses     your own
    python bench/conversation_questions.py --data TALK.jsonl --last-only

Each line of the file is a JSON object: `memory` (objects with `speaker`, `text` and `at`, or
texts), `turns` (chat messages; the last one is the question), `evidence` (positions in `memory` of
what answers it; empty if the turn needs no memory) and `wrong` (positions of memories that share
its words only). Memories are older than the last messages, so the window does not show them.

Every exchange is asked twice: in a place that has its own memories (`apart`), and in a place that
has those of all exchanges (`together`). The script prints the share of exchanges with all evidence
in the first 5 hits, with evidence ranked before everything in `wrong`, and with all evidence in the
context; the share of turns that need no memory and search all the same; and the time of reading
the turns. `--last-only` sends the last message alone, which shows what the turns before add.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import mean, median
from typing import Any

from nexusmem import Nexus, Place
from nexusmem.config.settings import Settings
from nexusmem.core.records.context import Context

FIRST_HITS = 5
START = datetime(2026, 1, 1, 9, tzinfo=UTC)  # of memories without a time
PAUSE = timedelta(days=30)  # between the memories and the exchange
RECALL = "recall"


@dataclass(frozen=True, slots=True)
class Exchange:
    """A conversation, what the place remembers, and what answers its last message."""

    name: str
    memory: tuple[tuple[str, str, datetime], ...]  # speaker, text, time
    turns: tuple[Mapping[str, Any], ...]
    evidence: frozenset[int]
    wrong: frozenset[int]

    def key(self, position: int) -> str:
        return f"{self.name}-{position}"


def read_exchanges(path: Path) -> Iterator[Exchange]:
    """Yield the exchanges of a file, one per line."""
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(filter(str.strip, lines)):
        data = json.loads(line)
        memory = (_read_memory(each, at) for at, each in enumerate(data["memory"]))
        yield Exchange(
            name=str(data.get("id", number)),
            memory=tuple(memory),
            turns=tuple(data["turns"]),
            evidence=frozenset(data["evidence"]),
            wrong=frozenset(data["wrong"]),
        )


def _read_memory(entry: str | Mapping[str, Any], position: int) -> tuple[str, str, datetime]:
    if isinstance(entry, str):
        return "user", entry, START + timedelta(days=position)
    at = datetime.fromisoformat(entry["at"]) if entry.get("at") else START
    return entry.get("speaker", "user"), entry["text"], at.replace(tzinfo=at.tzinfo or UTC)


def make_place(name: str, exchanges: Sequence[Exchange]) -> Place:
    """Return a place that remembers the memories of these exchanges."""
    now = max(at for each in exchanges for _, _, at in each.memory)
    nexus = Nexus.open(":memory:", clock=lambda: now + PAUSE, settings=Settings(), background=False)
    place = nexus.workspace(name).room("chat", agent="assistant", participants=["user"])
    told = [
        (at, speaker, text, exchange.key(position))
        for exchange in exchanges
        for position, (speaker, text, at) in enumerate(exchange.memory)
    ]
    for at, speaker, text, key in sorted(told):
        place.observe(speaker, text, key=key, at=at)
    return place


def searched_text(context: Context) -> str:
    """Return the text that the context searched with."""
    receipt = context.receipt
    return receipt.searched or receipt.question


def measure(place: Place, exchange: Exchange, *, last_only: bool) -> dict[str, float]:
    """Return the scores of one exchange."""
    turns = list(exchange.turns[-1:] if last_only else exchange.turns)
    started = time.perf_counter()
    context = place.context_for(turns)
    scores = {"seconds": time.perf_counter() - started}
    scores["plan"] = context.receipt.seconds["plan"]
    is_searched = RECALL in context.receipt.plan
    if not exchange.evidence:
        return scores | {"searches": float(is_searched)}
    hits = place.recall(searched_text(context), limit=50).hits if is_searched else ()
    ranks = {key: rank for rank, hit in enumerate(hits) for key in reversed(hit.event_keys)}
    found = [ranks.get(exchange.key(each), len(hits)) for each in exchange.evidence]
    misleading = [ranks.get(exchange.key(each), len(hits)) for each in exchange.wrong]
    shown = [exchange.memory[each][1] in context.text for each in exchange.evidence]
    return scores | {
        "first": float(min(found) == 0 and bool(hits)),
        "first 5": float(max(found) < min(FIRST_HITS, len(hits))),
        "before wrong": float(min(found) < min([*misleading, len(hits)])),
        "shown": float(all(shown)),
    }


def print_scores(name: str, scores: Sequence[Mapping[str, float]]) -> None:
    """Print the means of all scores, with the number of exchanges each is a mean of."""
    columns: dict[str, list[float]] = defaultdict(list)
    for each in scores:
        for column, value in each.items():
            columns[column].append(value)
    parts = []
    for column, values in columns.items():
        if column in ("seconds", "plan"):
            parts.append(
                f"{column} p50 {1000 * median(values):.1f} max {1000 * max(values):.1f} ms"
            )
        else:
            parts.append(f"{column} {mean(values):.2f} ({len(values)})")
    print(f"{name:9} {' · '.join(parts)}", flush=True)


def main(arguments: argparse.Namespace) -> None:
    exchanges = list(read_exchanges(arguments.data))
    together = make_place("together", exchanges)
    places = {"apart": None, "together": together}
    for name, shared in places.items():
        scores = []
        for exchange in exchanges:
            place = shared or make_place(exchange.name, [exchange])
            score = measure(place, exchange, last_only=arguments.last_only)
            scores.append(score)
            if arguments.misses and score.get("first 5", 1.0 - score.get("searches", 0.0)) < 1:
                print(f"  missed: {exchange.name}: {exchange.turns[-1]['content']}")
        print_scores(name, scores)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path(__file__).with_suffix(".jsonl"))
    parser.add_argument("--last-only", action="store_true")
    parser.add_argument("--misses", action="store_true", help="print what was not found")
    main(parser.parse_args())
