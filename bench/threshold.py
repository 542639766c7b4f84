"""What a score is worth: how many questions a threshold answers, and how many it rightly refuses.

    python bench/threshold.py --data FOLDER

Questions about a conversation are asked of that conversation, and the same questions of
conversations about something else, where nothing relevant was ever said. A useful threshold
keeps the first and refuses the second.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from rich.progress import track

from nexus import Place
from nexus.config import Settings
from nexus.evaluation.dataset import Conversation
from nexus.evaluation.evaluate import memory
from nexus.evaluation.read import read_benchmark
from nexus.evaluation.run import tell

RESULTS = Path(__file__).parent / "results" / "threshold.json"
THRESHOLDS = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45)
EACH = 20  # questions about every conversation


def best_score(room: Place, question: str) -> float:
    found = room.recall(question, limit=1)
    return found[0].score if found else 0.0


def asked(talks: Sequence[Conversation]) -> Iterator[str]:
    chance = random.Random(1)
    for talk in talks:
        questions = [question.text for question in talk.answerable]
        yield from chance.sample(questions, min(EACH, len(questions)))


def measure(kinds: Sequence[Sequence[Conversation]]) -> dict[str, list[float]]:
    """The best score of every question, at home and among strangers."""
    scores: dict[str, list[float]] = {"at home": [], "elsewhere": []}
    for number, talks in enumerate(kinds):
        strange = list(asked([talk for other in kinds if other is not talks for talk in other]))
        for talk in track(talks, description=f"conversations, kind {number + 1}"):
            with ExitStack() as stack:
                room = tell(stack.enter_context(memory(Settings())), "bench", talk)
                scores["at home"] += [best_score(room, question) for question in asked([talk])]
                scores["elsewhere"] += [best_score(room, question) for question in strange]
    return scores


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the benchmark data")
    folder = parser.parse_args().data
    scores = measure([read_benchmark("locomo", folder), read_benchmark("beam", folder)])
    home, elsewhere = scores["at home"], scores["elsewhere"]
    results = {
        "questions": {name: len(values) for name, values in scores.items()},
        "thresholds": {
            str(threshold): {
                "answered at home": sum(score >= threshold for score in home) / len(home),
                "refused elsewhere": sum(s < threshold for s in elsewhere) / len(elsewhere),
            }
            for threshold in THRESHOLDS
        },
    }
    text = json.dumps(results, indent=2)
    print(text)
    RESULTS.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
