"""Invalid input of read calls: questions, filters, limits and ids."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.bad_input.nasty import NOT_A_TIME, NOT_TEXT, TEXTS
from tests.conftest import Open

from nexusmem import InvalidInput, NexusError, NotFound, Place, Workspace
from nexusmem.core.filters import FIELDS, Op


def table(cases: dict[str, Any], name: str = "value") -> pytest.MarkDecorator:
    return pytest.mark.parametrize(name, cases.values(), ids=cases)


QUESTIONS = {
    **TEXTS,
    "nothing": "",
    "blank": " \n ",
    "nul": "a\0b",
    "many words": "word " * 10_000,
    "many different words": " ".join(f"w{n}" for n in range(5_000)),
    "quotes": '"' * 500,
    "near": "NEAR(NEAR(",
    "star": "*",
    "column": "content:*",
    "minus": "-postgresql",
    "not": "NOT postgresql",
    "huge": "q" * 1_000_000,
    "combining": "e" + "\u0301" * 100_000,
}


@table(QUESTIONS)
def test_any_text_is_a_valid_question(room: Place, value: str) -> None:
    found = room.recall(value)

    assert len(found) <= found.total
    assert not found.degraded


@pytest.mark.parametrize(
    "question",
    [
        "-postgresql",
        "NOT postgresql",
        'postgresql"',
        "postgresql*",
        "text:postgresql",
        "(postgresql",
    ],
)
def test_search_operators_are_plain_text(room: Place, question: str) -> None:
    assert room.recall(question)[0].event_keys == ("first",)


@pytest.mark.parametrize(
    "question", ["postgres%", "%", "_ostgresql", "post*", "[p]ostgresql", ".*"]
)
def test_wildcards_are_plain_text(room: Place, question: str) -> None:
    assert all("keyword" not in hit.reasons for hit in room.recall(question))


@table(NOT_TEXT)
def test_question_must_be_a_string(room: Place, unharmed, value: Any) -> None:
    with unharmed():
        room.recall(value)


NUMBERS = {
    "limit 0": {"limit": 0},
    "limit -1": {"limit": -1},
    "limit huge": {"limit": 10**9},
    "limit 2**70": {"limit": 2**70},
    "limit text": {"limit": "10"},
    "limit float": {"limit": 10.0},
    "limit nan": {"limit": float("nan")},
    "limit true": {"limit": True},
    "limit list": {"limit": [1]},
    "cap -1": {"max_per_conversation": -1},
    "cap text": {"max_per_conversation": "3"},
    "cap true": {"max_per_conversation": True},
    "threshold nan": {"threshold": float("nan")},
    "threshold infinity": {"threshold": float("inf")},
    "threshold -0.1": {"threshold": -0.1},
    "threshold 1.1": {"threshold": 1.1},
    "threshold text": {"threshold": "0.5"},
    "threshold true": {"threshold": True},
    "kind unknown": {"kind": "facts"},
    "kind unknown in a list": {"kind": ["facts"]},
    "kind number": {"kind": 5},
    "kind list": {"kind": [["fact"]]},
    **{f"since {name}": {"since": value} for name, value in NOT_A_TIME.items()},
    **{f"until {name}": {"until": value} for name, value in NOT_A_TIME.items()},
}


@table(NUMBERS)
def test_invalid_option_is_refused(room: Place, unharmed, value: dict[str, Any]) -> None:
    with unharmed():
        room.recall("postgresql", **value)


LISTS = {
    name: value
    for name, value in NUMBERS.items()
    if name.startswith(("limit", "since", "until")) and "huge" not in name
}


@table(LISTS)
def test_invalid_period_is_refused(room: Place, unharmed, value: dict[str, Any]) -> None:
    with unharmed():
        room.recent(**value)


@pytest.mark.parametrize("limit", [0, -1, "5", 1.5, True], ids=repr)
def test_invalid_fact_limit_is_refused(room: Place, unharmed, limit: Any) -> None:
    with unharmed():
        room.facts(limit=limit)


@table({name: value for name, value in NOT_TEXT.items() if name != "surrogate"})
def test_id_must_be_a_string(room: Place, unharmed, value: Any) -> None:
    with unharmed():
        room.get(value)
    with unharmed():
        room.source_events(value)


@pytest.mark.parametrize(
    "id", ["", "*", "%", "' OR '1'='1", "\ud800", "x" * 10_000, "\0"], ids=lambda it: f"{it!a:.20}"
)
def test_unknown_id_is_not_found(room: Place, unharmed, id: str) -> None:
    with unharmed():
        room.get(id)


# Filters


WIDENING = {
    "workspace": {"workspace": "other"},
    "workspace_id": {"workspace_id": {"ne": "acme"}},
    "user_id": {"user_id": "bob"},
    "run_id": {"run_id": "dm:bob:scribe"},
    "visibility": {"visibility": "private"},
    "label": {"label": []},
    "$or": {"$or": [{"role": "user"}, {"1": 1}]},
    "or": {"or": []},
    "sql field": {"role' OR '1'='1": "x"},
    "sql operator": {"role": {"eq' OR '1'='1": "x"}},
    "grant": {"grant": {"everything": True}},
    "dunder": {"__class__": "x"},
}


@table(WIDENING)
def test_invalid_filter_is_refused(room: Place, unharmed, value: Any) -> None:
    with unharmed():
        room.recall("postgresql", where=value)
    with unharmed():
        room.recent(where=value)


EVERYTHING = {
    "another scope": {"scope": "dm:bob:scribe"},
    "not here": {"NOT": {"scope": "room:design"}},
    "either": {"OR": [{"scope": {"ne": "x"}}, {"NOT": {"text": {"contains": "\uffff"}}}]},
    "nothing is in nothing": {"NOT": {"id": {"in": []}}},
    "all empty": {"AND": []},
    "none": None,
    "empty": {},
}


@pytest.mark.requirement("A12")
@table(EVERYTHING)
def test_filter_only_narrows(acme: Workspace, value: Any) -> None:
    dm = acme.dm("carol", agent="scribe")  # has no access to the room

    assert list(dm.recall("postgresql mysql", where=value)) == []
    assert dm.recent(where=value) == []


@table(TEXTS)
def test_filter_value_is_only_compared(own_room: Place, value: str) -> None:
    own_room.observe("alice", "Marked message.", metadata={"mark": value})
    own_room.observe("alice", "Other message.", metadata={"mark": value + "x", "more": 1})

    found = own_room.recall("message", where={"metadata.mark": value})
    inside = own_room.recall("message", where={"metadata.mark": {"contains": value}})

    assert [hit.text for hit in found] == ["Marked message."]
    assert {hit.text for hit in inside} == {"Marked message.", "Other message."}


@table(TEXTS)
def test_filter_path_is_only_a_name(own_room: Place, value: str) -> None:
    own_room.observe("alice", "Marked message.", metadata={value: "yes"})
    own_room.observe("alice", "Other message.", metadata={"other": "yes"})

    found = own_room.recall("message", where={f"metadata.{value}": "yes"})

    assert [hit.text for hit in found] == ["Marked message."]


VALUES: list[Any] = [None, True, 0, 2**70, 0.5, "", "x", [], ["x"], {"eq": []}, {"in": [None]}]


@pytest.mark.parametrize("field", [*FIELDS, "metadata.a", "metadata.a.b.c"])
def test_any_field_and_value_is_answered_or_refused(room: Place, field: str) -> None:
    for value in VALUES:
        for op in Op:
            where = {field: {op.value: value}}
            try:
                every = room.recent(where=where)
                rest = room.recent(where={"NOT": where})
            except NexusError:
                continue
            assert len(every) + len(rest) == 1


@pytest.mark.parametrize("op", [*Op])
def test_every_operator_narrows_a_search(room: Place, op: Op) -> None:
    for value in ("postgresql", 0.5, None, True):
        with suppress(NexusError):
            assert len(room.recall("postgresql", where={"metadata.a": {op.value: value}})) <= 2


def test_filter_times_are_compared_as_instants(room: Place) -> None:
    now = datetime.now(UTC).isoformat()

    assert room.recall("postgresql", where={"at": {"lte": now}})
    assert not room.recall("postgresql", where={"at": {"gt": "9999-12-30"}})


LOOKING_UP: dict[str, Callable[[Place, Any], object]] = {
    "fact": lambda room, value: room.get_value("user:alice", value),
    "facts of": lambda room, value: room.facts(value),
    "facts with": lambda room, value: room.facts("Tyler", value),
    "facts about": lambda room, value: room.facts(object=value),
    "interpret": lambda room, value: room.fact_timeline(value, "WORKS_AT"),
    "timelines": lambda room, value: room.fact_timelines(value),
    "interpret with": lambda room, value: room.fact_timeline("Tyler", value),
    "explain": lambda room, value: room.explain(value),
    "drop_note": lambda room, value: room.delete_note(value),
    "progress": lambda room, value: room.progress(value),
}
FINDS_ALL = {"facts of", "facts with", "facts about"}  # with None


@pytest.mark.requirement("X10")
@table({**NOT_TEXT, "huge number": 2**70})
@pytest.mark.parametrize("door", LOOKING_UP)
def test_lookup_of_non_text_is_refused(room: Place, door: str, value: Any) -> None:
    if value is None and door in FINDS_ALL:
        return
    with pytest.raises(InvalidInput):
        LOOKING_UP[door](room, value)


@pytest.mark.requirement("X10")
@pytest.mark.parametrize("door", LOOKING_UP)
def test_nul_finds_nothing_in_any_store(url: str, open_nexus: Open, door: str) -> None:
    room = open_nexus(url).workspace("acme").room("design", participants=["alice"])
    room.set_value("user:alice", "key", "value")
    room.flush()

    try:
        found = LOOKING_UP[door](room, "ke\0y")
    except (NotFound, InvalidInput):
        return
    assert not getattr(found, "observations", found)
