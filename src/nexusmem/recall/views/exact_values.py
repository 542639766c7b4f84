"""Exact values: the newest value of each key, also in the place of a hit that it replaced."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from ...core.access import Grant
from ...core.filters import Condition, Filter, Op, combine_filters
from ...core.protocols.store import Store
from ...core.records import Memory, MemoryKind

IS_FACT = Condition("kind", Op.EQ, MemoryKind.FACT)

ValueKey = tuple[str, str]  # subject (a scope) and key


def load_exact_values(
    store: Store, grant: Grant, *, limit: int | None = None, as_of: datetime | None = None
) -> list[Memory]:
    """Return the exact values, newest key first; with `as_of`, those recorded by then."""
    scopes = sorted(map(str, grant.scopes))
    if as_of is not None:
        facts = [each for scope in scopes for each in _facts_until(store, grant, scope, as_of)]
        newest_first = sorted(facts, key=lambda each: (-each.at.timestamp(), each.id))
        return list(_newest_per_key(newest_first).values())[:limit]
    latest = store.memories.latest_facts(grant, scopes, limit=limit)
    facts = [each for fact in latest for each in _same_key_facts(store, grant, fact)]
    return list(_newest_per_key(facts).values())


class CurrentValues:
    """Looks up the newest exact value of each key, once per key and search."""

    def __init__(self, store: Store, grant: Grant, where: Filter | None = None) -> None:
        self._store = store
        self._grant = grant
        self._where = where
        self._newest: dict[ValueKey, Memory | None] = {}

    def replace_former(self, memory: Memory) -> Memory:
        """Return the memory; for an exact value that a newer one replaced, the newest one.

        Only values that the grant and the filter allow replace others: `until` finds the value of
        then. The newest value takes the rank of the former one, so that many former values do not
        crowd it out.
        """
        if not _is_exact_value(memory):
            return memory
        key = _value_key(memory)
        if key not in self._newest:
            facts = _facts_of_key(self._store, self._grant, key, self._where)
            self._newest[key] = _newest_per_key(facts).get(key)
        return self._newest[key] or memory


def _same_key_facts(store: Store, grant: Grant, fact: Memory) -> Iterator[Memory]:
    """Yield the fact; if it is not exact, also yield all facts with its subject and predicate.

    A fact of `add_fact` may be newer than an exact value with the same key.
    """
    yield fact
    if not fact.body.get("exact"):
        yield from _facts_of_key(store, grant, _value_key(fact))


def _facts_of_key(
    store: Store, grant: Grant, key: ValueKey, where: Filter | None = None
) -> list[Memory]:
    """Return the facts with this subject and predicate that match the filter, newest first."""
    subject, predicate = key
    same_key = (Condition("subject", Op.EQ, subject), Condition("predicate", Op.EQ, predicate))
    return store.memories.find(grant, where=combine_filters((IS_FACT, *same_key, where)))


def _facts_until(store: Store, grant: Grant, scope: str, as_of: datetime) -> list[Memory]:
    recorded = Condition("recorded_at", Op.LTE, as_of)
    where = combine_filters((IS_FACT, Condition("subject", Op.EQ, scope), recorded))
    return store.memories.find(grant, where=where)


def _newest_per_key(newest_first: Iterable[Memory]) -> dict[ValueKey, Memory]:
    """Return the first exact value of each key; values that were learned do not count."""
    newest: dict[ValueKey, Memory] = {}
    for memory in newest_first:
        if _is_exact_value(memory):
            newest.setdefault(_value_key(memory), memory)
    return newest


def _is_exact_value(memory: Memory) -> bool:
    return memory.kind is MemoryKind.FACT and bool(memory.body.get("exact")) and not memory.learned


def _value_key(memory: Memory) -> ValueKey:
    return memory.body["subject"], memory.body["predicate"]
