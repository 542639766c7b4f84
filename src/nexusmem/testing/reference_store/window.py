"""Working-memory window of the reference store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Protocol, TypeVar

from ...core.access import Grant, Label, check_grant
from ...core.canonical import clean_json
from ...core.ids import WorkspaceId
from ...core.records import Event
from ...core.records.window import (
    IDLE_TIMEOUT,
    MAX_ITEMS,
    NEWS_SLOTS,
    WindowItem,
    WindowSlot,
    counts_as_activity,
    erasable_since,
    is_still_active,
    item_from_json,
    item_to_json,
)
from ...core.scope import Scope
from .lock import ClosableLock

WindowItemKey = tuple[WorkspaceId, Scope, WindowSlot, str]
R = TypeVar("R")


class WindowBackend(Protocol):
    """The state that `ReferenceWindow` uses."""

    def iter_events(self, workspace: WorkspaceId) -> Iterable[Event]: ...

    def any_erased(
        self, workspace: WorkspaceId, ids: Iterable[str], since: datetime | None
    ) -> bool:
        """Return the same as `Eraser.any_erased`."""
        ...

    def run_write(self, work: Callable[[], R]) -> R:
        """Run `work` as a transaction, with the hooks of the thread."""
        ...

    def bump_epoch(self, workspace: WorkspaceId, scope: Scope) -> None:
        """Count a change in this scope."""
        ...


class ReferenceWindow:
    """Reference implementation of the protocol `Window`."""

    def __init__(self, lock: ClosableLock, backend: WindowBackend) -> None:
        self._lock = lock
        self._backend = backend
        self.items: dict[WindowItemKey, WindowItem] = {}

    def put(
        self, workspace: WorkspaceId, items: Sequence[WindowItem], *, idle: timedelta = IDLE_TIMEOUT
    ) -> None:
        copies = list(map(_copy_item, items))

        def put_items() -> None:
            for item in copies:
                if not self._backend.any_erased(workspace, item.erasure_keys, erasable_since(item)):
                    if counts_as_activity(item):
                        self._drop_inactive(workspace, item, idle)
                    self.items[workspace, item.scope, item.slot, item.key] = item
                    self._note_change(workspace, item.scope, item.slot)
                    self._trim_slot(workspace, item)

        self._backend.run_write(put_items)

    def _drop_inactive(self, workspace: WorkspaceId, item: WindowItem, idle: timedelta) -> None:
        """Delete items of the same label that ended before this item was put."""
        alive = self._make_alive_check(item.at, idle)
        here = [a for a, each in self.items.items() if a[0] == workspace]
        lasting = [a for a in here if self.items[a].expires_at is None]
        own = [a for a in lasting if self.items[a].label == item.label]
        self._remove_items([a for a in own if not alive(workspace, self.items[a])])

    def _trim_slot(self, workspace: WorkspaceId, item: WindowItem) -> None:
        max_items = MAX_ITEMS.get(item.slot)
        slot_key = (workspace, item.scope, item.slot)
        own = (each for address, each in self.items.items() if address[:3] == slot_key)
        same_label = [each for each in own if each.label == item.label]
        self._remove_items(
            [
                (*slot_key, old.key)
                for old in _sort_newest_first(same_label)[max_items:]
                if max_items
            ]
        )

    def _note_change(self, workspace: WorkspaceId, scope: Scope, slot: WindowSlot) -> None:
        if slot in NEWS_SLOTS:
            self._backend.bump_epoch(workspace, scope)

    def find(
        self,
        grant: Grant,
        *,
        slots: Sequence[WindowSlot],
        now: datetime,
        key: str | None = None,
        idle: timedelta = IDLE_TIMEOUT,
    ) -> list[WindowItem]:
        check_grant(grant)
        with self._lock:
            alive = self._make_alive_check(now, idle)
            items = [
                _copy_item(item)
                for (workspace, _, slot, name), item in self.items.items()
                if workspace == grant.workspace
                and grant.allows(item.label)
                and slot in slots
                and key in (None, name)
                and alive(workspace, item)
            ]
        return _sort_newest_first(items)

    def delete(
        self, workspace: WorkspaceId, scope: Scope, slot: WindowSlot, key: str | None = None
    ) -> int:
        def delete_items() -> int:
            prefix = (workspace, scope, slot)
            return self._remove_items(
                [a for a in self.items if a[:3] == prefix and key in (None, a[3])]
            )

        return self._backend.run_write(delete_items)

    def prune(self, *, now: datetime, idle: timedelta = IDLE_TIMEOUT) -> int:
        return sum(
            self.prune_many(list({address[0] for address in self.items}), now=now, idle=idle)
        )

    def prune_many(
        self, workspaces: Sequence[WorkspaceId], *, now: datetime, idle: timedelta = IDLE_TIMEOUT
    ) -> list[int]:
        alive = self._make_alive_check(now, idle)

        def prune_workspace(workspace: WorkspaceId) -> int:
            theirs = [a for a in self.items if a[0] == workspace]
            return self._remove_items([a for a in theirs if not alive(workspace, self.items[a])])

        return self._backend.run_write(lambda: [*map(prune_workspace, workspaces)])

    def find_dependents(self, workspace: WorkspaceId, ids: Sequence[str]) -> list[WindowItem]:
        with self._lock:
            return _sort_newest_first(
                self.items[address] for address in self._dependent_keys(workspace, ids)
            )

    def epoch(self, grant: Grant) -> int:
        check_grant(grant)
        return 0

    def _dependent_keys(
        self, workspace: WorkspaceId, ids: Iterable[str]
    ) -> Iterator[WindowItemKey]:
        """Yield keys of items that depend on `ids`.

        Thoughts of a scope with one of these events are included: they may repeat its text.
        """
        erased = set(ids)
        scopes = {
            event.scope for event in self._backend.iter_events(workspace) if event.id in erased
        }
        for address, item in self.items.items():
            if address[0] == workspace and (
                not erased.isdisjoint(item.erasure_keys)
                or (item.slot is WindowSlot.THOUGHT and item.scope in scopes)
            ):
                yield address

    def _erase_dependents(self, workspace: WorkspaceId, ids: Iterable[str]) -> int:
        """Delete the dependent items; the eraser calls this before it removes the events."""
        return self._remove_items(list(self._dependent_keys(workspace, ids)))

    def _remove_items(self, keys: Sequence[WindowItemKey]) -> int:
        for address in keys:
            del self.items[address]
            self._note_change(*address[:3])
        return len(keys)

    def _make_alive_check(
        self, now: datetime, idle: timedelta
    ) -> Callable[[WorkspaceId, WindowItem], bool]:
        busy: dict[tuple[WorkspaceId, Label], bool] = {}

        def is_alive(workspace: WorkspaceId, item: WindowItem) -> bool:
            if item.expires_at is not None:
                return item.expires_at > now
            key = (workspace, item.label)
            if key not in busy:
                busy[key] = self._is_active(*key, now, idle)
            return item.at > now - idle or busy[key]

        return is_alive

    def _is_active(
        self, workspace: WorkspaceId, label: Label, now: datetime, idle: timedelta
    ) -> bool:
        items = [item for address, item in self.items.items() if address[0] == workspace]
        put_at = [item.at for item in items if item.label == label and counts_as_activity(item)]
        event_times = [e.at for e in self._backend.iter_events(workspace) if {e.scope} == label]

        def last_event_at(after: datetime, before: datetime) -> datetime | None:
            return max((at for at in event_times if after < at < before), default=None)

        return is_still_active(put_at, last_event_at, now=now, idle=idle)


def erase_from_window(window: ReferenceWindow, workspace: WorkspaceId, ids: Iterable[str]) -> int:
    return window._erase_dependents(workspace, ids)  # not in the protocol  # noqa: SLF001


def _copy_item(item: WindowItem) -> WindowItem:
    """Return a deep copy, so that callers cannot change stored values."""
    return item_from_json(clean_json(item_to_json(item), "a window"))


def _sort_newest_first(items: Iterable[WindowItem]) -> list[WindowItem]:
    by_key = sorted(items, key=lambda item: (item.slot, item.key))
    return sorted(by_key, key=lambda item: item.at, reverse=True)
