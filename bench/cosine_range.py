"""Range of an embedder's cosines: of random pairs, of questions and answers, of paraphrases.

    python bench/cosine_range.py --data FOLDER [--provider local] [--model gte-small]

Prints percentiles of the cosines in LoCoMo, and what the range of the embedding profile makes of
them. A range fits if unrelated texts are near 0 and paraphrases near 0.9.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from rich.progress import track

from nexusmem.config.settings import EmbeddingSettings, load_settings
from nexusmem.core.protocols.embedder import Embedder, TextRole, embed_texts
from nexusmem.evaluation.benchmarks import BenchmarkConversation, read_benchmark
from nexusmem.wiring.providers import make_embedder

TURNS, QUESTIONS = 80, 40  # sampled per conversation
PERCENTILES = (5, 25, 50, 75, 95)
PARAPHRASES = (
    ("The standup is at nine every weekday.", "We meet for standup at 9 on workdays."),
    ("Alice works at Acme as an engineer.", "Alice is employed by Acme; she is an engineer."),
    ("We decided to use PostgreSQL for the ledger.", "The team chose PostgreSQL for the ledger."),
    ("Send the invoice to the client.", "The client needs to be sent the invoice."),
    ("My sister lives in Lisbon.", "Lisbon is where my sister lives."),
    ("The deploy failed because the disk was full.", "A full disk made the deployment fail."),
    ("I am allergic to peanuts.", "Peanuts give me an allergic reaction."),
    ("Bob bought a new electric car.", "Bob purchased an electric vehicle."),
    ("The kids start school in September.", "School begins for the children in September."),
    ("Please book the flights to Rome.", "Can you reserve plane tickets to Rome?"),
)


def measure(
    embedder: Embedder, conversations: list[BenchmarkConversation]
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the name of each kind of pair and the cosines of its pairs."""
    generator = random.Random(1)
    turns, asked, answered = [], [], []
    for conversation in track(conversations, description="embedding"):
        texts = {each.key: f"{each.speaker}: {each.text}" for each in conversation.messages}
        sample = generator.sample(sorted(texts), min(TURNS, len(texts)))
        rows = embedder.embed([texts[key] for key in sample])
        questions = list(conversation.answerable_questions)
        questions = generator.sample(questions, min(QUESTIONS, len(questions)))
        vectors = embed_texts(embedder, [each.text for each in questions], TextRole.QUERY)
        turns.append(off_diagonal(rows @ rows.T))
        asked.append((vectors @ rows.T).ravel())
        for question, vector in zip(questions, vectors, strict=True):
            gold = embedder.embed([texts[key] for key in sorted(question.gold & texts.keys())])
            answered.append((gold @ vector).max(initial=-1.0))
    first, second = (embedder.embed(texts) for texts in zip(*PARAPHRASES, strict=True))
    cosines = first @ second.T
    yield "unrelated sentences", off_diagonal(cosines)
    yield "question, random turn", np.concatenate(asked)
    yield "two turns of a chat", np.concatenate(turns)
    yield "question, its answer", np.array(answered)
    yield "paraphrases", np.diagonal(cosines)


def off_diagonal(cosines: np.ndarray) -> np.ndarray:
    return cosines[~np.eye(len(cosines), dtype=bool)]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with the benchmark data")
    parser.add_argument("--provider", default="builtin")
    parser.add_argument("--model")
    options = parser.parse_args()
    folder = load_settings().embeddings.models_folder
    embedder = make_embedder(
        EmbeddingSettings(provider=options.provider, model=options.model, models_folder=folder)
    )
    calibrate = np.vectorize(embedder.profile.calibrate, otypes=[float])
    print(f"{embedder.profile.name}, percentiles {PERCENTILES}")
    for name, cosines in measure(embedder, list(read_benchmark("locomo", options.data))):
        raw = np.percentile(cosines, PERCENTILES)
        shown = (" ".join(f"{each:6.3f}" for each in values) for values in (raw, calibrate(raw)))
        print(f"{name:24}", *shown, sep="   ")


if __name__ == "__main__":
    main()
