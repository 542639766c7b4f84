"""Exact values: shown literally in every view, and only the newest value of a key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.stories.conftest import Team

from nexusmem import Place
from nexusmem.observe.chat_messages import ExactValue
from nexusmem.recall.views.profile import Profile

KEY = "preferred_jwt_expiry"
OLD = f'user:alice {KEY} = "15m"'
NEW = f'user:alice {KEY} = "30m"'
QUESTION = "What is the preferred JWT expiry?"


@pytest.fixture
def twice(team: Team) -> Team:
    """Set a value on Monday and another one on Tuesday."""
    team.alices.set_value("user", KEY, "15m")
    team.clock.advance(days=1)
    team.alices.set_value("user", KEY, "30m")
    return team


def hits(place: Place) -> str:
    return "\n".join(hit.text for hit in place.recall(QUESTION))


def fact_hits(place: Place) -> str:
    return "\n".join(hit.text for hit in place.recall(QUESTION, kind="fact"))


def context(place: Place) -> str:
    return place.compose(QUESTION).text


def stable_context(place: Place) -> str:
    return place.compose("Good morning!").text


def profile(place: Place) -> str:
    found: Profile = place.profile("alice")
    return "\n".join(entry.text for entry in (*found.about, *found.preferences))


def current_facts(place: Place) -> str:
    return place.dossiers.get("alice").text.partition("## Former facts")[0]


def newest_fact(place: Place) -> str:
    return place.facts("user:alice", KEY)[0].text


def timeline(place: Place) -> str:
    now = place.fact_timeline("user:alice", KEY).now
    return now.text if now else ""


VIEWS: list[Callable[[Place], str]] = [
    hits,
    fact_hits,
    context,
    stable_context,
    profile,
    current_facts,
    newest_fact,
    timeline,
]


@pytest.mark.requirement("A7", "E22")
@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.__name__)
def test_every_view_shows_the_newest_value_literally(
    twice: Team, view: Callable[[Place], str]
) -> None:
    shown = view(twice.alices)

    assert NEW in shown
    assert "15m" not in shown


@pytest.mark.requirement("A7", "A14")
def test_compaction_pins_only_the_newest_value(twice: Team) -> None:
    messages = [{"role": "user", "content": f"Remark {n} about trains."} for n in range(300)]

    done = twice.alices.compact(messages, context_window=3_000)

    assert done.facts == (ExactValue("user:alice", KEY, "30m"),)
    assert "15m" not in done.summary


@pytest.mark.requirement("A7")
def test_past_value_is_in_the_history_and_the_past_of_the_dossier(twice: Team) -> None:
    place = twice.alices
    newest = place.facts("user:alice", KEY)[0]

    assert [version.text for version in place.history(newest.id)] == [OLD, NEW]
    assert OLD in place.dossiers.get("alice").text.partition("## Former facts")[2]


@pytest.mark.requirement("A7", "B6")
def test_earlier_value_is_found_for_an_earlier_time(twice: Team) -> None:
    place, tuesday = twice.alices, twice.clock.now
    twice.clock.advance(days=1)

    assert [hit.text for hit in place.recall(QUESTION, until=tuesday)] == [OLD]
    assert [hit.text for hit in place.recall(QUESTION)] == [NEW]


@pytest.mark.requirement("A7", "A9")
def test_value_of_another_scope_replaces_nothing(twice: Team) -> None:
    twice.bobs.set_value("user", KEY, "5m")
    twice.alices.set_value("dm", KEY, "1m")

    assert {hit.text.rpartition("=")[2] for hit in twice.alices.recall(QUESTION)} == {
        ' "30m"',
        ' "1m"',
    }
    assert [hit.text for hit in twice.bobs.recall(QUESTION)] == [f'user:bob {KEY} = "5m"']


@pytest.mark.requirement("A7")
@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("two  spaces\nand a line", '"two  spaces\\nand a line"'),
        ({"b": [1, 2.50], "a": None}, '{"a":null,"b":[1,2.5]}'),
        (-5, "-5"),
        ("AbC", '"AbC"'),
    ],
)
def test_value_is_never_reworded(team: Team, value: Any, shown: str) -> None:
    team.alices.set_value("user", "favourite_setting", value)
    line = f"user:alice favourite_setting = {shown}"

    assert line in team.alices.compose("What is the favourite setting?").text
    assert line in team.alices.dossiers.get("alice").text
    (hit,) = team.alices.recall("favourite setting")
    assert hit.text == line
    (entry,) = team.alices.profile("alice").preferences
    assert entry.text == line


@pytest.mark.requirement("A7")
def test_long_value_is_left_out_rather_than_cut(team: Team) -> None:
    value = " ".join(f"step{number}." for number in range(3_000))
    team.alices.set_value("user", "favourite_recipe", value)

    text = team.alices.compose("What is the favourite recipe?", budget=2_000).text
    assert "step1." not in text
    dossier = team.alices.dossiers.get("alice").text
    assert "user:alice favourite_recipe (a value of more than 600 characters)" in dossier


def test_many_former_values_do_not_hide_the_current_one(team: Team) -> None:
    for minute in range(1_000):
        team.alices.set_value("user", "jwt_expiry", f"{minute}m")
    team.alices.flush()

    hits = team.alices.recall("jwt_expiry")

    values = [hit.memory.body["value"] for hit in hits if hit.memory.body.get("exact")]
    assert values == ["999m"]
