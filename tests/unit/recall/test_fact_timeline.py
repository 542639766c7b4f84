"""Fact timelines of stored facts at different times."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from nexusmem import Nexus
from nexusmem.recall.views.fact_timeline import FactStatus, fact_statuses

MARCH = datetime(2026, 3, 1, tzinfo=UTC)
MONTH = timedelta(days=30)


class Months:
    """A clock that is advanced by hand."""

    def __init__(self) -> None:
        self.now = MARCH

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture(params=[":memory:", "file"])
def told(request: pytest.FixtureRequest, tmp_path):
    """Store that Tyler worked at Google and later at Anthropic."""
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
def test_newest_observation_is_current_and_others_stay(told) -> None:
    tyler = told.fact_timeline("tyler", "works_at")

    assert tyler.now.fact.object == "Anthropic"
    assert tyler.since == MARCH + 2 * MONTH
    assert [memory.fact.object for memory in tyler.before] == ["Google"]
    assert len(tyler.observations) == 3


@pytest.mark.requirement("B5")
def test_timeline_at_an_earlier_time(told) -> None:
    tyler = told.fact_timeline("Tyler", "WORKS_AT", as_of=MARCH + 1.5 * MONTH)

    assert tyler.now.fact.object == "Google"
    assert tyler.since == MARCH
    assert tyler.before == ()


def test_timeline_without_facts_is_empty(told) -> None:
    nobody = told.fact_timeline("Tyler", "LIVES_IN")

    assert (nobody.now, nobody.since, nobody.before, nobody.observations) == (None, None, (), ())


def test_ended_interval_is_not_current(told) -> None:
    told.add_fact(
        "Luna", "TAKES", "antibiotics", valid_from=MARCH, valid_to=MARCH + timedelta(days=10)
    )
    told.add_fact("Luna", "TAKES", "vitamins", valid_from=MARCH + 12 * MONTH)

    then = told.fact_timeline("Luna", "TAKES", as_of=None)
    assert then.now is None
    assert [memory.fact.object for memory in then.before] == ["antibiotics"]
    assert [memory.fact.object for memory in then.upcoming] == ["vitamins"]


@pytest.mark.requirement("E20")
def test_status_boost_prefers_current_facts(told) -> None:
    facts = told.facts("Tyler")

    held = fact_statuses(facts, MARCH + 4 * MONTH)
    assert [held[memory.id] for memory in facts] == [
        FactStatus.CURRENT,
        FactStatus.PAST,
        FactStatus.PAST,
    ]

    found = told.recall("Where does Tyler work?", kind=["fact"])
    assert found[0].memory.fact.object == "Anthropic"


def test_facts_about_selects_one_subject(told) -> None:
    told.add_fact("Tyler Durden", "WORKS_AT", "a soap factory")

    assert told.fact_timeline("Tyler", "WORKS_AT").now.fact.object == "Anthropic"
