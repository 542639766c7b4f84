"""Derived records in SQLite, with their links and postings."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import cast

from ...core.access import Grant
from ...core.candidate import Candidate
from ...core.canonical import canonical_json, time_text
from ...core.codec import event_from_json, memory_from_json, memory_json
from ...core.derive import (
    NAMED,
    Source,
    asks,
    derive,
    directs,
    keyword_text,
    known_as,
    looked_up_by,
    thread_name,
)
from ...core.filters import Condition, Every, Filter, Op, matches
from ...core.ids import WorkspaceId
from ...core.protocols import Scored
from ...core.records import Draft, Erased, Memory, MemoryKind
from ...core.text import terms
from .connections import Connection, Connections
from .keywords import Keywords
from .labels import (
    SQL,
    Readable,
    known_workspace,
    label_number,
    readable,
    take_numbers,
    workspace_number,
)

FEW_LABELS = 16  # a viewer's places; an administrator's are many


class SqliteMemories:
    def __init__(self, connections: Connections, keywords: Keywords) -> None:
        self._connections = connections
        self._keywords = keywords

    def put(self, workspace: WorkspaceId, drafts: Sequence[Draft]) -> list[Memory]:
        return self._connections.write(lambda connection: _put(connection, workspace, drafts))

    def get(self, grant: Grant, ids: Sequence[str]) -> list[Memory]:
        with self._connections.reading() as connection:
            bound = {**readable(connection, grant).parameters, "ids": json.dumps(ids)}
            rows = connection.execute(SQL["memories_by_id"], bound).fetchall()
        return [_memory(content, grant.workspace) for (content,) in rows]

    def find(
        self, grant: Grant, *, where: Filter | None = None, limit: int | None = None
    ) -> list[Memory]:
        with self._connections.reading() as connection:
            view = readable(connection, grant)
            if limit is not None and _only_a_kind(where) and len(view.labels) <= FEW_LABELS:
                kind = {**_about(where)[1], "limit": limit}
                return [_memory(each, grant.workspace) for each in _newest(connection, view, kind)]
            bound = view.parameters
            query, about = _about(where)
            rows = connection.execute(SQL[query], {**bound, **about})
            found = (_memory(content, grant.workspace) for (content,) in rows)
            return list(islice((memory for memory in found if matches(where, memory)), limit))

    def matching(
        self,
        grant: Grant,
        terms: Sequence[str],
        *,
        where: Filter | None = None,
        limit: int,
        learned: bool = False,
    ) -> list[Scored]:
        with self._connections.reading() as connection:
            view = readable(connection, grant).searched(learned=learned)
            return self._keywords.search(connection, view, grant, terms, where=where, limit=limit)

    def holding(self, grant: Grant, terms: Sequence[str], *, learned: bool = False) -> int:
        with self._connections.reading() as connection:
            view = readable(connection, grant).searched(learned=learned)
            return self._keywords.count(connection, view, terms)

    def describe(
        self, grant: Grant, ids: Sequence[str], terms: Sequence[str]
    ) -> dict[str, Candidate]:
        with self._connections.reading() as connection:
            return self._keywords.describe(connection, readable(connection, grant), ids, terms)

    def texts(self, grant: Grant, ids: Sequence[str]) -> dict[str, str]:
        with self._connections.reading() as connection:
            bound = {**readable(connection, grant).parameters, "ids": json.dumps(ids)}
            return dict(connection.execute(SQL["texts"], bound).fetchall())

    def between(
        self, grant: Grant, since: datetime, until: datetime, *, limit: int, learned: bool = False
    ) -> list[str]:
        window = {"since": time_text(since), "until": time_text(until), "limit": limit}
        found: list[tuple[str, str]] = []
        with self._connections.reading() as connection:
            view = readable(connection, grant).searched(learned=learned)
            for state in view.labels:
                place = {"workspace": view.workspace, "label": state.label, **window}
                found += connection.execute(SQL["between"], place).fetchall()
        found.sort(key=lambda row: row[1])
        found.sort(key=lambda row: row[0], reverse=True)
        return [id for _, id in found[:limit]]

    def named(
        self,
        grant: Grant,
        names: Sequence[str],
        *,
        limit: int,
        kinds: Sequence[MemoryKind] | None = None,
        learned: bool = True,
    ) -> list[Memory]:
        wanted = {
            "names": json.dumps(sorted(set(map(known_as, names)))),
            "kinds": json.dumps(sorted({*(NAMED if kinds is None else kinds)})),
            "limit": limit,
        }
        with self._connections.reading() as connection:
            view = readable(connection, grant).searched(learned=learned)
            bound = {**view.with_names, **wanted}
            rows = connection.execute(SQL["named"], bound).fetchall()
        return [_memory(content, grant.workspace) for (content,) in rows]

    def neighbours(
        self, grant: Grant, ids: Sequence[str], *, reach: int
    ) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
        with self._connections.reading() as connection:
            return self._keywords.neighbours(connection, readable(connection, grant), ids, reach)

    def delete(self, workspace: WorkspaceId, ids: Sequence[str]) -> int:
        return self._connections.write(
            lambda connection: delete_memories(connection, workspace, ids).memories
        )


def _memory(content: str, workspace: WorkspaceId) -> Memory:
    return memory_from_json(json.loads(content), workspace)


def _about(where: Filter | None) -> tuple[str, dict[str, str | None]]:
    """The query for what a filter insists on: a subject (and predicate), a kind, or nothing."""
    parts = where.parts if isinstance(where, Every) else (where,)
    wanted = {
        part.field: part.value
        for part in parts
        if isinstance(part, Condition) and part.op is Op.EQ and isinstance(part.value, str)
    }
    if "subject" in wanted:
        told = {"subject": wanted["subject"], "predicate": wanted.get("predicate")}
        return "memories_by_fact", told
    if "kind" in wanted:
        return "memories_by_kind", {"kind": str(wanted["kind"])}
    return "memories_by_time", {}


def _only_a_kind(where: Filter | None) -> bool:
    return (
        isinstance(where, Condition)
        and (where.field, where.op) == ("kind", Op.EQ)
        and isinstance(where.value, str)
    )


def _newest(connection: Connection, view: Readable, bound: Mapping[str, object]) -> list[str]:
    """The newest of a kind in each label, and of those the newest: older ones are not even read."""
    rows: list[tuple[str, str, str]] = []
    for state in view.labels:
        place = {"workspace": view.workspace, "label": state.label, **bound}
        rows += connection.execute(SQL["newest_of_kind"], place).fetchall()
    rows.sort(key=lambda row: row[1])
    rows.sort(key=lambda row: row[0], reverse=True)
    return [content for _, _, content in rows[: cast("int", bound["limit"])]]


def _put(connection: Connection, workspace: WorkspaceId, drafts: Sequence[Draft]) -> list[Memory]:
    number = workspace_number(connection, workspace)
    wanted = dict.fromkeys(id for draft in drafts for id in draft.sources)
    sources = {id: _source(connection, number, workspace, id) for id in wanted}  # each read once
    present = {id: source for id, source in sources.items() if source}
    derived = [_derived(connection, number, workspace, draft, present) for draft in drafts]
    kept = [memory for memory in derived if memory]
    last = {memory.id: memory for memory in kept}  # of two with the same id, the later one
    changed = [memory for memory in last.values() if _changed(connection, number, memory)]
    delete_memories(connection, workspace, [memory.id for memory in changed])
    numbers = take_numbers(connection, number, workspace, len(changed))
    for place, memory in zip(numbers, changed, strict=True):
        _write(connection, number, place, memory)
    return kept


def _derived(
    connection: Connection,
    number: int,
    workspace: WorkspaceId,
    draft: Draft,
    sources: Mapping[str, Source],
) -> Memory | None:
    """The memory, or None if one of its sources is gone or it was itself erased."""
    if not sources.keys() >= set(draft.sources):
        return None
    memory = derive(workspace, draft, sources)
    erased = {"workspace": number, "kind": "memory", "digest": memory.id}
    return None if connection.execute(SQL["has_tombstone"], erased).fetchone() else memory


def _source(connection: Connection, number: int, workspace: WorkspaceId, id: str) -> Source | None:
    bound = {"workspace": number, "id": id}
    row = connection.execute(SQL["event_content"], bound).fetchone()
    if row:
        return event_from_json(json.loads(row[0]), workspace)
    row = connection.execute(SQL["memory_content"], bound).fetchone()
    return _memory(row[2], workspace) if row else None


def _changed(connection: Connection, number: int, memory: Memory) -> bool:
    bound = {"workspace": number, "id": memory.id}
    row = connection.execute(SQL["memory_content"], bound).fetchone()
    return row is None or row[2] != canonical_json(memory_json(memory))


def _write(connection: Connection, number: int, place: int, memory: Memory) -> None:
    label = label_number(connection, number, memory.label, learned=memory.learned)
    words = terms(keyword_text(memory))
    thread = _thread_number(connection, number, label, thread_name(memory))
    row = {
        "workspace": number,
        "memory": place,
        "id": memory.id,
        "label": label,
        "thread": thread,
        "speaker": memory.speaker,
        "role": memory.role,
        "length": len(words),
        "asks": asks(memory.text),
        "directs": directs(memory),
        "kind": memory.kind.value,
        "at": time_text(memory.at),
        "subject": memory.body.get("subject"),
        "predicate": memory.body.get("predicate"),
        "content": canonical_json(memory_json(memory)),
    }
    connection.execute(SQL["add_memory"], row)
    links = [
        {"workspace": number, "origin": memory.id, "relation": "derived_from", "target": source}
        for source in memory.sources
    ]
    connection.executemany(SQL["add_link"], links)
    _add_names(connection, number, label, memory)
    _write_postings(connection, (number, label, place, thread), words)


def _add_names(connection: Connection, number: int, label: int, memory: Memory) -> None:
    if rows := _name_rows(number, label, memory):
        connection.executemany(SQL["add_name"], rows)
        counted = {"workspace": number, "label": label, "more": len(rows)}
        connection.execute(SQL["names_counted"], counted)


def _drop_names(connection: Connection, number: int, label: int, memory: Memory) -> None:
    if rows := _name_rows(number, label, memory):
        connection.executemany(SQL["drop_name"], rows)
        counted = {"workspace": number, "label": label, "more": -len(rows)}
        connection.execute(SQL["names_counted"], counted)


def _name_rows(
    number: int, label: int, memory: Memory
) -> list[tuple[int, int, str, str, str, str]]:
    traits = (memory.kind.value, time_text(memory.at), memory.id)
    return [(number, label, name, *traits) for name in looked_up_by(memory)]


def _thread_number(connection: Connection, number: int, label: int, name: str) -> int:
    named = {"workspace": number, "label": label, "name": name}
    row = connection.execute(SQL["thread"], named).fetchone()
    if row:
        return int(row[0])
    (thread,) = connection.execute(SQL["add_thread"], named).fetchone()
    connection.execute(SQL["threads_counted"], {**named, "more": 1})
    return int(thread)


def _write_postings(
    connection: Connection, where: tuple[int, int, int, int], words: Sequence[str]
) -> None:
    number, label, memory, thread = where
    length = len(words)
    connection.executemany(
        SQL["add_posting"],
        [(number, label, term, memory, n, length, thread) for term, n in Counter(words).items()],
    )
    grown = {"workspace": number, "label": label, "latest": memory, "thread": thread}
    connection.execute(SQL["label_grew"], {**grown, "documents": 1, "terms": length})
    connection.execute(SQL["thread_changed"], {**grown, "terms": length})


def delete_memories(connection: Connection, workspace: WorkspaceId, ids: Iterable[str]) -> Erased:
    """Take these out of every table, and count what went."""
    number = known_workspace(connection, workspace)
    memories = vectors = keywords = links = 0
    for id in ids:
        bound = {"workspace": number, "id": id}
        row = connection.execute(SQL["memory_content"], bound).fetchone()
        if not row:
            continue
        place, label, content, thread = row
        memories += 1
        keywords += _delete_postings(connection, (number, label, place, thread), content)
        _drop_names(connection, number, label, _memory(content, workspace))
        gone = {"workspace": number, "memory": place, "origin": id}
        links += connection.execute(SQL["drop_links"], gone).rowcount
        vectors += connection.execute(SQL["drop_vectors"], gone).rowcount
        connection.execute(SQL["drop_memory"], gone)
        _drop_empty_thread(connection, {"workspace": number, "label": label, "thread": thread})
    return Erased(memories=memories, vectors=vectors, keywords=keywords, links=links)


def _delete_postings(connection: Connection, where: tuple[int, int, int, int], content: str) -> int:
    number, label, memory, thread = where
    told = json.loads(content)
    words = terms(told["text"] if told["indexed_text"] is None else told["indexed_text"])
    rows = [(number, label, term, memory) for term in set(words)]
    gone = connection.executemany(SQL["drop_posting"], rows).rowcount
    shrunk = {"workspace": number, "label": label, "thread": thread}
    connection.execute(SQL["label_shrank"], {**shrunk, "terms": len(words)})
    connection.execute(SQL["thread_changed"], {**shrunk, "terms": -len(words)})
    return max(gone, 0)


def _drop_empty_thread(connection: Connection, where: dict[str, int]) -> None:
    """A thread's name is the caller's word: it goes with the last memory of the thread."""
    gone = connection.execute(SQL["drop_empty_thread"], where).rowcount
    if gone:
        connection.execute(SQL["threads_counted"], {**where, "more": -1})
