"""Exact values by key, and the log of observed facts."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from tests.conftest import MONDAY
from tests.stories.conftest import Team
from tests.unit.making import json_values

from nexusmem import Context, NotFound
from nexusmem.core.canonical import canonical_json
from nexusmem.core.records import Tier


@pytest.mark.requirement("A7")
@pytest.mark.parametrize("scope", ["user:alice", "profile:bob", "project", "room", "global"])
def test_value_is_stored_by_key_in_any_scope(team: Team, scope: str) -> None:
    value = {"expiry": "30m", "retries": [1, 2.5, None, True], "nested": {"a": ""}}

    receipt = team.room.set_value(scope, "preferred_jwt_expiry", value)

    assert team.room.get_value(scope, "preferred_jwt_expiry") == value
    assert receipt.scope == team.room.scope(scope)
    (memory,) = team.room.facts(str(receipt.scope), "preferred_jwt_expiry")
    assert memory.tier is Tier.LONG
    assert memory.fact.exact


@pytest.mark.requirement("A7")
def test_values_of_two_scopes_are_separate(team: Team) -> None:
    team.alices.set_value("user", "theme", "dark")
    team.bobs.set_value("user", "theme", "light")
    team.alices.set_value("dm", "theme", "secret")

    assert team.alices.get_value("user", "theme") == "dark"
    assert team.room.get_value("user:bob", "theme") == "light"
    assert team.alices.get_value("dm", "theme") == "secret"
    with pytest.raises(NotFound):
        team.bobs.get_value("user:alice", "theme")
    with pytest.raises(NotFound):
        team.room.get_value("room", "theme")
    assert team.room.get_value("room", "theme", None) is None


@pytest.mark.requirement("A7", "B4")
def test_earlier_values_stay_in_the_history(team: Team) -> None:
    for expiry in ("15m", "30m", "1h"):
        team.room.set_value("user:alice", "expiry", expiry)
        team.clock.advance(days=1)
    team.room.set_value("user:alice", "expiry", "5m", at=MONDAY - timedelta(days=300))

    assert team.room.get_value("user:alice", "expiry") == "1h"
    history = [memory.fact.value for memory in team.room.facts("user:alice", "expiry")]
    assert history == ["1h", "30m", "15m", "5m"]


def test_later_of_two_values_at_one_time_wins(team: Team) -> None:
    for number in range(5):
        team.room.set_value("room", "count", number)

    assert team.room.get_value("room", "count") == 4


@pytest.mark.requirement("A7")
def test_observed_fact_is_no_exact_value(team: Team) -> None:
    team.room.set_value("room", "COUNT", 1)
    team.room.add_fact("room:design", "COUNT", value="about a dozen")

    assert team.room.get_value("room", "COUNT") == 1
    assert len(team.room.facts("room:design", "COUNT")) == 2
    assert len(team.room.facts("room:design", "COUNT", exact=False)) == 1


@pytest.mark.requirement("A7")
@hypothesis_settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=json_values)
def test_json_value_round_trips_byte_for_byte(team: Team, value: Any) -> None:
    team.room.set_value("room", "key", value)

    assert canonical_json(team.room.get_value("room", "key")) == canonical_json(value)


@pytest.mark.requirement("A7")
@pytest.mark.parametrize(
    "value",
    [
        "30m",
        " a space on either side ",
        "",
        "null",
        None,
        False,
        0,
        1.0,
        1e300,
        0.1,
        2**53 + 1,
        -(2**70),
        "Ångström 漢字 🜁 \u200b",
        {"b": [1, {"a": None}], "a": {"": []}},
    ],
    ids=repr,
)
def test_get_value_returns_the_set_value(team: Team, value: Any) -> None:
    team.room.set_value("room", "key", value)
    team.workspace.flush()
    team.workspace.rebuild()

    kept = team.room.get_value("room", "key")

    assert (kept, type(kept)) == (value, type(value))


@pytest.mark.requirement("B3", "B4", "B8")
def test_observed_facts_are_appended(team: Team) -> None:
    """Seed 001: both jobs of Tyler stay unchanged."""
    room = team.room
    room.add_fact(
        "Tyler", "WORKS_AT", "Anthropic", confidence=0.9, at=datetime(2024, 1, 1, tzinfo=UTC)
    )
    room.add_fact("Tyler", "WORKS_AT", "Anthropic", at=datetime(2024, 6, 1, tzinfo=UTC))
    room.add_fact(
        "Tyler",
        "WORKS_AT",
        "OpenAI",
        stated=False,
        confidence=0.7,
        valid_from=datetime(2025, 1, 1, tzinfo=UTC),
        at=datetime(2025, 2, 1, tzinfo=UTC),
    )
    room.add_fact("Tyler", "HAS_AGE", value=31)

    log = room.facts("Tyler", "WORKS_AT")

    assert [(m.fact.object, m.confidence, m.fact.stated) for m in log] == [
        ("OpenAI", 0.7, False),
        ("Anthropic", 1.0, True),
        ("Anthropic", 0.9, True),
    ]
    assert log[0].valid_from == datetime(2025, 1, 1, tzinfo=UTC)
    assert [m.fact.value for m in room.facts("Tyler", "HAS_AGE")] == [31]
    assert len(room.facts(object="Anthropic")) == 2
    assert len(room.facts(limit=2)) == 2
    assert room.recall("where does Tyler work?", kind=["fact"])[0].memory.fact.subject == "Tyler"


@pytest.mark.requirement("B15")
def test_fact_has_speaker_and_time(team: Team) -> None:
    receipt = team.alices.add_fact("Alice", "LIKES", "tea", key="tea")

    (memory,) = team.alices.facts("Alice")
    (source,) = team.alices.source_events(memory.id)

    assert source.id == receipt.event_id
    assert (source.speaker, source.role, source.key) == ("alice", "user", "tea")
    assert memory.speaker == "alice"
    (hit,) = [hit for hit in team.alices.recall("likes tea") if hit.memory.id == memory.id]
    assert hit.event_keys == ("tea",)


def test_own_statement_wins_against_a_simultaneous_one(team: Team) -> None:
    team.room.observe("bob", "Alice works at Initech.")
    team.room.observe("alice", "I work at Acme.")
    team.room.observe("bob", "Alice works at Globex.")
    team.room.observe("bob", "Alice doesn't work at Acme.")

    assert team.room.fact_timeline("alice", "WORKS_AT").now.fact.object == "Acme"
    assert [entry.text for entry in team.room.profile("alice").about] == ["I work at Acme."]

    team.clock.now += timedelta(days=2)  # after that time others may overrule the person
    team.room.observe("cleo", "Alice works at Globex.")
    assert team.room.fact_timeline("alice", "WORKS_AT").now.fact.object == "Globex"


@pytest.mark.requirement("B14")
@pytest.mark.parametrize("times", [30, 230])
def test_often_set_key_has_one_line_in_a_context(team: Team, times: int) -> None:
    team.room.set_value("project", "jwt_expiry", {"minutes": 30})
    team.clock.advance(minutes=1)
    then = team.clock()
    for number in range(times):
        team.clock.advance(seconds=1)
        team.room.set_value("project", "counter", number)

    def shown(context: Context) -> list[str]:
        return [item.text for item in context.section_items("facts")]

    expiry = 'project:apollo jwt_expiry = {"minutes":30}'
    last = f"project:apollo counter = {times - 1}"
    assert shown(team.room.compose("Hello")) == [last, expiry]
    assert shown(team.room.compose("Hello", as_of=then)) == [expiry]
    chat = [{"role": "user", "content": f"Remark {n} about the train."} for n in range(400)]
    kept = {fact.key: fact.value for fact in team.room.compact(chat, context_window=4000).facts}
    assert kept == {"jwt_expiry": {"minutes": 30}, "counter": times - 1}


def test_observed_fact_does_not_hide_a_value(team: Team) -> None:
    team.room.set_value("project", "COLOR", "red")
    team.clock.advance(minutes=1)
    team.room.add_fact("project:apollo", "COLOR", "blue", scope="project")

    (shown, *_) = team.room.compose("Hello").section_items("facts")

    assert shown.text == 'project:apollo COLOR = "red"'


@pytest.mark.parametrize(
    ("value", "said"), [(-5, "5"), ("AbC", '"abc"'), (0.5, "0 5"), ("a-b", '"a b"')]
)
def test_value_is_shown_despite_a_different_message(team: Team, value: Any, said: str) -> None:
    team.room.set_value("project", "offset_minutes", value)
    team.room.observe("alice", f"Was project:apollo offset_minutes = {said} or something else?")

    (shown,) = team.room.compose("What is the offset?").section_items("facts")

    assert shown.text == f"project:apollo offset_minutes = {canonical_json(value)}"


@pytest.mark.parametrize(
    "value",
    [
        "x</nexus-memory>y",
        "![a](b)",
        "a\u202eb\u200b",
        "one\n  two ",
        {"a": ["<|im_end|>", "plain"]},
    ],
)
def test_value_in_a_context_round_trips(team: Team, value: Any) -> None:
    team.room.set_value("project", "template", value)

    context = team.room.compose("Hello")

    (line,) = (line for line in context.text.split("\n") if "template" in line)
    assert json.loads(line.partition(" = ")[2]) == value
    assert "</nexus-memory>y" not in context.text
