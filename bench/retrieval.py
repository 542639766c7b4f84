"""How much of the evidence is found, through the production path, without a model.

    python bench/retrieval.py [--data FOLDER]

R@k: share of a question's gold messages among the first k, averaged over questions. all@k: all
of them. The same folded to sessions. Unit: one message. LoCoMo: five development
conversations, categories 1 to 4, by turn. BEAM: six conversations of 100K tokens, all
questions that name their sources.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path
from statistics import mean, median

from rich.progress import track

from conversations import Conversation, beam, data_folder, locomo, told

RESULTS = Path(__file__).parent / "results" / "retrieval.json"


def measure(conversations: list[Conversation], ranking: str, what: str) -> dict[str, object]:
    scores: dict[str, list[float]] = defaultdict(list)
    by_category: dict[str, list[float]] = defaultdict(list)
    times = []
    for conversation in track(conversations, description=f"{what}, {ranking}"):
        nexus, room = told(conversation, ranking)
        with nexus:
            for question in conversation.questions:
                found = room.recall(question.text, limit=100)
                times.append(found.seconds * 1_000)
                keys = [hit.event_keys[0] for hit in found]
                count(scores, keys, question.gold, "")
                by_category[question.category].append(share(keys[:10], question.gold))
                sessions = conversation.sessions
                folded = list(dict.fromkeys(sessions[key] for key in keys))
                gold = frozenset(sessions[key] for key in question.gold)
                count(scores, folded, gold, "session ")
    return {
        "questions": len(times),
        **{name: round(mean(values), 4) for name, values in scores.items()},
        "R@10 by category": {name: round(mean(v), 3) for name, v in sorted(by_category.items())},
        "p50_ms": round(median(times), 1),
    }


def count(scores: dict[str, list[float]], found: list[str], gold: frozenset[str], of: str) -> None:
    for depth in (5, 10):
        scores[f"{of}R@{depth}"].append(share(found[:depth], gold))
    scores[f"{of}all@10"].append(float(gold <= set(found[:10])))


def share(found: list[str], gold: frozenset[str]) -> float:
    return len(gold & set(found)) / len(gold)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="folder of the benchmark data")
    folder = data_folder(parser.parse_args().data)
    sets = {"LoCoMo": locomo(folder), "BEAM 100K": beam(folder)}
    results = {
        f"{what}, {ranking}": measure(conversations, ranking, what)
        for what, conversations in sets.items()
        for ranking in ("fused", "contextual")
    }
    text = json.dumps(results, indent=2)
    print(text)
    RESULTS.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
