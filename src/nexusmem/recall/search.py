"""Search: rank a query, select the hits and attach their explanations."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

from ..core.access import Grant
from ..core.derive import thread_name
from ..core.filters import filter_fields
from ..core.json_codec import fast_constructor
from ..core.protocols.store import Store
from ..core.records import Explanation, Hit, Hits, Memory, StrategyReport, Validity
from ..core.records.memory import is_copy, is_said_by, statement_key
from ..core.scope import Scope
from ..telemetry.metrics import Metrics
from ..text.terms import normalize_words
from .asked_period import AskedPeriod, choose_of_period, find_asked_period
from .hit_order import order_hits
from .query import Query
from .views.currency import find_validities
from .views.exact_values import CurrentValues


class RankedId(NamedTuple):
    """A ranked memory id with its score and the scores of the single strategies."""

    id: str
    score: float
    reasons: Mapping[str, float]
    explanation: Explanation | None = None
    relevance: float | None = None  # probability that it helps to answer; None: not estimated


class RankedResults(Protocol):
    """All results of a ranking, best first."""

    @property
    def query_terms(self) -> tuple[str, ...]:
        """The terms of the question."""
        ...

    @property
    def degraded(self) -> tuple[str, ...]:
        """Steps that failed, each as `name: reason`."""
        ...

    @property
    def scores(self) -> Sequence[float]:
        """The scores in descending order, from 0 to 1."""
        ...

    def get_slice(self, start: int, end: int) -> list[RankedId]:
        """Return the results at positions `start` to `end` (exclusive)."""
        ...

    def build_reports(self, shown: Sequence[str]) -> tuple[StrategyReport, ...]:
        """Return time and hit counts of each strategy; `shown` are the ids of the returned hits."""
        ...


Ranking = Callable[[Grant, Query], RankedResults]

_new_hit = fast_constructor(Hit)
EXTRA_OF_PERIOD = 30  # hits looked at beyond the limit for a question about a period
RANKS_FOR_ORIGINALS = 10  # an original has about the score of its copy


def search_memories(
    store: Store, ranking: Ranking, grant: Grant, query: Query, *, include_keys: bool = True
) -> Hits:
    """Rank the query, cut at its threshold, remove duplicates and return the hits.

    The keys of the source events are left out if `include_keys` is false.
    """
    started = time.perf_counter()
    order = ranking(grant, query)
    relevant = sum(score > 0 and score >= query.threshold for score in order.scores)
    is_unfiltered = query.where is None and query.threshold == 0
    with store.snapshot():
        period = find_asked_period(query.question, query.now)
        is_filtered = period is not None and period.is_whole_topic
        # The hits of a period answer a question about nothing else.
        more = replace(query, limit=query.limit + EXTRA_OF_PERIOD, min_relevance=0.0)
        best, withheld = _select_hits(store, grant, more if is_filtered else query, order, relevant)
        memories = [memory for _, memory in best]
        validities = find_validities(store, grant, memories, query.now)
        positions, validities = order_hits(memories, query.question, order.query_terms, validities)
        if period:
            is_ahead = period.window.until > query.now
            positions = choose_of_period(memories, positions, period, is_ahead=is_ahead)
        best = _reorder(best, positions)[: query.limit]
        is_empty = period is not None and _is_empty_period(store, grant, period, best)
        sources = [id for _, memory in best for id in memory.sources]
        keys = store.ledger.load_keys(grant, sources) if include_keys else {}
        matching = store.memories.count_matching(grant, order.query_terms) if is_unfiltered else 0
    hits = tuple(
        _build_hit(ranked, memory, order.query_terms, keys, validities) for ranked, memory in best
    )
    return Hits(
        hits=hits,
        total=max(relevant, matching),
        seconds=time.perf_counter() - started,
        degraded=order.degraded,
        strategies=order.build_reports([hit.memory.id for hit in hits]),
        withheld=withheld,
        empty_period=period.describe() if period and is_empty else None,
    )


def _select_hits(
    store: Store, grant: Grant, query: Query, results: RankedResults, relevant_count: int
) -> tuple[list[tuple[RankedId, Memory]], int]:
    """Return the selected hits, and how many of the best ranks are withheld.

    With a minimum of relevance, hits are not replaced: as many ranks are read as hits are wanted.
    """
    withheld = 0
    if query.min_relevance:
        relevant_count = min(relevant_count, query.limit)
    chosen = _HitSelection(query.max_per_conversation)
    values = CurrentValues(store, grant, query.where)
    start = 0
    while start < relevant_count and (
        len(chosen.hits_by_source) < query.limit
        or (chosen.has_copies and start < query.limit + RANKS_FOR_ORIGINALS)
    ):
        is_full = len(chosen.hits_by_source) >= query.limit
        size = RANKS_FOR_ORIGINALS if is_full else query.limit
        end = min(start + size, relevant_count)
        ranks = results.get_slice(start, end)
        part = [ranked for ranked in ranks if _is_relevant(ranked, query)]
        withheld += len(ranks) - len(part)
        found = store.memories.get(grant, [r.id for r in part])
        memories = {each.id: each for each in _drop_redundant_copies(store, grant, query, found)}
        for ranked in part:
            if memory := memories.get(ranked.id):
                shown = values.replace_former(memory)
                _check_access(grant, shown)
                chosen.try_add(ranked, shown)
        start = end
    return list(chosen.hits_by_source.values())[: query.limit], withheld


def _drop_redundant_copies(
    store: Store, grant: Grant, query: Query, memories: list[Memory]
) -> list[Memory]:
    """Return the memories without copies of messages that the viewer can read.

    Their originals are found at their own rank. A filter by scope may ask for the copies.
    """
    copies = [each for each in memories if is_copy(each)]
    if not copies or "scope" in filter_fields(query.where):
        return memories
    readable = store.ledger.load_keys(grant, [id for each in copies for id in each.sources])
    redundant = {each.id for each in copies if readable.keys() >= set(each.sources)}
    return [each for each in memories if each.id not in redundant]


def _is_relevant(ranked: RankedId, query: Query) -> bool:
    """Return whether a result is likely enough to help; one that was not rated is."""
    return ranked.relevance is None or ranked.relevance >= query.min_relevance


def _reorder(
    hits: Sequence[tuple[RankedId, Memory]], positions: Sequence[int]
) -> list[tuple[RankedId, Memory]]:
    """Return the hits in another order; each position keeps its score, so that scores fall."""
    if positions == list(range(len(hits))):  # as usual
        return list(hits)
    return [
        (hits[position][0]._replace(score=ranked.score), hits[position][1])
        for (ranked, _), position in zip(hits, positions, strict=False)  # some may be left out
    ]


def _is_empty_period(
    store: Store, grant: Grant, period: AskedPeriod, hits: Sequence[tuple[RankedId, Memory]]
) -> bool:
    """Return whether nothing visible is of the period, and no hit names it."""
    window = period.window
    return not any(
        period.holds(memory) or period.is_named_in(memory) for _, memory in hits
    ) and not store.memories.ids_between(grant, window.since, window.until, limit=1)


class _HitSelection:
    """Selection of hits from ranked memories, which are added best first.

    Only the best passage of a long message is selected. The same text in two scopes (recorded
    twice, or shared) is selected once. The same text twice in one scope counts as two hits. With
    a cap per conversation, the best hits of each conversation are selected. A copy that a flow
    made is replaced by its original.
    """

    def __init__(self, per_conversation: int) -> None:
        self.hits_by_source: dict[object, tuple[RankedId, Memory]] = {}
        self._scope_by_text: dict[object, Scope] = {}  # (kind, text) → scope of its best hit
        self._scopes: set[Scope] = set()
        self._unindexed: list[Memory] = []  # not yet in _scope_by_text
        self._cap = per_conversation
        self._conversation_counts: Counter[object] = Counter()  # conversation → selected hits
        self._texts: dict[object, list[str]] = {}  # statement → texts of selected memories
        self._copies: dict[object, list[object]] = {}  # statement → sources of selected copies

    @property
    def has_copies(self) -> bool:
        """Whether a selected hit is a copy whose original was not seen."""
        return bool(self._copies)

    def try_add(self, ranked: RankedId, memory: Memory) -> None:
        """Add a memory unless it is a duplicate or its conversation has reached the cap."""
        if self._copies and self._replace_copy(memory):
            return
        statement = statement_key(memory)
        copied = is_copy(memory)
        if copied and any(is_said_by(memory, text) for text in self._texts.get(statement, ())):
            return
        source = (memory.kind, memory.sources, memory.scope if copied else None)
        conversation = (memory.scope, thread_name(memory)) if self._cap else None
        if conversation and self._conversation_counts[conversation] >= self._cap:
            return
        if self._is_first_with_text(memory) and source not in self.hits_by_source:
            self.hits_by_source[source] = (ranked, memory)
            self._conversation_counts[conversation] += 1
            self._texts.setdefault(statement, []).append(memory.text)
            if copied:
                self._copies.setdefault(statement, []).append(source)

    def _replace_copy(self, memory: Memory) -> bool:
        """Select the original instead of its selected copies; return whether there are any."""
        copies = None if is_copy(memory) else self._copies.pop(statement_key(memory), None)
        if copies is None:
            return False
        ranked, _ = self.hits_by_source[copies[0]]
        self.hits_by_source[copies[0]] = ranked, memory
        for source in copies[1:]:
            del self.hits_by_source[source]
        self._texts[statement_key(memory)].append(memory.text)
        return True

    def _is_first_with_text(self, memory: Memory) -> bool:
        """Return whether no earlier memory of another scope has the same kind and text.

        Texts are normalized only after a second scope appears, because most searches read one.
        """
        self._scopes.add(memory.scope)
        self._unindexed.append(memory)
        if len(self._scopes) == 1:
            return True
        for each in self._unindexed:
            best_scope = self._scope_by_text.setdefault(
                (each.kind, normalize_words(each.text)), each.scope
            )
        self._unindexed.clear()
        return best_scope == memory.scope


def _build_hit(
    ranked: RankedId,
    memory: Memory,
    query_terms: tuple[str, ...],
    event_keys: Mapping[str, str],
    validities: Mapping[str, Validity],
) -> Hit:
    return _new_hit(
        memory=memory,
        score=ranked.score,
        reasons=ranked.reasons,
        event_keys=tuple(event_keys[id] for id in memory.sources if id in event_keys),
        query_terms=query_terms,
        explanation=ranked.explanation,
        validity=validities.get(memory.id),
        relevance=ranked.relevance,
    )


def _check_access(grant: Grant, memory: Memory) -> None:
    """Final access check: raise RuntimeError if the store returned a memory outside the grant."""
    if memory.workspace != grant.workspace or not grant.allows(memory.label):
        raise RuntimeError("a store returned a record outside the grant; no result is returned")


def with_metrics(ranking: Ranking, metrics: Metrics) -> Ranking:
    """Return the same ranking; its strategy reports are also recorded in the metrics."""

    def rank_query(grant: Grant, query: Query) -> InstrumentedResults:
        return InstrumentedResults(ranking(grant, query), metrics)

    return rank_query


@dataclass(frozen=True, slots=True)
class InstrumentedResults:
    """Ranked results that record their reports in the metrics.

    `search_memories` calls `build_reports` exactly once per query.
    """

    results: RankedResults
    metrics: Metrics

    @property
    def query_terms(self) -> tuple[str, ...]:
        return self.results.query_terms

    @property
    def degraded(self) -> tuple[str, ...]:
        return self.results.degraded

    @property
    def scores(self) -> Sequence[float]:
        return self.results.scores

    def get_slice(self, start: int, end: int) -> list[RankedId]:
        return self.results.get_slice(start, end)

    def build_reports(self, shown: Sequence[str]) -> tuple[StrategyReport, ...]:
        reports, metrics = self.results.build_reports(shown), self.metrics
        for each in reports:
            metrics.observe_seconds("strategy_seconds", each.name, each.seconds)
            metrics.add("strategy_found_total", each.name, each.found)
            metrics.add("strategy_shown_total", each.name, each.shown)
        metrics.add("hits_total", (), len(shown))
        return reports
