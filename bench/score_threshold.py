"""Score threshold: the share of questions it answers, and the share it correctly refuses.

    python bench/score_threshold.py --data FOLDER

Questions about a conversation are asked in that conversation. The same questions are asked in
conversations of the other benchmark, which hold no relevant messages. A useful threshold answers
the first and refuses the second.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from rich.progress import track

from nexusmem import Place
from nexusmem.config.settings import Settings
from nexusmem.evaluation.benchmarks import BenchmarkConversation, read_benchmark
from nexusmem.evaluation.evaluate import open_memory
from nexusmem.evaluation.run import index_conversation

RESULTS = Path(__file__).parent / "results" / "threshold.json"
THRESHOLDS = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45)
SAMPLE = 20  # questions per conversation


def best_score(room: Place, question: str) -> float:
    """Return the score of the first hit; 0.0 if there is none."""
    hits = room.recall(question, limit=1)
    return hits[0].score if hits else 0.0


def sample_questions(conversations: Sequence[BenchmarkConversation]) -> Iterator[str]:
    """Yield a sample of the questions about each conversation."""
    generator = random.Random(1)
    for conversation in conversations:
        questions = [question.text for question in conversation.answerable_questions]
        yield from generator.sample(questions, min(SAMPLE, len(questions)))


def measure(benchmarks: Sequence[Sequence[BenchmarkConversation]]) -> dict[str, list[float]]:
    """Return the best score of every question, by related and unrelated conversation."""
    scores: dict[str, list[float]] = {"related": [], "unrelated": []}
    for number, conversations in enumerate(benchmarks):
        unrelated_questions = list(
            sample_questions(
                [
                    conversation
                    for other in benchmarks
                    if other is not conversations
                    for conversation in other
                ]
            )
        )
        for conversation in track(
            conversations, description=f"conversations, benchmark {number + 1}"
        ):
            with ExitStack() as stack:
                room = index_conversation(
                    stack.enter_context(open_memory(Settings())), "bench", conversation
                )
                scores["related"] += [
                    best_score(room, question) for question in sample_questions([conversation])
                ]
                scores["unrelated"] += [
                    best_score(room, question) for question in unrelated_questions
                ]
    return scores


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with the benchmark data")
    folder = parser.parse_args().data
    scores = measure([read_benchmark("locomo", folder), read_benchmark("beam", folder)])
    related, unrelated = scores["related"], scores["unrelated"]
    results = {
        "questions": {name: len(values) for name, values in scores.items()},
        "thresholds": {
            str(threshold): {
                "answered, related": sum(score >= threshold for score in related) / len(related),
                "refused, unrelated": sum(s < threshold for s in unrelated) / len(unrelated),
            }
            for threshold in THRESHOLDS
        },
    }
    text = json.dumps(results, indent=2)
    print(text)
    RESULTS.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
