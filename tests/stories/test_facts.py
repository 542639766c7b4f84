"""Exact values by key, and the log of what was observed."""

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

from nexus import Context, NotFound
from nexus.core.canonical import canonical_json
from nexus.core.part import Part
from nexus.core.records import Tier


@pytest.mark.requirement("A7")
@pytest.mark.parametrize("scope", ["user:alice", "profile:bob", "project", "room", "global"])
def test_a_value_is_kept_by_key_in_any_scope(team: Team, scope: str) -> None:
    value = {"expiry": "30m", "retries": [1, 2.5, None, True], "nested": {"a": ""}}

    receipt = team.room.set_fact(scope, "preferred_jwt_expiry", value)

    assert team.room.fact(scope, "preferred_jwt_expiry") == value
    assert receipt.scope == team.room.scope(scope)
    (memory,) = team.room.facts(str(receipt.scope), "preferred_jwt_expiry")
    assert memory.tier is Tier.LONG
    assert memory.fact.exact


@pytest.mark.requirement("A7")
def test_values_in_two_scopes_do_not_meet(team: Team) -> None:
    team.alices.set_fact("user", "theme", "dark")
    team.bobs.set_fact("user", "theme", "light")
    team.alices.set_fact("dm", "theme", "secret")

    assert team.alices.fact("user", "theme") == "dark"
    assert team.room.fact("user:bob", "theme") == "light"
    assert team.alices.fact("dm", "theme") == "secret"
    with pytest.raises(NotFound):
        team.bobs.fact("user:alice", "theme")
    with pytest.raises(NotFound):
        team.room.fact("room", "theme")
    assert team.room.fact("room", "theme", None) is None


@pytest.mark.requirement("A7", "B4")
def test_earlier_values_stay_in_the_history(team: Team) -> None:
    for expiry in ("15m", "30m", "1h"):
        team.room.set_fact("user:alice", "expiry", expiry)
        team.clock.advance(days=1)
    team.room.set_fact("user:alice", "expiry", "5m", at=MONDAY - timedelta(days=300))

    assert team.room.fact("user:alice", "expiry") == "1h"
    history = [memory.fact.value for memory in team.room.facts("user:alice", "expiry")]
    assert history == ["1h", "30m", "15m", "5m"]


def test_a_value_set_twice_at_one_instant_is_the_later_one(team: Team) -> None:
    for number in range(5):
        team.room.set_fact("room", "count", number)

    assert team.room.fact("room", "count") == 4


@pytest.mark.requirement("A7")
def test_an_observation_is_not_taken_for_an_exact_value(team: Team) -> None:
    team.room.set_fact("room", "COUNT", 1)
    team.room.add_fact("room:design", "COUNT", value="about a dozen")

    assert team.room.fact("room", "COUNT") == 1
    assert len(team.room.facts("room:design", "COUNT")) == 2
    assert len(team.room.facts("room:design", "COUNT", exact=False)) == 1


@pytest.mark.requirement("A7")
@hypothesis_settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=json_values)
def test_any_json_survives_byte_for_byte(team: Team, value: Any) -> None:
    team.room.set_fact("room", "key", value)

    assert canonical_json(team.room.fact("room", "key")) == canonical_json(value)


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
def test_a_value_is_the_one_that_was_set(team: Team, value: Any) -> None:
    team.room.set_fact("room", "key", value)
    team.workspace.flush()
    team.workspace.rebuild()

    kept = team.room.fact("room", "key")

    assert (kept, type(kept)) == (value, type(value))


@pytest.mark.requirement("B3", "B4", "B8")
def test_observations_are_appended_and_never_overwritten(team: Team) -> None:
    """Seed 001's Tyler: both jobs stay, each as it was told."""
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
    assert room.recall("where does Tyler work?", kinds=["fact"])[0].memory.fact.subject == "Tyler"


@pytest.mark.requirement("B15")
def test_a_fact_knows_who_said_it_and_when(team: Team) -> None:
    receipt = team.alices.add_fact("Alice", "LIKES", "tea", key="tea")

    (memory,) = team.alices.facts("Alice")
    (source,) = team.alices.sources(memory.id)

    assert source.id == receipt.event_id
    assert (source.speaker, source.role, source.key) == ("alice", "user", "tea")
    assert memory.speaker == "alice"
    (hit,) = [hit for hit in team.alices.recall("likes tea") if hit.memory.id == memory.id]
    assert hit.event_keys == ("tea",)


def test_ones_own_word_holds_against_what_another_says_at_the_same_time(team: Team) -> None:
    team.room.observe("bob", "Alice works at Initech.")
    team.room.observe("alice", "I work at Acme.")
    team.room.observe("bob", "Alice works at Globex.")
    team.room.observe("bob", "Alice doesn't work at Acme.")

    assert team.room.interpret("alice", "WORKS_AT").now.fact.object == "Acme"
    assert [entry.text for entry in team.room.profile("alice").about] == ["Alice works at Acme."]

    team.clock.now += timedelta(days=2)  # things change, and others may know first
    team.room.observe("cleo", "Alice works at Globex.")
    assert team.room.interpret("alice", "WORKS_AT").now.fact.object == "Globex"


@pytest.mark.requirement("B14")
@pytest.mark.parametrize("times", [30, 230])
def test_a_key_that_is_set_often_takes_one_place(team: Team, times: int) -> None:
    team.room.set_fact("project", "jwt_expiry", {"minutes": 30})
    team.clock.advance(minutes=1)
    then = team.clock()
    for number in range(times):
        team.clock.advance(seconds=1)
        team.room.set_fact("project", "counter", number)

    def shown(context: Context) -> list[str]:
        return [item.text for item in context.section(Part.FACTS)]

    expiry = 'project:apollo jwt_expiry = {"minutes":30}'
    last = f"project:apollo counter = {times - 1}"
    assert shown(team.room.compose("Hello")) == [last, expiry]
    assert shown(team.room.compose("Hello", as_of=then)) == [expiry]
    chat = [{"role": "user", "content": f"Remark {n} about the train."} for n in range(400)]
    kept = {fact.key: fact.value for fact in team.room.compact(chat, window=4000).facts}
    assert kept == {"jwt_expiry": {"minutes": 30}, "counter": times - 1}


def test_an_observation_under_the_same_key_does_not_hide_a_value(team: Team) -> None:
    team.room.set_fact("project", "COLOR", "red")
    team.clock.advance(minutes=1)
    team.room.add_fact("project:apollo", "COLOR", "blue", scope="project")

    (shown, *_) = team.room.compose("Hello").section(Part.FACTS)

    assert shown.text == 'project:apollo COLOR = "red"'


@pytest.mark.parametrize(
    ("value", "said"), [(-5, "5"), ("AbC", '"abc"'), (0.5, "0 5"), ("a-b", '"a b"')]
)
def test_a_value_is_shown_although_a_message_speaks_of_another_one(
    team: Team, value: Any, said: str
) -> None:
    team.room.set_fact("project", "offset_minutes", value)
    team.room.observe("alice", f"Was project:apollo offset_minutes = {said} or something else?")

    (shown,) = team.room.compose("What is the offset?").section(Part.FACTS)

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
def test_a_value_is_read_back_from_a_context_byte_for_byte(team: Team, value: Any) -> None:
    team.room.set_fact("project", "template", value)

    context = team.room.compose("Hello")

    (line,) = (line for line in context.text.split("\n") if "template" in line)
    assert json.loads(line.partition(" = ")[2]) == value
    assert "</nexus-memory>y" not in context.text
