"""Redis keys, and the encoding of window items."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from ....core.access import Label
from ....core.canonical import canonical_json, clean_json, format_time, parse_time
from ....core.ids import WorkspaceId, digest
from ....core.records.window import (
    MAX_ITEMS,
    WindowItem,
    WindowSlot,
    counts_as_activity,
    item_from_json,
    item_to_json,
)
from ....core.scope import Scope, parse_scope
from .server import Client, UnreadableData

PUT_SCRIPT, REMOVE_SCRIPT, DROP_SCOPE_SCRIPT, STORE_CONTEXT_SCRIPT = (
    Path(__file__).with_name(f"{name}.lua").read_text(encoding="utf-8")
    for name in ("put_items", "remove_items", "drop_empty_scope", "store_context")
)


@dataclass(frozen=True, slots=True)
class RedisKeys:
    """The Redis keys of one workspace; one hash tag keeps them on one cluster node."""

    workspace: WorkspaceId
    root: str

    @classmethod
    def for_workspace(cls, namespace: str, workspace: WorkspaceId) -> RedisKeys:
        name = digest("window", namespace, workspace.value)
        return cls(workspace, f"nexus:{{{name}}}")

    @property
    def scopes(self) -> str:
        return f"{self.root}:places"

    @property
    def epoch(self) -> str:
        return f"{self.root}:epoch"

    def scope_epoch(self, scope: Scope) -> str:
        return f"{self._scope_root(scope)}:epoch"

    def items(self, scope: Scope, slot: WindowSlot) -> str:
        return f"{self._scope_root(scope)}:{slot.value}"

    def order(self, scope: Scope, slot: WindowSlot) -> str:
        return f"{self.items(scope, slot)}:order"

    def all_scope_keys(self, scope: Scope) -> Iterator[str]:
        """Yield every key that one scope may have."""
        yield self.scope_epoch(scope)
        yield from (self.items(scope, slot) for slot in WindowSlot)
        yield from (self.order(scope, slot) for slot in MAX_ITEMS)

    def context_index(self, memory: str) -> str:
        return f"{self.root}:contexts:{memory}"

    def ticket(self, memory: str) -> str:
        return f"{self.root}:ticket:{memory}"

    def context(self, name: str) -> str:
        return f"{self.root}:composed:{name}"

    def _scope_root(self, scope: Scope) -> str:
        return f"{self.root}:{digest('place', str(scope))}"


def item_field(key: str) -> str:
    """Return the hash field of an item."""
    return digest("key", key)


UNREADABLE = (LookupError, TypeError, ValueError, AttributeError)
MARK_TIME = slice(0, 27)  # positions inside a mark
MARK_LABEL = slice(28, 60)


@dataclass(frozen=True, slots=True)
class StoredItem:
    """A window item and its bytes in Redis."""

    item: WindowItem
    data: bytes

    @property
    def field(self) -> str:
        return item_field(self.item.key)


def encode_item(workspace: WorkspaceId, item: WindowItem) -> StoredItem:
    """Encode an item; raise InvalidInput if its value is not JSON."""
    fields = clean_json(item_to_json(item), "a window")
    return StoredItem(item, canonical_json({**fields, "workspace": workspace.value}).encode())


def encode_mark(item: WindowItem) -> str:
    """Return time, label digest and key at fixed positions, which `put_items.lua` reads."""
    return f"{format_time(item.at)} {label_digest(item.label)} {item.key}"


def label_digest(label: Label) -> str:
    return digest("label", *sorted(map(str, label)))


def read_items(
    client: Client,
    keys: RedisKeys,
    scopes: Sequence[Scope],
    slots: Sequence[WindowSlot],
    key: str | None = None,
) -> list[StoredItem]:
    """Return the items of these scopes and slots, only those with `key` if it is given."""
    slots_to_read = [(scope, slot) for scope in scopes for slot in slots]
    pipeline = client.pipeline(transaction=False)
    for scope, slot in slots_to_read:
        name = keys.items(scope, slot)
        pipeline.hvals(name) if key is None else pipeline.hmget(name, [item_field(key)])
    return [
        _decode_item(keys.workspace, scope, slot, data)
        for (scope, slot), answer in zip(slots_to_read, pipeline.execute(), strict=True)
        for data in answer
        if data
    ]


def _decode_item(workspace: WorkspaceId, scope: Scope, slot: WindowSlot, data: bytes) -> StoredItem:
    """Decode an item; raise UnreadableData unless its workspace, scope and slot match its key."""
    try:
        fields = json.loads(data)
        item = item_from_json(fields)
        identity = (fields["workspace"], item.scope, item.slot)
    except UNREADABLE as error:
        raise UnreadableData(repr(error)) from None
    if identity != (workspace.value, scope, slot):
        raise UnreadableData("the item belongs to another key")
    return StoredItem(item, data)


def read_scopes(client: Client, keys: RedisKeys) -> list[Scope]:
    """Return the scopes of a workspace; some may be empty already."""
    try:
        return sorted(parse_scope(each.decode()) for each in client.smembers(keys.scopes))
    except ValueError as error:
        raise UnreadableData(repr(error)) from None


def read_epoch(client: Client, names: Sequence[str]) -> int:
    """Return the sum of these epochs."""
    try:
        return sum(int(each) for each in client.mget(names) if each)
    except ValueError as error:
        raise UnreadableData(repr(error)) from None


def read_put_times(client: Client, keys: RedisKeys, scope: Scope) -> list[tuple[str, datetime]]:
    """Return (label digest, time) of the items in this scope that count as activity."""
    plain = [slot for slot in WindowSlot if slot not in MAX_ITEMS]
    items = filter(
        lambda each: counts_as_activity(each.item), read_items(client, keys, [scope], plain)
    )
    pipeline = client.pipeline(transaction=False)
    for slot in MAX_ITEMS:
        pipeline.hvals(keys.order(scope, slot))
    marks = [mark for answer in pipeline.execute() for mark in _decode_marks(answer)]
    return [*marks, *((label_digest(each.item.label), each.item.at) for each in items)]


def _decode_marks(answer: Iterable[bytes]) -> Iterator[tuple[str, datetime]]:
    for mark in answer:
        try:
            yield mark[MARK_LABEL].decode(), parse_time(mark[MARK_TIME].decode())
        except ValueError as error:
            raise UnreadableData(repr(error)) from None
