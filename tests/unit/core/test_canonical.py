"""One spelling for everything, and a clear answer to what has none."""

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

from nexus.core.canonical import (
    DEEPEST,
    LONGEST_TEXT,
    canonical_json,
    clean_json,
    clean_text,
    clean_time,
    text_time,
    time_text,
)
from nexus.core.errors import InvalidInput


@given(json_values)
def test_json_comes_back_unchanged_and_spelt_one_way(value) -> None:
    spelt = canonical_json(value)

    assert json.loads(spelt) == value
    assert canonical_json(json.loads(spelt)) == spelt


def test_the_order_of_keys_does_not_matter() -> None:
    assert canonical_json({"b": 1, "a": [1, "é"]}) == canonical_json({"a": [1, "é"], "b": 1})
    assert canonical_json({"b": 1, "a": "é"}) == '{"a":"é","b":1}'


@given(json_values)
def test_clean_json_keeps_every_value_and_its_type(value) -> None:
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
def test_what_json_can_say_is_kept(given, kept) -> None:
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
    "deep": nested(DEEPEST + 1),
    "very deep": nested(10_000),
    "cycle": CYCLE,
    "nul": "\0",
    "nul in key": {"a\0": 1},
    "surrogate": "\ud800",
    "surrogate in key": {"\udfff": 1},
    "surrogate inside": ["a", ["\ud83d"]],
}


@pytest.mark.parametrize("value", UNKEEPABLE.values(), ids=UNKEEPABLE)
def test_what_json_or_a_store_cannot_keep_is_refused(value) -> None:
    with pytest.raises(InvalidInput):
        clean_json(value)


def test_the_deepest_allowed_nesting_is_kept() -> None:
    assert clean_json(nested(DEEPEST)) == nested(DEEPEST)


@given(texts)
def test_text_is_kept_as_it_is(text: str) -> None:
    assert clean_text(text) == text


def test_nul_becomes_visible() -> None:
    assert clean_text("a\0b") == "a␀b"


@pytest.mark.parametrize("text", ["a\ud800", "\udc00", None, 5, b"text", ["text"]], ids=repr)
def test_text_that_is_none_is_refused(text) -> None:
    with pytest.raises(InvalidInput):
        clean_text(text)


def test_the_position_of_half_a_character_is_named() -> None:
    with pytest.raises(InvalidInput, match="position 2"):
        clean_text("ab\ud800")


def test_text_that_is_too_long_is_refused_before_it_is_looked_at() -> None:
    assert len(clean_text("x" * LONGEST_TEXT)) == LONGEST_TEXT
    with pytest.raises(InvalidInput, match="split it"):
        clean_text("x" * (LONGEST_TEXT + 1))


zones = some.sampled_from([UTC, timezone(timedelta(hours=14)), timezone(-timedelta(hours=12))])
times = some.datetimes(
    min_value=datetime(1, 1, 3),  # noqa: DTZ001  # Hypothesis adds the zones
    max_value=datetime(9999, 12, 29),  # noqa: DTZ001
    timezones=zones,
)


@given(times)
def test_a_time_comes_back_as_the_same_instant(at: datetime) -> None:
    clean = clean_time(at)

    assert clean == at
    assert clean.tzinfo is UTC
    assert text_time(time_text(clean)) == at


@given(times, times)
def test_times_sort_as_text(one: datetime, other: datetime) -> None:
    assert (time_text(one) < time_text(other)) == (one < other)


def test_a_time_without_a_zone_is_utc() -> None:
    naive = datetime(2026, 3, 2, 9)  # noqa: DTZ001  # on purpose

    assert clean_time(naive) == datetime(2026, 3, 2, 9, tzinfo=UTC)


class Nowhere(tzinfo):
    """A zone that does not know its offset: such a time is naive, says Python."""

    def utcoffset(self, dt: datetime | None) -> timedelta | None:
        return None


def test_a_zone_without_an_offset_is_no_zone() -> None:
    assert clean_time(datetime(2026, 3, 2, 9, tzinfo=Nowhere())) == datetime(
        2026, 3, 2, 9, tzinfo=UTC
    )


@pytest.mark.parametrize(
    "at",
    [
        datetime.min,  # noqa: DTZ901  # without a zone, on purpose
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
def test_a_time_that_is_none_is_refused(at) -> None:
    with pytest.raises(InvalidInput):
        clean_time(at)
