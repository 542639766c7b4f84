"""Filter language: all operators, the closed set of names, and InvalidInput as its only error."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from tests.unit.making import DM, NOON, event, json_values, memory

from nexusmem.core.errors import InvalidInput
from nexusmem.core.filters import (
    FIELDS,
    MAX_CONDITIONS,
    And,
    Condition,
    Not,
    Op,
    matches_filter,
    parse_filter,
)
from nexusmem.core.records import MemoryKind, Tier, Trust
from nexusmem.core.scope import Scope

RECORD = memory(
    "Alice prefers tea.",
    speaker="alice",
    role="user",
    thread="t1",
    source="message",
    tags=("drinks", "tea"),
    tier=Tier.LONG,
    confidence=0.8,
    salience=0.25,
    valid_from=NOON,
    metadata={
        "stars": 4,
        "ok": True,
        "one": 1,
        "name": "Tea House",
        "deep": {"a": {"b": "x"}, "list": [1, "two", True]},
        "dotted.key": "d",
        "dotted": {"key": "inner"},
        "nothing": None,
    },
)
FACT = memory(
    kind=MemoryKind.FACT,
    body={"subject": "Tyler", "predicate": "WORKS_AT", "object": "Anthropic"},
)


def passes(where: Any, record: Any = RECORD) -> bool:
    return matches_filter(parse_filter(where), record)


LATER = (NOON + timedelta(hours=1)).isoformat()
EARLIER = (NOON - timedelta(hours=1)).isoformat()


@pytest.mark.requirement("C7")
@pytest.mark.parametrize(
    "where",
    [
        {"role": "user"},
        {"role": {"eq": "user"}},
        {"role": {"ne": "assistant"}},
        {"role": {"in": ["tool", "user"]}},
        {"kind": "passage"},
        {"scope": "room:design"},
        {"thread": "t1"},
        {"source": "message"},
        {"tier": "long"},
        {"trust": 4},
        {"trust": {"gte": 3}},
        {"confidence": {"gt": 0.79, "lt": 0.81}},
        {"confidence": {"gte": 0.8, "lte": 0.8}},
        {"salience": {"lt": 1}},
        {"text": {"contains": "PREFERS"}},
        {"text": {"contains": ""}},
        {"tags": {"contains": "tea"}},
        {"at": NOON},
        {"at": NOON.isoformat()},
        {"at": {"gte": NOON, "lt": LATER}},
        {"at": {"gt": EARLIER}},
        {"at": {"in": [LATER, NOON]}},
        {"valid_from": NOON},
        {"valid_to": None},
        {"metadata.stars": 4},
        {"metadata.stars": 4.0},
        {"metadata.stars": {"gt": 3}},
        {"metadata.name": {"contains": "house"}},
        {"metadata.name": {"gte": "Tea"}},
        {"metadata.deep.a.b": "x"},
        {"metadata.deep": {"eq": {"a": {"b": "x"}, "list": [1, "two", True]}}},
        {"metadata.deep.list": {"contains": "two"}},
        {"metadata.deep.list": {"contains": True}},
        {"metadata.dotted.key": "d"},
        {"metadata.nothing": None},
        {"metadata.missing": None},
        {"metadata.missing": {"ne": "x"}},
        {"NOT": {"role": "assistant"}},
        {"AND": [{"role": "user"}, {"metadata.stars": 4}]},
        {"OR": [{"role": "tool"}, {"metadata.stars": 4}]},
        {"OR": [{"role": "tool"}, {"NOT": {"metadata.stars": {"lt": 3}}}]},
        {"role": "user", "metadata.stars": 4},
        {"AND": []},
        {},
        None,
    ],
    ids=str,
)
def test_matching_record_passes_and_fails_the_negation(where) -> None:
    assert passes(where)
    if where:
        assert not passes({"NOT": where})


@pytest.mark.requirement("C7")
@pytest.mark.parametrize(
    "where",
    [
        {"role": "users"},
        {"role": "USER"},
        {"role": {"in": []}},
        {"metadata.ok": 1},
        {"metadata.one": True},
        {"metadata.deep.list": {"contains": 2}},
        {"metadata.stars": "4"},
        {"metadata.stars": {"gt": "3"}},
        {"metadata.stars": {"gt": None}},
        {"metadata.ok": {"gte": False}},
        {"metadata.nothing": {"lt": 5}},
        {"metadata.deep.a.c": "x"},
        {"metadata.name.length": 3},
        {"metadata.$.stars": 4},
        {"metadata.stars' OR '1'='1": 4},
        {"text": {"contains": "%tea%"}},
        {"text": {"contains": 5}},
        {"text": {"in": ["Alice"]}},
        {"at": {"lt": NOON}},
        {"at": {"gt": NOON}},
        {"OR": []},
        {"role": "user", "metadata.stars": 5},
    ],
    ids=str,
)
def test_record_without_match_is_excluded(where) -> None:
    assert not passes(where)


def test_key_with_a_dot_precedes_a_path() -> None:
    assert passes({"metadata.dotted.key": "d"})
    assert not passes({"metadata.dotted.key": "inner"})


def test_facts_are_filtered_by_subject_and_predicate() -> None:
    assert passes({"subject": "Tyler", "predicate": "WORKS_AT", "object": "Anthropic"}, FACT)
    assert not passes({"subject": "Tyler"}, RECORD)


def test_events_and_memories_use_the_same_filters() -> None:
    said = event("Alice prefers tea.", metadata={"stars": 4}, trust=Trust.EXTERNAL, scope=DM)

    assert passes({"speaker": "alice", "metadata.stars": 4, "scope": str(DM)}, said)
    assert passes({"trust": {"lte": Trust.EXTERNAL}}, said)
    assert not passes({"confidence": {"gte": 0}}, said)


@pytest.mark.parametrize("zone", [UTC, None])
def test_naive_time_counts_as_utc(zone) -> None:
    assert passes({"at": datetime(2026, 3, 2, 12, 0, tzinfo=zone)})


@pytest.mark.requirement("A12")
@pytest.mark.parametrize(
    "name",
    [
        "workspace",
        "workspace_id",
        "user_id",
        "visibility",
        "run_id",
        "label",
        "fact",
        "body",
        "$or",
        "or",
        "__class__",
        "metadata",
        "metadata.",
        "1=1",
        "",
        "role' OR '1'='1",
        5,
        None,
        ("role",),
    ],
    ids=repr,
)
def test_unknown_field_is_rejected(name) -> None:
    with pytest.raises(InvalidInput):
        parse_filter({name: "x"})


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("speeker", "speaker"),
        ("metdata.", "metadata."),
        ("recorded", "recorded_at"),
        ("tag", "tags"),
    ],
)
def test_unknown_field_error_suggests_the_closest(wrong: str, right: str) -> None:
    with pytest.raises(InvalidInput, match=f"did you mean '{right}'"):
        parse_filter({wrong: "x"})


def test_unknown_field_error_lists_all_fields() -> None:
    with pytest.raises(InvalidInput, match=", ".join(FIELDS)):
        parse_filter({"zzz": 1})


@pytest.mark.parametrize("op", ["$gt", "like", "GT", "==", "", 5, None])
def test_unknown_operator_error_lists_all_operators(op) -> None:
    with pytest.raises(InvalidInput, match="eq, ne, in, gt, gte, lt, lte, contains"):
        parse_filter({"role": {op: "x"}})


@pytest.mark.parametrize(
    "where",
    [
        [],
        "role",
        5,
        True,
        {"role": {}},
        {"role": {"in": "user"}},
        {"role": {"in": 5}},
        {"AND": {"role": "user"}},
        {"AND": "role"},
        {"OR": [5]},
        {"OR": None},
        {"NOT": []},
        {"NOT": None},
        {"at": "yesterday"},
        {"at": 5},
        {"at": {"gt": "0000-01-01"}},
        {"at": {"in": [5]}},
        {"at": {"lt": datetime(1, 1, 1, tzinfo=UTC)}},
        {"recorded_at": "2026-13-01"},
        {"metadata.stars": float("nan")},
        {"metadata.stars": {1, 2}},
        {"metadata.stars": object},
        {"metadata.when": NOON},
        {"role": b"user"},
        {"role": {"in": ["us\ud800er"]}},
    ],
    ids=str,
)
def test_malformed_filter_is_rejected(where) -> None:
    with pytest.raises(InvalidInput):
        parse_filter(where)


@pytest.mark.parametrize(
    "wrap", [lambda x: {"NOT": x}, lambda x: {"AND": [x]}, lambda x: {"OR": [x]}]
)
@pytest.mark.parametrize("depth", [40, 300, MAX_CONDITIONS - 2, 5_000])
def test_deep_filter_is_parsed_or_rejected(wrap, depth: int) -> None:
    where: dict[str, Any] = {"role": "user"}
    for _ in range(depth):
        where = wrap(where)

    try:
        read = parse_filter(where)
    except InvalidInput:
        assert depth > 40
    else:
        assert matches_filter(read, RECORD) in (True, False)


@pytest.mark.parametrize(
    "where",
    [
        {f"metadata.k{n}": n for n in range(MAX_CONDITIONS + 1)},
        {"OR": [{"role": "user"}] * MAX_CONDITIONS},
        {"OR": [{"role": "user", "tier": "long"}] * (MAX_CONDITIONS // 2)},
    ],
    ids=["one mapping", "a list", "a list of pairs"],
)
def test_too_large_filter_is_rejected(where) -> None:
    with pytest.raises(InvalidInput, match=str(MAX_CONDITIONS)):
        parse_filter(where)


def test_parsed_filter_is_returned_unchanged() -> None:
    parsed = And((Condition("role", Op.EQ, "user"), Not(Condition("tier", Op.EQ, "short"))))

    assert parse_filter(parsed) is parsed
    assert matches_filter(parsed, RECORD)


anything = some.recursive(
    json_values
    | some.datetimes()
    | some.floats()
    | some.binary(max_size=3)
    | some.sampled_from(["AND", "OR", "NOT", *Op, *FIELDS, "metadata.a"]),
    lambda inner: (
        some.lists(inner, max_size=3)
        | some.dictionaries(
            some.sampled_from(["AND", "OR", "NOT", *FIELDS, "metadata.stars", *Op])
            | some.text(max_size=3),
            inner,
            max_size=3,
        )
    ),
    max_leaves=10,
)


@given(anything)
def test_any_input_is_a_filter_or_invalid(where) -> None:
    try:
        read = parse_filter(where)
    except InvalidInput:
        return
    for record in (RECORD, FACT, event()):
        assert matches_filter(read, record) in (True, False)


conditions = some.tuples(
    some.sampled_from(
        ["role", "metadata.stars", "metadata.deep.a.b", "tags", "confidence", "text"]
    ),
    some.sampled_from([op.value for op in Op if op is not Op.IN]),
    some.sampled_from(["user", 4, 0.8, True, None, "x", "tea"]),
).map(lambda each: {each[0]: {each[1]: each[2]}})


@given(conditions, conditions)
def test_and_or_not_semantics(one, other) -> None:
    assert passes({"NOT": one}) is not passes(one)
    assert passes({"AND": [one, other]}) is (passes(one) and passes(other))
    assert passes({"OR": [one, other]}) is (passes(one) or passes(other))


def test_scope_is_compared_as_complete_text() -> None:
    record = memory(scope=Scope.room("design"))

    assert passes({"scope": "room:design"}, record)
    assert not passes({"scope": "room:desig"}, record)
