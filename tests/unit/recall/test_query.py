"""A question, checked once."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from tests.unit.making import NOON, memory

from nexus.core.errors import InvalidInput
from nexus.core.filters import matches
from nexus.core.records import MemoryKind
from nexus.recall.query import LONGEST_QUESTION, MOST_HITS, Query, Search, make_query


def query(question: Any = "which database?", **rest: Any) -> Query:
    return make_query(question, **{"limit": 10, "threshold": 0.0, **rest})


@pytest.mark.requirement("C7")
@pytest.mark.parametrize("limit", [1, 10, MOST_HITS])
def test_a_limit_in_range_is_taken(limit: int) -> None:
    assert query(limit=limit).limit == limit


@pytest.mark.requirement("C7")
@pytest.mark.parametrize("limit", [0, -1, MOST_HITS + 1, 10**9, 2.0, "5", True, None, float("nan")])
def test_any_other_limit_is_refused(limit: Any) -> None:
    with pytest.raises(InvalidInput, match="limit"):
        query(limit=limit)


@pytest.mark.requirement("C7")
@pytest.mark.parametrize("threshold", [0, 0.0, 0.7, 1])
def test_a_threshold_in_range_is_taken(threshold: float) -> None:
    assert query(threshold=threshold).threshold == threshold


@pytest.mark.requirement("C7")
@pytest.mark.parametrize(
    "threshold", [-0.1, 1.1, float("nan"), float("inf"), "0.5", True, None, 1e400]
)
def test_any_other_threshold_is_refused(threshold: Any) -> None:
    with pytest.raises(InvalidInput, match="threshold"):
        query(threshold=threshold)


@pytest.mark.parametrize("question", [None, 5, b"what", ["what"], "a\ud800"], ids=repr)
def test_a_question_is_text(question: Any) -> None:
    with pytest.raises(InvalidInput):
        query(question)


def test_a_long_question_is_cut() -> None:
    assert len(query("why " * 10_000).question) == LONGEST_QUESTION


@pytest.mark.requirement("E4")
def test_a_time_window_includes_its_beginning_and_not_its_end() -> None:
    record = memory()

    assert matches(query(since=NOON).where, record)
    assert not matches(query(until=NOON).where, record)
    assert matches(query(since=NOON, until=datetime(2027, 1, 1)).where, record)  # noqa: DTZ001


@pytest.mark.parametrize(
    "edge", ["2026-01-01", 5, 0, "", datetime.min.replace(tzinfo=UTC), False], ids=repr
)
@pytest.mark.parametrize("name", ["since", "until"])
def test_an_edge_that_is_no_time_is_refused(name: str, edge: Any) -> None:
    with pytest.raises(InvalidInput, match=name):
        query(**{name: edge})


@pytest.mark.parametrize("kinds", [["passage"], [MemoryKind.PASSAGE], ("fact", "passage")])
def test_kinds_narrow(kinds: Any) -> None:
    assert matches(query(kinds=kinds).where, memory())
    assert not matches(query(kinds=["fact"]).where, memory())
    assert not matches(query(kinds=[]).where, memory())


@pytest.mark.parametrize(
    "kinds", ["passage", ["passages"], [None], [["passage"]], 5, {"a": 1}, [5]]
)
def test_unknown_kinds_are_refused(kinds: Any) -> None:
    with pytest.raises(InvalidInput):
        query(kinds=kinds)


def test_everything_that_narrows_is_one_filter() -> None:
    where = query(where={"role": "user"}, kinds=["passage"], since=NOON).where

    assert matches(where, memory(role="user"))
    assert not matches(where, memory(role="tool"))
    assert query().where is None
    assert query(where={}).where is None


@pytest.mark.requirement("C7")
def test_the_seeds_defaults() -> None:
    assert Search().default_limit == 10
    assert 0 <= Search().default_threshold <= 1
    assert query(until=datetime(2026, 1, 1, tzinfo=UTC)).limit == 10


@pytest.mark.parametrize(
    ("asked", "learned"),
    [
        ({}, False),
        ({"where": {"role": "user"}}, False),
        ({"where": {"metadata.kind": "fact"}}, False),
        ({"kinds": ["fact"]}, True),
        ({"where": {"kind": "fact"}}, True),
        ({"where": {"OR": [{"role": "user"}, {"NOT": {"kind": "passage"}}]}}, True),
        ({"where": {"role": "user"}, "kinds": ["passage"]}, True),
    ],
)
def test_what_was_learned_is_searched_when_kinds_are_asked_for(asked, learned) -> None:
    assert make_query("tea", limit=1, threshold=0, **asked).learned is learned
