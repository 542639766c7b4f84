"""Appending for many threads at once: one transaction, two statements, whatever their number."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from ...core.canonical import time_text
from ...core.chain import GENESIS
from ...core.ids import WorkspaceId
from ...core.quotas import Quota
from ...core.records import NewEvent, Receipt
from ...core.telemetry import step
from ..sql.accompanied import Accompanied
from ..sql.ledger import (
    DAY,
    Entry,
    Place,
    SqlLedger,
    chained,
    check_room,
    entry_of,
    label_of,
    receipt_of,
    work_of,
)
from ..sql.session import Row, Session
from ..sql.together import Together

MOST_TOGETHER = 200  # calls


class _Repeated(Exception):
    """Something is there already: this is looked at call by call."""


class _Call(NamedTuple):
    """What one thread appends."""

    workspace: WorkspaceId
    entries: list[Entry]
    now: datetime
    quota: Quota | None


class PostgresLedger(SqlLedger):
    """The ledger of every SQL store, but for how it is written."""

    def __init__(self, connections: Accompanied) -> None:
        super().__init__(connections)
        self._along = connections.along
        self._together = Together(self._append_all, most=MOST_TOGETHER)

    def append(
        self,
        workspace: WorkspaceId,
        events: Sequence[NewEvent],
        *,
        recorded_at: datetime,
        quota: Quota | None = None,
    ) -> list[Receipt]:
        entries = [entry_of(event, recorded_at) for event in events]
        alone = self._along or self._connections.holding.leases
        if alone:  # what goes along with it, or what it depends on, is nobody else's
            return self._append(workspace, entries, recorded_at, quota)
        with step("store.append"):
            return self._together(_Call(workspace, entries, recorded_at, quota))

    def _append_all(self, calls: Sequence[_Call]) -> list[list[Receipt]]:
        try:
            labels = self._connections.write(lambda session: _append(session, calls, self._labels))
        except _Repeated:
            if len(calls) > 1:
                raise
            (call,) = calls
            return [self._append(*call)]
        self._labels.update(labels)
        return [
            [receipt_of(call.workspace, entry, repeated=False) for entry in call.entries]
            for call in calls
        ]


def _append(
    session: Session, calls: Sequence[_Call], known: Mapping[Place, int]
) -> Mapping[Place, int]:
    """The labels that are new if this is committed."""
    ends = _chain_ends(session, sorted({call.workspace.value for call in calls}))
    fresh: dict[Place, int] = {}
    rows: list[Row] = []
    work: list[Row] = []
    for call in calls:
        end = ends[call.workspace.value]
        homes = [entry.event.scope for entry in call.entries]
        places = [label_of(session, end[0], home, known, fresh) for home in homes]
        new, head = chained(end, call.entries, places)
        ends[call.workspace.value] = (end[0], end[1] + len(new), head)
        rows += new
        work += work_of(new, call.entries, time_text(call.now)) if new else []
    if not rows:
        return fresh
    if session.run_many("add_event", rows) < len(rows):
        raise _Repeated
    _come(session, ends, rows, work)
    for call in calls:
        if call.quota and call.entries:
            check_room(session, ends[call.workspace.value][0], call.quota, call.now)
    return fresh


def _chain_ends(session: Session, names: Sequence[str]) -> dict[str, tuple[int, int, bytes]]:
    """Where the next event of each workspace goes; whoever has none yet gets one."""
    bound = {"names": json.dumps(names, ensure_ascii=False)}
    found = {name: (number, *end) for name, number, *end in session.run("lock_workspaces", bound)}
    missing = [name for name in names if name not in found]
    if missing:
        for name in missing:
            session.run("add_workspace", {"name": name, "head": GENESIS})
        return _chain_ends(session, names)
    return found


def _come(
    session: Session,
    ends: Mapping[str, tuple[int, int, bytes]],
    rows: Sequence[Row],
    work: Sequence[Row],
) -> None:
    """What follows from new events: work, longer chains, and news for whoever reads them."""
    news = defaultdict(set)
    size: defaultdict[int, int] = defaultdict(int)
    day = max(due_at[:DAY] for *_, due_at, _ in work)
    for number, _, label, *_ in work:
        news[number].add(label)
    for row in rows:
        size[row[0]] += row[-1]
    grown = [(number, n, head.hex(), size[number], day) for number, n, head in ends.values()]
    session.run(
        "events_follow",
        {
            "work": json.dumps(work),
            "ends": json.dumps(grown),
            "news": json.dumps([(number, label) for number in news for label in news[number]]),
        },
    )
