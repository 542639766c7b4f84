"""What lies in a Redis, read and spelt."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from ...core.access import Label
from ...core.canonical import canonical_json, clean_json, text_time, time_text
from ...core.ids import WorkspaceId, digest
from ...core.scope import Scope, parse_scope
from ...core.window import MOST_KEPT, Slot, WindowItem, item_from_json, item_to_json, keeps_awake
from .keys import Keys, field_of
from .server import Client, Unreadable

UNREADABLE = (LookupError, TypeError, ValueError, AttributeError)
TIME = slice(0, 27)  # of a mark
LABEL = slice(28, 60)


@dataclass(frozen=True, slots=True)
class Lying:
    """An item, and as what it lies there."""

    item: WindowItem
    spelt: bytes

    @property
    def field(self) -> str:
        return field_of(self.item.key)


def spell(workspace: WorkspaceId, item: WindowItem) -> Lying:
    """As it is to lie there, or InvalidInput."""
    told = clean_json(item_to_json(item), "a window")
    return Lying(item, canonical_json({**told, "workspace": workspace.value}).encode())


def mark_of(item: WindowItem) -> str:
    """When it was put, its label and its key, at fixed places: `put.lua` knows them."""
    return f"{time_text(item.at)} {label_digest(item.label)} {item.key}"


def label_digest(label: Label) -> str:
    return digest("label", *sorted(map(str, label)))


def read(
    client: Client,
    keys: Keys,
    scopes: Sequence[Scope],
    slots: Sequence[Slot],
    key: str | None = None,
) -> list[Lying]:
    """All of these slots in these places, or what has this key there."""
    places = [(scope, slot) for scope in scopes for slot in slots]
    asked = client.pipeline(transaction=False)
    for scope, slot in places:
        name = keys.items(scope, slot)
        asked.hvals(name) if key is None else asked.hmget(name, [field_of(key)])
    return [
        _lying(keys.workspace, scope, slot, spelt)
        for (scope, slot), answer in zip(places, asked.execute(), strict=True)
        for spelt in answer
        if spelt
    ]


def _lying(workspace: WorkspaceId, scope: Scope, slot: Slot, spelt: bytes) -> Lying:
    """The keys say whose it is; so does the item itself, and both must agree."""
    try:
        told = json.loads(spelt)
        item = item_from_json(told)
        said = (told["workspace"], item.scope, item.slot)
    except UNREADABLE as error:
        raise Unreadable(repr(error)) from None
    if said != (workspace.value, scope, slot):
        raise Unreadable("it belongs somewhere else")
    return Lying(item, spelt)


def read_places(client: Client, keys: Keys) -> list[Scope]:
    """Where something lies, and maybe some where nothing does any more."""
    try:
        return sorted(parse_scope(each.decode()) for each in client.smembers(keys.places))
    except ValueError as error:
        raise Unreadable(repr(error)) from None


def read_epoch(client: Client, names: Sequence[str]) -> int:
    """The sum of these epochs."""
    try:
        return sum(int(each) for each in client.mget(names) if each)
    except ValueError as error:
        raise Unreadable(repr(error)) from None


def put_into(client: Client, keys: Keys, scope: Scope) -> list[tuple[str, datetime]]:
    """When something was put into this place that lies there still, with the label it has."""
    plain = [slot for slot in Slot if slot not in MOST_KEPT]
    lying = filter(lambda each: keeps_awake(each.item), read(client, keys, [scope], plain))
    asked = client.pipeline(transaction=False)
    for slot in MOST_KEPT:
        asked.hvals(keys.order(scope, slot))
    marks = [mark for answer in asked.execute() for mark in _marks(answer)]
    return [*marks, *((label_digest(each.item.label), each.item.at) for each in lying)]


def _marks(answer: Iterable[bytes]) -> Iterator[tuple[str, datetime]]:
    for mark in answer:
        try:
            yield mark[LABEL].decode(), text_time(mark[TIME].decode())
        except ValueError as error:
            raise Unreadable(repr(error)) from None
