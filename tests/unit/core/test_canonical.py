"""Canonical JSON, texts and times, and the rejection of invalid values."""

from __future__ import annotations

import json
from collections import OrderedDict
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from enum import IntEnum
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as some
from tests.unit.making import json_values, texts

from nexusmem.core.canonical import (
    MAX_JSON_DEPTH,
    MAX_TEXT_LENGTH,
    canonical_json,
    clean_json,
    clean_text,
    clean_time,
    format_time,
    parse_time,
)
from nexusmem.core.errors import InvalidInput


@given(json_values)
def test_json_round_trips_in_canonical_form(value) -> None:
    spelt = canonical_json(value)

    assert json.loads(spelt) == value
    assert canonical_json(json.loads(spelt)) == spelt


def test_key_order_does_not_matter() -> None:
    assert canonical_json({"b": 1, "a": [1, "é"]}) == canonical_json({"a": [1, "é"], "b": 1})
    assert canonical_json({"b": 1, "a": "é"}) == '{"a":"é","b":1}'


@given(json_values)
def test_clean_json_preserves_values_and_types(value) -> None:
    cleaned = clean_json(value)

    assert cleaned == value
    assert canonical_json(cleaned) == canonical_json(value)


class Level(IntEnum):
    HIGH = 3


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ((1, 2), [1, 2]),
        (OrderedDict(a=1), {"a": 1}),
        ({"a": MappingProxyType({"b": (1,)})}, {"a": {"b": [1]}}),
        (Level.HIGH, 3),
        (-0.0, -0.0),
        (2**63, 2**63),
        (10**400, 10**400),
        (1e-320, 1e-320),
        ({"__proto__": {"$ref": "#/a'"}}, {"__proto__": {"$ref": "#/a'"}}),
    ],
    ids=lambda value: f"{value!r:.20}",
)
def test_valid_json_is_accepted(given, kept) -> None:
    assert clean_json(given) == kept
    assert canonical_json(clean_json(given)) == canonical_json(kept)


def nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


CYCLE: list[object] = []
CYCLE.append(CYCLE)


UNKEEPABLE = {
    "nan": float("nan"),
    "infinity": float("inf"),
    "minus infinity": -float("inf"),
    "nan inside": {"a": float("nan")},
    "too large a float": 1e400,
    "too many digits": 10**5000,
    "number as key": {1: "a"},
    "none as key": {None: "a"},
    "set": {"a": {1, 2}},
    "bytes": b"bytes",
    "object": object(),
    "time": datetime(2026, 1, 1, tzinfo=UTC),
    "complex": 1j,
    "deep": nested(MAX_JSON_DEPTH + 1),
    "very deep": nested(10_000),
    "cycle": CYCLE,
    "nul": "\0",
    "nul in key": {"a\0": 1},
    "surrogate": "\ud800",
    "surrogate in key": {"\udfff": 1},
    "surrogate inside": ["a", ["\ud83d"]],
}


@pytest.mark.parametrize("value", UNKEEPABLE.values(), ids=UNKEEPABLE)
def test_values_that_cannot_be_stored_are_rejected(value) -> None:
    with pytest.raises(InvalidInput):
        clean_json(value)


def test_maximum_nesting_is_accepted() -> None:
    assert clean_json(nested(MAX_JSON_DEPTH)) == nested(MAX_JSON_DEPTH)


@given(texts)
def test_text_is_unchanged(text: str) -> None:
    assert clean_text(text) == text


def test_nul_becomes_a_visible_symbol() -> None:
    assert clean_text("a\0b") == "a␀b"


@pytest.mark.parametrize("text", ["a\ud800", "\udc00", None, 5, b"text", ["text"]], ids=repr)
def test_non_text_is_rejected(text) -> None:
    with pytest.raises(InvalidInput):
        clean_text(text)


def test_error_names_the_position_of_a_surrogate() -> None:
    with pytest.raises(InvalidInput, match="position 2"):
        clean_text("ab\ud800")


def test_too_long_text_is_rejected_before_scanning() -> None:
    assert len(clean_text("x" * MAX_TEXT_LENGTH)) == MAX_TEXT_LENGTH
    with pytest.raises(InvalidInput, match="split it"):
        clean_text("x" * (MAX_TEXT_LENGTH + 1))


zones = some.sampled_from([UTC, timezone(timedelta(hours=14)), timezone(-timedelta(hours=12))])
times = some.datetimes(
    min_value=datetime(1, 1, 3),  # Hypothesis adds the zones  # noqa: DTZ001
    max_value=datetime(9999, 12, 29),  # noqa: DTZ001
    timezones=zones,
)


@given(times)
def test_time_round_trips_to_the_same_instant(at: datetime) -> None:
    clean = clean_time(at)

    assert clean == at
    assert clean.tzinfo is UTC
    assert parse_time(format_time(clean)) == at


@given(times, times)
def test_text_order_is_time_order(one: datetime, other: datetime) -> None:
    assert (format_time(one) < format_time(other)) == (one < other)


def test_naive_time_counts_as_utc() -> None:
    naive = datetime(2026, 3, 2, 9)  # on purpose  # noqa: DTZ001

    assert clean_time(naive) == datetime(2026, 3, 2, 9, tzinfo=UTC)


class Nowhere(tzinfo):
    """A time zone without an offset; Python treats such a time as naive."""

    def utcoffset(self, dt: datetime | None) -> timedelta | None:
        return None


def test_zone_without_offset_counts_as_utc() -> None:
    assert clean_time(datetime(2026, 3, 2, 9, tzinfo=Nowhere())) == datetime(
        2026, 3, 2, 9, tzinfo=UTC
    )


@pytest.mark.parametrize(
    "at",
    [
        datetime.min,  # without a zone, on purpose  # noqa: DTZ901
        datetime.max,  # noqa: DTZ901
        datetime.min.replace(tzinfo=timezone(timedelta(hours=14))),
        datetime.max.replace(tzinfo=timezone(-timedelta(hours=12))),
        "2026-03-02",
        1_700_000_000,
        datetime(2026, 3, 2, tzinfo=UTC).date(),
        None,
    ],
    ids=repr,
)
def test_invalid_time_is_rejected(at) -> None:
    with pytest.raises(InvalidInput):
        clean_time(at)
