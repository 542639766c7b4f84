"""Derived records, with their links and postings."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from ...core.access import Grant
from ...core.candidate import Candidate
from ...core.canonical import canonical_json, time_text
from ...core.codec import content_json, event_from_json, memory_from_json
from ...core.derive import Source, asks, derive, directs, keyword_text, thread_name
from ...core.filters import Filter, matches
from ...core.ids import WorkspaceId
from ...core.outline import Outline
from ...core.protocols import Scored
from ...core.records import Draft, Erased, Memory, MemoryKind, Tier, Tombstone
from ...core.states import in_state, pinned
from ...core.text import terms
from .asked import FEW_LABELS, asked_about, only_a_kind
from .decoded import read_memory
from .feed import Feed
from .keywords import Keywords
from .labels import (
    label_number,
    locked_workspace,
    newest_first,
    readable,
    take_numbers,
    workspace_number,
)
from .naming import NameBox, Naming, newest_of_each
from .outgoing import going_out
from .rows import name_rows, posting_rows
from .session import Connections, Row, Session
from .states import SqlStates, mark_memories
from .stones import erased_among, stones_of
from .texts import Texts
from .threads import drop_empty_thread, thread_number


class SqlMemories(SqlStates):
    def __init__(
        self, connections: Connections, keywords: Keywords, names: NameBox | None = None
    ) -> None:
        self._connections = connections
        self._keywords = keywords
        self._naming = Naming(names)
        self._texts = Texts(keywords.cards)

    def put(
        self,
        workspace: WorkspaceId,
        drafts: Sequence[Draft],
        *,
        stones: frozenset[Tombstone] | None = None,
    ) -> list[Memory]:
        return self._connections.write(lambda session: _put(session, workspace, drafts, stones))

    def get(self, grant: Grant, ids: Sequence[str]) -> list[Memory]:
        with self._connections.reading() as session:
            bound = {**readable(session, grant).parameters, "ids": json.dumps(ids)}
            rows = session.run("memories_by_id", bound).fetchall()
        return _read(grant, rows)

    def find(
        self, grant: Grant, *, where: Filter | None = None, limit: int | None = None
    ) -> list[Memory]:
        with self._connections.reading() as session:
            view = readable(session, grant)
            if limit is not None and only_a_kind(where) and len(view.labels) <= FEW_LABELS:
                places = view.filled.places(where.value, limit)
                found = newest_first(session.read_each("newest_of_kind", places))[:limit]
                return _read(grant, (row[2:] for row in found))
            bound = view.parameters
            query, about = asked_about(where)
            rows = session.run(query, {**bound, **about})
            each = going_out(grant, (_memory(grant.workspace, *row) for row in rows))
            return list(islice((memory for memory in each if matches(where, memory)), limit))

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
            return self._texts.read(session, readable(session, grant), ids)

    def between(
        self, grant: Grant, since: datetime, until: datetime, *, limit: int, learned: bool = False
    ) -> list[str]:
        window = (time_text(since), time_text(until), limit)
        with self._connections.reading() as session:
            view = readable(session, grant).searched(learned=learned)
            found = session.read_each("between", view.filled.places(*window))
        return [id for _, id in newest_first(found)[:limit]]

    def named(
        self,
        grant: Grant,
        names: Sequence[str],
        *,
        limit: int,
        kinds: Sequence[MemoryKind] | None = None,
        learned: bool = True,
    ) -> list[Memory]:
        with self._connections.reading() as session:
            view = readable(session, grant).searched(learned=learned)
            rows = self._naming.about(session, view, "named", names, kinds=kinds, limit=limit)
        return _read(grant, rows)

    def outlines(self, grant: Grant, names: Sequence[str], *, limit: int) -> list[Outline]:
        with self._connections.reading() as session:
            view = readable(session, grant)
            return self._naming.outlines(session, view, names, limit=limit)

    def latest(
        self, grant: Grant, subjects: Sequence[str], *, limit: int | None = None
    ) -> list[Memory]:
        with self._connections.reading() as session:
            view = readable(session, grant).searched(learned=False)
            return _read(grant, newest_of_each(session, view, subjects, limit))

    def neighbours(
        self, grant: Grant, ids: Sequence[str], *, reach: int
    ) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
        with self._connections.reading() as session:
            return self._keywords.neighbours(session, readable(session, grant), ids, reach)

    def written(
        self, workspace: WorkspaceId, kinds: Sequence[MemoryKind], *, after: int, limit: int
    ) -> list[tuple[int, Memory]]:
        found = Feed(self._connections).named(workspace, kinds=kinds, after=after, limit=limit)
        return [(number, memory) for number, _, memory in found]

    def delete(self, workspace: WorkspaceId, ids: Sequence[str]) -> int:
        return self._connections.write(
            lambda session: delete_memories(session, workspace, ids).memories
        )


def _read(grant: Grant, rows: Iterable[Row]) -> list[Memory]:
    """Rows of a content and its state."""
    return list(going_out(grant, read_memory(rows, grant.workspace)))


def _memory(workspace: WorkspaceId, content: str, tier: str, archived: bool) -> Memory:
    return memory_from_json(json.loads(content), workspace, tier, archived)


def _put(
    session: Session,
    workspace: WorkspaceId,
    drafts: Sequence[Draft],
    stones: frozenset[Tombstone] | None,
) -> list[Memory]:
    number = workspace_number(session, workspace)
    wanted = dict.fromkeys(id for draft in drafts for id in draft.sources)
    sources = _sources(session, number, workspace, list(wanted))
    whole = [draft for draft in drafts if sources.keys() >= set(draft.sources)]
    derived = [derive(workspace, draft, sources) for draft in whole]
    if stones is not None:
        derived = [each for each in derived if stones >= stones_of(session, number, each.label)]
    erased = erased_among(session, number, [memory.id for memory in derived])
    known = _known(session, number, [memory.id for memory in derived])
    kept = [_as_known(memory, known) for memory in derived if memory.id not in erased]
    last = {memory.id: memory for memory in kept}  # of two with the same id, the later one
    changed = [memory for memory in last.values() if _changed(known.get(memory.id), memory)]
    _delete(session, number, workspace, [known[m.id] for m in changed if m.id in known])
    add_memories(session, number, changed)
    longer = [id for id, memory in last.items() if id in known and memory.tier != known[id].tier]
    if longer:
        mark_memories(session, {workspace: longer}, tier=Tier.LONG)
    return kept


def _as_known(memory: Memory, known: Mapping[str, _Known]) -> Memory:
    """With the state it has: what is derived again is not made younger, nor brought up again."""
    before = known.get(memory.id)
    if before is None:
        return memory
    return in_state(memory, tier=Tier(before.tier), archived=bool(before.archived))


class _Known(NamedTuple):
    """A memory as it lies in the tables."""

    id: str
    memory: int
    label: int
    content: str
    thread: int
    tier: str
    archived: bool

    def told(self, workspace: WorkspaceId) -> Memory:
        return _memory(workspace, self.content, self.tier, self.archived)


def _known(session: Session, number: int, ids: Sequence[str]) -> dict[str, _Known]:
    if not ids:
        return {}
    bound = {"workspace": number, "ids": json.dumps(ids)}
    return {row[0]: _Known(*row) for row in session.run("memories_placed", bound)}


def _sources(
    session: Session, number: int, workspace: WorkspaceId, ids: Sequence[str]
) -> dict[str, Source]:
    """Those that are there: events mostly, and memories."""
    bound = {"workspace": number, "ids": json.dumps(ids)}
    found: dict[str, Source] = {
        id: event_from_json(json.loads(content), workspace)
        for id, content in session.run("known_events", bound)
        if content is not None
    }
    rest = [id for id in ids if id not in found]
    known = _known(session, number, rest).values()
    return found | {each.id: each.told(workspace) for each in known}


def _changed(known: _Known | None, memory: Memory) -> bool:
    return known is None or known.content != canonical_json(content_json(memory))


def add_memories(session: Session, number: int, memories: Sequence[Memory]) -> None:
    """Write memories that are not there, as they are."""
    if not memories:
        return
    # What is read together lies together: what was told, and then what was learned from it.
    memories = sorted(memories, key=lambda memory: memory.learned)
    numbers = take_numbers(session, number, len(memories))
    shelves = dict.fromkeys((memory.label, memory.learned) for memory in memories)
    labels = {
        (label, learned): label_number(session, number, label, learned=learned)
        for label, learned in shelves
    }
    placed = [labels[memory.label, memory.learned] for memory in memories]
    named = list(zip(placed, map(thread_name, memories), strict=True))
    threads = {
        (label, name): thread_number(session, number, label, name)
        for label, name in dict.fromkeys(named)
    }
    rows = [
        _Row(number, place, label, threads[label, name], memory, terms(keyword_text(memory)))
        for place, memory, (label, name) in zip(numbers, memories, named, strict=True)
    ]
    _write(session, number, rows)


class _Row(NamedTuple):
    """A memory about to be written, with its places."""

    workspace: int
    place: int
    label: int
    thread: int
    memory: Memory
    words: list[str]

    @property
    def itself(self) -> Row:
        memory = self.memory
        return (
            self.workspace,
            self.place,
            memory.id,
            self.label,
            memory.kind.value,
            time_text(memory.at),
            memory.body.get("subject"),
            memory.body.get("predicate"),
            self.thread,
            memory.speaker,
            memory.role,
            len(self.words),
            asks(memory.text),
            directs(memory),
            canonical_json(content_json(memory)),
            memory.tier.value,
            memory.archived,
            float(memory.salience),
            float(memory.confidence),
            memory.trust.value,
            pinned(memory),
        )

    @property
    def postings(self) -> list[Row]:
        return posting_rows(self.workspace, self.label, self.place, self.thread, self.words)


def _write(session: Session, number: int, rows: Sequence[_Row]) -> None:
    session.run_many("add_memory", [row.itself for row in rows])
    links = [(number, row.memory.id, "derived_from", s) for row in rows for s in row.memory.sources]
    session.run_many("add_link", links)
    names = [name for row in rows for name in name_rows(number, row.label, row.memory)]
    if names:
        session.run_many("add_name", names)
        _count_names(session, names, +1)
    session.run_many("add_posting", [posting for row in rows for posting in row.postings])
    grown: dict[int, list[_Row]] = defaultdict(list)
    talks: Counter[tuple[int, int]] = Counter()
    for row in rows:
        grown[row.label].append(row)
        talks[row.label, row.thread] += len(row.words)
    session.run_many("label_grew", [_growth(number, label, some) for label, some in grown.items()])
    session.run_many("thread_changed", [(number, *place, n) for place, n in talks.items()])


def _growth(number: int, label: int, rows: Sequence[_Row]) -> Row:
    return number, label, rows[-1].place, len(rows), sum(len(row.words) for row in rows)


def _count_names(session: Session, names: Sequence[Row], sign: int) -> None:
    counted = Counter((workspace, label) for workspace, label, *_ in names)
    rows = [(*place, sign * count) for place, count in counted.items()]
    session.run_many("names_counted", rows)


def delete_memories(session: Session, workspace: WorkspaceId, ids: Iterable[str]) -> Erased:
    """Take these out of every table, and count what went."""
    number = locked_workspace(session, workspace)
    known = _known(session, number, list(dict.fromkeys(ids)))
    return _delete(session, number, workspace, list(known.values()))


def _delete(
    session: Session, number: int, workspace: WorkspaceId, gone: Sequence[_Known]
) -> Erased:
    if not gone:
        return Erased()
    keywords = _delete_postings(session, number, gone)
    names = [
        name for known in gone for name in name_rows(number, known.label, known.told(workspace))
    ]
    if names:
        session.run_many("drop_name", names)
        _count_names(session, names, -1)
    links = session.run_many("drop_links", [(number, known.id) for known in gone])
    places = [(number, known.memory) for known in gone]
    vectors = session.run_many("drop_vectors", places)
    session.run_many("drop_memory", places)
    for label, thread in dict.fromkeys((known.label, known.thread) for known in gone):
        drop_empty_thread(session, {"workspace": number, "label": label, "thread": thread})
    return Erased(memories=len(gone), vectors=vectors, keywords=keywords, links=links)


def _delete_postings(session: Session, number: int, gone: Sequence[_Known]) -> int:
    postings: list[Row] = []
    shrunk: list[Row] = []
    talks: list[Row] = []
    for known in gone:
        told = json.loads(known.content)
        words = terms(told["text"] if told["indexed_text"] is None else told["indexed_text"])
        postings += [(number, known.label, term, known.memory) for term in set(words)]
        shrunk.append((number, known.label, len(words)))
        talks.append((number, known.label, known.thread, -len(words)))
    dropped = session.run_many("drop_posting", postings)
    session.run_many("label_shrank", shrunk)
    session.run_many("thread_changed", talks)
    return dropped
