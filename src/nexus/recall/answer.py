"""The flow from a question to hits."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from ..core.access import Grant
from ..core.derive import thread_name
from ..core.protocols import Store
from ..core.quick import quickly
from ..core.records import Explanation, Found, Hit, Memory, StrategyReport
from ..core.scope import Scope
from ..core.text import words_alone
from .query import Query


class Ranked(NamedTuple):
    """A memory in its place, with what each strategy thought of it."""

    id: str
    score: float
    reasons: Mapping[str, float]
    explanation: Explanation | None = None


class Order(Protocol):
    """Everything that was found, best first."""

    @property
    def asked(self) -> tuple[str, ...]:
        """The question's terms."""
        ...

    @property
    def degraded(self) -> tuple[str, ...]:
        """What could not take part, and why."""
        ...

    @property
    def scores(self) -> Sequence[float]: ...

    def part(self, start: int, end: int) -> list[Ranked]: ...

    def reports(self, shown: Sequence[str]) -> tuple[StrategyReport, ...]:
        """What each strategy did, given the ids of what is shown."""
        ...


Ranking = Callable[[Grant, Query], Order]

_made_hit = quickly(Hit)


def answer(
    store: Store, ranking: Ranking, grant: Grant, query: Query, *, keys: bool = True
) -> Found:
    """Put in order, cut at the threshold, fold what is said once, and say why each is there.

    Without `keys` nobody hears by which keys the events were told.
    """
    started = time.perf_counter()
    order = ranking(grant, query)
    relevant = sum(score > 0 and score >= query.threshold for score in order.scores)
    everything = query.where is None and query.threshold == 0
    with store.moment():
        best = _best(store, grant, query, order, relevant)
        sources = [id for _, memory in best for id in memory.sources]
        known = store.ledger.keys(grant, sources) if keys else {}
        holding = store.memories.holding(grant, order.asked) if everything else 0
    hits = tuple(_hit(ranked, memory, order.asked, known) for ranked, memory in best)
    return Found(
        hits=hits,
        total=max(relevant, holding),
        seconds=time.perf_counter() - started,
        degraded=order.degraded,
        strategies=order.reports([hit.memory.id for hit in hits]),
    )


def _best(
    store: Store, grant: Grant, query: Query, order: Order, relevant: int
) -> list[tuple[Ranked, Memory]]:
    chosen = _Chosen(query.per_conversation)
    start = 0
    while start < relevant and len(chosen.best) < query.limit:
        end = min(start + query.limit, relevant)
        part = order.part(start, end)
        memories = {each.id: each for each in store.memories.get(grant, [r.id for r in part])}
        for ranked in part:
            if memory := memories.get(ranked.id):
                _check_again(grant, memory)
                chosen.look_at(ranked, memory)
        start = end
    return list(chosen.best.values())[: query.limit]


class _Chosen:
    """What is shown of all that was found, which is looked at best first.

    A long message is kept in pieces; its best piece stands for it. What was told here and in a
    wider scope, or shared, is the same in both: the better one stands for it. Two who say the same
    in one place are two. Where conversations are capped, the best of each are taken.
    """

    def __init__(self, per_conversation: int) -> None:
        self.best: dict[object, tuple[Ranked, Memory]] = {}
        self._told: dict[object, Scope] = {}  # what is said, and where the best of it lies
        self._places: set[Scope] = set()
        self._unread: list[Memory] = []  # of what is said in them
        self._cap = per_conversation
        self._talks: Counter[object] = Counter()  # how many of each conversation are shown

    def look_at(self, ranked: Ranked, memory: Memory) -> None:
        one = (memory.kind, memory.sources)
        talk = (memory.scope, thread_name(memory)) if self._cap else None
        if talk and self._talks[talk] >= self._cap:
            return
        if self._is_best(memory) and one not in self.best:
            self.best[one] = (ranked, memory)
            self._talks[talk] += 1

    def _is_best(self, memory: Memory) -> bool:
        """Whether none of those before says the same in another place; mostly there is but one."""
        self._places.add(memory.scope)
        self._unread.append(memory)
        if len(self._places) == 1:
            return True
        for each in self._unread:
            place = self._told.setdefault((each.kind, words_alone(each.text)), each.scope)
        self._unread.clear()
        return place == memory.scope


def _hit(ranked: Ranked, memory: Memory, asked: tuple[str, ...], known: Mapping[str, str]) -> Hit:
    return _made_hit(
        memory=memory,
        score=ranked.score,
        reasons=ranked.reasons,
        event_keys=tuple(known[id] for id in memory.sources if id in known),
        asked=asked,
        explanation=ranked.explanation,
    )


def _check_again(grant: Grant, memory: Memory) -> None:
    """The last wall: whatever a store did, nothing the grant forbids leaves here."""
    if memory.workspace != grant.workspace or not grant.allows(memory.label):
        raise RuntimeError("a store returned a record its grant does not allow; refusing to answer")
