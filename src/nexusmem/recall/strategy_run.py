"""Search strategies: prepare a question, run each strategy and measure it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import perf_counter

from ..core.access import Grant
from ..core.errors import Unavailable
from ..core.filters import combine_filters
from ..core.ids import WorkspaceId
from ..core.protocols.embedder import Floats, TextRole
from ..core.protocols.memories import ScoredId
from ..core.protocols.vectors import VectorStatus
from ..core.records import StrategyReport
from ..telemetry.spans import trace_step
from .query import Query
from .question_analysis import QuestionAnalysis
from .rewriters import CombinedRewriter, RewriteInput, RewriteResult


@dataclass(frozen=True, slots=True)
class PreparedQuestion:
    """A query with its analysis, and its vector if the embedder is available."""

    query: Query
    analysis: QuestionAnalysis
    vector: Floats | None
    depth: int  # maximum results of each strategy


Strategy = Callable[
    [Grant, PreparedQuestion], list[ScoredId]
]  # returns results best first, only inside the grant


@dataclass(frozen=True, slots=True)
class QuestionPreparer:
    """Rewrites and embeds a question for the strategies."""

    embed: Callable[[WorkspaceId, str, TextRole], Floats]
    rewrite: Callable[[WorkspaceId], CombinedRewriter] | None = None  # costs go to the workspace
    vector_status: Callable[[Grant], VectorStatus] = lambda _grant: VectorStatus()

    def prepare(
        self,
        grant: Grant,
        query: Query,
        analysis: QuestionAnalysis,
        depth: int,
        results: StrategyResults,
    ) -> PreparedQuestion:
        """Rewrite and embed the question.

        The caller must not hold a transaction: the embedder or the model may be remote and slow.
        """
        rewritten = RewriteResult()
        if self.rewrite:
            question = RewriteInput(text=query.question, now=query.now, people=query.people)
            with results.measure_step("rewrite"):
                rewritten = self.rewrite(grant.workspace)(question)
            results.degraded += rewritten.degraded
            results.helper_inputs["rewrite"] = rewritten.texts
        vector = None
        with results.measure_step("vector"):
            vector = self._embed_texts(grant, _texts_with_roles(rewritten, analysis), results)
        if rewritten.where is not None:
            query = replace(query, where=combine_filters([query.where, rewritten.where]))
        return PreparedQuestion(query, analysis, vector, depth)

    def _embed_texts(
        self, grant: Grant, texts: Sequence[tuple[str, TextRole]], results: StrategyResults
    ) -> Floats | None:
        status = self.vector_status(grant)
        if status.remark:
            results.degraded.append(f"vector: {status.remark}")
        if not status.is_usable:
            return None
        return _mean_direction([self.embed(grant.workspace, text, role) for text, role in texts])


def _texts_with_roles(
    rewritten: RewriteResult, analysis: QuestionAnalysis
) -> list[tuple[str, TextRole]]:
    """Return the texts to search with; statements and invented answers are like documents."""
    documents = [(text, TextRole.DOCUMENT) for text in rewritten.texts]
    if rewritten.embedding_text:
        return documents
    return [(analysis.embedding_text, TextRole.QUERY), *documents]


def _mean_direction(vectors: Sequence[Floats]) -> Floats:
    """Return the unit vector of the sum; the zero vector if the vectors cancel out."""
    if len(vectors) == 1:
        return vectors[0]
    total: Floats = sum(vectors[1:], start=vectors[0])
    length = float((total * total).sum()) ** 0.5
    return total / total.dtype.type(length) if length else total


@dataclass(slots=True)
class StrategyResults:
    """Results, time and failures of each strategy for one question."""

    by_strategy: dict[str, Sequence[ScoredId]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    degraded: list[str] = field(default_factory=list)
    helper_inputs: dict[str, Sequence[str]] = field(default_factory=dict)  # step → ids or texts

    @contextmanager
    def measure_step(self, name: str) -> Iterator[None]:
        """Measure a step; if it raises Unavailable, record that in `degraded` and continue."""
        started = perf_counter()
        try:
            with trace_step(f"recall.{name}"):
                yield
        except Unavailable as error:
            self.degraded.append(f"{name}: {error}")
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + perf_counter() - started

    def run_strategies(
        self, strategies: Mapping[str, Strategy], grant: Grant, question: PreparedQuestion
    ) -> None:
        for name, strategy in strategies.items():
            with self.measure_step(name):
                self.by_strategy[name] = strategy(grant, question)

    @property
    def ids(self) -> list[str]:
        """The ids of all results, without duplicates."""
        return list(dict.fromkeys(hit.id for found in self.by_strategy.values() for hit in found))

    def strategy_ranks(self, id: str) -> dict[str, int]:
        """Return the rank of this id in each strategy that found it, counted from 1."""
        return {
            name: rank
            for name, found in self.by_strategy.items()
            for rank, hit in enumerate(found, start=1)
            if hit.id == id
        }

    def build_reports(self, shown: Sequence[str]) -> tuple[StrategyReport, ...]:
        """Return for each strategy its seconds, its result count and how many were shown.

        Helper steps follow: `found` is then the number of ids they read or texts they made.
        """
        found_ids = {name: [hit.id for hit in found] for name, found in self.by_strategy.items()}
        shown_ids = set(shown)
        return tuple(
            StrategyReport(
                name=name,
                seconds=self.seconds.get(name, 0.0),
                found=len(ids),
                shown=len(shown_ids.intersection(ids)),
            )
            for name, ids in {**found_ids, **self.helper_inputs}.items()
        )
