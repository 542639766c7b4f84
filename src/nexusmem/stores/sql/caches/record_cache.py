"""Cache of decoded records, keyed by their JSON text.

The text comes from a query with a grant, so an entry is never outdated and never crosses grants.
Records that no query returns any more leave the cache after two generations.
"""

from __future__ import annotations

import json
import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import groupby, repeat, starmap
from operator import itemgetter
from typing import Any, Generic, TypeVar
from weakref import WeakSet

from ....core.canonical import parse_time
from ....core.ids import WorkspaceId
from ....core.json_codec import event_from_json, extract_text, memory_from_json
from ....core.records import MemoryKind
from ....telemetry.metrics import CacheStats
from ..readable_labels import ReadableLabels
from ..transactions import Row, Transaction
from .label_cache import LabelCache

KINDS_BY_VALUE = {kind.value: kind for kind in MemoryKind}
ROW_BYTES = 800  # estimate, with id, time and three dictionary entries

Neighbours = tuple[tuple[str, ...], tuple[str, ...]]  # before and after, nearest first

# The first fields of a Candidate: id, kind, speaker, role, conversation, at, length, is_question,
# is_instruction. The kind is a string: the garbage collector does not track tuples of plain
# values.
CandidateFields = tuple[str, str, str | None, str | None, str, datetime, int, bool, bool]
# Number of the memory, key of its conversation across labels, and the fields above. Plain tuples:
# the first query of a workspace creates thousands.
CandidateRow = tuple[int, int, CandidateFields]
SortKey = tuple[datetime, str]  # position in a conversation: time and id


@dataclass(frozen=True, slots=True)
class ConversationRows:
    """The memories of a conversation, ordered by time and id."""

    sort_keys: list[SortKey] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)

    def add(self, sort_keys: Sequence[SortKey]) -> None:
        """Insert sorted keys; mostly they come after all existing ones."""
        if not self.sort_keys or self.sort_keys[-1] < sort_keys[0]:
            self.sort_keys.extend(sort_keys)
            self.ids.extend([id for _, id in sort_keys])
            return
        for moment in sort_keys:
            here = bisect_left(self.sort_keys, moment)
            self.sort_keys.insert(here, moment)
            self.ids.insert(here, moment[1])

    def copy(self) -> ConversationRows:
        return ConversationRows(list(self.sort_keys), list(self.ids))

    def neighbours_of(self, sort_key: SortKey, reach: int) -> Neighbours:
        """Return up to `reach` ids before and after the key, nearest first."""
        here, ids = bisect_left(self.sort_keys, sort_key), self.ids
        before = ids[max(0, here - reach) : here]
        before.reverse()
        return tuple(before), tuple(ids[here + 1 : here + 1 + reach])


@dataclass(frozen=True, slots=True)
class CandidateRows:
    """The cached rows of one label."""

    by_id: dict[str, CandidateRow] = field(default_factory=dict)
    by_number: dict[int, str] = field(default_factory=dict)
    conversations: dict[str, ConversationRows] = field(
        default_factory=partial(defaultdict, ConversationRows)
    )

    @property
    def size_bytes(self) -> int:
        return ROW_BYTES * len(self.by_id) + 200

    def as_of(self, _number: int, /) -> CandidateRows:
        """Return all rows: only rows of search results are looked up."""
        return self

    def copy(self) -> CandidateRows:
        conversations = {name: rows.copy() for name, rows in self.conversations.items()}
        return CandidateRows(
            dict(self.by_id), dict(self.by_number), defaultdict(ConversationRows, conversations)
        )

    def find_neighbours(self, ids: Iterable[str], reach: int) -> dict[str, Neighbours]:
        """Return the neighbours of each id that is in this label."""
        found: dict[str, Neighbours] = {}
        for id in ids:
            row = self.by_id.get(id)
            if row:
                fields = row[2]
                found[id] = self.conversations[fields[4]].neighbours_of((fields[5], id), reach)
        return found


class CandidateCache:
    """Cache of candidate rows by label."""

    def __init__(self, cache_bytes: int) -> None:
        self._cache: LabelCache[CandidateRows] = LabelCache(cache_bytes)
        self._max_rows = cache_bytes // ROW_BYTES
        self._last_view: tuple[ReadableLabels | None, list[CandidateRows]] = (
            None,
            [],
        )  # one recall reads the same view many times

    @property
    def stats(self) -> CacheStats:
        return self._cache.stats

    def load_if_small(self, session: Transaction, view: ReadableLabels) -> list[CandidateRows]:
        """Return the rows of the view, or an empty list if they exceed the cache."""
        few = sum(state.documents for state in view.labels) <= self._max_rows
        return self.load_rows(session, view) if few else []

    def load_rows(self, session: Transaction, view: ReadableLabels) -> list[CandidateRows]:
        last, rows = self._last_view
        if last is not view:
            wanted = {(view.workspace, s.label): s for s in view.labels if s.documents}
            rows = self._cache.get_fresh(wanted, partial(_load_stale_rows, session))
            self._last_view = (view, rows)
        return rows


def pick_rows(label_rows: Sequence[CandidateRows], ids: Sequence[str]) -> list[CandidateRow]:
    """Return the rows of the ids that exist, in the order of `ids`."""
    if len(label_rows) == 1:
        return list(filter(None, map(label_rows[0].by_id.get, ids)))
    return [row for id in ids for rows in label_rows if (row := rows.by_id.get(id))]


def _load_stale_rows(
    session: Transaction, stale: Mapping[tuple[int, int], tuple[CandidateRows | None, int]]
) -> list[CandidateRows]:
    params = [(*key, after) for key, (_, after) in stale.items()]
    new_rows = session.fetch_each("new_candidate_rows", params)
    cached = (rows for rows, _ in stale.values())
    return [_extend_rows(*each) for each in zip(stale, cached, new_rows, strict=True)]


def _extend_rows(
    key: tuple[int, int], cached: CandidateRows | None, found: Sequence[Row]
) -> CandidateRows:
    if cached and not found:
        return cached
    # A copy: other threads may read the cached rows.
    updated = cached.copy() if cached else CandidateRows()
    by_id, by_number, label = updated.by_id, updated.by_number, key[1]
    for conversation, rows in groupby(found, key=itemgetter(2)):
        name, key_number = f"{label}/{conversation}", (label << 32) | conversation
        sort_keys: list[SortKey] = []
        for id, memory, _, at, speaker, role, length, is_question, is_instruction, kind in rows:
            time = parse_time(at)
            flags = bool(is_question), bool(is_instruction)
            by_id[id] = (memory, key_number, (id, kind, speaker, role, name, time, length, *flags))
            by_number[memory] = id
            sort_keys.append((time, id))
        updated.conversations[name].add(sort_keys)
    return updated


K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

MAX_GENERATION_SIZE = 4_000  # entries
GENERATION_SECONDS = 60.0
MAX_CACHED_CHARS = 4_000  # longer texts are not cached


class TwoGenerationCache(Generic[K, T]):
    """Cache of two generations: an entry that is read again moves to the current one."""

    def __init__(self) -> None:
        self._current: dict[K, T] = {}
        self._previous: dict[K, T] = {}
        self._started_at = time.monotonic()
        _all_caches.add(self)

    def find_many(self, keys: Collection[K]) -> dict[K, T]:
        """Return the cached values by key."""
        pairs = zip(keys, self.get_many(keys), strict=True)
        return {key: value for key, value in pairs if value is not None}

    def get_many(self, keys: Collection[K]) -> list[T | None]:
        """Return the value or None per key. Keys are long texts, so each is hashed rarely."""
        now, before = self._current, self._previous
        found = list(map(now.get, keys))
        if before and not all(found):
            older: dict[K, T] = {}
            for index, key in enumerate(keys):
                if found[index] is None and (value := before.get(key)) is not None:
                    found[index] = older[key] = value
            if older:
                self.put_many(older)
        return found

    def put_many(self, values: Mapping[K, T]) -> None:
        if (
            len(self._current) >= MAX_GENERATION_SIZE
            or time.monotonic() - self._started_at > GENERATION_SECONDS
        ):
            self._previous, self._current = self._current, {}
            self._started_at = time.monotonic()
        self._current.update(values)

    def clear(self) -> None:
        self._current, self._previous = {}, {}


_all_caches: WeakSet[TwoGenerationCache[Any, Any]] = WeakSet()


class RecordCache(Generic[T]):
    """Decoder of records with a cache."""

    def __init__(self, decode: Callable[..., T]) -> None:
        self._decode = decode
        self._cache: TwoGenerationCache[tuple[Any, ...], T] = TwoGenerationCache()

    def __call__(self, rows: Iterable[tuple[Any, ...]], workspace: WorkspaceId) -> list[T]:
        """Return the records of rows (content, further arguments of the decoder…)."""
        prefix = (workspace.value,)
        keys = [prefix + row for row in rows]
        found = self._cache.get_many(keys)
        fresh = [key for key, each in zip(keys, found, strict=True) if each is None]
        made = self._decode_rows(fresh, workspace) if fresh else []
        if len(made) == len(keys):
            return made
        rest = iter(made)
        return [next(rest) if each is None else each for each in found]

    def _decode_rows(self, keys: Sequence[tuple[Any, ...]], workspace: WorkspaceId) -> list[T]:
        """Decode all rows by one JSON parse, which shares the strings of equal keys."""
        _, contents, *more = zip(*keys, strict=True)
        parsed = json.loads(f"[{','.join(contents)}]")
        arguments = zip(parsed, repeat(workspace, len(keys)), *more, strict=True)
        made = list(starmap(self._decode, arguments))
        pairs = zip(keys, made, strict=True)
        self._cache.put_many({key: each for key, each in pairs if len(key[1]) <= MAX_CACHED_CHARS})
        return made


decode_memories = RecordCache(memory_from_json)
decode_events = RecordCache(event_from_json)


def clear_record_caches() -> None:
    """Empty all record caches of the process, after an erasure."""
    for each in list(_all_caches):
        each.clear()


class TextCache:
    """Reader of memory texts, with a cache for source memories.

    The key is the number of the memory, from a candidate row that the grant may read. A changed
    memory gets a new number, so a cached text is never outdated.
    """

    def __init__(self, candidates: CandidateCache) -> None:
        self._candidates = candidates
        self._cache: TwoGenerationCache[tuple[int, int], str] = TwoGenerationCache()

    def read_texts(
        self, session: Transaction, view: ReadableLabels, ids: Sequence[str]
    ) -> dict[str, str]:
        rows_of_ids = pick_rows(self._candidates.load_if_small(session, view.only_source), ids)
        ids_by_key = {(view.workspace, memory): fields[0] for memory, _, fields in rows_of_ids}
        cached = {ids_by_key[key]: text for key, text in self._cache.find_many(ids_by_key).items()}
        rest = [id for id in ids if id not in cached]
        if not rest:
            return cached
        bound = {**view.parameters, "ids": json.dumps(rest)}
        rows = session.execute_query("memory_contents", bound).fetchall()
        found = {id: extract_text(content) for id, content in rows}
        self._cache_texts(view.workspace, rows_of_ids, found)
        return cached | found

    def _cache_texts(
        self, workspace: int, candidates: Sequence[CandidateRow], found: dict[str, str]
    ) -> None:
        texts = {(workspace, memory): found.get(fields[0]) for memory, _, fields in candidates}
        self._cache.put_many(
            {
                key: text
                for key, text in texts.items()
                if text is not None and len(text) <= MAX_CACHED_CHARS
            }
        )
