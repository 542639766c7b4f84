"""Fit the weights of `nexus.recall.weights`, and say how they do on conversations left out.

    python bench/fit_rank.py --data FOLDER

Listwise: for each question the weighted sums become a softmax over its candidates, and the
likelihood of the gold ones is raised (Adam, a little ridge). All conversations of LoCoMo's
development set and twice those of BEAM's count together. Figures are printed of conversations
left out of the fit, and then the weights of `nexus.recall.weights`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import numpy as np
from rich.progress import track

from nexus.config import EmbeddingSettings, Settings
from nexus.core.candidate import Candidate
from nexus.embedders.interaction import interaction
from nexus.evaluation.dataset import Conversation, Question
from nexus.evaluation.evaluate import memory
from nexus.evaluation.metrics import measure
from nexus.evaluation.read import read_benchmark
from nexus.evaluation.run import tell
from nexus.ranking import make_strategies
from nexus.recall.asked import Asker
from nexus.recall.features import NAMES, standing
from nexus.recall.gather import Gatherer
from nexus.recall.query import Search, make_query
from nexus.recall.rank import CLOSER, spread
from nexus.recall.weights import LONGER, READS_SENTENCES, STATIC, longer

STEPS, RATE, RIDGE = 200, 0.05, 1e-4
SHOWN = ("recall@5", "recall@10", "all@10")


@dataclass
class Case:
    """One question: its candidates as numbers, and which of them are gold."""

    question: Question
    sessions: dict[str, str]
    candidates: Sequence[Candidate]
    features: np.ndarray  # and those of LONGER once more, times how long the question is
    closeness: np.ndarray
    keys: list[str]

    def columns(self, *, closer: bool) -> np.ndarray:
        return self.seen(np.arange(len(self.keys))) if closer else self.features

    def seen(self, places: np.ndarray) -> np.ndarray:
        """The columns of these with a closer look."""
        wording = standing(self.closeness[places].tolist())
        return np.column_stack([self.features[places], wording])

    @property
    def target(self) -> np.ndarray:
        hit = np.array([key in self.question.gold for key in self.keys], dtype=float)
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
            features = pool.features()
            times = features[:, [NAMES.index(name) for name in LONGER]]
            wide = np.column_stack([features, times * longer(len(pool.understood.terms))])
            sessions = conversation.sessions
            found.append(Case(question, sessions, pool.candidates, wide, np.array(close), named))
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


def found(case: Case, sight: np.ndarray, look: np.ndarray, again: float) -> list[str]:
    """The keys of messages in the order these weights put them in."""
    order = np.argsort(-(case.features @ sight), kind="stable")
    head = order[:CLOSER]
    sums = np.full(len(order), -np.inf)
    sums[head] = case.seen(head) @ look
    closely = sorted(head.tolist(), key=lambda place: -sums[place])
    best = spread(closely, sums, case.candidates, again)
    return list(dict.fromkeys(case.keys[place] for place in (*best, *order[CLOSER:])))


def figures(name: str, cases: Sequence[Case], orders: Sequence[list[str]]) -> str:
    """Recall by message and by session, over all questions of some conversations."""
    turns, sessions = [], []
    for case, keys in zip(cases, orders, strict=True):
        folded = list(dict.fromkeys(case.sessions[key] for key in keys))
        turns.append(measure(keys, case.question.gold))
        sessions.append(measure(folded, case.question.gold_sessions))
    shown = [
        " / ".join(f"{mean(each[figure] for each in level):.3f}" for figure in SHOWN)
        for level in (turns, sessions)
    ]
    return f"{name}: {shown[0]}, sessions {shown[1]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the benchmark data")
    parser.add_argument("--embedder", default="builtin", help="builtin | minilm")
    options = parser.parse_args()
    folder = options.data
    talks = [*read_benchmark("locomo", folder), *read_benchmark("beam", folder)]
    groups = [cases(talk, options.embedder) for talk in track(talks, description="gathering")]
    weight = [1 if not talk.name.startswith("beam") else 2 for talk in talks]
    print(f"left out of the fit: {' / '.join(SHOWN)}")
    again = (STATIC if options.embedder == "builtin" else READS_SENTENCES).again
    left = [pair for each in left_out(groups, weight, talks, again) for pair in each]
    for name in ("locomo", "multi-hop", "beam"):
        chosen = [(case, keys) for case, keys in left if name in kinds(case)]
        print(figures(name, *zip(*chosen, strict=True)))
    every = [group for number, group in enumerate(groups) for _ in range(weight[number])]
    sight, look = fit(every, closer=False), fit(every, closer=True)
    pairs = np.column_stack([sight, look[:-1]]).tolist()
    more = dict(zip(LONGER, pairs[len(NAMES) :], strict=True))
    for name, pair in zip(NAMES, pairs, strict=False):
        row = ", ".join(f"{number:.2f}" for number in (*pair, *more.get(name, ())))
        print(f'    "{name}": ({row}),')
    print(f"wording={look[-1]:.2f}")


def left_out(
    groups: Sequence[Sequence[Case]],
    weight: Sequence[int],
    talks: Sequence[Conversation],
    again: float,
) -> Iterator[list[tuple[Case, list[str]]]]:
    """Each conversation in turn, put in order by weights fitted on the others."""
    for number, (group, talk) in enumerate(zip(groups, talks, strict=True)):
        rest = [g for n, g in enumerate(groups) if n != number for _ in range(weight[n])]
        sight, look = fit(rest, closer=False), fit(rest, closer=True)
        orders = [found(case, sight, look, again) for case in group]
        print(figures(talk.name, group, orders), flush=True)
        yield list(zip(group, orders, strict=True))


def kinds(case: Case) -> tuple[str, str]:
    """Its benchmark, and the category of its question."""
    beam = case.question.id.startswith("beam")
    return "beam" if beam else "locomo", case.question.category


if __name__ == "__main__":
    main()
