"""Examples of the specification as messages: Tyler, Mom, PostgreSQL, Luna, Sarah."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import pytest
from tests.conftest import Clock

from nexusmem import Fact, Memory, Nexus, Place
from nexusmem.config.settings import Settings
from nexusmem.core.records import MemoryKind, Trust
from nexusmem.learn.settings import LearnSettings


def day(month: int, number: int, hour: int = 9) -> datetime:
    return datetime(2026, month, number, hour, tzinfo=UTC)


class Told:
    """Places that receive messages in order, each on its day."""

    def __init__(self, nexus: Nexus, clock: Clock) -> None:
        self.clock = clock
        self.workspace = nexus.workspace("acme")
        self.dm = self.workspace.dm("ann")
        self.room = self.workspace.room("design", participants=["alice", "bob"], project="apollo")

    def say(self, place: Place, *messages: tuple[datetime, str, str]) -> None:
        for at, speaker, text in messages:
            self.clock.now = at
            place.observe(speaker, text)
        place.flush()


@pytest.fixture
def told(url: str) -> Iterator[Told]:
    clock = Clock(day(1, 1))
    with Nexus.open(url, clock=clock, background=False) as nexus:
        yield Told(nexus, clock)


def under(policy: str, url: str) -> tuple[Nexus, Clock]:
    clock = Clock(day(1, 1))
    settings = Settings(learning=LearnSettings(on_contradiction=policy))
    return Nexus.open(url, settings=settings, clock=clock, background=False), clock


def said(memories: Sequence[Memory]) -> list[object]:
    facts: list[Fact] = [memory.fact for memory in memories]
    return [fact.value if fact.object is None else fact.object for fact in facts]


# Tyler


@pytest.mark.requirement("B5", "B4")
def test_tyler_works_at_anthropic_and_used_to_work_at_google(told: Told) -> None:
    told.say(
        told.dm,
        (day(1, 15), "ann", "Tyler works at Anthropic."),
        (day(2, 1), "ann", "Tyler is building Nexus at Anthropic."),
        (day(2, 10), "ann", "Tyler used to work at Google."),
    )

    work = told.dm.fact_timeline("Tyler", "WORKS_AT")

    assert work.now is not None
    assert work.now.fact.object == "Anthropic"
    assert work.since == day(1, 15)
    assert said(work.before) == ["Google"]
    assert [event.text for event in told.dm.source_events(work.now.id)] == [
        "Tyler is building Nexus at Anthropic."
    ]
    assert said(told.dm.facts("Tyler", "WORKS_AT")) == [
        "Google",
        "Anthropic",
        "Anthropic",
    ]  # the log
    assert "Nexus" in str(said(told.dm.fact_timeline("Tyler", "WORKING_ON").current))


@pytest.mark.requirement("B5")
def test_tylers_favorite_color_changed(told: Told) -> None:
    told.say(
        told.dm,
        (day(1, 10), "ann", "Tyler's favorite color is purple."),
        (day(1, 11), "ann", "Tyler's favorite food is ramen."),
        (day(2, 10), "ann", "Tyler's favorite color is blue now."),
    )

    now = told.dm.fact_timeline("Tyler", "PREFERS")
    then = told.dm.fact_timeline("Tyler", "PREFERS", as_of=day(1, 20))

    assert said(now.current) == ["blue", "ramen"]
    assert said(now.before) == ["purple"]
    assert now.past[0].ended_at == day(2, 10)
    assert said(then.current) == ["ramen", "purple"]


def test_tyler_and_sarah_know_each_other(told: Told) -> None:
    told.say(told.dm, (day(1, 10), "ann", "Tyler and Sarah know each other."))

    assert said(told.dm.fact_timeline("Tyler", "KNOWS").current) == ["Sarah"]


# Mom


@pytest.mark.requirement("B5", "B8")
def test_moms_birthday_and_when_she_usually_texts(told: Told) -> None:
    told.say(
        told.dm,
        (day(3, 1), "ann", "Mom's birthday is May 15, 1968."),
        (day(3, 2), "ann", "Mom usually texts at 9pm."),
    )

    assert said(told.dm.fact_timeline("Mom", "BORN_ON").current) == ["1968-05-15"]
    habit = told.dm.fact_timeline("mom", "TYPICALLY_CONTACTS_AT").now
    assert habit is not None
    assert habit.fact.value == "9pm"
    assert (habit.confidence, habit.fact.stated) == (0.7, False)  # inferred, not stated
    assert told.dm.fact_timeline("Mom", "BORN_ON").now.fact.stated


def test_mom_in_a_room_needs_an_owner(told: Told) -> None:
    told.say(
        told.room,
        (day(3, 1), "alice", "My mom's birthday is May 15."),
        (day(3, 2), "bob", "My mom's birthday is June 3."),
    )

    assert told.room.fact_timeline("Mom", "BORN_ON").now is None
    assert said(told.room.fact_timeline("alice's mom", "BORN_ON").current) == ["--05-15"]


# PostgreSQL instead of MySQL


@pytest.mark.requirement("B5", "E22")
def test_we_decided_to_use_postgresql_instead_of_mysql(told: Told) -> None:
    told.say(
        told.room,
        (day(5, 1), "alice", "We use MySQL for the backend."),
        (day(5, 2), "bob", "We use Redis for caching."),
        (day(5, 20), "alice", "We decided to use PostgreSQL instead of MySQL."),
    )

    now = told.room.fact_timeline("apollo", "USES")
    then = told.room.fact_timeline("apollo", "USES", as_of=day(5, 10))

    assert said(now.current) == ["PostgreSQL", "Redis"]
    assert said(now.before) == ["MySQL"]
    assert now.now is not None
    assert (now.past[0].ended_at, now.past[0].ended_by.text) == (day(5, 20), now.now.text)
    assert said(then.current) == ["Redis", "MySQL"]
    assert len(told.room.facts("apollo", "USES")) == 4  # earlier observations are kept
    found = told.room.recall("Which database do we use?", as_of=day(5, 10))
    assert not any("PostgreSQL" in hit.text for hit in found)


@pytest.mark.requirement("B5")
def test_decision_is_a_landmark_and_its_message_is_found(told: Told) -> None:
    told.say(told.room, (day(5, 20), "alice", "We decided to use PostgreSQL instead of MySQL."))

    landmarks = told.room.recall("PostgreSQL decision", kind=[MemoryKind.LANDMARK])
    found = told.room.recall("Which database did we decide to use?")

    assert [hit.memory.body["kind"] for hit in landmarks] == ["decision"]
    assert found[0].text == "We decided to use PostgreSQL instead of MySQL."
    assert len(found) == 1  # the equal fact is not shown, too


# Luna


@pytest.mark.requirement("E22")
@pytest.mark.parametrize(
    "correction",
    [
        "No, I meant 9am.",
        "Actually, Luna needs her medication at 9am, not 8am.",
        "Sorry, I misspoke: it's at 9am.",
    ],
)
def test_lunas_medication_was_meant_for_nine(told: Told, correction: str) -> None:
    told.say(
        told.dm,
        (day(3, 3, 9), "ann", "Luna is my dog."),
        (day(3, 3, 10), "ann", "Luna needs medication at 8am."),
        (day(3, 3, 11), "ann", correction),
    )

    luna = told.dm.fact_timeline("Luna", "HAS_SCHEDULE")
    believed = told.dm.fact_timeline("Luna", "HAS_SCHEDULE", as_of=day(3, 3, 10))

    (value,) = said(luna.current)
    assert str(value).endswith("medication at 9am")
    assert luna.before == ()  # 8am was never valid
    assert len(luna.observations) == 2  # but its observation is kept
    assert said(believed.current) == ["medication at 8am"]


@pytest.mark.requirement("E22")
def test_corrected_date_is_a_date(told: Told) -> None:
    told.say(
        told.room,
        (day(6, 1, 9), "alice", "The launch is scheduled for Monday."),
        (day(6, 1, 10), "alice", "No, I meant Tuesday."),
    )

    launch = told.room.fact_timeline("launch", "SCHEDULED_FOR").now

    assert launch is not None
    assert launch.fact.value == "2026-06-02"
    assert launch.valid_from == datetime(2026, 6, 2, tzinfo=UTC)


# Sarah


@pytest.mark.requirement("B5", "B6")
def test_sarah_is_moving_and_then_has_moved_to_nyc(told: Told) -> None:
    told.say(
        told.dm,
        (day(3, 4), "ann", "Sarah lives in Boston."),
        (day(3, 5), "ann", "Sarah mentioned she's moving to NYC."),
    )
    planned = told.dm.fact_timeline("Sarah", "LIVES_IN")
    told.say(told.dm, (day(4, 20), "ann", "Sarah moved to NYC last week."))
    moved = told.dm.fact_timeline("Sarah", "LIVES_IN")

    assert (said(planned.current), said(planned.upcoming)) == (["Boston"], ["NYC"])
    assert (said(moved.current), said(moved.before), moved.upcoming) == (["NYC"], ["Boston"], ())
    assert moved.since == datetime(2026, 4, 13, tzinfo=UTC)  # the week before the message
    assert told.dm.fact_timeline("Sarah", "LIVES_IN", as_of=day(3, 10)).now == planned.now


@pytest.mark.requirement("B6")
def test_valid_time_differs_from_recorded_time(told: Told) -> None:
    told.say(
        told.dm,
        (day(3, 4), "ann", "Sarah lives in Boston."),
        (day(4, 20), "ann", "Sarah moved to NYC last week."),
    )

    def home(**when: datetime) -> list[object]:
        return said(told.dm.fact_timeline("Sarah", "LIVES_IN", **when).current)

    between = day(4, 15)  # after the move, before the message
    assert (home(at=between), home(as_of=between)) == (["NYC"], ["Boston"])
    assert home(at=between, as_of=day(4, 1)) == ["Boston"]
    assert (home(at=day(3, 10)), home(at=day(3, 1)), home()) == (["Boston"], [], ["NYC"])


@pytest.mark.requirement("B6")
def test_fact_with_an_interval_holds_in_between(told: Told) -> None:
    years = {
        "valid_from": datetime(2015, 1, 1, tzinfo=UTC),
        "valid_to": datetime(2018, 1, 1, tzinfo=UTC),
    }
    told.clock.now = day(3, 4)
    told.dm.add_fact("Sarah", "LIVES_IN", "Rome", tense="past", **years)
    told.dm.add_fact("Sarah", "LIVES_IN", "Boston", valid_from=years["valid_to"])

    readings = {
        year: told.dm.fact_timeline("Sarah", "LIVES_IN", at=datetime(year, 6, 1, tzinfo=UTC))
        for year in (2014, 2016, 2019)
    }

    assert {year: said(each.current) for year, each in readings.items()} == {
        2014: [],
        2016: ["Rome"],
        2019: ["Boston"],
    }
    assert (said(readings[2016].upcoming), said(readings[2019].before)) == (["Boston"], ["Rome"])
    (rome,) = told.dm.facts("Sarah", "LIVES_IN", object="Rome")
    assert (rome.valid_from, rome.valid_to) == tuple(years.values())
    assert rome.recorded_at == day(3, 4)


# Facts that ended


@pytest.mark.requirement("B5")
def test_no_longer_ends_a_fact(told: Told) -> None:
    told.say(
        told.room,
        (day(6, 3), "alice", "I work at Google."),
        (day(6, 3), "alice", "I like coffee."),
        (day(6, 3), "alice", "I like tea."),
        (day(6, 5), "alice", "I no longer work at Google."),
        (day(6, 6), "alice", "I don't like coffee any more."),
    )

    work, likes = (
        told.room.fact_timeline("alice", "WORKS_AT"),
        told.room.fact_timeline("alice", "LIKES"),
    )

    assert (work.now, said(work.before), work.past[0].ended_at) == (None, ["Google"], day(6, 5))
    assert (
        told.room.source_events(work.past[0].ended_by.id)[0].text == "I no longer work at Google."
    )
    assert (said(likes.current), said(likes.before)) == (["tea"], ["coffee"])
    assert likes.past[0].ended_at == day(6, 6)


@pytest.mark.requirement("E22")
def test_message_corrects_an_explicit_fact(told: Told) -> None:
    told.clock.now = day(6, 1)
    told.room.add_fact("alice", "LIVES_IN", "Munich")  # both are learned in one batch
    told.say(told.room, (day(6, 2), "alice", "Actually, I live in Berlin, not Munich."))

    home = told.room.fact_timeline("alice", "LIVES_IN")

    assert (said(home.current), home.before) == (["Berlin"], ())


# The setting on_contradiction


@pytest.mark.requirement("E21")
@pytest.mark.parametrize(
    ("policy", "holds"),
    [("append", "Berlin"), ("prefer_new", "Berlin"), ("prefer_old", "Munich")],
)
def test_setting_decides_about_contradictions(policy: str, holds: str, url: str) -> None:
    nexus, clock = under(policy, url)
    with nexus:
        told = Told(nexus, clock)
        told.say(
            told.room,
            (day(6, 1), "alice", "I live in Munich."),
            (day(6, 2), "alice", "I live in Berlin."),
        )

        home = told.room.fact_timeline("alice", "LIVES_IN")

        assert said(home.current) == [holds]
        assert len(home.observations) == 2


@pytest.mark.requirement("E21")
@pytest.mark.parametrize("policy", ["review", "flag_review"])
def test_contradiction_review_can_be_undone(policy: str, url: str) -> None:
    nexus, clock = under(policy, url)
    with nexus:
        told = Told(nexus, clock)
        told.say(
            told.room,
            (day(6, 1), "alice", "I live in Munich."),
            (day(6, 2), "alice", "I live in Berlin."),
        )
        (review,) = told.room.reviews.list(kind="contradiction")
        homes = [said(told.room.fact_timeline("alice", "LIVES_IN").current)]

        told.room.reviews.accept(review.id)
        homes.append(said(told.room.fact_timeline("alice", "LIVES_IN").current))
        told.room.reviews.undo(review.id)
        homes.append(said(told.room.fact_timeline("alice", "LIVES_IN").current))
        told.room.reviews.reject(review.id)
        homes.append(said(told.room.fact_timeline("alice", "LIVES_IN").current))

        assert homes == [["Munich"], ["Berlin"], ["Munich"], ["Munich"]]
        assert set(review.names) == {"alice", "Munich", "Berlin"}
        assert len(told.room.reviews.evidence(review.id)) == 2


@pytest.mark.requirement("E21", "X1")
def test_document_does_not_override_a_person(told: Told) -> None:
    told.say(told.room, (day(6, 1), "alice", "Sarah lives in Munich."))
    told.clock.now = day(6, 2)
    told.room.add_document("Sarah lives in Berlin.")
    told.room.flush()

    home = told.room.fact_timeline("Sarah", "LIVES_IN")

    assert said(home.current) == ["Munich"]
    assert {memory.trust for memory in home.observations} == {Trust.DIRECT, Trust.EXTERNAL}
