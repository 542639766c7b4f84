"""A composed context as bytes and back."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from nexus.core.context import Context, Item, Section, Shown
from nexus.core.context_codec import LONGEST, Unspelt, bytes_context, context_bytes, unpacked
from nexus.core.part import Part
from nexus.core.records import Trust
from nexus.testing.suites.contexts import full_context

texts = some.text(some.characters(exclude_categories=["Cs"]), max_size=30)
numbers = some.floats(allow_nan=False, allow_infinity=False)
times = some.datetimes(
    min_value=datetime(1, 1, 3),  # noqa: DTZ001  # hypothesis adds the zone
    max_value=datetime(9999, 12, 28),  # noqa: DTZ001
    timezones=some.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30))]),
)
items = some.builds(
    Item,
    text=texts,
    id=texts,
    at=some.none() | times,
    speaker=some.none() | texts,
    trust=some.sampled_from(Trust),
    scope=some.none() | texts,
    events=some.lists(texts, max_size=3).map(tuple),
    worth=numbers,
    why=some.dictionaries(texts, numbers | texts | some.integers(), max_size=3),
    tokens=some.integers(),
    line=texts,
    words=texts,
)
sections = some.builds(
    Section,
    part=some.sampled_from(Part),
    items=some.lists(items, max_size=3).map(tuple),
    tokens=some.integers(),
)


@given(some.lists(sections, max_size=3).map(tuple), texts, some.booleans())
def test_any_context_comes_back_as_it_was(
    sections: tuple[Section, ...], text: str, as_items: bool
) -> None:
    shown = tuple(
        Shown(part=each.part, id=item.id, tokens=item.tokens, scope=item.scope, why=item.why)
        for each in sections
        for item in each.items
    )
    plain = full_context()
    receipt = replace(plain.receipt, shown=shown) if as_items else plain.receipt
    context = replace(plain, sections=sections, text=text, receipt=receipt)

    again = bytes_context(context_bytes(context))

    assert again == context
    assert context_bytes(again) == context_bytes(context)
    assert [item.line for each in again.sections for item in each.items] == [
        item.line for each in sections for item in each.items
    ]


@pytest.mark.parametrize("of", [lambda context: context, lambda context: context.receipt])
def test_the_full_one_has_something_in_every_field(of: Callable[[Context], Any]) -> None:
    """So that a field that is forgotten in its bytes is missed above."""
    told = of(full_context())
    assert [each.name for each in fields(told) if not getattr(told, each.name)] == []


@pytest.mark.parametrize("what", [{"chat": ({"at": datetime.now(UTC)},)}, {"text": "\ud800"}])
def test_what_has_no_bytes_is_told(what: dict[str, Any]) -> None:
    with pytest.raises(Unspelt):
        context_bytes(replace(full_context(), **what))


def packed(told: Any) -> bytes:
    return zlib.compress(json.dumps(told).encode())


SPELT = context_bytes(full_context())


def test_no_beginning_of_a_context_is_one() -> None:
    for end in range(len(SPELT)):
        with pytest.raises(Unspelt):
            bytes_context(SPELT[:end])


@pytest.mark.parametrize(
    "spelt",
    [
        b"",
        b"{",
        SPELT + b"more",
        packed(None),
        packed([]),
        packed([[], [], "", 0, [], None]),
        packed({"sections": []}),
        zlib.compress(b"\xff"),
        zlib.compress(b"[" * 100_000),
        zlib.compress(b" " * (LONGEST + 1)),  # a hundred thousand bytes that become many
    ],
)
def test_garbage_is_told(spelt: bytes) -> None:
    with pytest.raises(Unspelt):
        bytes_context(spelt)


def places(told: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to everything in it."""
    named = told.items() if isinstance(told, dict) else enumerate(told)
    for key, value in named:
        yield (*path, key)
        if isinstance(value, list | dict):
            yield from places(value, (*path, key))


def spoilt(told: Any, path: tuple[Any, ...], by: Any) -> Any:
    again = json.loads(json.dumps(told))
    inner = again
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = by
    return again


@pytest.mark.parametrize("by", [{"a": {}}, [[]], True])
def test_another_type_anywhere_in_it_is_told(by: Any) -> None:
    told = json.loads(unpacked(SPELT))
    receipt, chat, compaction = 1, 4, 5
    free = {(receipt, 12), (compaction, 0)}  # cached, fits: whatever is there, it is yes or no
    every = [path for path in places(told) if path not in free and path[0] != chat]
    assert len(every) > 60

    for path in every:
        with pytest.raises(Unspelt):
            bytes_context(packed(spoilt(told, path, by)))


def test_it_is_small() -> None:
    context = full_context("a sentence that somebody said in a room " * 50)

    assert len(context_bytes(context)) < len(context.text) / 2
    assert isinstance(bytes_context(context_bytes(context)), Context)
