"""The windows of places: one row for each thing that lies in one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from ...core.access import Grant, check_grant
from ...core.canonical import spelt_json, time_text
from ...core.ids import WorkspaceId
from ...core.scope import Scope
from ...core.window import (
    IDLE,
    MOMENT,
    MOST_KEPT,
    Slot,
    WindowItem,
    gone_since,
    item_from_json,
    item_to_json,
    keeps_awake,
)
from .labels import (
    known_workspace,
    label_number,
    locked_workspace,
    readable,
    workspace_number,
)
from .outgoing import going_out
from .session import Connections, Session
from .stones import any_erased

Spelt = tuple[WindowItem, Sequence[str], str]  # an item, what it is tied to, and its JSON


class SqlWindow:
    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def put(
        self, workspace: WorkspaceId, items: Sequence[WindowItem], *, idle: timedelta = IDLE
    ) -> None:
        spelt = [(item, item.tied_to, spelt_json(item_to_json(item), "a window")) for item in items]
        self._connections.write(lambda session: _put(session, workspace, spelt, idle))

    def find(
        self,
        grant: Grant,
        *,
        slots: Sequence[Slot],
        now: datetime,
        key: str | None = None,
        idle: timedelta = IDLE,
    ) -> list[WindowItem]:
        with self._connections.reading() as session:
            bound = {
                **readable(session, grant).told.parameters,
                "slots": json.dumps(tuple(slots)),
                "key": key,
                **_moment(now, idle),
            }
            return list(going_out(grant, _items(session.run("window_items", bound))))

    def drop(self, workspace: WorkspaceId, scope: Scope, slot: Slot, key: str | None = None) -> int:
        def drop(session: Session) -> int:
            number = locked_workspace(session, workspace)
            label = label_number(session, number, frozenset({scope})) if number >= 0 else 0
            bound = {"workspace": number, "label": label, "slot": slot.value, "key": key}
            return session.run("drop_window_item", bound).rowcount

        return self._connections.write(drop)

    def prune(self, *, now: datetime, idle: timedelta = IDLE) -> int:
        return sum(self._pruned(None, now, idle).values())

    def prune_in(
        self, workspaces: Sequence[WorkspaceId], *, now: datetime, idle: timedelta = IDLE
    ) -> list[int]:
        names = [workspace.value for workspace in workspaces]
        pruned = self._pruned(names, now, idle)
        return [pruned[name] for name in names]

    def _pruned(self, names: list[str] | None, now: datetime, idle: timedelta) -> Counter[str]:
        only = None if names is None else json.dumps(names, ensure_ascii=False)
        bound = {**_moment(now, idle), "names": only}

        def prune(session: Session) -> Counter[str]:
            return Counter(name for (name,) in session.run("prune_window", bound).fetchall())

        return self._connections.write(prune)

    def tied_to(self, workspace: WorkspaceId, ids: Sequence[str]) -> list[WindowItem]:
        with self._connections.reading() as session:
            number = known_workspace(session, workspace)
            bound = {"workspace": number, "ids": json.dumps(ids)}
            return _items(session.run("window_tied_to", bound))

    def epoch(self, grant: Grant) -> int:
        check_grant(grant)
        return 0


def erase_from_window(session: Session, number: int, ids: Iterable[str]) -> int:
    """Take out whatever is tied to these; to be called while the events are still there."""
    bound = {"workspace": number, "ids": json.dumps(list(ids))}
    return session.run("erase_from_window", bound).rowcount


def _put(session: Session, workspace: WorkspaceId, items: Sequence[Spelt], idle: timedelta) -> None:
    number = workspace_number(session, workspace)
    for item, ties, content in _still_there(session, number, items):
        row = window_row(session, number, item, ties, content)
        if keeps_awake(item):
            session.run("let_go_of_window", {**row, **_moment(item.at, idle)})
        session.run("put_window_item", row)
        if item.slot in MOST_KEPT:
            most = {**row, "most": MOST_KEPT[item.slot]}
            session.run("trim_window", most)


def _still_there(session: Session, number: int, items: Sequence[Spelt]) -> Sequence[Spelt]:
    """Those that are tied to nothing that is gone: mostly all, which takes one look."""
    if len({gone_since(item) for item, *_ in items}) == 1:
        every = {tie for _, ties, _ in items for tie in ties}
        if not any_erased(session, number, every, gone_since(items[0][0])):
            return items
    return [
        (item, ties, content)
        for item, ties, content in items
        if not any_erased(session, number, ties, gone_since(item))
    ]


def window_row(
    session: Session, number: int, item: WindowItem, ties: Sequence[str], content: str
) -> dict[str, object]:
    """The item as a row of the table."""
    return {
        "workspace": number,
        "label": label_number(session, number, item.label),
        "slot": item.slot.value,
        "key": item.key,
        "at": time_text(item.at),
        "expires_at": time_text(item.expires_at) if item.expires_at else None,
        "tied_to": json.dumps(ties),
        "content": content,
    }


def _items(rows: Iterable[tuple[str]]) -> list[WindowItem]:
    return [item_from_json(json.loads(content)) for (content,) in rows]


def _moment(now: datetime, idle: timedelta) -> dict[str, object]:
    seconds = int(idle.total_seconds())
    return {
        "now": time_text(now),
        "until": time_text(now + MOMENT),
        "idle_since": time_text(now - idle),
        "idle": f"+{seconds} seconds",
    }
