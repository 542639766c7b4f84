"""Does a second look find more? `python bench/iterate.py LOCOMO.json [conversations]`.

Every question is asked once, and once more with the names the first look brought up. Then two
questions are asked in one, as people do, at once and step by step. R and all of the evidence among
the first 10 and 20 hits, for several numbers of hits that keep their places.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from nexus import Nexus
from nexus.config import Settings
from nexus.core.records import Found
from nexus.evaluation.dataset import Conversation
from nexus.evaluation.metrics import all_at, recall_at
from nexus.evaluation.read import read_benchmark
from nexus.evaluation.run import tell
from nexus.place import Place
from nexus.recall.iterate import bridged, leads_in, merged

LIMIT = 30
Scores = dict[str, dict[str, list[tuple[float, ...]]]]


def keys(found: Found) -> list[str]:
    return list(dict.fromkeys(key for hit in found for key in hit.event_keys))


def by_names(place: Place, people: Sequence[str], question: str) -> Iterator[tuple[str, Found]]:
    """Once, and with the names of the best hits."""
    first = place.recall(question, limit=LIMIT)
    yield "once", first
    names = leads_in(place._parts.store, place.grant, question, first, people)
    rounds = [place.recall(bridged(question, first, names), limit=LIMIT)] if names else []
    for kept in (10, 8, 5):
        yield f"names, {kept} kept", merged(first, rounds, kept=kept)


def by_steps(place: Place, one: str, two: str) -> Iterator[tuple[str, Found]]:
    """Two questions in one, and each for itself."""
    first = place.recall(f"{one} {two}", limit=LIMIT)
    yield "both at once", first
    rounds = [place.recall(each, limit=LIMIT) for each in (one, two)]
    for kept in (10, 7, 5, 3, 0):
        yield f"steps, {kept} kept", merged(first, rounds, kept=kept)


def ask(place: Place, conversation: Conversation, scores: Scores) -> None:
    asked = [each for each in conversation.scored if each.gold]
    for question in asked:
        for way, found in by_names(place, conversation.people, question.text):
            _note(scores, way, question.category, keys(found), question.gold)
    simple = [each for each in asked if each.category == "single-hop"]
    for one, two in list(pairwise(simple))[::2]:
        for way, found in by_steps(place, one.text, two.text):
            _note(scores, way, "pairs", keys(found), one.gold | two.gold)


def _note(
    scores: Scores, way: str, category: str, found: Sequence[str], gold: frozenset[str]
) -> None:
    score = tuple(measure(k, found, gold) for k in (10, 20) for measure in (recall_at, all_at))
    for name in (category, "all") if category != "pairs" else (category,):
        scores[way][name].append(score)


def main(data: Path, most: int) -> None:
    scores: Scores = defaultdict(lambda: defaultdict(list))
    with (
        TemporaryDirectory() as folder,
        Nexus.open(Path(folder, "memory.db"), settings=Settings(), background=False) as nexus,
    ):
        for conversation in read_benchmark("locomo", data)[:most]:
            ask(tell(nexus, conversation.name, conversation), conversation, scores)
            print(f"{conversation.name}: R@10/all@10/R@20/all@20 (questions)", flush=True)
            for way, categories in scores.items():
                figures = (f"{name} {_mean(got)}" for name, got in sorted(categories.items()))
                print(f"  {way:18} {', '.join(figures)}", flush=True)


def _mean(got: Sequence[tuple[float, ...]]) -> str:
    means = (sum(column) / len(got) for column in zip(*got, strict=True))
    return "/".join(f"{100 * each:.1f}" for each in means) + f" ({len(got)})"


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 100)
