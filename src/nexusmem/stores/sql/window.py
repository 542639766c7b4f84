"""Working memory in SQL: one row per window item."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from ...core.access import Grant, check_grant
from ...core.canonical import encode_json, format_time
from ...core.ids import WorkspaceId
from ...core.records.window import (
    IDLE_TIMEOUT,
    MAX_ITEMS,
    ONE_MICROSECOND,
    WindowItem,
    WindowSlot,
    counts_as_activity,
    erasable_since,
    item_from_json,
    item_to_json,
)
from ...core.scope import Scope
from .readable_labels import (
    compile_grant,
    ensure_label,
    ensure_workspace,
    find_workspace,
    lock_workspace,
    only_granted,
)
from .tombstones import any_erased
from .transactions import Connections, Transaction

EncodedItem = tuple[WindowItem, Sequence[str], str]  # item, ids it is erased with, and its JSON


class SqlWindow:
    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def put(
        self, workspace: WorkspaceId, items: Sequence[WindowItem], *, idle: timedelta = IDLE_TIMEOUT
    ) -> None:
        encoded = [
            (item, item.erasure_keys, encode_json(item_to_json(item), "a window")) for item in items
        ]
        self._connections.write(lambda session: _put_items(session, workspace, encoded, idle))

    def find(
        self,
        grant: Grant,
        *,
        slots: Sequence[WindowSlot],
        now: datetime,
        key: str | None = None,
        idle: timedelta = IDLE_TIMEOUT,
    ) -> list[WindowItem]:
        with self._connections.read_transaction() as session:
            bound = {
                **compile_grant(session, grant).only_source.parameters,
                "slots": json.dumps(tuple(slots)),
                "key": key,
                **_time_params(now, idle),
            }
            return list(
                only_granted(grant, _decode_items(session.execute_query("window_items", bound)))
            )

    def delete(
        self, workspace: WorkspaceId, scope: Scope, slot: WindowSlot, key: str | None = None
    ) -> int:
        def delete_rows(session: Transaction) -> int:
            number = lock_workspace(session, workspace)
            label = ensure_label(session, number, frozenset({scope})) if number >= 0 else 0
            bound = {"workspace": number, "label": label, "slot": slot.value, "key": key}
            return session.execute_query("drop_window_item", bound).rowcount

        return self._connections.write(delete_rows)

    def prune(self, *, now: datetime, idle: timedelta = IDLE_TIMEOUT) -> int:
        return sum(self._prune_workspaces(None, now, idle).values())

    def prune_many(
        self, workspaces: Sequence[WorkspaceId], *, now: datetime, idle: timedelta = IDLE_TIMEOUT
    ) -> list[int]:
        names = [workspace.value for workspace in workspaces]
        pruned = self._prune_workspaces(names, now, idle)
        return [pruned[name] for name in names]

    def _prune_workspaces(
        self, names: list[str] | None, now: datetime, idle: timedelta
    ) -> Counter[str]:
        only = None if names is None else json.dumps(names, ensure_ascii=False)
        bound = {**_time_params(now, idle), "names": only}

        def prune_rows(session: Transaction) -> Counter[str]:
            return Counter(
                name for (name,) in session.execute_query("prune_window", bound).fetchall()
            )

        return self._connections.write(prune_rows)

    def find_dependents(self, workspace: WorkspaceId, ids: Sequence[str]) -> list[WindowItem]:
        with self._connections.read_transaction() as session:
            number = find_workspace(session, workspace)
            bound = {"workspace": number, "ids": json.dumps(ids)}
            return _decode_items(session.execute_query("window_items_by_link", bound))

    def epoch(self, grant: Grant) -> int:
        check_grant(grant)
        return 0


def erase_from_window(session: Transaction, number: int, ids: Iterable[str]) -> int:
    """Delete items linked to these ids; call it while the events still exist."""
    bound = {"workspace": number, "ids": json.dumps(list(ids))}
    return session.execute_query("erase_from_window", bound).rowcount


def _put_items(
    session: Transaction, workspace: WorkspaceId, items: Sequence[EncodedItem], idle: timedelta
) -> None:
    number = ensure_workspace(session, workspace)
    for item, ties, content in _drop_erased(session, number, items):
        row = build_window_row(session, number, item, ties, content)
        if counts_as_activity(item):
            session.execute_query("drop_idle_window_items", {**row, **_time_params(item.at, idle)})
        session.execute_query("put_window_item", row)
        if item.slot in MAX_ITEMS:
            most = {**row, "most": MAX_ITEMS[item.slot]}
            session.execute_query("trim_window", most)


def _drop_erased(
    session: Transaction, number: int, items: Sequence[EncodedItem]
) -> Sequence[EncodedItem]:
    """Return the items without erased sources; one query if all have the same time limit."""
    if len({erasable_since(item) for item, *_ in items}) == 1:
        every = {tie for _, ties, _ in items for tie in ties}
        if not any_erased(session, number, every, erasable_since(items[0][0])):
            return items
    return [
        (item, ties, content)
        for item, ties, content in items
        if not any_erased(session, number, ties, erasable_since(item))
    ]


def build_window_row(
    session: Transaction, number: int, item: WindowItem, linked_ids: Sequence[str], content: str
) -> dict[str, object]:
    """Return the columns of an item."""
    return {
        "workspace": number,
        "label": ensure_label(session, number, item.label),
        "slot": item.slot.value,
        "key": item.key,
        "at": format_time(item.at),
        "expires_at": format_time(item.expires_at) if item.expires_at else None,
        "tied_to": json.dumps(linked_ids),
        "content": content,
    }


def _decode_items(rows: Iterable[tuple[str]]) -> list[WindowItem]:
    return [item_from_json(json.loads(content)) for (content,) in rows]


def _time_params(now: datetime, idle: timedelta) -> dict[str, object]:
    seconds = int(idle.total_seconds())
    return {
        "now": format_time(now),
        "until": format_time(now + ONE_MICROSECOND),
        "idle_since": format_time(now - idle),
        "idle": f"+{seconds} seconds",
    }
