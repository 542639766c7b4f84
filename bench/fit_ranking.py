"""Fit the weights of `nexusmem.recall.ranking.weights` and evaluate them by cross-validation.

    python bench/fit_ranking.py --data FOLDER

Listwise fit: the weighted sums of a question become a softmax over its candidates. Adam with a
small ridge penalty raises the likelihood of the gold candidates. Weights of the text features
are fitted on the head of the ranking, which the static weights select. A BEAM question counts as
three LoCoMo questions, because LoCoMo has seven times as many. The script prints metrics of
conversations left out of the fit, then the weights of `nexusmem.recall.ranking.weights`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import numpy as np
from rich.progress import track

from nexusmem.config.settings import EmbeddingSettings, Settings
from nexusmem.core.records.projections import Candidate
from nexusmem.embedders.builtin import match_words
from nexusmem.evaluation.benchmarks import BenchmarkConversation, BenchmarkQuestion, read_benchmark
from nexusmem.evaluation.evaluate import open_memory
from nexusmem.evaluation.run import compute_metrics, index_conversation
from nexusmem.recall.query import SearchSettings, make_query
from nexusmem.recall.question_analysis import QuestionAnalysis
from nexusmem.recall.ranking import features as text_features
from nexusmem.recall.ranking.candidates import CandidateCollector
from nexusmem.recall.ranking.contextual import diversify
from nexusmem.recall.ranking.features import FEATURE_NAMES
from nexusmem.recall.ranking.weights import (
    LENGTH_DEPENDENT,
    SENTENCE_WEIGHTS,
    STATIC_WEIGHTS,
    Weights,
    length_factor,
)
from nexusmem.recall.strategy_run import QuestionPreparer
from nexusmem.wiring.ranking import make_strategies

STEPS, RATE, RIDGE = 400, 0.05, 3e-4
BEAM_COUNTS = 3
# A free fit gives nearly twice this value, without gain on conversations left out. With few
# messages, a short unrelated message would then rank above a long answer.
LENGTH_WEIGHT = -1.5
NO_FIXED_WEIGHTS: Mapping[str, float] = {}
SHOWN = ("recall@5", "recall@10", "all@10")


@dataclass
class Case:
    """One question: features of its candidates, and which candidates are gold."""

    question: BenchmarkQuestion
    sessions: dict[str, str]
    analysis: QuestionAnalysis
    candidates: Sequence[Candidate]
    features: np.ndarray  # LENGTH_DEPENDENT columns repeat, times the length factor
    texts: list[str]
    keys: list[str]

    def head(self, static_weights: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Split the candidate positions, ranked by the first-stage weights, after `count`."""
        return np.split(np.argsort(-(self.features @ static_weights), kind="stable"), [count])

    def features_with_text(self, positions: np.ndarray) -> np.ndarray:
        """Return the feature columns of these candidates, text features included."""
        texts = [self.texts[position] for position in positions]
        person = self.analysis.person
        by_person = [
            person is not None and self.candidates[position].speaker == person
            for position in positions
        ]
        interaction = match_words(self.analysis.embedding_text, texts).scores
        columns = text_features.compute_text_features(
            self.analysis.core_text, texts, interaction, by_person
        )
        return np.column_stack([self.features[positions], columns])

    @property
    def gold(self) -> np.ndarray:
        return np.array([key in self.question.gold for key in self.keys], dtype=float)

    @property
    def counts(self) -> int:
        return BEAM_COUNTS if "beam" in case_kinds(self) else 1


def build_cases(conversation: BenchmarkConversation, embedder: str) -> list[Case]:
    """Index a conversation and return one case per answerable question."""
    settings = Settings(embeddings=EmbeddingSettings(provider=embedder))
    with open_memory(settings) as nexus:
        room = index_conversation(nexus, "bench", conversation)
        parts = nexus._parts
        collector = CandidateCollector(
            parts.store,
            parts.embedder,
            QuestionPreparer(parts.embedder.embed_query),
            make_strategies(SearchSettings().strategies, parts.store, parts.embedder),
        )
        cases = []
        for question in conversation.answerable_questions:
            people = [person.value for person in room.viewer.people]
            query = make_query(question.text, limit=100, threshold=0.0, people=people)
            pool, _ = collector.collect_candidates(room.grant, query)
            ids = [each.id for each in pool.candidates]
            memories = {each.id: each for each in parts.store.memories.get(room.grant, ids)}
            sources = [memories[id].sources[0] for id in ids]
            keys = parts.store.ledger.load_keys(room.grant, sources)
            features = pool.build_features()
            length_columns = features[:, [FEATURE_NAMES.index(name) for name in LENGTH_DEPENDENT]]
            columns = np.column_stack(
                [features, length_columns * length_factor(len(pool.analysis.terms))]
            )
            texts = [memories[id].text for id in ids]
            message_keys = [keys[source] for source in sources]
            common = (question, conversation.session_by_key, pool.analysis, pool.candidates)
            cases.append(Case(*common, columns, texts, message_keys))
        return cases


def fit(
    data: Sequence[tuple[np.ndarray, np.ndarray, int]],
    fixed_weights: Mapping[str, float] = NO_FIXED_WEIGHTS,
) -> np.ndarray:
    """Return one weight per column.

    Each item of `data` holds the columns of a question's candidates, 1 for gold rows, and the
    question's count. `fixed_weights` fixes the weights of named features.
    """
    columns = np.concatenate([each for each, _, _ in data])
    target = np.concatenate([gold / gold.sum() for _, gold, _ in data])
    sizes = np.array([len(gold) for _, gold, _ in data])
    starts = np.cumsum(sizes) - sizes
    counts = np.array([count for _, _, count in data], float)
    counts = np.repeat(counts / counts.sum(), sizes)
    weights, first, second = np.zeros((3, columns.shape[1]))
    fixed_columns = [FEATURE_NAMES.index(name) for name in fixed_weights]
    weights[fixed_columns] = list(fixed_weights.values())
    for step in range(1, STEPS + 1):
        sums = columns @ weights
        probabilities = np.exp(sums - np.repeat(np.maximum.reduceat(sums, starts), sizes))
        probabilities /= np.repeat(np.add.reduceat(probabilities, starts), sizes)
        gradient = RIDGE * weights + columns.T @ ((probabilities - target) * counts)
        gradient[fixed_columns] = 0
        first = 0.9 * first + 0.1 * gradient
        second = 0.99 * second + 0.01 * gradient**2
        scaled = first / (1 - 0.9**step) / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
        weights = weights - RATE * scaled
    return weights


def fit_both(cases: Sequence[Case], depth: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the first-stage weights and the weights of the head with text features."""
    static_weights = fit(
        [(case.features, case.gold, case.counts) for case in cases if case.gold.any()]
    )
    heads = [(case, case.head(static_weights, depth)[0]) for case in cases]
    with_gold = [(case, head) for case, head in heads if case.gold[head].any()]
    rows = [
        (case.features_with_text(head), case.gold[head], case.counts) for case, head in with_gold
    ]
    text_weights = fit(rows, fixed_weights={"length": LENGTH_WEIGHT})
    return static_weights, text_weights


def rank_keys(
    case: Case, static_weights: np.ndarray, text_weights: np.ndarray, weights: Weights
) -> list[str]:
    """Return the message keys in the order these weights rank them."""
    head, rest = case.head(static_weights, weights.text_depth)
    sums = np.full(len(case.keys), -np.inf)
    sums[head] = case.features_with_text(head) @ text_weights
    ranked = sorted(head.tolist(), key=lambda position: -sums[position])
    best = diversify(ranked, sums, case.candidates, weights.repeat_penalty)
    return list(dict.fromkeys(case.keys[position] for position in (*best, *rest)))


def format_metrics(name: str, cases: Sequence[Case], orders: Sequence[list[str]]) -> str:
    """Return recall by message and by session over the questions of some conversations."""
    turns, sessions = [], []
    for case, keys in zip(cases, orders, strict=True):
        folded = list(dict.fromkeys(case.sessions[key] for key in keys))
        turns.append(compute_metrics(keys, case.question.gold))
        sessions.append(compute_metrics(folded, case.question.gold_sessions))
    shown = [
        " / ".join(f"{mean(each[figure] for each in level):.3f}" for figure in SHOWN)
        for level in (turns, sessions)
    ]
    return f"{name}: {shown[0]}, sessions {shown[1]}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with the benchmark data")
    parser.add_argument("--embedder", default="builtin", help="embedder: builtin, minilm or local")
    options = parser.parse_args()
    folder = options.data
    conversations = [*read_benchmark("locomo", folder), *read_benchmark("beam", folder)]
    groups = [
        build_cases(conversation, options.embedder)
        for conversation in track(conversations, description="collecting candidates")
    ]
    weights = STATIC_WEIGHTS if options.embedder == "builtin" else SENTENCE_WEIGHTS
    print(f"left out of the fit: {' / '.join(SHOWN)}")
    held_out = [pair for each in cross_validate(groups, conversations, weights) for pair in each]
    print_metrics(held_out)
    all_cases = [case for group in groups for case in group]
    static_weights, text_weights = fit_both(all_cases, weights.text_depth)
    print("fitted on all conversations:")
    print_metrics(
        [(case, rank_keys(case, static_weights, text_weights, weights)) for case in all_cases]
    )
    width = len(FEATURE_NAMES) + len(LENGTH_DEPENDENT)
    pairs = np.column_stack([static_weights, text_weights[:width]]).tolist()
    more = dict(zip(LENGTH_DEPENDENT, pairs[len(FEATURE_NAMES) :], strict=True))
    for name, pair in zip(FEATURE_NAMES, pairs, strict=False):
        row = ", ".join(f"{number:.2f}" for number in (*pair, *more.get(name, ())))
        print(f'    "{name}": ({row}),')
    for name, number in zip(text_features.TEXT_FEATURE_NAMES, text_weights[width:], strict=True):
        print(f'    "{name}": {number:.2f},')


def print_metrics(pairs: Sequence[tuple[Case, list[str]]]) -> None:
    for name in ("locomo", "multi-hop", "beam"):
        chosen = [(case, keys) for case, keys in pairs if name in case_kinds(case)]
        print(format_metrics(name, *zip(*chosen, strict=True)))


def cross_validate(
    groups: Sequence[Sequence[Case]],
    conversations: Sequence[BenchmarkConversation],
    weights: Weights,
) -> Iterator[list[tuple[Case, list[str]]]]:
    """Yield the results of each conversation, ranked by weights fitted on all others."""
    for number, (group, conversation) in enumerate(zip(groups, conversations, strict=True)):
        rest = [case for n, each in enumerate(groups) if n != number for case in each]
        static_weights, text_weights = fit_both(rest, weights.text_depth)
        orders = [rank_keys(case, static_weights, text_weights, weights) for case in group]
        print(format_metrics(conversation.name, group, orders), flush=True)
        yield list(zip(group, orders, strict=True))


def case_kinds(case: Case) -> tuple[str, str]:
    """Return the benchmark of the case and the category of its question."""
    beam = case.question.id.startswith("beam")
    return "beam" if beam else "locomo", case.question.category


if __name__ == "__main__":
    main()
