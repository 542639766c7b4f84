"""The ledger in SQLite: events with their outbox rows, in one transaction."""

from __future__ import annotations

import json
from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import NamedTuple, cast

from ...core.access import Grant
from ...core.canonical import time_text
from ...core.chain import GENESIS, commitment, content_of, link, new_salt, same_content
from ...core.codec import event_from_json
from ...core.errors import Conflict, Forgotten
from ...core.filters import Filter, matches
from ...core.ids import WorkspaceId
from ...core.records import Event, LedgerReport, NewEvent, Progress, Receipt, Stage
from ...core.scope import Scope
from .connections import Connection, Connections
from .labels import SQL, Readable, label_number, readable, workspace_number

FIRST_STEP = Stage.INDEXED.value
FEW_LABELS = 16  # a viewer's places; an administrator's are many
Place = tuple[int, Scope]  # a scope of a workspace
Labels = ChainMap[Place, int]


class SqliteLedger:
    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._labels: dict[Place, int] = {}  # committed ones: a label never changes its number

    def append(
        self, workspace: WorkspaceId, events: Sequence[NewEvent], *, recorded_at: datetime
    ) -> list[Receipt]:
        entries = [_entry(event, recorded_at) for event in events]
        now = time_text(recorded_at)
        receipts, labels = self._connections.write(
            lambda connection: _append(connection, workspace, entries, self._labels, now)
        )
        self._labels.update(labels)
        return receipts

    def get(self, grant: Grant, ids: Sequence[str]) -> list[Event]:
        with self._connections.reading() as connection:
            bound = {**readable(connection, grant).parameters, "ids": json.dumps(ids)}
            rows = connection.execute(SQL["events_by_id"], bound).fetchall()
        return [event_from_json(json.loads(content), grant.workspace) for _, content in rows]

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
        with self._connections.reading() as connection:
            view = readable(connection, grant).told
            if where is None and limit is not None and len(view.labels) <= FEW_LABELS:
                return _newest(connection, view, grant.workspace, {**stretch, "limit": limit})
            bound = {**view.parameters, **stretch}
            found = _events(connection.execute(SQL["events_by_time"], bound), grant.workspace)
            return list(islice((event for event in found if matches(where, event)), limit))

    def keys(self, grant: Grant, ids: Sequence[str]) -> dict[str, str]:
        with self._connections.reading() as connection:
            bound = {**readable(connection, grant).parameters, "ids": json.dumps(ids)}
            return dict(connection.execute(SQL["event_keys"], bound).fetchall())

    def progress(self, grant: Grant, ids: Sequence[str]) -> dict[str, Progress]:
        with self._connections.reading() as connection:
            bound = {**readable(connection, grant).parameters, "ids": json.dumps(ids)}
            rows = connection.execute(SQL["event_progress"], bound).fetchall()
        return {id: _progress(step, attempts, error) for id, step, attempts, error in rows}

    def verify(self, workspace: WorkspaceId) -> LedgerReport:
        with self._connections.reading() as connection:
            row = connection.execute(SQL["workspace"], {"name": workspace.value}).fetchone()
            number, length, head = row[:3] if row else (-1, 0, GENESIS)
            chain = connection.execute(SQL["chain"], {"workspace": number})
            return _verified(workspace, chain, length, head)


def _newest(
    connection: Connection, view: Readable, workspace: WorkspaceId, bound: Mapping[str, object]
) -> list[Event]:
    """The newest of each label, and of those the newest: older ones are not even read."""
    rows: list[tuple[str, str, str]] = []
    for state in view.labels:
        place = {"workspace": view.workspace, "label": state.label, **bound}
        rows += connection.execute(SQL["newest_events"], place).fetchall()
    rows.sort(key=lambda row: row[1])
    rows.sort(key=lambda row: row[0], reverse=True)
    newest = rows[: cast("int", bound["limit"])]
    return [event_from_json(json.loads(content), workspace) for _, _, content in newest]


def _label_of(connection: Connection, place: Place, labels: Labels) -> int:
    if place not in labels:
        number, scope = place
        labels[place] = label_number(connection, number, frozenset({scope}))
    return labels[place]


class _Entry(NamedTuple):
    """An event as it goes into the ledger, made before anybody has to wait for it."""

    event: NewEvent
    id: str
    at: str
    content: str
    salt: bytes
    commitment: bytes


def _entry(event: NewEvent, recorded_at: datetime) -> _Entry:
    salt, content = new_salt(), content_of(event, recorded_at)
    promise = commitment(salt, content)
    return _Entry(event, event.id, time_text(event.at), content, salt, promise)


def _append(
    connection: Connection,
    workspace: WorkspaceId,
    entries: Sequence[_Entry],
    known: dict[Place, int],
    now: str,
) -> tuple[list[Receipt], Mapping[Place, int]]:
    """The receipts, and the labels that are new if this is committed."""
    number, length, head = _chain_end(connection, workspace)
    labels: Labels = ChainMap({}, known)
    receipts, grown_labels = [], set()
    for entry in entries:
        event, following = entry.event, link(head, entry.commitment)
        label = _label_of(connection, (number, event.scope), labels)
        place = (number, length + 1)
        row = (*place, entry.id, label, event.key, *entry[2:], following)  # in the table's order
        added = connection.execute(SQL["add_event"], row).rowcount > 0
        if added:
            connection.execute(SQL["add_work"], (*place, label, FIRST_STEP, now))
            length, head = length + 1, following
            grown_labels.add(label)
        else:
            _check_repeated(connection, workspace, number, entry)
        receipts.append(
            Receipt(
                workspace=workspace,
                scope=entry.event.scope,
                event_id=entry.id,
                key=entry.event.key,
                repeated=not added,
            )
        )
    if grown_labels:
        grown = {"workspace": number, "length": length, "head": head}
        connection.execute(SQL["advance_chain"], grown)
        came = {"workspace": number, "labels": json.dumps(sorted(grown_labels))}
        connection.execute(SQL["events_came"], came)
    return receipts, labels.maps[0]


def _chain_end(connection: Connection, workspace: WorkspaceId) -> tuple[int, int, bytes]:
    named = {"name": workspace.value}
    row = connection.execute(SQL["workspace"], named).fetchone()
    return row[:3] if row else (workspace_number(connection, workspace), 0, GENESIS)


def _check_repeated(
    connection: Connection, workspace: WorkspaceId, number: int, entry: _Entry
) -> None:
    """What is there already must be the same, and must not have been erased."""
    bound = {"workspace": number, "id": entry.id}
    (content,) = connection.execute(SQL["known_event"], bound).fetchone()
    if content is None:
        raise Forgotten
    known = event_from_json(json.loads(content), workspace)
    if not same_content(known, entry.event):
        raise Conflict(f"the key {entry.event.key!r} was used before with other content")


def _events(rows: Iterator[tuple[str]], workspace: WorkspaceId) -> Iterator[Event]:
    return (event_from_json(json.loads(content), workspace) for (content,) in rows)


def _progress(step: str | None, attempts: int | None, error: str | None) -> Progress:
    if step is None:
        return Progress(stage=Stage.DERIVED)
    reached = Stage.DURABLE if step == Stage.INDEXED else Stage.INDEXED
    return Progress(stage=reached, stuck=error, attempts=attempts or 0)


def _verified(
    workspace: WorkspaceId,
    chain: Iterator[tuple[int, str | None, bytes, bytes, bytes]],
    length: int,
    head: bytes,
) -> LedgerReport:
    problems = []
    previous, seq, erased = GENESIS, 0, 0
    for expected, (seq, content, salt, promise, hash) in enumerate(chain, start=1):
        if seq != expected or link(previous, promise) != hash:
            problems.append(f"event {seq} does not follow the one before it")
        if content is None:
            erased += 1
        elif not _kept_promise(workspace, content, salt, promise):
            problems.append(f"event {seq} was changed")
        previous = hash
    if seq != length or previous != head:
        problems.append(f"the chain ends at event {seq}, but {length} were written")
    return LedgerReport(workspace=workspace, events=seq, erased=erased, problems=tuple(problems))


def _kept_promise(workspace: WorkspaceId, content: str, salt: bytes, promise: bytes) -> bool:
    try:
        event = event_from_json(json.loads(content), workspace)
    except (ValueError, KeyError, TypeError):
        return False
    return content_of(event) == content and commitment(salt, content) == promise
