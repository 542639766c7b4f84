"""Group commit of ledger appends: the calls of many threads share one transaction."""

from __future__ import annotations

import json
import threading
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import psycopg

from ...core.canonical import format_time
from ...core.errors import NexusError
from ...core.hash_chain import GENESIS
from ...core.ids import WorkspaceId
from ...core.records import NewEvent, Receipt
from ...runtime.quotas import Quota
from ...telemetry.spans import trace_step
from ..group_commit import GroupCommit
from ..sql.ledger import (
    DAY_CHARS,
    PreparedEvent,
    ScopeKey,
    SqlLedger,
    build_chain_rows,
    build_work_rows,
    check_quota,
    ensure_scope_label,
    make_receipt,
    prepare_event,
)
from ..sql.queue import SqlQueue
from ..sql.transactions import Connections, HookedConnections, Row, Transaction
from .connections import ROLE, with_settings

MAX_GROUPED_CALLS = 200


class _DuplicateEvents(Exception):
    """An event already exists; the calls of the group are repeated one by one."""


class _AppendCall(NamedTuple):
    """The arguments of one call of `append`."""

    workspace: WorkspaceId
    entries: list[PreparedEvent]
    now: datetime
    quota: Quota | None


class PostgresLedger(SqlLedger):
    """The SQL ledger with group commit."""

    def __init__(self, connections: HookedConnections) -> None:
        super().__init__(connections)
        self._hooks = connections.write_hooks
        self._group_commit = GroupCommit(self._append_all, max_group=MAX_GROUPED_CALLS)

    def append(
        self,
        workspace: WorkspaceId,
        events: Sequence[NewEvent],
        *,
        recorded_at: datetime,
        quota: Quota | None = None,
    ) -> list[Receipt]:
        entries = [prepare_event(event, recorded_at) for event in events]
        alone = self._hooks or self._connections.held_leases.leases
        if alone:  # hooks and leases of this thread must not affect the calls of other threads
            return self._write_events(workspace, entries, recorded_at, quota)
        with trace_step("store.append"):
            return self._group_commit(_AppendCall(workspace, entries, recorded_at, quota))

    def _append_all(self, calls: Sequence[_AppendCall]) -> list[list[Receipt]]:
        try:
            labels = self._connections.write(
                lambda session: _append_calls(session, calls, self._labels)
            )
        except _DuplicateEvents:
            if len(calls) > 1:
                raise
            (call,) = calls
            return [self._write_events(*call)]
        self._labels.update(labels)
        return [
            [make_receipt(call.workspace, entry, duplicate=False) for entry in call.entries]
            for call in calls
        ]


def _append_calls(
    session: Transaction, calls: Sequence[_AppendCall], known_labels: Mapping[ScopeKey, int]
) -> Mapping[ScopeKey, int]:
    """Append the events of all calls; return the new labels, valid after the commit.

    Raise _DuplicateEvents if an event already exists.
    """
    ends = _lock_chain_ends(session, sorted({call.workspace.value for call in calls}))
    fresh: dict[ScopeKey, int] = {}
    rows: list[Row] = []
    work: list[Row] = []
    for call in calls:
        end = ends[call.workspace.value]
        scopes = [entry.event.scope for entry in call.entries]
        labels = [
            ensure_scope_label(session, end[0], scope, known_labels, fresh) for scope in scopes
        ]
        new, head = build_chain_rows(end, call.entries, labels)
        ends[call.workspace.value] = (end[0], end[1] + len(new), head)
        rows += new
        work += build_work_rows(new, call.entries, format_time(call.now)) if new else []
    if not rows:
        return fresh
    if session.execute_batch("add_event", rows) < len(rows):
        raise _DuplicateEvents
    _finish_append(session, ends, rows, work)
    for call in calls:
        if call.quota and call.entries:
            check_quota(session, ends[call.workspace.value][0], call.quota, call.now)
    return fresh


def _lock_chain_ends(
    session: Transaction, names: Sequence[str]
) -> dict[str, tuple[int, int, bytes]]:
    """Lock the workspaces, create missing ones, and return (number, length, head) by name."""
    bound = {"names": json.dumps(names, ensure_ascii=False)}
    ends = {
        name: (number, *end)
        for name, number, *end in session.execute_query("lock_workspaces", bound)
    }
    missing = [name for name in names if name not in ends]
    if missing:
        for name in missing:
            session.execute_query("add_workspace", {"name": name, "head": GENESIS})
        return _lock_chain_ends(session, names)
    return ends


def _finish_append(
    session: Transaction,
    ends: Mapping[str, tuple[int, int, bytes]],
    rows: Sequence[Row],
    work: Sequence[Row],
) -> None:
    """Write what depends on new events: queued work, chain ends and label epochs."""
    news = defaultdict(set)
    size: defaultdict[int, int] = defaultdict(int)
    day = max(due_at[:DAY_CHARS] for *_, due_at, _ in work)
    for number, _, label, *_ in work:
        news[number].add(label)
    for row in rows:
        size[row[0]] += row[-1]
    chain_ends = [(number, n, head.hex(), size[number], day) for number, n, head in ends.values()]
    session.execute_query(
        "apply_new_events",
        {
            "work": json.dumps(work),
            "ends": json.dumps(chain_ends),
            "news": json.dumps([(number, label) for number in news for label in news[number]]),
        },
    )


NOTIFY_DELAY_SECONDS = 0.02  # appends in this time share one notification
POLL_SECONDS = 0.25  # between checks of the stop event


class PostgresQueue(SqlQueue):
    """The SQL queue, with notifications between processes."""

    def __init__(self, connections: Connections, url: str) -> None:
        super().__init__(connections)
        self._url = url
        self._lock = threading.Lock()
        self._notify_timer: threading.Timer | None = None
        self._listener: psycopg.Connection[Any] | None = None

    def notify(self) -> None:
        with self._lock:
            if self._notify_timer is None:
                self._notify_timer = threading.Timer(NOTIFY_DELAY_SECONDS, self._send_notification)
                self._notify_timer.daemon = True
                self._notify_timer.start()

    def _send_notification(self) -> None:
        with self._lock:
            self._notify_timer = None
        try:
            self._connections.write(lambda session: session.execute_query("notify_work"))
        except NexusError:
            return  # workers poll as well

    def wait_for_work(self, until: threading.Event, seconds: float) -> bool:
        end = time.monotonic() + seconds
        while not until.is_set() and (seconds_left := end - time.monotonic()) > 0:
            try:
                notifications = self._open_listener().notifies(
                    timeout=min(seconds_left, POLL_SECONDS), stop_after=1
                )
                if any(True for _ in notifications):
                    return True
            except psycopg.Error:  # the server was restarted: connect again
                self._close_listener()
                until.wait(min(seconds_left, POLL_SECONDS))
        return False

    def _open_listener(self) -> psycopg.Connection[Any]:
        if self._listener is None or self._listener.closed:
            self._listener = psycopg.connect(
                with_settings(self._url, {}, {"role": ROLE}),
                autocommit=True,
                application_name="nexus-worker",
            )
            self._listener.execute("LISTEN nexus_work")
        return self._listener

    def _close_listener(self) -> None:
        if self._listener is not None:
            self._listener.close()
        self._listener = None

    def close(self) -> None:
        """Send a pending notification and close the listening connection."""
        with self._lock:
            pending, self._notify_timer = self._notify_timer, None
        if pending is not None:
            pending.cancel()
            self._send_notification()
        self._close_listener()
