"""Ledger in SQL: append events with their outbox rows in one transaction."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import islice
from operator import itemgetter
from typing import Any, NamedTuple

from ...core.access import Grant
from ...core.canonical import canonical_json, format_time
from ...core.errors import Conflict, Forgotten
from ...core.filters import Filter, matches_filter
from ...core.hash_chain import (
    GENESIS,
    chain_hash,
    event_content,
    has_same_content,
    make_commitment,
    new_salt,
)
from ...core.ids import WorkspaceId, digest, event_digest
from ...core.json_codec import encode_event, event_from_json, fast_constructor
from ...core.protocols.bulk_copy import check_administrator
from ...core.records import Event, LedgerReport, NewEvent, Progress, Receipt, Stage
from ...core.scope import Scope
from ...runtime.quotas import Quota, WorkspaceUsage, check_stored_limits
from ...telemetry.spans import trace_step
from .caches.record_cache import decode_events
from .readable_labels import (
    NO_LABELS,
    compile_grant,
    ensure_label,
    find_workspace,
    lock_chain_end,
    only_granted,
    sort_newest_first,
)
from .transactions import Connections, Row, Transaction

FIRST_STEP = Stage.INDEXED.value
DAY_CHARS = len("2026-01-31")
_new_receipt = fast_constructor(Receipt)
ROW_LABEL_KEY, ROW_BYTES = itemgetter(0, 3), itemgetter(-1)  # columns of an event row
MAX_LABELS_READ_SEPARATELY = 16  # one query per label; more labels take one query
ScopeKey = tuple[int, str]  # workspace number and scope text


class SqlLedger:
    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._labels: dict[ScopeKey, int] = {}  # committed labels only; numbers never change

    def append(
        self,
        workspace: WorkspaceId,
        events: Sequence[NewEvent],
        *,
        recorded_at: datetime,
        quota: Quota | None = None,
    ) -> list[Receipt]:
        entries = [prepare_event(event, recorded_at) for event in events]
        return self._write_events(workspace, entries, recorded_at, quota)

    def _write_events(
        self,
        workspace: WorkspaceId,
        entries: Sequence[PreparedEvent],
        now: datetime,
        quota: Quota | None,
    ) -> list[Receipt]:
        append = partial(
            _append_events,
            workspace=workspace,
            entries=entries,
            cached=self._labels,
            now=now,
            quota=quota,
        )
        with trace_step("store.append"):
            receipts, labels = self._connections.write(append)
        self._labels.update(labels)
        return receipts

    def get(self, grant: Grant, ids: Sequence[str]) -> list[Event]:
        with self._connections.read_transaction() as session:
            bound = {**compile_grant(session, grant).parameters, "ids": json.dumps(ids)}
            rows = session.execute_query("events_by_id", bound).fetchall()
        return _decode_granted(grant, (content for _, content in rows))

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
            "since": format_time(since) if since else None,
            "until": format_time(until) if until else None,
        }
        with self._connections.read_transaction() as session:
            view = compile_grant(session, grant).only_source
            if (
                where is None
                and limit is not None
                and len(view.labels) <= MAX_LABELS_READ_SEPARATELY
            ):
                found = session.fetch_each(
                    "newest_events", view.rows_per_label(*stretch.values(), limit)
                )
                newest = sort_newest_first(found)[:limit]
                return _decode_granted(grant, (content for _, _, content in newest))
            bound = {**view.parameters, **stretch}
            contents = (content for (content,) in session.execute_query("events_by_time", bound))
            events = only_granted(grant, _decode_events(contents, grant.workspace))
            return list(islice((event for event in events if matches_filter(where, event)), limit))

    def events_since(
        self, grant: Grant, *, after: int | None = None, limit: int
    ) -> tuple[list[Event], int]:
        workspace = check_administrator(grant)
        with self._connections.read_transaction() as session:
            row = session.execute_query("find_workspace", {"name": workspace.value}).fetchone()
            number, length = row[:2] if row else (NO_LABELS.workspace, 0)
            if after is None:
                return [], length
            bound = {"workspace": number, "first": after, "limit": limit}
            rows = session.execute_query("page_events", bound).fetchall()
        committed = [row for row in rows if row[0] <= length]
        contents = (row[2] for row in committed if row[2] is not None)
        return _decode_granted(grant, contents), committed[-1][0] if committed else after

    def list_scopes(self, grant: Grant, *, after: int = 0, limit: int) -> list[tuple[int, Scope]]:
        found: list[tuple[int, Scope]] = []
        with self._connections.read_transaction() as session:
            view = compile_grant(session, grant).only_source
            rest = sorted(place for place in view.rows_per_label(None, None, 1) if place[1] > after)
            while rest and len(found) < limit:
                some, rest = rest[:limit], rest[limit:]
                newest = session.fetch_each("newest_events", some)
                for (_, label, *_), rows in zip(some, newest, strict=True):
                    events = _decode_granted(grant, (content for _, _, content in rows))
                    found += [(label, event.scope) for event in events]
        return found[:limit]

    def load_keys(self, grant: Grant, ids: Sequence[str]) -> dict[str, str]:
        with self._connections.read_transaction() as session:
            bound = {**compile_grant(session, grant).parameters, "ids": json.dumps(ids)}
            return dict(session.execute_query("event_keys", bound).fetchall())

    def load_progress(self, grant: Grant, ids: Sequence[str]) -> dict[str, Progress]:
        with self._connections.read_transaction() as session:
            bound = {**compile_grant(session, grant).parameters, "ids": json.dumps(ids)}
            rows = session.execute_query("event_progress", bound).fetchall()
        return {id: _progress_from_row(step, attempts, error) for id, step, attempts, error in rows}

    def measure_usage(self, workspace: WorkspaceId, *, now: datetime) -> WorkspaceUsage:
        with self._connections.read_transaction() as session:
            return read_usage(session, find_workspace(session, workspace), now)

    def verify(self, workspace: WorkspaceId) -> LedgerReport:
        with self._connections.read_transaction() as session:
            row = session.execute_query("find_workspace", {"name": workspace.value}).fetchone()
            number, length, head = row[:3] if row else (-1, 0, GENESIS)
            chain = session.execute_query("chain", {"workspace": number})
            return _verify_chain(workspace, chain, length, head)


def ensure_scope_label(
    session: Transaction,
    number: int,
    scope: Scope,
    cached: Mapping[ScopeKey, int],
    created: dict[ScopeKey, int],
) -> int:
    """Return the label number of a scope, from `cached`, or created and added to `created`."""
    key = (number, scope.text)
    label = cached.get(key) or created.get(key)
    if label is None:
        label = created[key] = ensure_label(session, number, frozenset({scope}))
    return label


class PreparedEvent(NamedTuple):
    """An encoded event, prepared before the write transaction begins."""

    event: NewEvent
    id: str
    at: str
    content: str
    salt: bytes
    commitment: bytes
    size: int  # bytes of the content


def prepare_event(event: NewEvent, recorded_at: datetime) -> PreparedEvent:
    recorded = event.recorded_at if isinstance(event, Event) else recorded_at
    scope, at = event.scope.text, format_time(event.at)
    id, recorded_text = (
        event_digest(scope, event.key),
        at if recorded is event.at else format_time(recorded),
    )
    content = encode_event(event, id, scope, at, recorded_text)
    salt = new_salt()
    size = len(content) if content.isascii() else len(content.encode())
    return PreparedEvent(event, id, at, content, salt, make_commitment(salt, content), size)


def _append_events(
    session: Transaction,
    workspace: WorkspaceId,
    entries: Sequence[PreparedEvent],
    cached: Mapping[ScopeKey, int],
    *,
    now: datetime,
    quota: Quota | None,
) -> tuple[list[Receipt], Mapping[ScopeKey, int]]:
    """Return the receipts, and the labels that this transaction created."""
    end = lock_chain_end(session, workspace)
    created: dict[ScopeKey, int] = {}
    labels = [
        ensure_scope_label(session, end[0], entry.event.scope, cached, created) for entry in entries
    ]
    rows, head = build_chain_rows(end, entries, labels)
    duplicates: dict[int, bool] = {}
    if session.execute_batch("add_event", rows) < len(rows):
        session.execute_query("drop_events_after", {"workspace": end[0], "length": end[1]})
        duplicates = _find_duplicates(session, workspace, end[0], entries)
        fresh = [index for index in range(len(entries)) if index not in duplicates]
        rows, head = build_chain_rows(end, [entries[i] for i in fresh], [labels[i] for i in fresh])
        session.execute_batch("add_event", rows)
    if rows:
        _finish_append(session, rows, head, build_work_rows(rows, entries, format_time(now)))
        if quota:
            check_quota(session, end[0], quota, now)
    receipts = [
        make_receipt(workspace, entry, duplicate=duplicates.get(index, False))
        for index, entry in enumerate(entries)
    ]
    return receipts, created


def build_chain_rows(
    end: tuple[int, int, bytes], entries: Sequence[PreparedEvent], labels: Sequence[int]
) -> tuple[list[Row], bytes]:
    """Return the rows of these events in column order, and the new chain head."""
    number, length, head = end
    rows: list[Row] = []
    for seq, (entry, label) in enumerate(zip(entries, labels, strict=True), start=length + 1):
        head = chain_hash(head, entry.commitment)
        columns = (*entry[2:6], head, entry.size)
        rows.append((number, seq, entry.id, label, entry.event.key, *columns))
    return rows, head


def build_work_rows(rows: Sequence[Row], entries: Sequence[PreparedEvent], now: str) -> list[Row]:
    """Return the outbox rows of events. Imported history has a lower priority than live events."""
    priority = int(isinstance(entries[0].event, Event))
    return [(*row[:2], row[3], FIRST_STEP, now, priority) for row in rows]


def _finish_append(
    session: Transaction, rows: Sequence[Row], head: bytes, work: Sequence[Row]
) -> None:
    """Insert outbox rows, advance the chain and bump the epochs of the labels."""
    number, length, _, _, now, _ = work[-1]
    session.execute_batch("add_work", work)
    session.execute_batch(
        "advance_chain", [(number, length, head, sum(map(ROW_BYTES, rows)), now[:DAY_CHARS])]
    )
    session.execute_batch("bump_label_epoch", sorted(set(map(ROW_LABEL_KEY, rows))))


def read_usage(session: Transaction, number: int, now: datetime) -> WorkspaceUsage:
    bound = {"workspace": number, "day": format_time(now)[:DAY_CHARS]}
    row = session.execute_query("workspace_usage", bound).fetchone()
    if row is None:
        return WorkspaceUsage()
    events, size = row
    (memories,) = session.execute_query(
        "count_workspace_memories", {"workspace": number}
    ).fetchone()
    return WorkspaceUsage(events_today=events, memories=memories, text_bytes=size)


def check_quota(session: Transaction, number: int, quota: Quota, now: datetime) -> None:
    """Raise QuotaExceeded if the quota is exceeded; runs before the commit, inside the lock."""
    after = read_usage(session, number, now)
    check_stored_limits(quota, after, now)


def make_receipt(workspace: WorkspaceId, entry: PreparedEvent, *, duplicate: bool) -> Receipt:
    event = entry.event
    return _new_receipt(
        workspace=workspace,
        scope=event.scope,
        event_id=entry.id,
        key=event.key,
        duplicate=duplicate,
    )


def _find_duplicates(
    session: Transaction, workspace: WorkspaceId, number: int, entries: Sequence[PreparedEvent]
) -> dict[int, bool]:
    """Return the indexes of existing events, and whether another call wrote each of them.

    If the salts are equal, this call wrote the event before and lost the answer.
    """
    bound = {"workspace": number, "ids": json.dumps([entry.id for entry in entries])}
    contents = dict(session.execute_query("event_contents_by_id", bound).fetchall())
    salts = dict(session.execute_query("event_salts", bound).fetchall())
    duplicates = {}
    for index, entry in enumerate(entries):
        if entry.id in contents:
            _check_duplicate(workspace, contents[entry.id], entry)
            duplicates[index] = salts.get(entry.id) != entry.salt
        contents.setdefault(entry.id, entry.content)
    return duplicates


def _check_duplicate(workspace: WorkspaceId, content: str | None, entry: PreparedEvent) -> None:
    """Raise Forgotten if the existing event was erased, Conflict if its content differs."""
    if content is None:
        event = entry.event
        raise Forgotten(
            f"the event with key {event.key!r} in {event.scope} was erased by forget;"
            " use another key"
        )
    stored = event_from_json(json.loads(content), workspace)
    if not has_same_content(stored, entry.event):
        raise Conflict(f"the key {entry.event.key!r} was used before with other content")


def _decode_granted(grant: Grant, contents: Iterable[str]) -> list[Event]:
    rows = ((content,) for content in contents)
    return list(only_granted(grant, decode_events(rows, grant.workspace)))


def _decode_events(contents: Iterable[str], workspace: WorkspaceId) -> Iterator[Event]:
    return (event_from_json(json.loads(content), workspace) for content in contents)


def _progress_from_row(step: str | None, attempts: int | None, error: str | None) -> Progress:
    if step is None:
        return Progress(stage=Stage.DERIVED)
    reached = Stage.DURABLE if step == Stage.INDEXED else Stage.INDEXED
    return Progress(stage=reached, error=error, attempts=attempts or 0)


class _ChainRow(NamedTuple):
    """A row of the query `chain`."""

    seq: int
    content: str | None
    salt: bytes
    commitment: bytes
    hash: bytes
    key: str | None
    id: str
    at: str | None
    scopes: str | None  # JSON array of the label's scope digests
    was_forgotten: bool  # has a tombstone


def _verify_chain(
    workspace: WorkspaceId, chain: Iterable[Row], length: int, head: bytes
) -> LedgerReport:
    problems = []
    previous, seq, erased = GENESIS, 0, 0
    for expected, each in enumerate(map(_ChainRow._make, chain), start=1):
        seq = each.seq
        if seq != expected or chain_hash(previous, each.commitment) != each.hash:
            problems.append(f"event {seq} does not follow the one before it")
        if each.content is None:
            erased += 1
            if not each.was_forgotten:
                problems.append(f"event {seq} is empty but has no tombstone")
        elif not _matches_commitment(workspace, each.content, each.salt, each.commitment):
            problems.append(f"event {seq} was changed")
        elif not _matches_content(each, json.loads(each.content)):
            problems.append(f"event {seq} does not match its indexed columns")
        previous = each.hash
    if seq != length or previous != head:
        problems.append(f"the chain ends at event {seq}, but {length} were written")
    return LedgerReport(workspace=workspace, events=seq, erased=erased, problems=tuple(problems))


def _matches_content(row: _ChainRow, content: Mapping[str, Any]) -> bool:
    """Return whether the indexed columns agree with the content."""
    label = canonical_json([digest("scope", content["scope"])])
    looked_up_by = (row.id, row.key, row.at, row.scopes)
    return looked_up_by == (content["id"], content["key"], content["at"], label)


def _matches_commitment(workspace: WorkspaceId, content: str, salt: bytes, expected: bytes) -> bool:
    try:
        event = event_from_json(json.loads(content), workspace)
    except (ValueError, KeyError, TypeError):
        return False
    return event_content(event) == content and make_commitment(salt, content) == expected
