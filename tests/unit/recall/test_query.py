"""Validation of queries."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from tests.unit.making import NOON, memory

from nexusmem.core.errors import InvalidInput
from nexusmem.core.filters import matches_filter
from nexusmem.core.records import MemoryKind
from nexusmem.recall.query import MAX_HITS, MAX_QUESTION_CHARS, Query, SearchSettings, make_query


def query(question: Any = "which database?", **rest: Any) -> Query:
    return make_query(question, **{"limit": 10, "threshold": 0.0, **rest})


@pytest.mark.requirement("C7")
@pytest.mark.parametrize("limit", [1, 10, MAX_HITS])
def test_valid_limit_is_accepted(limit: int) -> None:
    assert query(limit=limit).limit == limit


@pytest.mark.requirement("C7")
@pytest.mark.parametrize("limit", [0, -1, MAX_HITS + 1, 10**9, 2.0, "5", True, None, float("nan")])
def test_invalid_limit_is_rejected(limit: Any) -> None:
    with pytest.raises(InvalidInput, match="limit"):
        query(limit=limit)


@pytest.mark.requirement("C7")
@pytest.mark.parametrize("threshold", [0, 0.0, 0.7, 1])
def test_valid_threshold_is_accepted(threshold: float) -> None:
    assert query(threshold=threshold).threshold == threshold


@pytest.mark.requirement("C7")
@pytest.mark.parametrize(
    "threshold", [-0.1, 1.1, float("nan"), float("inf"), "0.5", True, None, 1e400]
)
def test_invalid_threshold_is_rejected(threshold: Any) -> None:
    with pytest.raises(InvalidInput, match="threshold"):
        query(threshold=threshold)


@pytest.mark.parametrize("question", [None, 5, b"what", ["what"], "a\ud800"], ids=repr)
def test_question_must_be_text(question: Any) -> None:
    with pytest.raises(InvalidInput):
        query(question)


def test_long_question_is_truncated() -> None:
    assert len(query("why " * 10_000).question) == MAX_QUESTION_CHARS


@pytest.mark.requirement("E4")
def test_since_is_inclusive_and_until_exclusive() -> None:
    record = memory()

    assert matches_filter(query(since=NOON).where, record)
    assert not matches_filter(query(until=NOON).where, record)
    assert matches_filter(query(since=NOON, until=datetime(2027, 1, 1)).where, record)  # noqa: DTZ001


@pytest.mark.parametrize(
    "edge", ["2026-01-01", 5, 0, "", datetime.min.replace(tzinfo=UTC), False], ids=repr
)
@pytest.mark.parametrize("name", ["since", "until"])
def test_since_and_until_must_be_times(name: str, edge: Any) -> None:
    with pytest.raises(InvalidInput, match=name):
        query(**{name: edge})


@pytest.mark.parametrize("kind", ["passage", MemoryKind.PASSAGE, ["passage"], ("fact", "passage")])
def test_kind_becomes_a_filter(kind: Any) -> None:
    assert matches_filter(query(kind=kind).where, memory())
    assert not matches_filter(query(kind="fact").where, memory())
    assert not matches_filter(query(kind=[]).where, memory())


@pytest.mark.parametrize(
    "kind", ["passages", ["passages"], [None], [["passage"]], 5, {"a": 1}, [5]]
)
def test_unknown_kind_is_rejected(kind: Any) -> None:
    with pytest.raises(InvalidInput):
        query(kind=kind)


def test_all_conditions_are_one_filter() -> None:
    where = query(where={"role": "user"}, kind=["passage"], since=NOON).where

    assert matches_filter(where, memory(role="user"))
    assert not matches_filter(where, memory(role="tool"))
    assert query().where is None
    assert query(where={}).where is None


@pytest.mark.requirement("C7")
def test_default_settings() -> None:
    assert SearchSettings().default_limit == 10
    assert 0 <= SearchSettings().default_threshold <= 1
    assert query(until=datetime(2026, 1, 1, tzinfo=UTC)).limit == 10


@pytest.mark.parametrize(
    ("asked", "learned"),
    [
        ({}, False),
        ({"where": {"role": "user"}}, False),
        ({"where": {"metadata.kind": "fact"}}, False),
        ({"kind": ["fact"]}, True),
        ({"where": {"kind": "fact"}}, True),
        ({"where": {"OR": [{"role": "user"}, {"NOT": {"kind": "passage"}}]}}, True),
        ({"where": {"role": "user"}, "kind": ["passage"]}, True),
    ],
)
def test_filter_by_kind_includes_derived_memories(asked, learned) -> None:
    assert make_query("tea", limit=1, threshold=0, **asked).includes_learned is learned
