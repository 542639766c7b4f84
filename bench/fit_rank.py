"""Fit the weights of `nexus.recall.weights`, and say how they do on conversations left out.

    python bench/fit_rank.py --data FOLDER

Listwise: for each question the weighted sums become a softmax over its candidates, and the
likelihood of the gold ones is raised (Adam, a little ridge). Weights of the closer look are fitted
on those who get one, as the weights of the first sight choose them. A question of BEAM counts as
much as three of LoCoMo: there are seven times as many of those. Figures are printed of
conversations left out of the fit, and then the weights of `nexus.recall.weights`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
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
from nexus.recall import closely
from nexus.recall.asked import Asker
from nexus.recall.features import NAMES
from nexus.recall.gather import Gatherer
from nexus.recall.query import Search, make_query
from nexus.recall.rank import spread
from nexus.recall.understand import Understood
from nexus.recall.weights import LONGER, READS_SENTENCES, STATIC, Weights, longer

STEPS, RATE, RIDGE = 400, 0.05, 3e-4
BEAM_COUNTS = 3
# Fitted freely it is nearly twice that, and conversations left out gain nothing by it; but among
# few messages a short one about something else would stand above a long one that answers.
SHORTER = -1.5
FREELY: Mapping[str, float] = {}
SHOWN = ("recall@5", "recall@10", "all@10")


@dataclass
class Case:
    """One question: its candidates as numbers, and which of them are gold."""

    question: Question
    sessions: dict[str, str]
    understood: Understood
    candidates: Sequence[Candidate]
    features: np.ndarray  # and those of LONGER once more, times how long the question is
    texts: list[str]
    keys: list[str]

    def head(self, sight: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Places in the order of the first sight: those that get a closer look, and the rest."""
        return np.split(np.argsort(-(self.features @ sight), kind="stable"), [count])

    def seen(self, places: np.ndarray) -> np.ndarray:
        """The columns of these with a closer look."""
        texts = [self.texts[place] for place in places]
        person = self.understood.person
        asked = [
            person is not None and self.candidates[place].speaker == person for place in places
        ]
        close = interaction(self.understood.meaning, texts)
        look = closely.look(self.understood.matter, texts, close, asked)
        return np.column_stack([self.features[places], look])

    @property
    def gold(self) -> np.ndarray:
        return np.array([key in self.question.gold for key in self.keys], dtype=float)

    @property
    def counts(self) -> int:
        return BEAM_COUNTS if "beam" in kinds(self) else 1


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
            features = pool.features()
            times = features[:, [NAMES.index(name) for name in LONGER]]
            wide = np.column_stack([features, times * longer(len(pool.understood.terms))])
            texts = [memories[id].text for id in ids]
            named = [keys[source] for source in sources]
            about = (question, conversation.sessions, pool.understood, pool.candidates)
            found.append(Case(*about, wide, texts, named))
        return found


def fit(
    data: Sequence[tuple[np.ndarray, np.ndarray, int]], held: Mapping[str, float] = FREELY
) -> np.ndarray:
    """Weights for columns, given which rows are gold and how much each question counts."""
    columns = np.concatenate([each for each, _, _ in data])
    target = np.concatenate([gold / gold.sum() for _, gold, _ in data])
    sizes = np.array([len(gold) for _, gold, _ in data])
    starts = np.cumsum(sizes) - sizes
    counts = np.array([count for _, _, count in data], float)
    counts = np.repeat(counts / counts.sum(), sizes)
    weights, first, second = np.zeros((3, columns.shape[1]))
    fixed = [NAMES.index(name) for name in held]
    weights[fixed] = list(held.values())
    for step in range(1, STEPS + 1):
        sums = columns @ weights
        chances = np.exp(sums - np.repeat(np.maximum.reduceat(sums, starts), sizes))
        chances /= np.repeat(np.add.reduceat(chances, starts), sizes)
        slope = RIDGE * weights + columns.T @ ((chances - target) * counts)
        slope[fixed] = 0
        first = 0.9 * first + 0.1 * slope
        second = 0.99 * second + 0.01 * slope**2
        scaled = first / (1 - 0.9**step) / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
        weights = weights - RATE * scaled
    return weights


def fit_both(cases: Sequence[Case], closer: int) -> tuple[np.ndarray, np.ndarray]:
    """Weights of the first sight, and of a closer look at so many."""
    sight = fit([(case.features, case.gold, case.counts) for case in cases if case.gold.any()])
    heads = [(case, case.head(sight, closer)[0]) for case in cases]
    seen = [(case, head) for case, head in heads if case.gold[head].any()]
    rows = [(case.seen(head), case.gold[head], case.counts) for case, head in seen]
    look = fit(rows, held={"length": SHORTER})
    return sight, look


def found(case: Case, sight: np.ndarray, look: np.ndarray, weights: Weights) -> list[str]:
    """The keys of messages in the order these weights put them in."""
    head, rest = case.head(sight, weights.closer)
    sums = np.full(len(case.keys), -np.inf)
    sums[head] = case.seen(head) @ look
    closely = sorted(head.tolist(), key=lambda place: -sums[place])
    best = spread(closely, sums, case.candidates, weights.again)
    return list(dict.fromkeys(case.keys[place] for place in (*best, *rest)))


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
    weights = STATIC if options.embedder == "builtin" else READS_SENTENCES
    print(f"left out of the fit: {' / '.join(SHOWN)}")
    left = [pair for each in left_out(groups, talks, weights) for pair in each]
    show(left)
    every = [case for group in groups for case in group]
    sight, look = fit_both(every, weights.closer)
    print("fitted on all:")
    show([(case, found(case, sight, look, weights)) for case in every])
    wide = len(NAMES) + len(LONGER)
    pairs = np.column_stack([sight, look[:wide]]).tolist()
    more = dict(zip(LONGER, pairs[len(NAMES) :], strict=True))
    for name, pair in zip(NAMES, pairs, strict=False):
        row = ", ".join(f"{number:.2f}" for number in (*pair, *more.get(name, ())))
        print(f'    "{name}": ({row}),')
    for name, number in zip(closely.NAMES, look[wide:], strict=True):
        print(f'    "{name}": {number:.2f},')


def show(pairs: Sequence[tuple[Case, list[str]]]) -> None:
    for name in ("locomo", "multi-hop", "beam"):
        chosen = [(case, keys) for case, keys in pairs if name in kinds(case)]
        print(figures(name, *zip(*chosen, strict=True)))


def left_out(
    groups: Sequence[Sequence[Case]], talks: Sequence[Conversation], weights: Weights
) -> Iterator[list[tuple[Case, list[str]]]]:
    """Each conversation in turn, put in order by weights fitted on the others."""
    for number, (group, talk) in enumerate(zip(groups, talks, strict=True)):
        rest = [case for n, each in enumerate(groups) if n != number for case in each]
        sight, look = fit_both(rest, weights.closer)
        orders = [found(case, sight, look, weights) for case in group]
        print(figures(talk.name, group, orders), flush=True)
        yield list(zip(group, orders, strict=True))


def kinds(case: Case) -> tuple[str, str]:
    """Its benchmark, and the category of its question."""
    beam = case.question.id.startswith("beam")
    return "beam" if beam else "locomo", case.question.category


if __name__ == "__main__":
    main()
