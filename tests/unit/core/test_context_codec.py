"""Binary encoding of composed contexts."""

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

from nexusmem.compose.sections import SECTIONS_BY_NAME
from nexusmem.core.records import Trust
from nexusmem.core.records.context import (
    MAX_UNPACKED_BYTES,
    Context,
    ContextItem,
    ContextSection,
    InvalidContextBytes,
    ShownItem,
    decode_context,
    decompress_json,
    encode_context,
)
from nexusmem.testing.suites.window import full_context

texts = some.text(some.characters(exclude_categories=["Cs"]), max_size=30)
numbers = some.floats(allow_nan=False, allow_infinity=False)
times = some.datetimes(
    min_value=datetime(1, 1, 3),  # hypothesis adds the zone  # noqa: DTZ001
    max_value=datetime(9999, 12, 28),  # noqa: DTZ001
    timezones=some.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30))]),
)
items = some.builds(
    ContextItem,
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
    ContextSection,
    part=some.sampled_from(list(SECTIONS_BY_NAME)),
    items=some.lists(items, max_size=3).map(tuple),
    tokens=some.integers(),
)


@given(some.lists(sections, max_size=3).map(tuple), texts, some.booleans())
def test_context_round_trips(
    sections: tuple[ContextSection, ...], text: str, as_items: bool
) -> None:
    shown = tuple(
        ShownItem(part=each.part, id=item.id, tokens=item.tokens, scope=item.scope, why=item.why)
        for each in sections
        for item in each.items
    )
    plain = full_context()
    receipt = replace(plain.receipt, shown=shown) if as_items else plain.receipt
    context = replace(plain, sections=sections, text=text, receipt=receipt)

    again = decode_context(encode_context(context))

    assert again == context
    assert encode_context(again) == encode_context(context)
    assert [item.line for each in again.sections for item in each.items] == [
        item.line for each in sections for item in each.items
    ]


@pytest.mark.parametrize("of", [lambda context: context, lambda context: context.receipt])
def test_full_context_fills_every_field(of: Callable[[Context], Any]) -> None:
    """Otherwise a field missing in the encoding would go unnoticed."""
    told = of(full_context())
    assert [each.name for each in fields(told) if not getattr(told, each.name)] == []


@pytest.mark.parametrize(
    "what", [{"messages_to_send": ({"at": datetime.now(UTC)},)}, {"text": "\ud800"}]
)
def test_context_that_is_not_json_raises(what: dict[str, Any]) -> None:
    with pytest.raises(InvalidContextBytes):
        encode_context(replace(full_context(), **what))


def packed(told: Any) -> bytes:
    return zlib.compress(json.dumps(told).encode())


SPELT = encode_context(full_context())


def test_truncated_bytes_raise() -> None:
    for end in range(len(SPELT)):
        with pytest.raises(InvalidContextBytes):
            decode_context(SPELT[:end])


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
        zlib.compress(b" " * (MAX_UNPACKED_BYTES + 1)),  # a decompression bomb
    ],
)
def test_random_bytes_raise(spelt: bytes) -> None:
    with pytest.raises(InvalidContextBytes):
        decode_context(spelt)


def places(told: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value."""
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
def test_wrong_type_anywhere_raises(by: Any) -> None:
    told = json.loads(decompress_json(SPELT))
    receipt, chat, compaction = 1, 4, 5
    free = {(receipt, 12), (compaction, 0)}  # cached, fits: any value is converted to bool
    every = [path for path in places(told) if path not in free and path[0] != chat]
    assert len(every) > 60

    for path in every:
        with pytest.raises(InvalidContextBytes):
            decode_context(packed(spoilt(told, path, by)))


def test_encoding_is_compact() -> None:
    context = full_context("a sentence that somebody said in a room " * 50)

    assert len(encode_context(context)) < len(context.text) / 2
    assert isinstance(decode_context(encode_context(context)), Context)
