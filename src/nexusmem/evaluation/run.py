"""Benchmark run: index conversations, recall each question and compute retrieval metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from math import ceil, log2
from time import perf_counter

from ..client import Nexus
from ..core.errors import EmbedderUnavailable
from ..core.records import Hits
from ..place.place import Place
from ..runtime.progress import ProgressCallback
from .benchmarks import BenchmarkConversation, BenchmarkQuestion

DEPTHS = (1, 3, 5, 10, 20, 50)


Gold = frozenset[str]


def any_at(k: int, results: Sequence[str], gold: Gold) -> float:
    """Return 1 if any gold item is among the first k results, else 0."""
    return float(not gold.isdisjoint(results[:k]))


def all_at(k: int, results: Sequence[str], gold: Gold) -> float:
    """Return 1 if all gold items are among the first k results, else 0."""
    return float(gold.issubset(results[:k]))


def recall_at(k: int, results: Sequence[str], gold: Gold) -> float:
    """Return the share of gold items among the first k results."""
    return len(gold.intersection(results[:k])) / len(gold)


def ndcg_at(k: int, results: Sequence[str], gold: Gold) -> float:
    """Return the normalized discounted cumulative gain, with gains of 1.

    The ideal list starts with min(k, number of gold items) items, so that missing items reduce the
    value.
    """
    gain = sum(_rank_gain(rank) for rank, each in enumerate(results[:k], start=1) if each in gold)
    return gain / sum(map(_rank_gain, range(1, min(k, len(gold)) + 1)))


def _rank_gain(rank: int) -> float:
    return 1 / log2(rank + 1)


def reciprocal_rank(results: Sequence[str], gold: Gold) -> float:
    """Return 1 / rank of the first gold item, or 0 without one. The mean of it is the MRR."""
    return next((1 / rank for rank, each in enumerate(results, start=1) if each in gold), 0.0)


DEPTH_METRICS = {"any": any_at, "all": all_at, "recall": recall_at, "ndcg": ndcg_at}


def compute_metrics(results: Sequence[str], gold: Gold) -> dict[str, float]:
    """Return all metrics of one question: any@1 … ndcg@50, and mrr."""
    by_depth = {
        f"{name}@{k}": at_depth(k, results, gold)
        for name, at_depth in DEPTH_METRICS.items()
        for k in DEPTHS
    }
    return {**by_depth, "mrr": reciprocal_rank(results, gold)}


def gold_ranks(results: Sequence[str], gold: Gold) -> dict[str, int | None]:
    """Return the rank of each gold item, counted from 1; None if it is missing."""
    ranks = {each: rank for rank, each in enumerate(results, start=1)}
    return {each: ranks.get(each) for each in sorted(gold)}


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the percentile by the nearest-rank method."""
    return sorted(values)[ceil(len(values) * percent / 100) - 1]


ROOM_NAME = "talk"


HITS_PER_QUESTION = 100  # enough to fill the ranks of sessions too


MAX_LISTED = 50  # result keys per row


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelResult:
    """The result of one question at message level or session level."""

    gold: tuple[str, ...]
    ranks: dict[str, int | None]
    found: tuple[str, ...]
    metrics: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionResult:
    """The result of one question, without its text. A level without gold is None."""

    id: str
    conversation: str
    category: str
    abstention: bool
    at: datetime | None
    milliseconds: float
    turn: LevelResult | None
    session: LevelResult | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """All results of a run, and the time for indexing."""

    rows: tuple[QuestionResult, ...]
    unscored: int  # skipped questions without evidence
    messages: int
    indexing_seconds: float


def run_benchmark(
    nexus: Nexus,
    conversations: Sequence[BenchmarkConversation],
    *,
    name: str,
    report: ProgressCallback,
) -> RunResult:
    """Run all questions; each conversation has its own workspace, named `name`-1 and so on."""
    scorable = [conversation for conversation in conversations if conversation.scorable_questions]
    total = sum(len(conversation.scorable_questions) for conversation in scorable)
    rows: list[QuestionResult] = []
    seconds = 0.0
    for number, conversation in enumerate(scorable, start=1):
        started = perf_counter()
        place = index_conversation(nexus, f"{name}-{number}", conversation)
        seconds += perf_counter() - started
        sessions = conversation.session_by_key
        for question in conversation.scorable_questions:
            rows.append(_run_question(place, conversation.name, question, sessions))
            report(len(rows), total)
    return RunResult(
        rows=tuple(rows),
        unscored=sum(len(each.questions) - len(each.scorable_questions) for each in conversations),
        messages=sum(len(conversation.messages) for conversation in scorable),
        indexing_seconds=seconds,
    )


def index_conversation(nexus: Nexus, workspace: str, conversation: BenchmarkConversation) -> Place:
    """Store and index all messages of a conversation; return its room.

    Raise EmbedderUnavailable if messages could not be indexed.
    """
    place = nexus.workspace(workspace).room(ROOM_NAME, participants=conversation.people)
    place.observe_many(asdict(message) for message in conversation.messages)
    if stuck := place.flush():
        raise EmbedderUnavailable(f"{stuck} messages of {conversation.name} could not be indexed")
    return place


def _run_question(
    place: Place, conversation: str, question: BenchmarkQuestion, sessions: dict[str, str]
) -> QuestionResult:
    # `question.at` is only reported: recall runs at the current time.
    started = perf_counter()
    hits = place.recall(question.text, limit=HITS_PER_QUESTION)
    milliseconds = (perf_counter() - started) * 1_000
    if hits.degraded:
        raise EmbedderUnavailable(f"recall of {question.id} was degraded: {hits.degraded[0]}")
    keys = _event_keys(hits)
    session_results = list(dict.fromkeys(sessions[key] for key in keys))
    return QuestionResult(
        id=question.id,
        conversation=conversation,
        category=question.category,
        abstention=question.abstention,
        at=question.at,
        milliseconds=round(milliseconds, 3),
        turn=_score_level(keys, question.gold),
        session=_score_level(session_results, question.gold_sessions),
    )


def _event_keys(hits: Hits) -> list[str]:
    """Return the keys of the source messages; a hit with several sources takes several ranks."""
    return list(dict.fromkeys(key for hit in hits for key in hit.event_keys))


def _score_level(results: Sequence[str], gold: frozenset[str]) -> LevelResult | None:
    if not gold:
        return None
    return LevelResult(
        gold=tuple(sorted(gold)),
        ranks=gold_ranks(results, gold),
        found=tuple(results[:MAX_LISTED]),
        metrics=compute_metrics(results, gold),
    )
