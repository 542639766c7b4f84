"""Duplicates in a context: one line with a count."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.stories.conftest import Team

from nexusmem import Place
from nexusmem.maintain.jobs.consolidate import consolidate_all

QUESTION = "Where does alice work, and what did we decide?"


def consolidate(team: Team) -> None:
    team.workspace.flush()
    store, now = team.workspace._parts.store, team.clock.now
    step = consolidate_all(store, team.workspace.id, now=now)
    while step.cursor is not None:
        step = consolidate_all(store, team.workspace.id, now=now, cursor=step.cursor)


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


def lines(place: Place, part: str) -> list[str]:
    shown = [item.line for item in place.compose(QUESTION, recent_messages=1).section_items(part)]
    return [line for line in shown if "Acme" in line or "Redis" in line]


@pytest.mark.requirement("D11")
def test_context_shows_duplicates_once_with_a_count(team: Team) -> None:
    say_again_and_again(team.room)
    team.clock.now += timedelta(days=2)  # the window is empty
    before = lines(team.room, "landmarks")
    hits = [hit.memory.id for hit in team.room.recall(QUESTION)]
    facts = [fact.id for fact in team.room.facts()]

    consolidate(team)

    (decision,) = lines(team.room, "landmarks")
    assert len(before) == 2
    assert "[decision, said 2 times] bob: We agreed to use Redis" in decision
    known = [*lines(team.room, "profile"), *lines(team.room, "facts")]
    assert len(known) == 1
    assert "said 3 times" in known[0]
    (entry,) = [each for each in team.room.profile("alice").about if "Acme" in each.text]
    assert entry.mention_count == 3
    assert [hit.memory.id for hit in team.room.recall(QUESTION)] == hits
    assert [fact.id for fact in team.room.facts()] == facts


def test_count_is_correct_as_of_an_earlier_time(team: Team) -> None:
    say_again_and_again(team.room)
    team.clock.now += timedelta(days=2)
    then = team.clock.now
    team.clock.now += timedelta(days=2)
    team.room.observe("bob", "As you know, Alice works at Acme.")
    team.clock.now += timedelta(days=2)
    consolidate(team)

    assert "said 4 times" in team.room.compose(QUESTION, recent_messages=1).text
    assert "said 4 times" not in team.room.compose(QUESTION, recent_messages=1, as_of=then).text


def test_erased_duplicate_is_not_counted(team: Team) -> None:
    say_again_and_again(team.room)
    team.clock.now += timedelta(days=2)
    consolidate(team)

    team.workspace.forget(user="bob")

    assert "times]" not in "".join(lines(team.room, "landmarks"))
    (entry,) = [each for each in team.room.profile("alice").about if "Acme" in each.text]
    assert entry.mention_count == 2


def test_dm_statements_are_counted_only_in_the_dm(team: Team) -> None:
    say_again_and_again(team.room)
    team.alices.observe("alice", "Between us, I work at Acme.")
    team.alices.observe("alice", "It is true, I work at Acme.")
    team.clock.now += timedelta(days=2)
    consolidate(team)

    (entry,) = [each for each in team.room.profile("alice").about if "Acme" in each.text]
    assert entry.mention_count == 3
