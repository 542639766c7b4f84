"""Fact timelines of stored facts at different times."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from nexusmem import Nexus
from nexusmem.core.records import Draft, Fact, MemoryKind
from nexusmem.recall.views.entities import find_person_names
from nexusmem.recall.views.fact_timeline import FactStatus, fact_statuses
from nexusmem.testing.reference_store.store import ReferenceStore
from nexusmem.testing.samples import ACME, ADMIN, NOON, make_event

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
    told.add_fact("Taylor", "WORKS_AT", "a soap factory")

    assert told.fact_timeline("Tyler", "WORKS_AT").now.fact.object == "Anthropic"


@pytest.mark.requirement("B5")
def test_first_name_means_the_only_person_with_that_name(told) -> None:
    told.add_fact("Tyler Durden", "WORKS_AT", "Paper Street")

    for name in ("Tyler", "tyler durden"):
        work = told.fact_timeline(name, "WORKS_AT")
        assert work.now.fact.object == "Paper Street"
        assert [each.fact.object for each in work.before] == ["Anthropic", "Google"]


@pytest.mark.parametrize(
    "other",
    [("Tyler Perry", "WORKS_AT", "a studio"), ("ann", "KNOWS", "Tyler Perry")],
    ids=["subject", "object"],
)
def test_shared_first_name_means_nobody_else(told, other) -> None:
    told.add_fact("Tyler Durden", "WORKS_AT", "Paper Street")
    told.add_fact(*other)

    assert told.fact_timeline("Tyler", "WORKS_AT").now.fact.object == "Anthropic"
    assert told.fact_timeline("Tyler Durden", "WORKS_AT").before == ()


@pytest.mark.parametrize(
    "thing",
    [
        ("Tyler Street", "LOCATED_IN", "Boston"),
        ("Tyler's House", "LIVES_IN", "Boston"),
        ("Tyler and Ann", "LIVES_IN", "Boston"),
    ],
)
def test_longer_name_of_a_thing_is_no_full_name(told, thing) -> None:
    told.add_fact(*thing)

    assert told.fact_timeline("Tyler", thing[1]).now is None


def test_speaker_is_not_another_person_with_that_first_name(told) -> None:
    told.add_fact("ann", "LIVES_IN", "Ghent")
    told.add_fact("Ann Larsen", "LIVES_IN", "Oslo")

    assert told.fact_timeline("ann", "LIVES_IN").now.fact.object == "Ghent"
    assert told.fact_timeline("Ann Larsen", "LIVES_IN").before == ()


@pytest.mark.requirement("B5")
def test_we_counts_for_the_speaker_only(told) -> None:
    told.add_fact("we", "LIVES_IN", "Ghent")

    assert told.fact_timeline("ann", "LIVES_IN").now.fact.object == "Ghent"
    assert told.fact_timeline("Tyler", "LIVES_IN").now is None


def test_own_fact_comes_before_a_fact_about_us(told) -> None:
    told.add_fact("ann", "HAS_PHONE", "0471 1")
    told.add_fact("we", "HAS_PHONE", "0471 2")
    told.add_fact("ann", "LIVES_IN", "Antwerp")
    told.add_fact("we", "MOVED_TO", "Ghent", tense="past")

    assert [m.fact.object for m in told.fact_timeline("ann", "HAS_PHONE").current] == ["0471 1"]
    assert told.fact_timeline("ann", "LIVES_IN").now.fact.object == "Ghent"  # they move together


def test_first_name_of_another_scope_stays_apart(told) -> None:
    told.add_fact("Tyler Durden", "WORKS_AT", "Paper Street", scope="user")

    assert told.fact_timeline("Tyler", "WORKS_AT").now.fact.object == "Anthropic"


class KnownNames:
    """Test helper: a store with records of Sarah Eklund, made at noon."""

    def __init__(self) -> None:
        self.store = ReferenceStore()
        self.store.ledger.append(ACME, [make_event("1", "Hello.")], recorded_at=NOON)
        (self.source,) = self.store.ledger.find(ADMIN)
        fact = Fact(subject="Sarah Eklund", predicate="WORKS_AT", object="Velmora")
        self.put(MemoryKind.FACT, "full", NOON, **asdict(fact))
        self.put(MemoryKind.FACT, "first", NOON, **asdict(replace(fact, subject="Sarah")))

    def put(self, kind: MemoryKind, slot: str, at: datetime, **body: Any) -> None:
        draft = Draft(
            scope=self.source.scope,
            kind=kind,
            text=slot,
            slot=slot,
            at=at,
            sources=(self.source.id,),
            body=body,
        )
        self.store.memories.put(ACME, [draft])

    def find(self, name: str) -> frozenset[str]:
        return find_person_names(self.store, ADMIN, name)


@pytest.mark.parametrize(
    ("introduced_at", "is_same"), [(NOON - MONTH, True), (NOON + MONTH, False)]
)
def test_person_introduced_after_the_full_name_is_another_one(
    introduced_at: datetime, is_same: bool
) -> None:
    """Learning did not link "my cousin Sarah" to the known Sarah Eklund."""
    known = KnownNames()
    known.put(MemoryKind.ENTITY, "sarah", introduced_at, name="Sarah", type="person")

    assert ("sarah" in known.find("Sarah Eklund")) is is_same
    assert ("sarah eklund" in known.find("Sarah")) is is_same


@pytest.mark.parametrize(
    "other",
    [
        {"name": "Sarah", "type": "company"},
        {"name": "Sally Berg", "type": "person", "aliases": ["Sarah"]},
    ],
    ids=["company", "alias"],
)
def test_other_entity_with_that_name_keeps_them_apart(other: dict[str, Any]) -> None:
    known = KnownNames()
    known.put(MemoryKind.ENTITY, "other", NOON - MONTH, **other)

    assert "sarah" not in known.find("Sarah Eklund")


def test_rejected_merge_keeps_a_first_name_apart() -> None:
    known, names = KnownNames(), {"sarah", "sarah eklund"}

    assert known.find("Sarah") == known.find("sarah eklund") == names

    rejected = {"what": "merge", "names": ["Sarah Eklund", "Sarah"], "decision": "reject"}
    known.put(MemoryKind.REVIEW, "no", NOON, **rejected)
    assert known.find("Sarah") == {"sarah"}
