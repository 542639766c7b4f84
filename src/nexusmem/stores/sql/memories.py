"""Memories in SQL, with their links, names and postings."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import NamedTuple, TypeGuard

from ...core.access import Grant
from ...core.canonical import canonical_json, format_time, parse_time
from ...core.derive import (
    Source,
    derive_memory,
    is_instruction,
    is_question,
    keyword_text,
    lookup_names,
    thread_name,
)
from ...core.filters import And, Condition, Filter, Op, matches_filter
from ...core.ids import WorkspaceId
from ...core.json_codec import (
    MEMORY_KINDS,
    TIERS,
    content_to_json,
    event_from_json,
    memory_from_json,
)
from ...core.protocols.bulk_copy import check_administrator
from ...core.protocols.memories import ScoredId
from ...core.records import Draft, ErasureCounts, Memory, MemoryKind, Tier, Tombstone, Trust
from ...core.records.projections import Candidate, FactOutline, MemoryState, is_pinned, with_state
from ...core.strength import NO_EXCLUSION, SweepExclusion
from ...text.terms import extract_terms
from ..external.change_feed import ChangeFeed
from .caches.label_cache import NameCache, NameIndex, latest_fact_rows
from .caches.record_cache import TextCache, decode_memories
from .keywords.keyword_index import KeywordIndex
from .readable_labels import (
    allocate_numbers,
    compile_grant,
    ensure_label,
    ensure_workspace,
    find_workspaces,
    lock_workspace,
    lock_workspaces,
    only_granted,
    sort_newest_first,
)
from .tombstones import find_erased, scope_tombstones
from .transactions import Connections, Row, Transaction
from .usage import CommonUsage, load_common_usage

TRUST_LEVELS = tuple(Trust)  # the index is the stored number


class SqlMemoryStates:
    """Queries and updates of tier and archive flag; base class of SqlMemories."""

    _connections: Connections

    def set_state(
        self,
        workspace: WorkspaceId,
        ids: Sequence[str],
        *,
        tier: Tier | None = None,
        archived: bool | None = None,
    ) -> int:
        return self.set_state_many({workspace: ids}, tier=tier, archived=archived)[workspace]

    def set_state_many(
        self,
        ids: Mapping[WorkspaceId, Sequence[str]],
        *,
        tier: Tier | None = None,
        archived: bool | None = None,
    ) -> dict[WorkspaceId, int]:
        return self._connections.write(
            lambda session: set_memory_state(session, ids, tier=tier, archived=archived),
            lazily=True,
        )

    def list_states(
        self,
        grant: Grant,
        *,
        after: str | None = None,
        limit: int,
        used_since: datetime | None = None,
        idle_since: datetime | None = None,
        archived: bool = False,
        exclude: SweepExclusion = NO_EXCLUSION,
    ) -> list[MemoryState]:
        (found,) = self.list_states_many(
            [(grant, after)],
            limit=limit,
            used_since=used_since,
            idle_since=idle_since,
            archived=archived,
            exclude=exclude,
        )
        return found

    def list_states_many(
        self,
        positions: Sequence[tuple[Grant, str | None]],
        *,
        limit: int,
        used_since: datetime | None = None,
        idle_since: datetime | None = None,
        archived: bool = False,
        exclude: SweepExclusion = NO_EXCLUSION,
    ) -> list[list[MemoryState]]:
        workspaces = [check_administrator(grant) for grant, _ in positions]
        query, after, more = _choose_state_query(used_since, idle_since, archived, exclude)
        with self._connections.read_transaction() as session:
            numbers = find_workspaces(session, workspaces)
            params = [
                (number, cursor or after, limit, *more)
                for number, (_, cursor) in zip(numbers, positions, strict=True)
            ]
            pages = dict(zip(numbers, session.fetch_each(query, params), strict=True))
            ids = {number: [row[1] for row in page] for number, page in pages.items() if page}
            uses = dict(zip(ids, load_common_usage(session, ids), strict=True))
        by_id = used_since is not None
        return [
            [_state_from_row(row, uses[number], by_id=by_id) for row in pages[number]]
            for number in numbers
        ]

    def oldest_active_times(
        self, grants: Sequence[Grant], *, since: datetime
    ) -> list[datetime | None]:
        workspaces = [check_administrator(grant) for grant in grants]
        with self._connections.read_transaction() as session:
            numbers = find_workspaces(session, workspaces)
            params = [(number, format_time(since)) for number in numbers]
            found = session.fetch_each("oldest_active_conversation", params)
        return [parse_time(last) if last else None for ((last,),) in found]


def _choose_state_query(
    used_since: datetime | None,
    idle_since: datetime | None,
    archived: bool,
    without: SweepExclusion,
) -> tuple[str, str | int, Row]:
    """Return the query name, its first cursor value and its other parameters."""
    if used_since is not None:
        return "recently_used_memories", "", (format_time(used_since), archived)
    if idle_since is not None:
        return "idle_decay_candidates", 0, (format_time(idle_since),)
    times = format_time(without.since), format_time(without.knowledge_since)
    return "decay_candidates", 0, (without.salience, *times)


def _state_from_row(row: Row, uses: CommonUsage, *, by_id: bool) -> MemoryState:
    memory, id, label, kind, at, length, salience, confidence, trust, tier, archived, pinned = row
    return MemoryState(
        id if by_id else str(memory),
        id,
        MEMORY_KINDS[kind],
        parse_time(at) if isinstance(at, str) else at,
        length,
        salience,
        confidence,
        TRUST_LEVELS[trust],
        TIERS[tier],
        bool(archived),
        bool(pinned),
        label in uses.derived_labels,
        uses.get_use(id, label),
    )


def set_memory_state(
    session: Transaction,
    ids: Mapping[WorkspaceId, Sequence[str]],
    *,
    tier: Tier | None = None,
    archived: bool | None = None,
) -> dict[WorkspaceId, int]:
    """Set the state and return the number of changed memories; bumps the epochs of their labels."""
    numbers = lock_workspaces(session, list(ids))
    state = (tier.value if tier else None, archived)
    rows = [
        (number, json.dumps(list(some)), *state)
        for number, some in zip(numbers, ids.values(), strict=True)
    ]
    changed = session.fetch_each("set_memory_state", rows)
    labels = {(n, label) for n, each in zip(numbers, changed, strict=True) for (label,) in each}
    session.execute_batch("bump_label_epoch", sorted(labels))
    return {workspace: len(each) for workspace, each in zip(ids, changed, strict=True)}


MAX_LABELS_READ_SEPARATELY = 16  # one query per label; more labels take one query


def choose_query(where: Filter | None) -> tuple[str, dict[str, str | None]]:
    """Return the query and parameters for a filter: by fact, by kind, or by time."""
    parts = where.parts if isinstance(where, And) else (where,)
    wanted = {
        part.field: part.value
        for part in parts
        if isinstance(part, Condition) and part.op is Op.EQ and isinstance(part.value, str)
    }
    if "subject" in wanted:
        fact = {"subject": wanted["subject"], "predicate": wanted.get("predicate")}
        return "memories_by_fact", fact
    if "kind" in wanted:
        return "memories_by_kind", {"kind": str(wanted["kind"])}
    return "memories_by_time", {}


def is_kind_filter(where: Filter | None) -> TypeGuard[Condition]:
    return (
        isinstance(where, Condition)
        and (where.field, where.op) == ("kind", Op.EQ)
        and isinstance(where.value, str)
    )


def build_posting_rows(
    workspace: int, label: int, memory_number: int, thread: int, words: Sequence[str]
) -> list[Row]:
    """Return one posting row per distinct term of a memory."""
    end = (len(words), thread)
    return [(workspace, label, term, memory_number, n, *end) for term, n in Counter(words).items()]


def build_name_rows(workspace: int, label: int, memory: Memory) -> list[Row]:
    """Return one row per name of a memory."""
    traits = (memory.kind.value, format_time(memory.at), memory.id)
    return [(workspace, label, name, *traits) for name in lookup_names(memory)]


def ensure_conversation(session: Transaction, workspace: int, label: int, name: str) -> int:
    named = {"workspace": workspace, "label": label, "name": name}
    row = session.execute_query("find_conversation", named).fetchone()
    if row:
        return int(row[0])
    (thread,) = session.execute_query("add_conversation", named).fetchone()
    session.execute_query("add_conversation_count", {**named, "more": 1})
    return int(thread)


def delete_empty_conversation(session: Transaction, where: dict[str, int]) -> None:
    """Delete a conversation without memories: its name may be personal data."""
    deleted = session.execute_query("drop_empty_conversation", where).rowcount
    if deleted:
        session.execute_query("add_conversation_count", {**where, "more": -1})


class SqlMemories(SqlMemoryStates):
    def __init__(
        self,
        connections: Connections,
        keyword_index: KeywordIndex,
        name_cache: NameCache | None = None,
    ) -> None:
        self._connections = connections
        self._keyword_index = keyword_index
        self._name_index = NameIndex(name_cache)
        self._text_cache = TextCache(keyword_index.candidates)

    def put(
        self,
        workspace: WorkspaceId,
        drafts: Sequence[Draft],
        *,
        tombstones: frozenset[Tombstone] | None = None,
    ) -> list[Memory]:
        return self._connections.write(
            lambda session: _put_memories(session, workspace, drafts, tombstones)
        )

    def get(self, grant: Grant, ids: Sequence[str]) -> list[Memory]:
        with self._connections.read_transaction() as session:
            bound = {**compile_grant(session, grant).parameters, "ids": json.dumps(ids)}
            rows = session.execute_query("memories_by_id", bound).fetchall()
        return _decode_granted(grant, rows)

    def find(
        self, grant: Grant, *, where: Filter | None = None, limit: int | None = None
    ) -> list[Memory]:
        with self._connections.read_transaction() as session:
            view = compile_grant(session, grant)
            if (
                limit is not None
                and is_kind_filter(where)
                and len(view.labels) <= MAX_LABELS_READ_SEPARATELY
            ):
                params = view.non_empty.rows_per_label(where.value, limit)
                found = sort_newest_first(session.fetch_each("newest_of_kind", params))[:limit]
                return _decode_granted(grant, (row[2:] for row in found))
            bound = view.parameters
            query, more = choose_query(where)
            rows = session.execute_query(query, {**bound, **more})
            each = only_granted(grant, (_decode_memory(grant.workspace, *row) for row in rows))
            return list(islice((memory for memory in each if matches_filter(where, memory)), limit))

    def search_keywords(
        self,
        grant: Grant,
        terms: Sequence[str],
        *,
        where: Filter | None = None,
        limit: int,
        learned: bool = False,
    ) -> list[ScoredId]:
        with self._connections.read_transaction() as session:
            view = compile_grant(session, grant).for_search(learned=learned)
            return self._keyword_index.search(session, view, grant, terms, where=where, limit=limit)

    def count_matching(self, grant: Grant, terms: Sequence[str], *, learned: bool = False) -> int:
        with self._connections.read_transaction() as session:
            view = compile_grant(session, grant).for_search(learned=learned)
            return self._keyword_index.count_matching(session, view, terms)

    def load_candidates(
        self, grant: Grant, ids: Sequence[str], terms: Sequence[str]
    ) -> dict[str, Candidate]:
        with self._connections.read_transaction() as session:
            return self._keyword_index.describe_candidates(
                session, compile_grant(session, grant), ids, terms
            )

    def load_texts(self, grant: Grant, ids: Sequence[str]) -> dict[str, str]:
        with self._connections.read_transaction() as session:
            return self._text_cache.read_texts(session, compile_grant(session, grant), ids)

    def ids_between(
        self, grant: Grant, since: datetime, until: datetime, *, limit: int, learned: bool = False
    ) -> list[str]:
        window = (format_time(since), format_time(until), limit)
        with self._connections.read_transaction() as session:
            view = compile_grant(session, grant).for_search(learned=learned)
            found = session.fetch_each("memory_ids_between", view.non_empty.rows_per_label(*window))
        return [id for _, id in sort_newest_first(found)[:limit]]

    def find_by_name(
        self,
        grant: Grant,
        names: Sequence[str],
        *,
        limit: int,
        kinds: Sequence[MemoryKind] | None = None,
        learned: bool = True,
        oldest_first: bool = False,
    ) -> list[Memory]:
        query = "oldest_by_name" if oldest_first else "memories_by_name"
        with self._connections.read_transaction() as session:
            view = compile_grant(session, grant).for_search(learned=learned)
            rows = self._name_index.find_rows(session, view, query, names, kinds=kinds, limit=limit)
        return _decode_granted(grant, rows)

    def find_by_source(
        self, grant: Grant, sources: Sequence[str], *, kinds: Sequence[MemoryKind]
    ) -> list[Memory]:
        wanted = {"sources": json.dumps(list(sources)), "kinds": json.dumps(list(kinds))}
        with self._connections.read_transaction() as session:
            bound = {**compile_grant(session, grant).parameters, **wanted}
            rows = session.execute_query("memories_by_source", bound).fetchall()
        return _decode_granted(grant, rows)

    def fact_outlines(self, grant: Grant, names: Sequence[str], *, limit: int) -> list[FactOutline]:
        with self._connections.read_transaction() as session:
            view = compile_grant(session, grant)
            return self._name_index.find_outlines(session, view, names, limit=limit)

    def latest_facts(
        self, grant: Grant, subjects: Sequence[str], *, limit: int | None = None
    ) -> list[Memory]:
        with self._connections.read_transaction() as session:
            view = compile_grant(session, grant).for_search(learned=False)
            return _decode_granted(grant, latest_fact_rows(session, view, subjects, limit))

    def find_neighbours(
        self, grant: Grant, ids: Sequence[str], *, reach: int
    ) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
        with self._connections.read_transaction() as session:
            return self._keyword_index.find_neighbours(
                session, compile_grant(session, grant), ids, reach
            )

    def changes_since(
        self, workspace: WorkspaceId, kinds: Sequence[MemoryKind], *, after: int, limit: int
    ) -> list[tuple[int, Memory]]:
        found = ChangeFeed(self._connections).read_named_memories(
            workspace, kinds=kinds, after=after, limit=limit
        )
        return [(number, memory) for number, _, memory in found]

    def delete(self, workspace: WorkspaceId, ids: Sequence[str]) -> int:
        return self._connections.write(
            lambda session: delete_memories(session, workspace, ids).memories
        )


def _decode_granted(grant: Grant, rows: Iterable[Row]) -> list[Memory]:
    """Decode rows of content and state, and check each memory against the grant."""
    return list(only_granted(grant, decode_memories(rows, grant.workspace)))


def _decode_memory(workspace: WorkspaceId, content: str, tier: str, archived: bool) -> Memory:
    return memory_from_json(json.loads(content), workspace, tier, archived)


def _put_memories(
    session: Transaction,
    workspace: WorkspaceId,
    drafts: Sequence[Draft],
    tombstones: frozenset[Tombstone] | None,
) -> list[Memory]:
    number = ensure_workspace(session, workspace)
    wanted = dict.fromkeys(id for draft in drafts for id in draft.sources)
    sources = _load_sources(session, number, workspace, list(wanted))
    complete = [draft for draft in drafts if sources.keys() >= set(draft.sources)]
    derived = [derive_memory(workspace, draft, sources) for draft in complete]
    if tombstones is not None:
        derived = [
            each for each in derived if tombstones >= scope_tombstones(session, number, each.label)
        ]
    erased = find_erased(session, number, [memory.id for memory in derived])
    stored = _load_stored_rows(session, number, [memory.id for memory in derived])
    result = [_with_stored_state(memory, stored) for memory in derived if memory.id not in erased]
    last = {memory.id: memory for memory in result}  # the last of equal ids
    changed = [memory for memory in last.values() if _is_changed(stored.get(memory.id), memory)]
    _delete_rows(session, number, workspace, [stored[m.id] for m in changed if m.id in stored])
    add_memories(session, number, changed)
    longer = [id for id, memory in last.items() if id in stored and memory.tier != stored[id].tier]
    if longer:
        set_memory_state(session, {workspace: longer}, tier=Tier.LONG)
    return result


def _with_stored_state(memory: Memory, stored: Mapping[str, _StoredRow]) -> Memory:
    """Keep the existing tier and archive flag when a memory is derived again."""
    before = stored.get(memory.id)
    if before is None:
        return memory
    return with_state(memory, tier=Tier(before.tier), archived=bool(before.archived))


class _StoredRow(NamedTuple):
    """A row of the query `memory_rows_by_id`."""

    id: str
    memory_number: int
    label: int
    content: str
    thread: int
    tier: str
    archived: bool

    def to_memory(self, workspace: WorkspaceId) -> Memory:
        return _decode_memory(workspace, self.content, self.tier, self.archived)


def _load_stored_rows(
    session: Transaction, number: int, ids: Sequence[str]
) -> dict[str, _StoredRow]:
    if not ids:
        return {}
    bound = {"workspace": number, "ids": json.dumps(ids)}
    return {row[0]: _StoredRow(*row) for row in session.execute_query("memory_rows_by_id", bound)}


def _load_sources(
    session: Transaction, number: int, workspace: WorkspaceId, ids: Sequence[str]
) -> dict[str, Source]:
    """Return the existing sources by id: events and memories."""
    bound = {"workspace": number, "ids": json.dumps(ids)}
    found: dict[str, Source] = {
        id: event_from_json(json.loads(content), workspace)
        for id, content in session.execute_query("event_contents_by_id", bound)
        if content is not None
    }
    rest = [id for id in ids if id not in found]
    stored = _load_stored_rows(session, number, rest).values()
    return found | {each.id: each.to_memory(workspace) for each in stored}


def _is_changed(stored: _StoredRow | None, memory: Memory) -> bool:
    return stored is None or stored.content != canonical_json(content_to_json(memory))


def add_memories(session: Transaction, number: int, memories: Sequence[Memory]) -> None:
    """Insert memories that do not exist yet."""
    if not memories:
        return
    # Rows that are read together are stored together: source memories first, then derived ones.
    memories = sorted(memories, key=lambda memory: memory.learned)
    numbers = allocate_numbers(session, number, len(memories))
    keys = dict.fromkeys((memory.label, memory.learned) for memory in memories)
    labels = {
        (label, learned): ensure_label(session, number, label, learned=learned)
        for label, learned in keys
    }
    label_numbers = [labels[memory.label, memory.learned] for memory in memories]
    named = list(zip(label_numbers, map(thread_name, memories), strict=True))
    conversations = {
        (label, name): ensure_conversation(session, number, label, name)
        for label, name in dict.fromkeys(named)
    }
    rows = [
        _NewRow(
            number,
            memory_number,
            label,
            conversations[label, name],
            memory,
            extract_terms(keyword_text(memory)),
        )
        for memory_number, memory, (label, name) in zip(numbers, memories, named, strict=True)
    ]
    _insert_rows(session, number, rows)


class _NewRow(NamedTuple):
    """A memory to insert, with its numbers."""

    workspace: int
    memory_number: int
    label: int
    thread: int
    memory: Memory
    words: list[str]

    @property
    def memory_row(self) -> Row:
        memory = self.memory
        return (
            self.workspace,
            self.memory_number,
            memory.id,
            self.label,
            memory.kind.value,
            format_time(memory.at),
            memory.body.get("subject"),
            memory.body.get("predicate"),
            self.thread,
            memory.speaker,
            memory.role,
            len(self.words),
            is_question(memory.text),
            is_instruction(memory),
            canonical_json(content_to_json(memory)),
            memory.tier.value,
            memory.archived,
            float(memory.salience),
            float(memory.confidence),
            memory.trust.value,
            is_pinned(memory),
        )

    @property
    def postings(self) -> list[Row]:
        return build_posting_rows(
            self.workspace, self.label, self.memory_number, self.thread, self.words
        )


def _insert_rows(session: Transaction, number: int, rows: Sequence[_NewRow]) -> None:
    session.execute_batch("add_memory", [row.memory_row for row in rows])
    links = [(number, row.memory.id, "derived_from", s) for row in rows for s in row.memory.sources]
    session.execute_batch("add_link", links)
    names = [name for row in rows for name in build_name_rows(number, row.label, row.memory)]
    if names:
        session.execute_batch("add_name", names)
        _update_name_counts(session, names, +1)
    session.execute_batch("add_posting", [posting for row in rows for posting in row.postings])
    grown: dict[int, list[_NewRow]] = defaultdict(list)
    conversations: Counter[tuple[int, int]] = Counter()
    for row in rows:
        grown[row.label].append(row)
        conversations[row.label, row.thread] += len(row.words)
    session.execute_batch(
        "add_label_totals", [_growth_row(number, label, some) for label, some in grown.items()]
    )
    session.execute_batch(
        "add_conversation_terms", [(number, *key, n) for key, n in conversations.items()]
    )


def _growth_row(number: int, label: int, rows: Sequence[_NewRow]) -> Row:
    return number, label, rows[-1].memory_number, len(rows), sum(len(row.words) for row in rows)


def _update_name_counts(session: Transaction, names: Sequence[Row], sign: int) -> None:
    counts = Counter((workspace, label) for workspace, label, *_ in names)
    rows = [(*key, sign * count) for key, count in counts.items()]
    session.execute_batch("add_name_count", rows)


def delete_memories(
    session: Transaction, workspace: WorkspaceId, ids: Iterable[str]
) -> ErasureCounts:
    """Delete memories from all tables and return the counts."""
    number = lock_workspace(session, workspace)
    stored = _load_stored_rows(session, number, list(dict.fromkeys(ids)))
    return _delete_rows(session, number, workspace, list(stored.values()))


def _delete_rows(
    session: Transaction, number: int, workspace: WorkspaceId, deleted: Sequence[_StoredRow]
) -> ErasureCounts:
    if not deleted:
        return ErasureCounts()
    keywords = _delete_postings(session, number, deleted)
    names = [
        name
        for row in deleted
        for name in build_name_rows(number, row.label, row.to_memory(workspace))
    ]
    if names:
        session.execute_batch("drop_name", names)
        _update_name_counts(session, names, -1)
    links = session.execute_batch("drop_links", [(number, row.id) for row in deleted])
    keys = [(number, row.memory_number) for row in deleted]
    vectors = session.execute_batch("drop_vectors", keys)
    session.execute_batch("drop_memory", keys)
    for label, thread in dict.fromkeys((row.label, row.thread) for row in deleted):
        delete_empty_conversation(session, {"workspace": number, "label": label, "thread": thread})
    return ErasureCounts(memories=len(deleted), vectors=vectors, keywords=keywords, links=links)


def _delete_postings(session: Transaction, number: int, deleted: Sequence[_StoredRow]) -> int:
    postings: list[Row] = []
    shrunk: list[Row] = []
    conversations: list[Row] = []
    for row in deleted:
        content = json.loads(row.content)
        words = extract_terms(
            content["text"] if content["indexed_text"] is None else content["indexed_text"]
        )
        postings += [(number, row.label, term, row.memory_number) for term in set(words)]
        shrunk.append((number, row.label, len(words)))
        conversations.append((number, row.label, row.thread, -len(words)))
    dropped = session.execute_batch("drop_posting", postings)
    session.execute_batch("subtract_label_totals", shrunk)
    session.execute_batch("add_conversation_terms", conversations)
    return dropped
