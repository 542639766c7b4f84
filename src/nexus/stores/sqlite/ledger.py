"""The ledger in SQLite: events with their outbox rows, in one transaction."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice

from ...core.access import Grant
from ...core.canonical import canonical_json, time_text
from ...core.chain import GENESIS, commitment, link, new_salt, same_content
from ...core.codec import event_from_json, event_json
from ...core.errors import Conflict, Forgotten
from ...core.filters import Filter, matches
from ...core.ids import WorkspaceId
from ...core.protocols import LedgerReport
from ...core.records import Event, NewEvent, Progress, Receipt, Stage
from ..checks import recorded
from .connections import Connection, Connections
from .labels import SQL, label_number, readable, workspace_number


class SqliteLedger:
    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def append(
        self, workspace: WorkspaceId, events: Sequence[NewEvent], *, recorded_at: datetime
    ) -> list[Receipt]:
        whole = [recorded(workspace, event, recorded_at) for event in events]
        return self._connections.write(
            lambda connection: _append(connection, workspace, whole, recorded_at)
        )

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
        with self._connections.reading() as connection:
            bound = {
                **readable(connection, grant).parameters,
                "since": time_text(since) if since else None,
                "until": time_text(until) if until else None,
            }
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


def _append(
    connection: Connection, workspace: WorkspaceId, events: Sequence[Event], now: datetime
) -> list[Receipt]:
    number = workspace_number(connection, workspace)
    receipts = []
    fresh: dict[str, Event] = {}
    for event in events:
        repeated = _repeated(connection, number, event, fresh)
        if not repeated:
            fresh[event.id] = event
        receipts.append(
            Receipt(
                workspace=workspace,
                scope=event.scope,
                event_id=event.id,
                key=event.key,
                repeated=repeated,
            )
        )
    _extend_chain(connection, workspace, list(fresh.values()), now)
    return receipts


def _repeated(
    connection: Connection, number: int, event: Event, fresh: Mapping[str, Event]
) -> bool:
    row = connection.execute(SQL["known_event"], {"workspace": number, "id": event.id}).fetchone()
    if row and row[0] is None:
        raise Forgotten
    stored = event_from_json(json.loads(row[0]), event.workspace) if row else None
    known = stored or fresh.get(event.id)
    if known and not same_content(known, event):
        raise Conflict(f"the key {event.key!r} was used before with other content")
    return known is not None


def _extend_chain(
    connection: Connection, workspace: WorkspaceId, events: Sequence[Event], now: datetime
) -> None:
    if not events:
        return
    named = {"name": workspace.value}
    number, length, head, _ = connection.execute(SQL["workspace"], named).fetchone()
    for seq, event in enumerate(events, start=length + 1):
        salt = new_salt()
        promise = commitment(salt, event)
        head = link(head, promise)
        place = {"workspace": number, "seq": seq}
        place["label"] = label_number(connection, number, frozenset({event.scope}))
        row = {
            "id": event.id,
            "key": event.key,
            "at": time_text(event.at),
            "content": canonical_json(event_json(event)),
            "salt": salt,
            "commitment": promise,
            "hash": head,
        }
        connection.execute(SQL["add_event"], {**place, **row})
        work = {"step": Stage.INDEXED.value, "due_at": time_text(now)}
        connection.execute(SQL["add_work"], {**place, **work})
    connection.execute(
        SQL["advance_chain"], {"workspace": number, "length": length + len(events), "head": head}
    )


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
    return canonical_json(event_json(event)) == content and commitment(salt, event) == promise
