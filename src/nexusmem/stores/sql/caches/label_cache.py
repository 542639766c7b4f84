"""LRU cache of label data that searches read often: posting lists, vectors, candidate rows.

An entry stores the last row number it has read. Row numbers only grow, so a refresh reads only
newer rows. After a deletion the label's generation differs, and the entry is read again. So
writes of other processes need no notification. A reader whose snapshot is older than an entry
gets only the rows of its snapshot.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Generic, Protocol, Self, TypeVar

from ....core.derive import DEFAULT_NAMED_KINDS, normalize_name
from ....core.records import MemoryKind
from ....core.records.projections import FactOutline
from ....telemetry.metrics import CacheStats
from ..readable_labels import LabelState, ReadableLabels
from ..transactions import Row, Transaction


class Cacheable(Protocol):
    @property
    def size_bytes(self) -> int: ...

    def as_of(self, number: int, /) -> Self:
        """Return the value without rows after this number."""
        ...


T = TypeVar("T", bound=Cacheable)
K = TypeVar("K", bound=Hashable)
Read = Callable[[Mapping[K, tuple[T | None, int]]], Sequence[T]]


@dataclass(slots=True)
class _Entry(Generic[T]):
    value: T
    read_to: int
    generation: int


class LabelCache(Generic[T]):
    """LRU cache of values by key, limited to `limit_bytes`."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit = limit_bytes
        self._entries: OrderedDict[Hashable, _Entry[T]] = OrderedDict()
        self._bytes = 0
        self._hits = 0
        self._misses = 0
        self._lock = threading.Lock()

    @property
    def stats(self) -> CacheStats:
        """Hits count entries that were present and current."""
        with self._lock:
            return CacheStats(self._hits, self._misses)

    def get_fresh(self, wanted: Mapping[K, LabelState], read: Read[K, T]) -> list[T]:
        """Return the values of these keys, in the state of their labels.

        `read` is called once for all missing and outdated keys. It gets the cached value and the
        last row number of each, and returns the complete new values.
        """
        fresh: dict[K, T] = {}
        stale: dict[K, tuple[T | None, int]] = {}
        with self._lock:
            for key, state in wanted.items():
                entry = self._entries.get(key)
                if entry is None or entry.generation != state.generation:
                    stale[key] = (None, 0)
                elif entry.read_to < state.latest:
                    stale[key] = (entry.value, entry.read_to)
                else:
                    self._entries.move_to_end(key)
                    later = entry.read_to > state.latest
                    fresh[key] = entry.value.as_of(state.latest) if later else entry.value
            self._hits += len(fresh)
            self._misses += len(stale)
        if stale:
            made = dict(zip(stale, read(stale), strict=True))
            self._store_values(made, wanted)
            fresh |= made
        return [fresh[key] for key in wanted]

    def _store_values(self, values: Mapping[K, T], states: Mapping[K, LabelState]) -> None:
        with self._lock:
            for key, value in values.items():
                old = self._entries.pop(key, None)
                self._bytes += value.size_bytes - (old.value.size_bytes if old else 0)
                state = states[key]
                self._entries[key] = _Entry(value, state.latest, state.generation)
            while self._bytes > self._limit and self._entries:
                _, dropped = self._entries.popitem(last=False)
                self._bytes -= dropped.value.size_bytes

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()
            self._bytes = 0


MAX_CACHED_NAMES = 500  # per view: reading more after each message costs more than it saves
HASH_BYTES = 100  # estimate of a hash in a set


@dataclass(frozen=True, slots=True)
class NameHashes:
    """Hashes of (kind, name) in a label, and the kinds. The names themselves are not cached."""

    hashes: frozenset[int]
    kinds: frozenset[str]

    @property
    def size_bytes(self) -> int:
        return HASH_BYTES * len(self.hashes) + 200

    def as_of(self, _number: int, /) -> NameHashes:
        """Return all hashes: every hit is looked up in the snapshot."""
        return self


class NameCache:
    """Cache of name hashes by label: most words of a query are no names."""

    def __init__(self, cache_bytes: int) -> None:
        self._cache: LabelCache[NameHashes] = LabelCache(cache_bytes)

    def load_names(self, session: Transaction, view: ReadableLabels) -> list[NameHashes] | None:
        """Return the hashes of each label, or None if there are more than MAX_CACHED_NAMES."""
        if sum([state.names for state in view.labels_with_names.values()]) > MAX_CACHED_NAMES:
            return None
        return self._cache.get_fresh(view.labels_with_names, partial(_load_stale_names, session))


class NameIndex:
    """Finds memories by name; skips names that exist in no readable label."""

    def __init__(self, cache: NameCache | None) -> None:
        self._cache = cache  # None: names are stored as keyed digests

    def find_rows(
        self,
        session: Transaction,
        view: ReadableLabels,
        query: str,
        names: Sequence[str],
        *,
        kinds: Sequence[MemoryKind] | None,
        limit: int,
    ) -> list[Row]:
        """Return the rows of `query`, in its order. `kinds=None` means facts and entities."""
        if not view.labels_with_names:
            return []
        wanted_kinds = DEFAULT_NAMED_KINDS if kinds is None else tuple(kinds)
        cached = self._cache.load_names(session, view) if self._cache else None
        wanted = (
            _normalize_names(names)
            if cached is None
            else _filter_existing(cached, names, wanted_kinds)
        )
        if not wanted:
            return []
        bound = {"names": json.dumps(wanted), "kinds": _kinds_json(wanted_kinds), "limit": limit}
        return session.execute_query(query, {**view.name_parameters, **bound}).fetchall()

    def find_outlines(
        self, session: Transaction, view: ReadableLabels, names: Sequence[str], *, limit: int
    ) -> list[FactOutline]:
        """Return the outlines of the newest facts, decoded by one JSON parse."""
        kinds = [MemoryKind.FACT]
        rows = self.find_rows(session, view, "fact_outlines", names, kinds=kinds, limit=limit)
        return list(
            map(FactOutline.from_json, json.loads(f"[{','.join([text for (text,) in rows])}]"))
        )


@lru_cache(maxsize=100)  # few combinations are used
def _kinds_json(kinds: tuple[MemoryKind, ...]) -> str:
    return json.dumps(sorted({*kinds}))


def _normalize_names(names: Sequence[str]) -> list[str]:
    """Return distinct normalized names, sorted."""
    return sorted({each if _is_normalized(each) else normalize_name(each) for each in names})


def _is_normalized(name: str) -> bool:
    """Return whether a name is one lower-case ASCII word: variants of a name come in hundreds."""
    return name.isascii() and name.islower() and name.removeprefix("~").isidentifier()


def _filter_existing(
    cached: Sequence[NameHashes], names: Sequence[str], kinds: Sequence[str]
) -> list[str]:
    """Return the normalized names that may exist with one of these kinds."""
    held = {kind: [each.hashes for each in cached if kind in each.kinds] for kind in kinds}
    if not any(held.values()):
        return []
    wanted = _normalize_names(names)
    existing: set[str] = set()
    for kind, labels in held.items():
        asked = [hash((kind, name)) for name in wanted] if labels else []
        for hashes in labels:
            if not hashes.isdisjoint(asked):
                existing.update(
                    name for name, own in zip(wanted, asked, strict=True) if own in hashes
                )
    return sorted(existing)


def _load_stale_names(
    session: Transaction, stale: Mapping[tuple[int, int], tuple[NameHashes | None, int]]
) -> list[NameHashes]:
    return [
        NameHashes(frozenset(map(hash, rows)), frozenset(kind for kind, _ in rows))
        for rows in session.fetch_each("label_names", list(stale))
    ]


def latest_fact_rows(
    session: Transaction, view: ReadableLabels, subjects: Sequence[str], limit: int | None
) -> list[Row]:
    """Return the rows of the newest fact per subject and predicate."""
    if not view.labels_with_names:
        return []
    wanted = {"subjects": json.dumps(sorted(set(subjects))), "limit": limit}
    return session.execute_query("latest_facts", {**view.name_parameters, **wanted}).fetchall()
