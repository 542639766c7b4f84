"""The ledger: events with their outbox rows, in one transaction."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import islice
from operator import itemgetter
from typing import Any, NamedTuple

from ...core.access import Grant
from ...core.canonical import canonical_json, time_text
from ...core.chain import GENESIS, commitment, content_of, link, new_salt, same_content
from ...core.codec import event_from_json, spelt_event
from ...core.errors import Conflict, Forgotten
from ...core.filters import Filter, matches
from ...core.ids import WorkspaceId, digest, event_digest
from ...core.moving import check_administrator
from ...core.quick import quickly
from ...core.quotas import Quota, Used, check_kept
from ...core.records import Event, LedgerReport, NewEvent, Progress, Receipt, Stage
from ...core.scope import Scope
from ...core.telemetry import step
from .decoded import read_event
from .labels import NOTHING, chain_end, known_workspace, label_number, newest_first, readable
from .outgoing import going_out
from .session import Connections, Row, Session

FIRST_STEP = Stage.INDEXED.value
DAY = len("2026-01-31")
_Receipt = quickly(Receipt)
PLACE, BYTES = itemgetter(0, 3), itemgetter(-1)  # of an event's row
FEW_LABELS = 16  # a viewer's places; an administrator's are many
Place = tuple[int, str]  # a scope of a workspace, spelt


class SqlLedger:
    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._labels: dict[Place, int] = {}  # committed ones: a label never changes its number

    def append(
        self,
        workspace: WorkspaceId,
        events: Sequence[NewEvent],
        *,
        recorded_at: datetime,
        quota: Quota | None = None,
    ) -> list[Receipt]:
        entries = [entry_of(event, recorded_at) for event in events]
        return self._append(workspace, entries, recorded_at, quota)

    def _append(
        self,
        workspace: WorkspaceId,
        entries: Sequence[Entry],
        now: datetime,
        quota: Quota | None,
    ) -> list[Receipt]:
        append = partial(
            _append, workspace=workspace, entries=entries, known=self._labels, now=now, quota=quota
        )
        with step("store.append"):
            receipts, labels = self._connections.write(append)
        self._labels.update(labels)
        return receipts

    def get(self, grant: Grant, ids: Sequence[str]) -> list[Event]:
        with self._connections.reading() as session:
            bound = {**readable(session, grant).parameters, "ids": json.dumps(ids)}
            rows = session.run("events_by_id", bound).fetchall()
        return _read(grant, (content for _, content in rows))

    def find(
        self,
        grant: Grant,
        *,
        where: Filter | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int | None = None,
    ) -> list[Event]:
        stretch = {
            "since": time_text(since) if since else None,
            "until": time_text(until) if until else None,
        }
        with self._connections.reading() as session:
            view = readable(session, grant).told
            if where is None and limit is not None and len(view.labels) <= FEW_LABELS:
                found = session.read_each("newest_events", view.places(*stretch.values(), limit))
                newest = newest_first(found)[:limit]
                return _read(grant, (content for _, _, content in newest))
            bound = {**view.parameters, **stretch}
            contents = (content for (content,) in session.run("events_by_time", bound))
            events = going_out(grant, _events(contents, grant.workspace))
            return list(islice((event for event in events if matches(where, event)), limit))

    def written(
        self, grant: Grant, *, after: int | None = None, limit: int
    ) -> tuple[list[Event], int]:
        workspace = check_administrator(grant)
        with self._connections.reading() as session:
            row = session.run("workspace", {"name": workspace.value}).fetchone()
            number, length = row[:2] if row else (NOTHING.workspace, 0)
            if after is None:
                return [], length
            bound = {"workspace": number, "first": after, "limit": limit}
            rows = session.run("standing_events", bound).fetchall()
        there = [row for row in rows if row[0] <= length]
        contents = (row[2] for row in there if row[2] is not None)
        return _read(grant, contents), there[-1][0] if there else after

    def scopes(self, grant: Grant, *, after: int = 0, limit: int) -> list[tuple[int, Scope]]:
        found: list[tuple[int, Scope]] = []
        with self._connections.reading() as session:
            view = readable(session, grant).told
            rest = sorted(place for place in view.places(None, None, 1) if place[1] > after)
            while rest and len(found) < limit:
                some, rest = rest[:limit], rest[limit:]
                newest = session.read_each("newest_events", some)
                for (_, label, *_), rows in zip(some, newest, strict=True):
                    events = _read(grant, (content for _, _, content in rows))
                    found += [(label, event.scope) for event in events]
        return found[:limit]

    def keys(self, grant: Grant, ids: Sequence[str]) -> dict[str, str]:
        with self._connections.reading() as session:
            bound = {**readable(session, grant).parameters, "ids": json.dumps(ids)}
            return dict(session.run("event_keys", bound).fetchall())

    def progress(self, grant: Grant, ids: Sequence[str]) -> dict[str, Progress]:
        with self._connections.reading() as session:
            bound = {**readable(session, grant).parameters, "ids": json.dumps(ids)}
            rows = session.run("event_progress", bound).fetchall()
        return {id: _progress(step, attempts, error) for id, step, attempts, error in rows}

    def used(self, workspace: WorkspaceId, *, now: datetime) -> Used:
        with self._connections.reading() as session:
            return used(session, known_workspace(session, workspace), now)

    def verify(self, workspace: WorkspaceId) -> LedgerReport:
        with self._connections.reading() as session:
            row = session.run("workspace", {"name": workspace.value}).fetchone()
            number, length, head = row[:3] if row else (-1, 0, GENESIS)
            chain = session.run("chain", {"workspace": number})
            return _verified(workspace, chain, length, head)


def label_of(
    session: Session, number: int, scope: Scope, known: Mapping[Place, int], new: dict[Place, int]
) -> int:
    """The number of a scope's label: a known one, or one that is now among the new ones."""
    place = (number, scope.spelt)
    label = known.get(place) or new.get(place)
    if label is None:
        label = new[place] = label_number(session, number, frozenset({scope}))
    return label


class Entry(NamedTuple):
    """An event as it goes into the ledger, made before anybody has to wait for it."""

    event: NewEvent
    id: str
    at: str
    content: str
    salt: bytes
    commitment: bytes
    bytes: int  # of the content


def entry_of(event: NewEvent, recorded_at: datetime) -> Entry:
    recorded = event.recorded_at if isinstance(event, Event) else recorded_at
    scope, at = event.scope.spelt, time_text(event.at)
    id, told = event_digest(scope, event.key), at if recorded is event.at else time_text(recorded)
    content = spelt_event(event, id, scope, at, told)
    salt = new_salt()
    size = len(content) if content.isascii() else len(content.encode())
    return Entry(event, id, at, content, salt, commitment(salt, content), size)


def _append(
    session: Session,
    workspace: WorkspaceId,
    entries: Sequence[Entry],
    known: Mapping[Place, int],
    *,
    now: datetime,
    quota: Quota | None,
) -> tuple[list[Receipt], Mapping[Place, int]]:
    """The receipts, and the labels that are new if this is committed."""
    end = chain_end(session, workspace)
    new: dict[Place, int] = {}
    places = [label_of(session, end[0], entry.event.scope, known, new) for entry in entries]
    rows, head = chained(end, entries, places)
    there: dict[int, bool] = {}
    if session.run_many("add_event", rows) < len(rows):
        session.run("drop_events_after", {"workspace": end[0], "length": end[1]})
        there = _there(session, workspace, end[0], entries)
        fresh = [place for place in range(len(entries)) if place not in there]
        rows, head = chained(end, [entries[p] for p in fresh], [places[p] for p in fresh])
        session.run_many("add_event", rows)
    if rows:
        _come(session, rows, head, work_of(rows, entries, time_text(now)))
        if quota:
            check_room(session, end[0], quota, now)
    receipts = [
        receipt_of(workspace, entry, repeated=there.get(place, False))
        for place, entry in enumerate(entries)
    ]
    return receipts, new


def chained(
    end: tuple[int, int, bytes], entries: Sequence[Entry], labels: Sequence[int]
) -> tuple[list[Row], bytes]:
    """The rows of these events, in the table's order, and the newest hash after them."""
    number, length, head = end
    rows: list[Row] = []
    for seq, (entry, label) in enumerate(zip(entries, labels, strict=True), start=length + 1):
        head = link(head, entry.commitment)
        kept = (*entry[2:6], head, entry.bytes)
        rows.append((number, seq, entry.id, label, entry.event.key, *kept))
    return rows, head


def work_of(rows: Sequence[Row], entries: Sequence[Entry], now: str) -> list[Row]:
    """What events cause. History that is brought along waits until what is said now is learned."""
    priority = int(isinstance(entries[0].event, Event))
    return [(*row[:2], row[3], FIRST_STEP, now, priority) for row in rows]


def _come(session: Session, rows: Sequence[Row], head: bytes, work: Sequence[Row]) -> None:
    """What follows from new events: work, a longer chain, and news for whoever reads them."""
    number, length, _, _, now, _ = work[-1]
    session.run_many("add_work", work)
    session.run_many("advance_chain", [(number, length, head, sum(map(BYTES, rows)), now[:DAY])])
    session.run_many("events_came", sorted(set(map(PLACE, rows))))


def used(session: Session, number: int, now: datetime) -> Used:
    bound = {"workspace": number, "day": time_text(now)[:DAY]}
    row = session.run("used", bound).fetchone()
    if row is None:
        return Used()
    events, size = row
    (memories,) = session.run("memories_kept", {"workspace": number}).fetchone()
    return Used(events_today=events, memories=memories, text_bytes=size)


def check_room(session: Session, number: int, quota: Quota, now: datetime) -> None:
    """Asked after writing and before it is committed: nobody else writes here meanwhile."""
    after = used(session, number, now)
    check_kept(quota, after, now)


def receipt_of(workspace: WorkspaceId, entry: Entry, *, repeated: bool) -> Receipt:
    event = entry.event
    return _Receipt(
        workspace=workspace,
        scope=event.scope,
        event_id=entry.id,
        key=event.key,
        repeated=repeated,
    )


def _there(
    session: Session, workspace: WorkspaceId, number: int, entries: Sequence[Entry]
) -> dict[int, bool]:
    """The places of those that are there already, and whether somebody else wrote them.

    If the salt is ours, this very call wrote it before, and the answer was lost on its way.
    """
    bound = {"workspace": number, "ids": json.dumps([entry.id for entry in entries])}
    known = dict(session.run("known_events", bound).fetchall())
    salts = dict(session.run("event_salts", bound).fetchall())
    there = {}
    for place, entry in enumerate(entries):
        if entry.id in known:
            _check_repeated(workspace, known[entry.id], entry)
            there[place] = salts.get(entry.id) != entry.salt
        known.setdefault(entry.id, entry.content)
    return there


def _check_repeated(workspace: WorkspaceId, content: str | None, entry: Entry) -> None:
    """What is there already must be the same, and must not have been erased."""
    if content is None:
        raise Forgotten
    known = event_from_json(json.loads(content), workspace)
    if not same_content(known, entry.event):
        raise Conflict(f"the key {entry.event.key!r} was used before with other content")


def _read(grant: Grant, contents: Iterable[str]) -> list[Event]:
    rows = ((content,) for content in contents)
    return list(going_out(grant, read_event(rows, grant.workspace)))


def _events(contents: Iterable[str], workspace: WorkspaceId) -> Iterator[Event]:
    return (event_from_json(json.loads(content), workspace) for content in contents)


def _progress(step: str | None, attempts: int | None, error: str | None) -> Progress:
    if step is None:
        return Progress(stage=Stage.DERIVED)
    reached = Stage.DURABLE if step == Stage.INDEXED else Stage.INDEXED
    return Progress(stage=reached, stuck=error, attempts=attempts or 0)


class _Link(NamedTuple):
    """An event as it lies in the chain."""

    seq: int
    content: str | None
    salt: bytes
    promise: bytes
    hash: bytes
    key: str | None
    id: str
    at: str | None
    scopes: str | None  # of its label
    forgotten: bool  # somebody erased it


def _verified(
    workspace: WorkspaceId, chain: Iterable[Row], length: int, head: bytes
) -> LedgerReport:
    problems = []
    previous, seq, erased = GENESIS, 0, 0
    for expected, each in enumerate(map(_Link._make, chain), start=1):
        seq = each.seq
        if seq != expected or link(previous, each.promise) != each.hash:
            problems.append(f"event {seq} does not follow the one before it")
        if each.content is None:
            erased += 1
            if not each.forgotten:
                problems.append(f"event {seq} is empty, but nobody forgot it")
        elif not _kept_promise(workspace, each.content, each.salt, each.promise):
            problems.append(f"event {seq} was changed")
        elif not _in_place(each, json.loads(each.content)):
            problems.append(f"event {seq} does not lie where it belongs")
        previous = each.hash
    if seq != length or previous != head:
        problems.append(f"the chain ends at event {seq}, but {length} were written")
    return LedgerReport(workspace=workspace, events=seq, erased=erased, problems=tuple(problems))


def _in_place(found: _Link, told: Mapping[str, Any]) -> bool:
    """Whether it is looked up by what its content says."""
    label = canonical_json([digest("scope", told["scope"])])
    looked_up_by = (found.id, found.key, found.at, found.scopes)
    return looked_up_by == (told["id"], told["key"], told["at"], label)


def _kept_promise(workspace: WorkspaceId, content: str, salt: bytes, promise: bytes) -> bool:
    try:
        event = event_from_json(json.loads(content), workspace)
    except (ValueError, KeyError, TypeError):
        return False
    return content_of(event) == content and commitment(salt, content) == promise
