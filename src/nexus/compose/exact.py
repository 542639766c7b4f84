"""Exact values: the newest under each key of every scope that may be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from ..core.access import Grant
from ..core.filters import Condition, Op, every
from ..core.protocols import Store
from ..core.records import Memory, MemoryKind

KIND = Condition("kind", Op.EQ, MemoryKind.FACT)


def exact_values(
    store: Store, grant: Grant, *, limit: int | None = None, as_of: datetime | None = None
) -> list[Memory]:
    """The keys that were spoken of last come first. With `as_of`, what had been told by then."""
    scopes = sorted(map(str, grant.scopes))
    if as_of is not None:
        told = [each for scope in scopes for each in _told_by(store, grant, scope, as_of)]
        return _newest(sorted(told, key=lambda each: (-each.at.timestamp(), each.id)))[:limit]
    latest = store.memories.latest(grant, scopes, limit=limit)
    return _newest(each for fact in latest for each in _with_earlier(store, grant, fact))


def _with_earlier(store: Store, grant: Grant, fact: Memory) -> Iterator[Memory]:
    """An observation (`add_fact`) may stand before a value under the same key."""
    yield fact
    if not fact.body.get("exact"):
        subject, predicate = fact.body["subject"], fact.body["predicate"]
        under = (Condition("subject", Op.EQ, subject), Condition("predicate", Op.EQ, predicate))
        yield from store.memories.find(grant, where=every((KIND, *under)))


def _told_by(store: Store, grant: Grant, scope: str, as_of: datetime) -> list[Memory]:
    by_then = Condition("recorded_at", Op.LTE, as_of)
    where = every((KIND, Condition("subject", Op.EQ, scope), by_then))
    return store.memories.find(grant, where=where)


def _newest(told: Iterable[Memory]) -> list[Memory]:
    """Of each key the first value that was set, and not learned."""
    newest: dict[tuple[str, str], Memory] = {}
    for memory in told:
        if memory.body.get("exact") and not memory.learned:
            newest.setdefault((memory.body["subject"], memory.body["predicate"]), memory)
    return list(newest.values())
