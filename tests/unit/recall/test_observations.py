"""Observations: single and multiple values, denials, ends, plans and corrections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
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


@pytest.mark.requirement("B6")
@pytest.mark.parametrize("more", [{}, {"valid_from": on(10)}], ids=["some day", "dated"])
@pytest.mark.parametrize("end", [None, on(4)], ids=["said", "with an end"])
@pytest.mark.parametrize("value", ["NYC", None])
def test_plan_is_cancelled_by_a_past_statement(
    more: dict[str, Any], end: datetime | None, value: str | None
) -> None:
    boston = make_fact("LIVES_IN", "Boston", 0)
    plan = make_fact("MOVING_TO", "NYC", 2, tense="future", **more)
    off = make_fact("MOVING_TO", value, 4, tense="past", valid_to=end)

    for day in (5, 30):
        home = make_timeline("LIVES_IN", boston, plan, off, day=day)
        assert (home.now, home.upcoming, home.before) == (boston, (), ())  # never lived there
    assert make_timeline("LIVES_IN", boston, plan, off, day=3).upcoming == (plan,)
    assert make_timeline("MOVING_TO", plan, off).current == ()


def test_past_of_another_time_does_not_cancel_a_plan() -> None:
    plan = make_fact("MOVING_TO", "NYC", 2, tense="future", valid_from=on(10))
    as_child = make_fact("LIVES_IN", "NYC", 4, tense="past")
    earlier = make_fact("MOVING_TO", "NYC", 4, tense="past", valid_to=on(1))

    for other in (as_child, earlier):
        assert make_timeline("LIVES_IN", plan, other, day=11).now == plan


@pytest.mark.requirement("B6")
def test_plan_without_a_date_never_takes_effect_by_itself() -> None:
    boston = make_fact("LIVES_IN", "Boston", 0)
    plan = make_fact("MOVING_TO", "NYC", 2)  # "I'm moving to NYC"

    home = make_timeline("LIVES_IN", boston, plan, day=900)

    assert (home.now, home.upcoming) == (boston, (plan,))


@pytest.mark.parametrize(("first", "second"), [(10, 20), (20, 10)], ids=["later", "earlier"])
def test_plan_gets_another_date(first: int, second: int) -> None:
    boston = make_fact("LIVES_IN", "Boston", 0)
    plan = make_fact("MOVING_TO", "NYC", 2, tense="future", valid_from=on(first))
    moved = make_fact("MOVING_TO", "NYC", 5, tense="future", valid_from=on(second))

    for day in (6, 15, 25):
        home = make_timeline("LIVES_IN", boston, plan, moved, day=day)
        assert home.now == (moved if day >= second else boston)
        assert home.upcoming == (() if day >= second else (moved,))


def test_newer_plan_replaces_a_plan_for_the_same_time() -> None:
    oslo = make_fact("MOVING_TO", "Oslo", 1, tense="future")
    bergen = make_fact("MOVING_TO", "Bergen", 3, tense="future")
    then_rome = make_fact("MOVING_TO", "Rome", 4, tense="future", valid_from=on(50))

    assert make_timeline("LIVES_IN", oslo, bergen).upcoming == (bergen,)
    assert make_timeline("LIVES_IN", oslo, bergen, then_rome).upcoming == (bergen, then_rome)


@pytest.mark.requirement("B5")
@pytest.mark.parametrize("predicate", ["SCHEDULED_FOR", "DUE_ON", "ENDED_ON"])
@pytest.mark.parametrize("tense", ["current", "future"])
def test_date_stated_last_is_current(predicate: str, tense: str) -> None:
    late = make_fact(predicate, "2031-05-01", 0, tense=tense, valid_from=on(1900))
    early = make_fact(predicate, "2031-04-01", 3, tense=tense, valid_from=on(1870))

    dates = make_timeline(predicate, late, early)
    assert (dates.current, dates.before, dates.upcoming) == ((early,), (late,), ())
    known = build_timeline([late, early], on(1), predicate, as_of=on(30))
    assert known.current == (late,)


def test_date_of_a_plan_is_unknown_before_its_statement() -> None:
    date = make_fact("DUE_ON", "2031-05-01", 5, tense="future")

    dates = build_timeline([date], on(1), "DUE_ON", as_of=on(30))

    assert (dates.current, dates.upcoming) == ((), ())


def test_past_tense_cancels_a_coming_date_and_keeps_a_passed_one() -> None:
    coming = make_fact("SCHEDULED_FOR", "2031-05-01", 0, tense="future")
    off = make_fact("SCHEDULED_FOR", "2031-05-01", 3, tense="past")
    passed = make_fact("SCHEDULED_FOR", "2001-05-01", 3, tense="past")

    reunion = make_timeline("SCHEDULED_FOR", coming, off)
    assert (reunion.now, reunion.before) == (None, (coming,))
    assert make_timeline("SCHEDULED_FOR", passed).now == passed


def test_scheduled_event_has_occurred_after_its_last_date() -> None:
    first = make_fact("SCHEDULED_FOR", "soon", 0, tense="future", valid_from=on(10))
    second = make_fact("SCHEDULED_FOR", "later", 5, tense="future", valid_from=on(20))
    off = make_fact("SCHEDULED_FOR", "later", 7, tense="past")

    launch = [make_timeline("OCCURRED_ON", first, second, day=day).now for day in (15, 21)]
    assert launch == [None, second]
    assert make_timeline("OCCURRED_ON", first, second, off).now is None


@pytest.mark.requirement("B6")
def test_announced_end_ends_the_value_on_its_day() -> None:
    google = make_fact("WORKS_AT", "Google Germany", 0)
    leaves = make_fact("WORKS_AT", "Google", 5, tense="future", negated=True, valid_from=on(20))
    some_day = make_fact("WORKS_AT", "Google Germany", 5, tense="future", negated=True)

    before, after = (make_timeline("WORKS_AT", google, leaves, day=day) for day in (19, 21))
    assert (before.now, after.now, after.before) == (google, None, (google,))
    assert after.past[0].ended_at == on(20)
    assert make_timeline("WORKS_AT", google, some_day).now == google
    assert fact_statuses([google, some_day], on(9))[some_day.id] is FactStatus.FUTURE


def test_announced_end_does_not_cancel_the_plan_before_it() -> None:
    joins = make_fact("WORKS_AT", "Acme", 0, tense="future", valid_from=on(10))
    leaves = make_fact("WORKS_AT", "Acme", 1, tense="future", negated=True, valid_from=on(20))

    work = [make_timeline("WORKS_AT", joins, leaves, day=day).now for day in (5, 15, 25)]

    assert work == [None, joins, None]


@pytest.mark.requirement("B5")
@pytest.mark.parametrize(
    ("predicate", "held", "ended"),
    [
        ("OWNS", "Fiat Panda 4x4", "Fiat Panda"),
        ("OWNS", "Fiat Panda 4x4", "the Panda"),
        ("OWNS", "Fiat Panda", "old Fiat Panda"),
        ("OWNS", "red bike", "bike"),
        ("WORKS_AT", "Velmora AB", "Velmora"),
        ("OWNS", "Fiat Panda 4x4", None),
    ],
)
def test_end_means_the_only_value_with_its_words(
    predicate: str, held: str, ended: str | None
) -> None:
    value, end = make_fact(predicate, held, 0), make_fact(predicate, ended, 5, tense="past")

    left = make_timeline(predicate, value, end)

    assert (left.current, left.before) == ((), (value,))
    assert left.past[0].ended_by == end


@pytest.mark.parametrize(
    ("predicate", "held", "ended"),
    [
        ("OWNS", ["Fiat Panda", "Fiat Punto"], "Fiat"),
        ("OWNS", ["boat house"], "boat"),
        ("OWNS", ["car", "bike"], None),
        ("LIKES", ["Irish Coffee"], "Coffee"),
        ("DUE_ON", ["2031-05-01"], "1"),
    ],
)
def test_end_that_may_mean_another_value_ends_nothing(
    predicate: str, held: list[str], ended: str | None
) -> None:
    values = [make_fact(predicate, each, 0) for each in held]
    end = make_fact(predicate, ended, 5, tense="past")

    assert len(make_timeline(predicate, *values, end).current) == len(values)


def test_values_listed_in_one_message_stay_together() -> None:
    numbers = [make_fact("HAS_PHONE", number, 0) for number in ("0471 1", "0471 2")]
    both = [replace(each, sources=numbers[0].sources) for each in numbers]
    newer = make_fact("HAS_PHONE", "0471 3", 2)

    assert len(make_timeline("HAS_PHONE", *both).current) == 2
    assert make_timeline("HAS_PHONE", *both, newer).current == (newer,)


@pytest.mark.parametrize(
    ("old", "new", "is_replaced"),
    [
        ("Tuesdays at 6pm", "every other Thursday at 18:00", True),
        ("yoga on Tuesdays", "piano on Fridays", False),
    ],
)
def test_schedule_of_times_only_is_replaced(old: str, new: str, is_replaced: bool) -> None:
    facts = [make_fact("HAS_SCHEDULE", old, 0), make_fact("HAS_SCHEDULE", new, 3)]

    assert len(make_timeline("HAS_SCHEDULE", *facts).current) == (1 if is_replaced else 2)


@pytest.mark.requirement("B5")
def test_change_reported_later_replaces_an_older_statement() -> None:
    velmora = make_fact("WORKS_AT", "Velmora", 8)
    postnord = make_fact("WORKS_AT", "Postnord", 12, valid_from=on(5))

    work = make_timeline("WORKS_AT", velmora, postnord)
    assert (work.now, work.before, work.since) == (postnord, (velmora,), on(5))
    assert make_timeline("WORKS_AT", velmora, postnord, day=9).now == velmora  # as known then
    again = make_fact("WORKS_AT", "Velmora", 14)
    assert make_timeline("WORKS_AT", velmora, postnord, again).now == again


def test_old_move_does_not_replace_the_home() -> None:
    munich = make_fact("LIVES_IN", "Munich", 8)
    berlin = make_fact("MOVED_TO", "Berlin", 12, tense="past", valid_from=on(-900))

    assert make_timeline("LIVES_IN", munich, berlin).now == munich


@pytest.mark.requirement("B5")
@pytest.mark.parametrize(
    "end",
    [{"tense": "past", "valid_to": on(5)}, {"negated": True, "valid_from": on(5)}],
    ids=["past", "denial"],
)
def test_end_reported_later_ends_an_older_statement(end: dict[str, Any]) -> None:
    velmora = make_fact("WORKS_AT", "Velmora AB", 8)
    left = make_fact("WORKS_AT", "Velmora AB", 12, **end)

    work = make_timeline("WORKS_AT", velmora, left)
    assert (work.now, work.before, work.past[0].ended_by) == (None, (velmora,), left)
    again = make_fact("WORKS_AT", "Velmora AB", 14)
    assert make_timeline("WORKS_AT", velmora, left, again).now == again


@pytest.mark.parametrize(
    "period",
    [{"valid_to": on(-900)}, {"valid_from": on(-20), "valid_to": on(-10)}],
    ids=["long ago", "period"],
)
def test_earlier_period_does_not_end_the_value(period: dict[str, Any]) -> None:
    rome = make_fact("LIVES_IN", "Rome", 0)

    assert (
        make_timeline(
            "LIVES_IN", rome, make_fact("LIVES_IN", "Rome", 9, tense="past", **period)
        ).now
        == rome
    )


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
