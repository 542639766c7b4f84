"""Derived records, with their links and postings."""

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
from .keywords import Keywords
from .labels import (
    Readable,
    label_number,
    locked_workspace,
    readable,
    take_numbers,
    workspace_number,
)
from .session import Connections, Session

FEW_LABELS = 16  # a viewer's places; an administrator's are many


class SqlMemories:
    def __init__(self, connections: Connections, keywords: Keywords) -> None:
        self._connections = connections
        self._keywords = keywords

    def put(self, workspace: WorkspaceId, drafts: Sequence[Draft]) -> list[Memory]:
        return self._connections.write(lambda session: _put(session, workspace, drafts))

    def get(self, grant: Grant, ids: Sequence[str]) -> list[Memory]:
        with self._connections.reading() as session:
            bound = {**readable(session, grant).parameters, "ids": json.dumps(ids)}
            rows = session.run("memories_by_id", bound).fetchall()
        return [_memory(content, grant.workspace) for (content,) in rows]

    def find(
        self, grant: Grant, *, where: Filter | None = None, limit: int | None = None
    ) -> list[Memory]:
        with self._connections.reading() as session:
            view = readable(session, grant)
            if limit is not None and _only_a_kind(where) and len(view.labels) <= FEW_LABELS:
                kind = {**_about(where)[1], "limit": limit}
                return [_memory(each, grant.workspace) for each in _newest(session, view, kind)]
            bound = view.parameters
            query, about = _about(where)
            rows = session.run(query, {**bound, **about})
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
        with self._connections.reading() as session:
            view = readable(session, grant).searched(learned=learned)
            return self._keywords.search(session, view, grant, terms, where=where, limit=limit)

    def holding(self, grant: Grant, terms: Sequence[str], *, learned: bool = False) -> int:
        with self._connections.reading() as session:
            view = readable(session, grant).searched(learned=learned)
            return self._keywords.count(session, view, terms)

    def describe(
        self, grant: Grant, ids: Sequence[str], terms: Sequence[str]
    ) -> dict[str, Candidate]:
        with self._connections.reading() as session:
            return self._keywords.describe(session, readable(session, grant), ids, terms)

    def texts(self, grant: Grant, ids: Sequence[str]) -> dict[str, str]:
        with self._connections.reading() as session:
            bound = {**readable(session, grant).parameters, "ids": json.dumps(ids)}
            return dict(session.run("texts", bound).fetchall())

    def between(
        self, grant: Grant, since: datetime, until: datetime, *, limit: int, learned: bool = False
    ) -> list[str]:
        window = {"since": time_text(since), "until": time_text(until), "limit": limit}
        found: list[tuple[str, str]] = []
        with self._connections.reading() as session:
            view = readable(session, grant).searched(learned=learned)
            for state in view.labels:
                place = {"workspace": view.workspace, "label": state.label, **window}
                found += session.run("between", place).fetchall()
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
        with self._connections.reading() as session:
            view = readable(session, grant).searched(learned=learned)
            bound = {**view.with_names, **wanted}
            rows = session.run("named", bound).fetchall()
        return [_memory(content, grant.workspace) for (content,) in rows]

    def neighbours(
        self, grant: Grant, ids: Sequence[str], *, reach: int
    ) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
        with self._connections.reading() as session:
            return self._keywords.neighbours(session, readable(session, grant), ids, reach)

    def delete(self, workspace: WorkspaceId, ids: Sequence[str]) -> int:
        return self._connections.write(
            lambda session: delete_memories(session, workspace, ids).memories
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


def _newest(session: Session, view: Readable, bound: Mapping[str, object]) -> list[str]:
    """The newest of a kind in each label, and of those the newest: older ones are not even read."""
    rows: list[tuple[str, str, str]] = []
    for state in view.labels:
        place = {"workspace": view.workspace, "label": state.label, **bound}
        rows += session.run("newest_of_kind", place).fetchall()
    rows.sort(key=lambda row: row[1])
    rows.sort(key=lambda row: row[0], reverse=True)
    return [content for _, _, content in rows[: cast("int", bound["limit"])]]


def _put(session: Session, workspace: WorkspaceId, drafts: Sequence[Draft]) -> list[Memory]:
    number = workspace_number(session, workspace)
    wanted = dict.fromkeys(id for draft in drafts for id in draft.sources)
    sources = {id: _source(session, number, workspace, id) for id in wanted}  # each read once
    present = {id: source for id, source in sources.items() if source}
    derived = [_derived(session, number, workspace, draft, present) for draft in drafts]
    kept = [memory for memory in derived if memory]
    last = {memory.id: memory for memory in kept}  # of two with the same id, the later one
    changed = [memory for memory in last.values() if _changed(session, number, memory)]
    delete_memories(session, workspace, [memory.id for memory in changed])
    add_memories(session, number, changed)
    return kept


def add_memories(session: Session, number: int, memories: Sequence[Memory]) -> None:
    """Write memories that are not there, as they are."""
    numbers = take_numbers(session, number, len(memories))
    for place, memory in zip(numbers, memories, strict=True):
        _write(session, number, place, memory)


def _derived(
    session: Session,
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
    return None if session.run("has_tombstone", erased).fetchone() else memory


def _source(session: Session, number: int, workspace: WorkspaceId, id: str) -> Source | None:
    bound = {"workspace": number, "id": id}
    row = session.run("event_content", bound).fetchone()
    if row:
        return event_from_json(json.loads(row[0]), workspace)
    row = session.run("memory_content", bound).fetchone()
    return _memory(row[2], workspace) if row else None


def _changed(session: Session, number: int, memory: Memory) -> bool:
    bound = {"workspace": number, "id": memory.id}
    row = session.run("memory_content", bound).fetchone()
    return row is None or row[2] != canonical_json(memory_json(memory))


def _write(session: Session, number: int, place: int, memory: Memory) -> None:
    label = label_number(session, number, memory.label, learned=memory.learned)
    words = terms(keyword_text(memory))
    thread = _thread_number(session, number, label, thread_name(memory))
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
    session.run("add_memory", row)
    links = [(number, memory.id, "derived_from", source) for source in memory.sources]
    session.run_many("add_link", links)
    _add_names(session, number, label, memory)
    _write_postings(session, (number, label, place, thread), words)


def _add_names(session: Session, number: int, label: int, memory: Memory) -> None:
    if rows := _name_rows(number, label, memory):
        session.run_many("add_name", rows)
        counted = {"workspace": number, "label": label, "more": len(rows)}
        session.run("names_counted", counted)


def _drop_names(session: Session, number: int, label: int, memory: Memory) -> None:
    if rows := _name_rows(number, label, memory):
        session.run_many("drop_name", rows)
        counted = {"workspace": number, "label": label, "more": -len(rows)}
        session.run("names_counted", counted)


def _name_rows(
    number: int, label: int, memory: Memory
) -> list[tuple[int, int, str, str, str, str]]:
    traits = (memory.kind.value, time_text(memory.at), memory.id)
    return [(number, label, name, *traits) for name in looked_up_by(memory)]


def _thread_number(session: Session, number: int, label: int, name: str) -> int:
    named = {"workspace": number, "label": label, "name": name}
    row = session.run("thread", named).fetchone()
    if row:
        return int(row[0])
    (thread,) = session.run("add_thread", named).fetchone()
    session.run("threads_counted", {**named, "more": 1})
    return int(thread)


def _write_postings(
    session: Session, where: tuple[int, int, int, int], words: Sequence[str]
) -> None:
    number, label, memory, thread = where
    length = len(words)
    session.run_many(
        "add_posting",
        [(number, label, term, memory, n, length, thread) for term, n in Counter(words).items()],
    )
    grown = {"workspace": number, "label": label, "latest": memory, "thread": thread}
    session.run("label_grew", {**grown, "documents": 1, "terms": length})
    session.run("thread_changed", {**grown, "terms": length})


def delete_memories(session: Session, workspace: WorkspaceId, ids: Iterable[str]) -> Erased:
    """Take these out of every table, and count what went."""
    number = locked_workspace(session, workspace)
    memories = vectors = keywords = links = 0
    for id in ids:
        bound = {"workspace": number, "id": id}
        row = session.run("memory_content", bound).fetchone()
        if not row:
            continue
        place, label, content, thread = row
        memories += 1
        keywords += _delete_postings(session, (number, label, place, thread), content)
        _drop_names(session, number, label, _memory(content, workspace))
        gone = {"workspace": number, "memory": place, "origin": id}
        links += session.run("drop_links", gone).rowcount
        vectors += session.run("drop_vectors", gone).rowcount
        session.run("drop_memory", gone)
        _drop_empty_thread(session, {"workspace": number, "label": label, "thread": thread})
    return Erased(memories=memories, vectors=vectors, keywords=keywords, links=links)


def _delete_postings(session: Session, where: tuple[int, int, int, int], content: str) -> int:
    number, label, memory, thread = where
    told = json.loads(content)
    words = terms(told["text"] if told["indexed_text"] is None else told["indexed_text"])
    rows = [(number, label, term, memory) for term in set(words)]
    gone = session.run_many("drop_posting", rows)
    shrunk = {"workspace": number, "label": label, "thread": thread}
    session.run("label_shrank", {**shrunk, "terms": len(words)})
    session.run("thread_changed", {**shrunk, "terms": -len(words)})
    return gone


def _drop_empty_thread(session: Session, where: dict[str, int]) -> None:
    """A thread's name is the caller's word: it goes with the last memory of the thread."""
    gone = session.run("drop_empty_thread", where).rowcount
    if gone:
        session.run("threads_counted", {**where, "more": -1})
