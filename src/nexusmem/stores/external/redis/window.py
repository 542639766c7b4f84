"""Working-memory window in Redis.

Recent activity and erasures are looked up in the records. While Redis is unreachable, every
method raises StoreUnavailable within a short timeout.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from ....core.access import Grant, Label, administrator_grant, check_grant
from ....core.ids import WorkspaceId
from ....core.protocols.store import Store
from ....core.records.window import (
    IDLE_TIMEOUT,
    MAX_ITEMS,
    NEWS_SLOTS,
    ONE_MICROSECOND,
    WindowItem,
    WindowSlot,
    counts_as_activity,
    erasable_since,
    is_still_active,
)
from ....core.scope import Scope
from .item_encoding import (
    DROP_SCOPE_SCRIPT,
    PUT_SCRIPT,
    REMOVE_SCRIPT,
    RedisKeys,
    StoredItem,
    encode_item,
    encode_mark,
    item_field,
    label_digest,
    read_epoch,
    read_items,
    read_put_times,
    read_scopes,
)
from .server import RedisServer, parse_address

SCAN_TIMEOUT_SECONDS = 2.0  # for calls that read all scopes of a workspace
RETENTION = timedelta(days=30)  # after the last put into a scope
MAX_RETENTION = timedelta(days=400)
SCOPES_PER_READ = 50

ScopeLabel = tuple[Scope, Label]
ScriptArgument = str | bytes | int


def _now_microseconds() -> int:
    return time.time_ns() // 1_000


class RedisWindow:
    """Window for the records of another store: `CompositeStore(records, window=…)`.

    An epoch is the time of the last change in microseconds (`clock`), or the previous epoch plus
    one. So it never repeats, even if Redis lost its data. `wait_seconds` overrides the timeout of
    the URL. `server` is an existing connection to the same URL.
    """

    def __init__(
        self,
        url: str,
        records: Store,
        *,
        wait_seconds: float | None = None,
        clock: Callable[[], int] = _now_microseconds,
        server: RedisServer | None = None,
    ) -> None:
        address = parse_address(url)
        self._server = server or RedisServer(address)
        self._namespace = address.namespace
        self._records = records
        self._wait_seconds = address.wait_seconds if wait_seconds is None else wait_seconds
        self._scan_timeout = max(self._wait_seconds, SCAN_TIMEOUT_SECONDS)
        self._clock = clock

    def put(
        self, workspace: WorkspaceId, items: Sequence[WindowItem], *, idle: timedelta = IDLE_TIMEOUT
    ) -> None:
        encoded = [encode_item(workspace, item) for item in items]
        accepted = [each for each in encoded if not self._is_erased(workspace, each)]
        if not accepted:
            return
        keys = self._workspace_keys(workspace)
        self._drop_inactive(keys, [each.item for each in accepted], idle)
        self._run_script(
            PUT_SCRIPT, *_put_arguments(keys, accepted, self._clock()), self._wait_seconds
        )
        # A concurrent erasure either saw these items in Redis, or is visible to this check.
        late = [each for each in accepted if self._is_erased(workspace, each)]
        self._remove_items(keys, late, self._wait_seconds)

    def _drop_inactive(self, keys: RedisKeys, items: Sequence[WindowItem], idle: timedelta) -> None:
        """Delete items of the same scopes and labels that ended before these items were put."""
        times = {(item.scope, item.label): item.at for item in items if counts_as_activity(item)}
        scopes = sorted({scope for scope, _ in times})
        stored = self._read_items(keys, scopes, list(WindowSlot), None, self._wait_seconds)
        for scope_label, at in times.items():
            lasting = [
                each
                for each in stored
                if not each.item.expires_at and _scope_and_label(each) == scope_label
            ]
            alive = set(map(id, self._filter_alive(keys, lasting, at, idle)))
            self._remove_items(
                keys, (each for each in lasting if id(each) not in alive), self._wait_seconds
            )

    def find(
        self,
        grant: Grant,
        *,
        slots: Sequence[WindowSlot],
        now: datetime,
        key: str | None = None,
        idle: timedelta = IDLE_TIMEOUT,
    ) -> list[WindowItem]:
        keys, wanted = (
            self._workspace_keys(check_grant(grant).workspace),
            list(dict.fromkeys(slots)),
        )
        if grant.everything:
            items = self._read_all(keys, wanted, key)
        else:
            items = self._read_items(keys, sorted(grant.scopes), wanted, key, self._wait_seconds)
        visible = [each for each in items if grant.allows(each.item.label)]
        return _sort_newest_first(
            each.item for each in self._filter_alive(keys, visible, now, idle)
        )

    def delete(
        self, workspace: WorkspaceId, scope: Scope, slot: WindowSlot, key: str | None = None
    ) -> int:
        fields: list[ScriptArgument] = [] if key is None else [item_field(key), ""]
        return self._remove_fields(
            self._workspace_keys(workspace), scope, slot, fields, self._wait_seconds
        )

    def prune(self, *, now: datetime, idle: timedelta = IDLE_TIMEOUT) -> int:
        """Prune the workspaces with events; keys of other workspaces expire in Redis."""
        return sum(self.prune_many(self._records.list_workspaces(), now=now, idle=idle))

    def prune_many(
        self, workspaces: Sequence[WorkspaceId], *, now: datetime, idle: timedelta = IDLE_TIMEOUT
    ) -> list[int]:
        return [
            self._prune_workspace(self._workspace_keys(workspace), now, idle)
            for workspace in workspaces
        ]

    def _prune_workspace(self, keys: RedisKeys, now: datetime, idle: timedelta) -> int:
        items = self._read_all(keys, list(WindowSlot))
        alive = set(map(id, self._filter_alive(keys, items, now, idle)))
        ended = (each for each in items if id(each) not in alive)
        pruned = self._remove_items(keys, ended, self._scan_timeout)
        self._remove_empty_scopes(keys)
        return pruned

    def find_dependents(self, workspace: WorkspaceId, ids: Sequence[str]) -> list[WindowItem]:
        return _sort_newest_first(
            each.item for each in self._dependent_items(self._workspace_keys(workspace), ids)
        )

    def epoch(self, grant: Grant) -> int:
        keys = self._workspace_keys(check_grant(grant).workspace)
        scope_epochs = [keys.scope_epoch(scope) for scope in sorted(grant.scopes)]
        names = [keys.epoch] if grant.everything else scope_epochs
        if not names:
            return 0
        return self._server.call(lambda client: read_epoch(client, names), self._wait_seconds)

    # Methods of ExternalPart

    def erase(self, workspace: WorkspaceId, ids: Sequence[str]) -> int:
        keys = self._workspace_keys(workspace)
        return self._remove_items(keys, self._dependent_items(keys, ids), self._scan_timeout)

    def find_residue(self, workspace: WorkspaceId, pieces: Sequence[bytes]) -> dict[str, int]:
        del workspace, pieces  # Redis has no files on this machine
        return {}

    def list_files(self) -> list[Path]:
        return []

    def close(self) -> None:
        self._server.close()

    # Reading

    def _workspace_keys(self, workspace: WorkspaceId) -> RedisKeys:
        return RedisKeys.for_workspace(self._namespace, workspace)

    def _read_items(
        self,
        keys: RedisKeys,
        scopes: Sequence[Scope],
        slots: Sequence[WindowSlot],
        key: str | None,
        seconds: float,
    ) -> list[StoredItem]:
        if not scopes or not slots:
            return []
        return self._server.call(
            lambda client: read_items(client, keys, scopes, slots, key), seconds
        )

    def _read_all(
        self, keys: RedisKeys, slots: Sequence[WindowSlot], key: str | None = None
    ) -> list[StoredItem]:
        """Return the items of all scopes of a workspace."""
        scopes = self._read_scopes(keys)
        batches = (
            scopes[start : start + SCOPES_PER_READ]
            for start in range(0, len(scopes), SCOPES_PER_READ)
        )
        return [
            each
            for batch in batches
            for each in self._read_items(keys, batch, slots, key, self._scan_timeout)
        ]

    def _read_scopes(self, keys: RedisKeys) -> list[Scope]:
        return self._server.call(lambda client: read_scopes(client, keys), self._scan_timeout)

    def _dependent_items(self, keys: RedisKeys, ids: Sequence[str]) -> list[StoredItem]:
        """Return the items that depend on `ids`.

        Thoughts of a scope with one of these events are included: they may repeat its text.
        """
        erased = set(ids)
        events = self._records.ledger.get(administrator_grant(keys.workspace), list(erased))
        scopes = {event.scope for event in events}
        return [
            each
            for each in self._read_all(keys, list(WindowSlot))
            if not erased.isdisjoint(each.item.erasure_keys)
            or (each.item.slot is WindowSlot.THOUGHT and each.item.scope in scopes)
        ]

    def _is_erased(self, workspace: WorkspaceId, stored: StoredItem) -> bool:
        item = stored.item
        return self._records.eraser.any_erased(
            workspace, item.erasure_keys, since=erasable_since(item)
        )

    # Expiry

    def _filter_alive(
        self, keys: RedisKeys, items: Sequence[StoredItem], now: datetime, idle: timedelta
    ) -> list[StoredItem]:
        """Return the items that have not expired, or had activity in their scope since."""
        since = now - idle
        active = (each for each in items if counts_as_activity(each.item))
        active_labels = {_scope_and_label(each) for each in active if since < each.item.at <= now}
        is_active: dict[ScopeLabel, bool] = dict.fromkeys(active_labels, True)

        def is_alive(each: StoredItem) -> bool:
            if each.item.expires_at is not None:
                return each.item.expires_at > now
            if each.item.at > since:
                return True
            scope_label = _scope_and_label(each)
            if scope_label not in is_active:
                is_active[scope_label] = self._is_active(keys, scope_label, now, idle)
            return is_active[scope_label]

        return list(filter(is_alive, items))

    def _is_active(
        self, keys: RedisKeys, scope_label: ScopeLabel, now: datetime, idle: timedelta
    ) -> bool:
        scope, label = scope_label
        scope_grant = administrator_grant(keys.workspace).narrow_to([scope])
        put_times = self._server.call(
            lambda client: read_put_times(client, keys, scope), self._wait_seconds
        )
        put_at = (at for label_key, at in put_times if label_key == label_digest(label))

        def last_event_at(after: datetime, before: datetime) -> datetime | None:
            if label != {scope}:  # events have a single scope
                return None
            events = self._records.ledger.find(
                scope_grant, since=after + ONE_MICROSECOND, until=before, limit=1
            )
            return events[0].at if events else None

        return is_still_active(put_at, last_event_at, now=now, idle=idle)

    # Removal

    def _remove_items(self, keys: RedisKeys, items: Iterable[StoredItem], seconds: float) -> int:
        """Remove the items that still have the same value; return their number."""
        fields: defaultdict[tuple[Scope, WindowSlot], list[ScriptArgument]] = defaultdict(list)
        for each in items:
            fields[each.item.scope, each.item.slot] += [each.field, each.data]
        return sum(
            self._remove_fields(keys, scope, slot, named, seconds)
            for (scope, slot), named in fields.items()
        )

    def _remove_fields(
        self,
        keys: RedisKeys,
        scope: Scope,
        slot: WindowSlot,
        fields: Sequence[ScriptArgument],
        seconds: float,
    ) -> int:
        names = [
            keys.items(scope, slot),
            keys.order(scope, slot),
            keys.scope_epoch(scope),
            keys.epoch,
        ]
        arguments = [_to_seconds(RETENTION), self._clock(), int(slot in NEWS_SLOTS), *fields]
        return int(self._run_script(REMOVE_SCRIPT, names, arguments, seconds))

    def _remove_empty_scopes(self, keys: RedisKeys) -> None:
        """Remove scopes without items from the index of scopes."""
        for scope in self._read_scopes(keys):
            names = [keys.scopes, *(keys.items(scope, slot) for slot in WindowSlot)]
            self._run_script(DROP_SCOPE_SCRIPT, names, [str(scope)], self._scan_timeout)

    def _run_script(
        self, script: str, names: Sequence[str], arguments: Sequence[ScriptArgument], seconds: float
    ) -> Any:
        return self._server.call(
            lambda client: client.eval(script, len(names), *names, *arguments), seconds
        )


def _scope_and_label(stored: StoredItem) -> ScopeLabel:
    return stored.item.scope, stored.item.label


def _put_arguments(
    keys: RedisKeys, items: Sequence[StoredItem], clock: int
) -> tuple[list[str], list[ScriptArgument]]:
    """Return the keys and arguments of `put_items.lua`."""
    scopes = list(dict.fromkeys(each.item.scope for each in items))
    names = [
        keys.scopes,
        keys.epoch,
        *(name for scope in scopes for name in keys.all_scope_keys(scope)),
    ]
    number = {name: index for index, name in enumerate(names, 1)}
    arguments: list[ScriptArgument] = [
        _retention_seconds(items),
        clock,
        len(scopes),
        *map(str, scopes),
    ]
    for each in items:
        item = each.item
        trimmed, news = item.slot in MAX_ITEMS, item.slot in NEWS_SLOTS
        arguments += [
            number[keys.items(item.scope, item.slot)],
            number[keys.order(item.scope, item.slot)] if trimmed else 0,
            number[keys.scope_epoch(item.scope)] if news else 0,
            MAX_ITEMS.get(item.slot, 0),
            each.field,
            encode_mark(item),
            label_digest(item.label),
            each.data,
        ]
    return names, arguments


def _retention_seconds(items: Sequence[StoredItem]) -> int:
    """Return the time to live of a scope in seconds after these items were put."""
    ends = [each.item.expires_at - each.item.at for each in items if each.item.expires_at]
    return _to_seconds(min(max([RETENTION, *ends]), MAX_RETENTION))


def _to_seconds(span: timedelta) -> int:
    return int(span.total_seconds())


def _sort_newest_first(items: Iterable[WindowItem]) -> list[WindowItem]:
    by_key = sorted(items, key=lambda item: (item.slot, item.key))
    return sorted(by_key, key=lambda item: item.at, reverse=True)
