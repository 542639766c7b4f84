"""Observations: single and multiple values, denials, ends, plans and corrections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from itertools import product
from typing import Any

import pytest
from tests.unit.making import NOON, event, memory

from nexusmem.core.records import Fact, Memory, MemoryKind, Trust
from nexusmem.recall.views.fact_timeline import (
    FactStatus,
    FactTimeline,
    build_timeline,
    current_values,
    fact_statuses,
)

DAY = timedelta(days=1)


def make_fact(predicate: str, object: str | None, day: int = 0, **more: Any) -> Memory:
    """Make a derived fact about Ann, observed on a day."""
    marks = {name: more.pop(name) for name in MARKS if name in more}
    trust = more.pop("trust", Trust.DIRECT)
    times = {name: more.pop(name) for name in ("valid_from", "valid_to") if name in more}
    learned = more.pop("learned", True)
    source = event(
        at=NOON + day * DAY, recorded_at=NOON + day * DAY, key=f"{day}{object}", trust=trust
    )
    body = asdict(Fact(subject="Ann", predicate=predicate, object=object, **more))
    return memory(
        f"Ann {predicate} {object}",
        source_event=source,
        sources=(source.id,),
        kind=MemoryKind.FACT,
        body=body,
        slot=f"{predicate} {object}",
        learned=learned,
        metadata=marks,
        **times,
    )


MARKS = ("supersedes", "corrects", "held_back", "accepted")


def make_timeline(predicate: str, *facts: Memory, day: int = 30) -> FactTimeline:
    timeline = build_timeline(facts, on(day), predicate)
    held = current_values(facts, on(day), predicate)  # must agree with the timeline
    assert timeline.current == tuple(each.newest.memory for each in held)
    assert timeline.since == (held[0].since if held else None)
    return timeline


def objects(memories: Sequence[Memory]) -> list[str | None]:
    return [each.fact.object for each in memories]


def on(day: int) -> datetime:
    return NOON + day * DAY


@pytest.mark.requirement("B5")
def test_multi_valued_relation_keeps_all_values() -> None:
    likes = make_timeline(
        "LIKES",
        make_fact("LIKES", "tea", 0),
        make_fact("LIKES", "jazz", 1),
        make_fact("LIKES", "Tea", 2),
    )

    assert objects(likes.current) == ["Tea", "jazz"]  # each once, in its latest spelling
    assert (likes.now, likes.since) == (likes.current[0], on(0))
    assert likes.before == ()


@pytest.mark.requirement("B5")
def test_single_valued_relation_replaces_its_value() -> None:
    munich, berlin = make_fact("LIVES_IN", "Munich", 0), make_fact("LIVES_IN", "Berlin", 3)

    home = make_timeline("LIVES_IN", berlin, munich)

    assert (home.current, home.before, home.since) == ((berlin,), (munich,), on(3))
    assert [(end.memory, end.ended_at, end.ended_by) for end in home.past] == [
        (munich, on(3), berlin)
    ]


def test_aspects_have_separate_values() -> None:
    facts = [
        make_fact("PREFERS", "purple", 0, aspect="color"),
        make_fact("PREFERS", "soup", 1, aspect="food"),
        make_fact("PREFERS", "blue", 2, aspect="Color"),
    ]

    prefers = make_timeline("PREFERS", *facts)

    assert objects(prefers.current) == ["blue", "soup"]
    assert objects(prefers.before) == ["purple"]


def test_preferences_without_aspect_are_all_current() -> None:
    assert (
        len(
            make_timeline(
                "PREFERS", make_fact("PREFERS", "tea"), make_fact("PREFERS", "walks", 1)
            ).current
        )
        == 2
    )


def test_unknown_relation_is_multi_valued_unless_exact() -> None:
    many = make_timeline("PAINTS", make_fact("PAINTS", "cats"), make_fact("PAINTS", "dogs", 1))
    one = make_timeline(
        "paints",
        make_fact("paints", "cats", exact=True),
        make_fact("paints", "dogs", 1, exact=True),
    )

    assert objects(many.current) == ["dogs", "cats"]
    assert objects(one.current) == ["dogs"]


@pytest.mark.requirement("B5")
@pytest.mark.parametrize(
    "no_more",
    [
        make_fact("LIKES", "coffee", 5, negated=True),
        make_fact("LIKES", "coffee any more", 5, negated=True),
        make_fact("DISLIKES", "coffee", 5),
        make_fact("LIKES", "the coffee", 5, tense="past"),
    ],
    ids=["negated", "any more", "contrary", "past"],
)
def test_denial_ends_a_value_and_is_its_reason(no_more: Memory) -> None:
    coffee, tea = make_fact("LIKES", "coffee", 0), make_fact("LIKES", "tea", 1)

    likes = make_timeline("LIKES", coffee, tea, no_more)

    assert likes.current == (tea,)
    assert likes.before == (coffee,)
    assert (likes.past[0].ended_at, likes.past[0].ended_by) == (on(5), no_more)
    assert make_timeline("LIKES", coffee, tea, no_more, day=4).current == (tea, coffee)


def test_value_after_denial_is_current_since_the_repetition() -> None:
    facts = [
        make_fact("LIKES", "coffee", 0),
        make_fact("LIKES", "coffee", 5, negated=True),
        make_fact("LIKES", "coffee", 9),
    ]

    assert (make_timeline("LIKES", *facts).since, make_timeline("LIKES", *facts).before) == (
        on(9),
        (),
    )


def test_denial_does_not_end_a_longer_value() -> None:
    ice = make_fact("LIKES", "coffee ice cream", 0)

    assert make_timeline("LIKES", ice, make_fact("LIKES", "coffee", 1, negated=True)).current == (
        ice,
    )


@pytest.mark.parametrize(
    "gone",
    [
        make_fact("LEFT", "Google", 5, tense="past"),
        make_fact("QUIT", "job at Google", 5),
        make_fact("QUIT", "job", 5, tense="past"),
        make_fact("WORKS_AT", "Google", 5, negated=True),
    ],
    ids=["left", "quit", "quit the job", "does not"],
)
def test_leaving_ends_employment(gone: Memory) -> None:
    google = make_fact("WORKS_AT", "Google", 0)

    work = make_timeline("WORKS_AT", google, gone)

    assert (work.now, work.before, work.past[0].ended_by) == (None, (google,), gone)


@pytest.mark.requirement("B5")
def test_past_fact_is_not_current() -> None:
    """Seed 001: works at Anthropic; used to work at Google, which was said later."""
    anthropic = make_fact("WORKS_AT", "Anthropic", 0)
    google = make_fact("WORKS_AT", "Google", 9, tense="past")

    work = make_timeline("WORKS_AT", anthropic, google)

    assert (work.now, work.before) == (anthropic, (google,))
    assert (work.past[0].ended_at, work.past[0].ended_by) == (None, google)  # the end is unknown


def test_lasting_relations_stay_current() -> None:
    facts = [
        make_fact("VISITED", "Rome", 1, tense="past", valid_from=on(0), valid_to=on(1)),
        make_fact("BORN_IN", "Kiel", 1, tense="past"),
    ]

    assert objects(make_timeline("VISITED", facts[0]).current) == ["Rome"]
    assert objects(make_timeline("BORN_IN", facts[1]).current) == ["Kiel"]


def test_dated_relation_is_current_before_its_date() -> None:
    launch = make_fact("SCHEDULED_FOR", "Monday", 0, valid_from=on(6), valid_to=on(7))

    assert make_timeline("SCHEDULED_FOR", launch, day=2).now == launch


@pytest.mark.requirement("B6")
def test_plan_is_upcoming_until_its_date() -> None:
    boston = make_fact("LIVES_IN", "Boston", 0)
    plan = make_fact("MOVING_TO", "NYC", 2, tense="future", valid_from=on(10))

    before = make_timeline("LIVES_IN", boston, plan, day=5)
    after = make_timeline("LIVES_IN", boston, plan, day=11)

    assert (before.now, before.upcoming) == (boston, (plan,))
    assert (after.now, after.upcoming, after.since) == (plan, (), on(10))


@pytest.mark.requirement("B6")
def test_as_of_includes_later_recorded_facts() -> None:
    boston = make_fact("LIVES_IN", "Boston", 0)
    over = make_fact("LIVES_IN", "Boston", 20, tense="past")
    rome = make_fact("LIVES_IN", "Rome", 20, valid_from=on(5))

    def home(day: int, *facts: Memory) -> list[str | None]:
        return objects(build_timeline(facts, on(day), "LIVES_IN", as_of=on(30)).current)

    assert [home(day, boston, rome) for day in (4, 6)] == [["Boston"], ["Rome"]]
    assert [home(day, boston, over) for day in (10, 21)] == [["Boston"], []]
    assert build_timeline([boston, rome], on(6), "LIVES_IN").now == boston  # as known on that day


def test_undated_plan_is_upcoming_until_done() -> None:
    boston = make_fact("LIVES_IN", "Boston", 0)
    plan = make_fact("MOVING_TO", "NYC", 2, tense="future")
    moved = make_fact("MOVED_TO", "NYC", 20, tense="past", valid_from=on(15))

    assert make_timeline("LIVES_IN", boston, plan, day=19).upcoming == (plan,)
    home = make_timeline("LIVES_IN", boston, plan, moved)
    assert (home.now, home.before, home.upcoming, home.since) == (moved, (boston,), (), on(15))


@pytest.mark.parametrize("more", [{}, {"valid_from": on(10)}], ids=["some day", "dated"])
def test_cancelled_plan_is_not_upcoming(more: dict[str, Any]) -> None:
    plan = make_fact("MOVING_TO", "NYC", 2, tense="future", **more)
    off = make_fact("MOVING_TO", "NYC", 4, tense="future", negated=True)

    for day in (5, 30):
        home = make_timeline("LIVES_IN", plan, off, day=day)
        assert (home.now, home.upcoming) == (None, ())
        assert home.observations


@pytest.mark.requirement("E22")
def test_correction_removes_the_value_from_history() -> None:
    monday = make_fact("SCHEDULED_FOR", "Monday", 0)
    tuesday = make_fact("SCHEDULED_FOR", "Tuesday", 1, supersedes=[monday.id], corrects=True)

    launch = make_timeline("SCHEDULED_FOR", monday, tuesday)

    assert (launch.current, launch.before) == ((tuesday,), ())
    assert launch.observations == (tuesday, monday)  # all observations stay
    assert make_timeline("SCHEDULED_FOR", monday, tuesday, day=0).now == monday


@pytest.mark.requirement("E22")
def test_superseded_value_ends_at_the_successor() -> None:
    mysql, redis = make_fact("USES", "MySQL", 0), make_fact("USES", "Redis", 1)
    postgres = make_fact("USES", "PostgreSQL", 5, supersedes=[mysql.id])

    uses = make_timeline("USES", mysql, redis, postgres)

    assert (uses.current, uses.before) == ((postgres, redis), (mysql,))
    assert (uses.past[0].ended_at, uses.past[0].ended_by) == (on(5), postgres)


@pytest.mark.requirement("E21")
def test_held_back_value_is_current_only_without_others() -> None:
    munich = make_fact("LIVES_IN", "Munich", 0)
    berlin = make_fact("LIVES_IN", "Berlin", 3, held_back=True)
    gone = make_fact("LIVES_IN", "Munich", 9, negated=True)

    assert make_timeline("LIVES_IN", munich, berlin).current == (munich,)
    assert make_timeline("LIVES_IN", munich, berlin, gone).current == (berlin,)


@pytest.mark.requirement("E21")
def test_low_trust_does_not_end_high_trust() -> None:
    munich = make_fact("LIVES_IN", "Munich", 0)
    tea = make_fact("LIKES", "tea", 0)
    low: dict[str, Any] = {"trust": Trust.EXTERNAL}
    berlin = make_fact("LIVES_IN", "Berlin", 3, supersedes=[munich.id], corrects=True, **low)

    assert make_timeline("LIVES_IN", munich, berlin).current == (munich,)
    assert make_timeline(
        "LIKES", tea, make_fact("LIKES", "tea", 3, negated=True, **low)
    ).current == (tea,)
    assert make_timeline(
        "LIKES", tea, make_fact("LIKES", "tea", 3, tense="past", **low)
    ).current == (tea,)


@pytest.mark.requirement("E21")
def test_accepted_fact_has_the_trust_of_the_acceptor() -> None:
    munich = make_fact("LIVES_IN", "Munich", 0)
    berlin = make_fact(
        "LIVES_IN",
        "Berlin",
        3,
        trust=Trust.EXTERNAL,
        supersedes=[munich.id],
        accepted=int(Trust.DIRECT),
    )

    assert make_timeline("LIVES_IN", munich, berlin).current == (berlin,)


def test_metadata_of_explicit_facts_is_ignored() -> None:
    munich = make_fact("LIVES_IN", "Munich", 0)
    forged: dict[str, Any] = {"trust": Trust.EXTERNAL, "learned": False, "accepted": 9}
    berlin = make_fact("LIVES_IN", "Berlin", 3, supersedes=[munich.id], corrects=True, **forged)

    assert make_timeline("LIVES_IN", munich, berlin).current == (munich,)


def test_value_ends_with_its_validity() -> None:
    pills = make_fact("TAKES", "pills", 0, valid_from=on(0), valid_to=on(10))

    takes = make_timeline("TAKES", pills)

    assert (takes.now, takes.before) == (None, (pills,))
    assert (takes.past[0].ended_at, takes.past[0].ended_by) == (on(10), pills)


@pytest.mark.parametrize("marks", [{}, *({name: True} for name in ("corrects", "held_back"))])
@pytest.mark.parametrize("predicate", ["LIVES_IN", "MOVED_TO", "LIKES", "BORN_ON"])
def test_current_values_equals_build_timeline(predicate: str, marks: dict[str, Any]) -> None:
    times = (None, on(-5), on(5), on(50))
    kinds = product(("current", "past", "future"), (True, False), times, times)
    for tense, negated, begins, ends in kinds:
        spoken: dict[str, Any] = {"tense": tense, "negated": negated, **marks}
        fact = make_fact(predicate, "Rome", 0, valid_from=begins, valid_to=ends, **spoken)
        for day, asked in product((-1, 0, 20, 60), (predicate, "LIVES_IN", "DISLIKES")):
            make_timeline(asked, fact, day=day)


@pytest.mark.requirement("E20")
def test_fact_statuses_of_all_kinds() -> None:
    facts = {
        "likes tea": make_fact("LIKES", "tea", 0),
        "liked coffee": make_fact("LIKES", "coffee", 0),
        "dislikes coffee": make_fact("DISLIKES", "coffee", 2),
        "eats no meat": make_fact("EATS", "meat", 0, negated=True),
        "lived in Rome": make_fact("LIVES_IN", "Rome", 0, tense="past"),
        "lives in Oslo": make_fact("LIVES_IN", "Oslo", 0),
        "moves to NYC": make_fact("MOVING_TO", "NYC", 0, tense="future"),
    }

    held = fact_statuses(list(facts.values()), on(30))

    assert {name: held[fact.id] for name, fact in facts.items()} == {
        "likes tea": FactStatus.CURRENT,
        "liked coffee": FactStatus.PAST,
        "dislikes coffee": FactStatus.CURRENT,
        "eats no meat": FactStatus.CURRENT,
        "lived in Rome": FactStatus.PAST,
        "lives in Oslo": FactStatus.CURRENT,
        "moves to NYC": FactStatus.FUTURE,
    }
