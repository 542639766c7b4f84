"""The windows of places, in memory: the specification of `core.window.Window`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Protocol, TypeVar

from ..core.access import Grant, Label, check_grant
from ..core.canonical import clean_json
from ..core.ids import WorkspaceId
from ..core.records import Event
from ..core.scope import Scope
from ..core.window import (
    IDLE,
    MOST_KEPT,
    NEWS,
    Slot,
    WindowItem,
    gone_since,
    item_from_json,
    item_to_json,
    keeps_awake,
    never_silent,
)
from .inprocess_gate import Gate

Address = tuple[WorkspaceId, Scope, Slot, str]
R = TypeVar("R")


class Said(Protocol):
    """What a window has to know of the ledger."""

    def events(self, workspace: WorkspaceId) -> Iterable[Event]: ...

    def gone(self, workspace: WorkspaceId, ids: Iterable[str], since: datetime | None) -> bool:
        """As `Eraser.gone` has it."""
        ...

    def writing(self, work: Callable[[], R]) -> R:
        """Do this with whatever goes along with it."""
        ...

    def wrote(self, workspace: WorkspaceId, scope: Scope) -> None:
        """Something in this scope is new, or gone."""
        ...


class InProcessWindow:
    def __init__(self, lock: Gate, said: Said) -> None:
        self._lock = lock
        self._said = said
        self.items: dict[Address, WindowItem] = {}

    def put(
        self, workspace: WorkspaceId, items: Sequence[WindowItem], *, idle: timedelta = IDLE
    ) -> None:
        copies = list(map(_copied, items))

        def put() -> None:
            for item in copies:
                if not self._said.gone(workspace, item.tied_to, gone_since(item)):
                    if keeps_awake(item):
                        self._let_go(workspace, item, idle)
                    self.items[workspace, item.scope, item.slot, item.key] = item
                    self._told(workspace, item.scope, item.slot)
                    self._trim(workspace, item)

        self._said.writing(put)

    def _let_go(self, workspace: WorkspaceId, item: WindowItem, idle: timedelta) -> None:
        """Of what was over in its place by now."""
        alive = self._alive(item.at, idle)
        here = [a for a, each in self.items.items() if a[0] == workspace]
        lasting = [a for a in here if self.items[a].expires_at is None]
        own = [a for a in lasting if self.items[a].label == item.label]
        self._remove([a for a in own if not alive(workspace, self.items[a])])

    def _trim(self, workspace: WorkspaceId, item: WindowItem) -> None:
        most = MOST_KEPT.get(item.slot)
        place = (workspace, item.scope, item.slot)
        own = (each for address, each in self.items.items() if address[:3] == place)
        kept = [each for each in own if each.label == item.label]
        self._remove([(*place, old.key) for old in _newest_first(kept)[most:] if most])

    def _told(self, workspace: WorkspaceId, scope: Scope, slot: Slot) -> None:
        if slot in NEWS:
            self._said.wrote(workspace, scope)

    def find(
        self,
        grant: Grant,
        *,
        slots: Sequence[Slot],
        now: datetime,
        key: str | None = None,
        idle: timedelta = IDLE,
    ) -> list[WindowItem]:
        check_grant(grant)
        with self._lock:
            alive = self._alive(now, idle)
            found = [
                _copied(item)
                for (workspace, _, slot, name), item in self.items.items()
                if workspace == grant.workspace
                and grant.allows(item.label)
                and slot in slots
                and key in (None, name)
                and alive(workspace, item)
            ]
        return _newest_first(found)

    def drop(self, workspace: WorkspaceId, scope: Scope, slot: Slot, key: str | None = None) -> int:
        def drop() -> int:
            place = (workspace, scope, slot)
            return self._remove([a for a in self.items if a[:3] == place and key in (None, a[3])])

        return self._said.writing(drop)

    def prune(self, *, now: datetime, idle: timedelta = IDLE) -> int:
        return sum(self.prune_in(list({address[0] for address in self.items}), now=now, idle=idle))

    def prune_in(
        self, workspaces: Sequence[WorkspaceId], *, now: datetime, idle: timedelta = IDLE
    ) -> list[int]:
        alive = self._alive(now, idle)

        def prune(workspace: WorkspaceId) -> int:
            theirs = [a for a in self.items if a[0] == workspace]
            return self._remove([a for a in theirs if not alive(workspace, self.items[a])])

        return self._said.writing(lambda: [*map(prune, workspaces)])

    def tied_to(self, workspace: WorkspaceId, ids: Sequence[str]) -> list[WindowItem]:
        with self._lock:
            return _newest_first(self.items[address] for address in self._tied(workspace, ids))

    def epoch(self, grant: Grant) -> int:
        check_grant(grant)
        return 0

    def _tied(self, workspace: WorkspaceId, ids: Iterable[str]) -> Iterator[Address]:
        """Also the thoughts of a place where one of these was said: they may say it again."""
        gone = set(ids)
        places = {event.scope for event in self._said.events(workspace) if event.id in gone}
        for address, item in self.items.items():
            if address[0] == workspace and (
                not gone.isdisjoint(item.tied_to)
                or (item.slot is Slot.THOUGHT and item.scope in places)
            ):
                yield address

    def _erase(self, workspace: WorkspaceId, ids: Iterable[str]) -> int:
        """For the eraser, before it takes the events out."""
        return self._remove(list(self._tied(workspace, ids)))

    def _remove(self, gone: Sequence[Address]) -> int:
        for address in gone:
            del self.items[address]
            self._told(*address[:3])
        return len(gone)

    def _alive(self, now: datetime, idle: timedelta) -> Callable[[WorkspaceId, WindowItem], bool]:
        busy: dict[tuple[WorkspaceId, Label], bool] = {}

        def alive(workspace: WorkspaceId, item: WindowItem) -> bool:
            if item.expires_at is not None:
                return item.expires_at > now
            place = (workspace, item.label)
            if place not in busy:
                busy[place] = self._busy(*place, now, idle)
            return item.at > now - idle or busy[place]

        return alive

    def _busy(self, workspace: WorkspaceId, label: Label, now: datetime, idle: timedelta) -> bool:
        items = [item for address, item in self.items.items() if address[0] == workspace]
        put_at = [item.at for item in items if item.label == label and keeps_awake(item)]
        told = [e.at for e in self._said.events(workspace) if {e.scope} == label]

        def said(after: datetime, before: datetime) -> datetime | None:
            return max((at for at in told if after < at < before), default=None)

        return never_silent(put_at, said, now=now, idle=idle)


def erase_from_window(window: InProcessWindow, workspace: WorkspaceId, ids: Iterable[str]) -> int:
    return window._erase(workspace, ids)  # noqa: SLF001  # no part of the contract


def _copied(item: WindowItem) -> WindowItem:
    """Nobody changes what is kept by changing what was given."""
    return item_from_json(clean_json(item_to_json(item), "a window"))


def _newest_first(items: Iterable[WindowItem]) -> list[WindowItem]:
    by_key = sorted(items, key=lambda item: (item.slot, item.key))
    return sorted(by_key, key=lambda item: item.at, reverse=True)
