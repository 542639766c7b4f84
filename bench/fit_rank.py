"""Fit the weights of `nexus.recall.rank`, and say how they do on conversations left out.

    python bench/fit_rank.py --data FOLDER

Listwise: for each question the weighted sums become a softmax over its candidates, and the
likelihood of the gold ones is raised (Adam, a little ridge). All conversations of LoCoMo's
development set and twice those of BEAM's count together.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import numpy as np
from rich.progress import track

from nexus.config import EmbeddingSettings, Settings
from nexus.core.candidate import Candidate
from nexus.embedders.interaction import interaction
from nexus.evaluation.dataset import Conversation
from nexus.evaluation.evaluate import memory
from nexus.evaluation.read import read_benchmark
from nexus.evaluation.run import tell
from nexus.ranking import make_strategies
from nexus.recall.asked import Asker
from nexus.recall.features import NAMES, standing
from nexus.recall.gather import Gatherer
from nexus.recall.query import Search, make_query
from nexus.recall.rank import CLOSER, spread

STEPS, RATE, RIDGE = 200, 0.05, 1e-4


@dataclass
class Case:
    """One question: its candidates as numbers, and which of them are gold."""

    candidates: Sequence[Candidate]
    features: np.ndarray
    closeness: np.ndarray
    keys: list[str]
    gold: frozenset[str]

    def columns(self, *, closer: bool) -> np.ndarray:
        if not closer:
            return self.features
        return np.column_stack([self.features, standing(self.closeness.tolist())])

    @property
    def target(self) -> np.ndarray:
        hit = np.array([key in self.gold for key in self.keys], dtype=float)
        return hit / hit.sum() if hit.sum() else hit


def cases(conversation: Conversation, embedder: str) -> list[Case]:
    settings = Settings(embeddings=EmbeddingSettings(provider=embedder))
    with memory(settings) as nexus:
        room = tell(nexus, "bench", conversation)
        parts = nexus._parts
        gatherer = Gatherer(
            parts.store,
            parts.embedder,
            Asker(parts.embedder.query),
            make_strategies(Search().strategies, parts.store, parts.embedder),
        )
        found = []
        for question in conversation.answerable:
            people = [person.value for person in room.viewer.people]
            query = make_query(question.text, limit=100, threshold=0.0, people=people)
            pool, _ = gatherer.gather(room.grant, query)
            ids = [each.id for each in pool.candidates]
            memories = {each.id: each for each in parts.store.memories.get(room.grant, ids)}
            sources = [memories[id].sources[0] for id in ids]
            keys = parts.store.ledger.keys(room.grant, sources)
            close = interaction(pool.understood.meaning, [memories[id].text for id in ids])
            named = [keys[source] for source in sources]
            found.append(
                Case(pool.candidates, pool.features(), np.array(close), named, question.gold)
            )
        return found


def fit(groups: Sequence[Sequence[Case]], *, closer: bool) -> np.ndarray:
    usable = [case for group in groups for case in group if case.target.any()]
    data = [(case.columns(closer=closer), case.target) for case in usable]
    weights, first, second = (np.zeros(data[0][0].shape[1]) for _ in range(3))
    for step in range(1, STEPS + 1):
        slope = RIDGE * weights
        for columns, target in data:
            sums = columns @ weights
            chances = np.exp(sums - sums.max())
            slope += columns.T @ (chances / chances.sum() - target) / len(data)
        first = 0.9 * first + 0.1 * slope
        second = 0.99 * second + 0.01 * slope**2
        scaled = first / (1 - 0.9**step) / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
        weights = weights - RATE * scaled
    return weights


def recall_at_ten(group: Sequence[Case], sight: np.ndarray, look: np.ndarray) -> float:
    shares = []
    for case in group:
        order = np.argsort(-(case.features @ sight), kind="stable")
        head = order[:CLOSER]
        seen = np.column_stack([case.features[head], standing(case.closeness[head].tolist())])
        sums = np.full(len(order), -np.inf)
        sums[head] = seen @ look
        best = spread(sorted(head.tolist(), key=lambda place: -sums[place]), sums, case.candidates)
        keys = list(dict.fromkeys(case.keys[place] for place in (*best, *order[CLOSER:])))
        shares.append(len(case.gold & set(keys[:10])) / len(case.gold))
    return mean(shares)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the benchmark data")
    parser.add_argument("--embedder", default="builtin", help="builtin | minilm")
    options = parser.parse_args()
    folder = options.data
    talks = [*read_benchmark("locomo", folder), *read_benchmark("beam", folder)]
    groups = [cases(talk, options.embedder) for talk in track(talks, description="gathering")]
    weight = [1 if not talk.name.startswith("beam") else 2 for talk in talks]
    for left_out, talk in enumerate(talks):
        rest = [g for n, g in enumerate(groups) if n != left_out for _ in range(weight[n])]
        sight, look = fit(rest, closer=False), fit(rest, closer=True)
        print(f"{talk.name}: R@10 {recall_at_ten(groups[left_out], sight, look):.3f} when left out")
    every = [group for number, group in enumerate(groups) for _ in range(weight[number])]
    sight, look = fit(every, closer=False), fit(every, closer=True)
    for name, one, two in zip(NAMES, sight, look, strict=False):
        print(f'    "{name}": ({one:.2f}, {two:.2f}),')
    print(f"CLOSER_WEIGHT = {look[-1]:.2f}")


if __name__ == "__main__":
    main()
