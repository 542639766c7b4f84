"""What is said again and again: one line says it, with how often, and nothing is gone."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.stories.conftest import Team

from nexus import Place
from nexus.core.part import Part
from nexus.maintain.consolidate import near_duplicates

QUESTION = "Where does alice work, and what did we decide?"


def consolidate(team: Team) -> None:
    team.workspace.flush()
    store, now = team.workspace._parts.store, team.clock.now
    step = near_duplicates(store, team.workspace.id, now=now)
    while step.cursor is not None:
        step = near_duplicates(store, team.workspace.id, now=now, cursor=step.cursor)


def say_again_and_again(room: Place) -> None:
    for speaker, text in [
        ("alice", "I work at Acme."),
        ("bob", "Alice works at Acme."),
        ("alice", "Really, I work at Acme."),
        ("alice", "We decided to use Redis for the cache."),
        ("bob", "We agreed to use Redis for the cache."),
        ("alice", "We decided to use Postgres for billing."),
    ]:
        room.observe(speaker, text)


def lines(place: Place, part: Part) -> list[str]:
    shown = [item.line for item in place.compose(QUESTION, window=1).section(part)]
    return [line for line in shown if "Acme" in line or "Redis" in line]


@pytest.mark.requirement("D11")
def test_a_context_says_it_once_and_how_often_it_was_said(team: Team) -> None:
    say_again_and_again(team.room)
    team.clock.now += timedelta(days=2)  # nothing of it is in the window any more
    before = lines(team.room, Part.LANDMARKS)
    hits = [hit.memory.id for hit in team.room.recall(QUESTION)]
    facts = [fact.id for fact in team.room.facts()]

    consolidate(team)

    (decision,) = lines(team.room, Part.LANDMARKS)
    assert len(before) == 2
    assert "| said 2 times] bob: Apollo agreed to use Redis" in decision
    known = [*lines(team.room, Part.PROFILE), *lines(team.room, Part.FACTS)]
    assert len(known) == 1
    assert "said 3 times" in known[0]
    (entry,) = [each for each in team.room.profile("alice").about if "Acme" in each.text]
    assert entry.said == 3
    assert [hit.memory.id for hit in team.room.recall(QUESTION)] == hits
    assert [fact.id for fact in team.room.facts()] == facts


def test_as_of_a_time_it_had_been_said_as_often_as_by_then(team: Team) -> None:
    say_again_and_again(team.room)
    team.clock.now += timedelta(days=2)
    then = team.clock.now
    team.clock.now += timedelta(days=2)
    team.room.observe("bob", "As you know, Alice works at Acme.")
    team.clock.now += timedelta(days=2)
    consolidate(team)

    assert "said 4 times" in team.room.compose(QUESTION, window=1).text
    assert "said 4 times" not in team.room.compose(QUESTION, window=1, as_of=then).text


def test_what_one_of_them_said_goes_and_is_not_counted(team: Team) -> None:
    say_again_and_again(team.room)
    team.clock.now += timedelta(days=2)
    consolidate(team)

    team.workspace.forget(user="bob")

    assert "times]" not in "".join(lines(team.room, Part.LANDMARKS))
    (entry,) = [each for each in team.room.profile("alice").about if "Acme" in each.text]
    assert entry.said == 2


def test_what_is_said_in_a_dm_counts_nowhere_else(team: Team) -> None:
    say_again_and_again(team.room)
    team.alices.observe("alice", "Between us, I work at Acme.")
    team.alices.observe("alice", "It is true, I work at Acme.")
    team.clock.now += timedelta(days=2)
    consolidate(team)

    (entry,) = [each for each in team.room.profile("alice").about if "Acme" in each.text]
    assert entry.said == 3
