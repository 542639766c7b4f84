"""What is true is read from the log, and depends on when one asks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from nexus import Nexus
from nexus.recall.interpret import Tense, tenses

MARCH = datetime(2026, 3, 1, tzinfo=UTC)
MONTH = timedelta(days=30)


class Months:
    """A clock that moves on when told to."""

    def __init__(self) -> None:
        self.now = MARCH

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture(params=[":memory:", "file"])
def told(request: pytest.FixtureRequest, tmp_path):
    """Tyler worked at Google and moved to Anthropic, and told us both times."""
    clock = Months()
    path = ":memory:" if request.param == ":memory:" else tmp_path / "m.db"
    with Nexus.open(path, clock=clock, background=False) as nexus:
        dm = nexus.workspace("acme").dm("ann")
        dm.add_fact("Tyler", "WORKS_AT", "Google")
        clock.now += MONTH
        dm.add_fact("Tyler", "WORKS_AT", "Google")
        clock.now += MONTH
        dm.add_fact("Tyler", "WORKS_AT", "Anthropic")
        clock.now += MONTH
        yield dm


@pytest.mark.requirement("B5")
def test_the_newest_observation_holds_and_the_others_are_kept(told) -> None:
    tyler = told.interpret("tyler", "works_at")

    assert tyler.now.fact.object == "Anthropic"
    assert tyler.since == MARCH + 2 * MONTH
    assert [memory.fact.object for memory in tyler.before] == ["Google"]
    assert len(tyler.observations) == 3


@pytest.mark.requirement("B5")
def test_it_can_be_asked_as_of_an_earlier_moment(told) -> None:
    tyler = told.interpret("Tyler", "WORKS_AT", as_of=MARCH + 1.5 * MONTH)

    assert tyler.now.fact.object == "Google"
    assert tyler.since == MARCH
    assert tyler.before == ()


def test_what_was_never_said_holds_nothing(told) -> None:
    nobody = told.interpret("Tyler", "LIVES_IN")

    assert (nobody.now, nobody.since, nobody.before, nobody.observations) == (None, None, (), ())


def test_an_interval_that_is_over_holds_no_more(told) -> None:
    told.add_fact(
        "Luna", "TAKES", "antibiotics", valid_from=MARCH, valid_to=MARCH + timedelta(days=10)
    )
    told.add_fact("Luna", "TAKES", "vitamins", valid_from=MARCH + 12 * MONTH)

    then = told.interpret("Luna", "TAKES", as_of=None)
    assert then.now is None
    assert [memory.fact.object for memory in then.before] == ["antibiotics"]
    assert [memory.fact.object for memory in then.coming] == ["vitamins"]


@pytest.mark.requirement("E20")
def test_facts_have_a_tense_and_what_holds_comes_first(told) -> None:
    facts = told.facts("Tyler")

    held = tenses(facts, MARCH + 4 * MONTH)
    assert [held[memory.id] for memory in facts] == [Tense.CURRENT, Tense.PAST, Tense.PAST]

    found = told.recall("Where does Tyler work?", kinds=["fact"])
    assert found[0].memory.fact.object == "Anthropic"


def test_another_persons_facts_are_not_read(told) -> None:
    told.add_fact("Tyler Durden", "WORKS_AT", "a soap factory")

    assert told.interpret("Tyler", "WORKS_AT").now.fact.object == "Anthropic"
