"""Multi-step recall: does a second search round find more evidence?

    python bench/multi_step.py LOCOMO.json [conversations]

Every question is asked once, and again with the names from the first hits. Then pairs of
questions are asked as one question, in one search and step by step. The script prints R and all-
evidence metrics at 10 and 20 hits, for several numbers of first hits that keep their ranks.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from nexusmem import Nexus
from nexusmem.config.settings import Settings
from nexusmem.core.records import Hits
from nexusmem.evaluation.benchmarks import BenchmarkConversation, read_benchmark
from nexusmem.evaluation.run import all_at, index_conversation, recall_at
from nexusmem.place.place import Place
from nexusmem.recall.rewriters import bridge_question, find_lead_names, merge_rounds

LIMIT = 30
Scores = dict[str, dict[str, list[tuple[float, ...]]]]


def event_keys(hits: Hits) -> list[str]:
    """Return the event keys of the hits in order, without duplicates."""
    return list(dict.fromkeys(key for hit in hits for key in hit.event_keys))


def search_by_names(
    place: Place, people: Sequence[str], question: str
) -> Iterator[tuple[str, Hits]]:
    """Yield the hits of one search, and of a second search with the names of the best hits."""
    first = place.recall(question, limit=LIMIT)
    yield "one round", first
    names = find_lead_names(place._parts.store, place.grant, question, first, people)
    rounds = [place.recall(bridge_question(question, first, names), limit=LIMIT)] if names else []
    for kept_hits in (10, 8, 5):
        yield f"names, {kept_hits} kept hits", merge_rounds(first, rounds, kept_hits=kept_hits)


def search_by_steps(
    place: Place, first_question: str, second_question: str
) -> Iterator[tuple[str, Hits]]:
    """Yield the hits of two questions in one search, and of one search per question."""
    first = place.recall(f"{first_question} {second_question}", limit=LIMIT)
    yield "one search", first
    rounds = [place.recall(each, limit=LIMIT) for each in (first_question, second_question)]
    for kept_hits in (10, 7, 5, 3, 0):
        yield f"steps, {kept_hits} kept hits", merge_rounds(first, rounds, kept_hits=kept_hits)


def ask_questions(place: Place, conversation: BenchmarkConversation, scores: Scores) -> None:
    """Ask all questions of a conversation and add the metrics to `scores`."""
    questions = [each for each in conversation.scorable_questions if each.gold]
    for question in questions:
        for method, hits in search_by_names(place, conversation.people, question.text):
            _add_score(scores, method, question.category, event_keys(hits), question.gold)
    single_hop = [each for each in questions if each.category == "single-hop"]
    for first_question, second_question in list(pairwise(single_hop))[::2]:
        for method, hits in search_by_steps(place, first_question.text, second_question.text):
            _add_score(
                scores,
                method,
                "pairs",
                event_keys(hits),
                first_question.gold | second_question.gold,
            )


def _add_score(
    scores: Scores, method: str, category: str, hits: Sequence[str], gold: frozenset[str]
) -> None:
    score = tuple(measure(k, hits, gold) for k in (10, 20) for measure in (recall_at, all_at))
    for name in (category, "all") if category != "pairs" else (category,):
        scores[method][name].append(score)


def main(data: Path, limit: int) -> None:
    scores: Scores = defaultdict(lambda: defaultdict(list))
    with (
        TemporaryDirectory() as folder,
        Nexus.open(Path(folder, "memory.db"), settings=Settings(), background=False) as nexus,
    ):
        for conversation in read_benchmark("locomo", data)[:limit]:
            ask_questions(
                index_conversation(nexus, conversation.name, conversation), conversation, scores
            )
            print(f"{conversation.name}: R@10/all@10/R@20/all@20 (questions)", flush=True)
            for method, categories in scores.items():
                figures = (
                    f"{name} {_format_means(values)}" for name, values in sorted(categories.items())
                )
                print(f"  {method:18} {', '.join(figures)}", flush=True)


def _format_means(values: Sequence[tuple[float, ...]]) -> str:
    means = (sum(column) / len(values) for column in zip(*values, strict=True))
    return "/".join(f"{100 * each:.1f}" for each in means) + f" ({len(values)})"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="LoCoMo file or folder")
    parser.add_argument("conversations", type=int, nargs="?", default=100, help="at most this many")
    options = parser.parse_args()
    main(options.data, options.conversations)
