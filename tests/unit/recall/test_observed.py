"""Many values or one, denied, over, planned, corrected: what a row of observations comes to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from itertools import product
from typing import Any

import pytest
from tests.unit.making import NOON, event, memory

from nexus.core.records import Fact, Memory, MemoryKind, Trust
from nexus.recall.interpret import Interpretation, Tense, interpret, standing, tenses

DAY = timedelta(days=1)


def said(predicate: str, object: str | None, day: int = 0, **more: Any) -> Memory:
    """A learned fact about Ann, said on a day."""
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


def read(predicate: str, *facts: Memory, day: int = 30) -> Interpretation:
    reading = interpret(facts, on(day), predicate)
    held = standing(facts, on(day), predicate)  # whoever asks for that alone is told the same
    assert reading.holding == tuple(each.newest.memory for each in held)
    assert reading.since == (held[0].since if held else None)
    return reading


def objects(memories: Sequence[Memory]) -> list[str | None]:
    return [each.fact.object for each in memories]


def on(day: int) -> datetime:
    return NOON + day * DAY


@pytest.mark.requirement("B5")
def test_many_values_hold_together() -> None:
    likes = read(
        "LIKES", said("LIKES", "tea", 0), said("LIKES", "jazz", 1), said("LIKES", "Tea", 2)
    )

    assert objects(likes.holding) == ["Tea", "jazz"]  # each once, as it was said last
    assert (likes.now, likes.since) == (likes.holding[0], on(0))
    assert likes.before == ()


@pytest.mark.requirement("B5")
def test_one_value_takes_the_place_of_another() -> None:
    munich, berlin = said("LIVES_IN", "Munich", 0), said("LIVES_IN", "Berlin", 3)

    home = read("LIVES_IN", berlin, munich)

    assert (home.holding, home.before, home.since) == ((berlin,), (munich,), on(3))
    assert [(end.memory, end.at, end.by) for end in home.ended] == [(munich, on(3), berlin)]


def test_aspects_are_told_apart() -> None:
    facts = [
        said("PREFERS", "purple", 0, aspect="color"),
        said("PREFERS", "soup", 1, aspect="food"),
        said("PREFERS", "blue", 2, aspect="Color"),
    ]

    prefers = read("PREFERS", *facts)

    assert objects(prefers.holding) == ["blue", "soup"]
    assert objects(prefers.before) == ["purple"]


def test_preferences_of_no_aspect_hold_together() -> None:
    assert len(read("PREFERS", said("PREFERS", "tea"), said("PREFERS", "walks", 1)).holding) == 2


def test_an_unknown_relation_holds_many_values_and_an_exact_one_holds_one() -> None:
    many = read("PAINTS", said("PAINTS", "cats"), said("PAINTS", "dogs", 1))
    one = read("paints", said("paints", "cats", exact=True), said("paints", "dogs", 1, exact=True))

    assert objects(many.holding) == ["dogs", "cats"]
    assert objects(one.holding) == ["dogs"]


@pytest.mark.requirement("B5")
@pytest.mark.parametrize(
    "no_more",
    [
        said("LIKES", "coffee", 5, negated=True),
        said("LIKES", "coffee any more", 5, negated=True),
        said("DISLIKES", "coffee", 5),
        said("LIKES", "the coffee", 5, tense="past"),
    ],
    ids=["negated", "any more", "contrary", "past"],
)
def test_what_is_denied_has_ended_and_it_is_known_by_what(no_more: Memory) -> None:
    coffee, tea = said("LIKES", "coffee", 0), said("LIKES", "tea", 1)

    likes = read("LIKES", coffee, tea, no_more)

    assert likes.holding == (tea,)
    assert likes.before == (coffee,)
    assert (likes.ended[0].at, likes.ended[0].by) == (on(5), no_more)
    assert read("LIKES", coffee, tea, no_more, day=4).holding == (tea, coffee)


def test_what_is_said_again_after_a_denial_holds_again_since_then() -> None:
    facts = [
        said("LIKES", "coffee", 0),
        said("LIKES", "coffee", 5, negated=True),
        said("LIKES", "coffee", 9),
    ]

    assert (read("LIKES", *facts).since, read("LIKES", *facts).before) == (on(9), ())


def test_a_denial_does_not_reach_what_is_only_named_alike() -> None:
    ice = said("LIKES", "coffee ice cream", 0)

    assert read("LIKES", ice, said("LIKES", "coffee", 1, negated=True)).holding == (ice,)


@pytest.mark.parametrize(
    "gone",
    [
        said("LEFT", "Google", 5, tense="past"),
        said("QUIT", "job at Google", 5),
        said("QUIT", "job", 5, tense="past"),
        said("WORKS_AT", "Google", 5, negated=True),
    ],
    ids=["left", "quit", "quit the job", "does not"],
)
def test_who_left_works_there_no_more(gone: Memory) -> None:
    google = said("WORKS_AT", "Google", 0)

    work = read("WORKS_AT", google, gone)

    assert (work.now, work.before, work.ended[0].by) == (None, (google,), gone)


@pytest.mark.requirement("B5")
def test_a_past_fact_never_holds_now() -> None:
    """Seed 001: works at Anthropic; used to work at Google, which was said later."""
    anthropic = said("WORKS_AT", "Anthropic", 0)
    google = said("WORKS_AT", "Google", 9, tense="past")

    work = read("WORKS_AT", anthropic, google)

    assert (work.now, work.before) == (anthropic, (google,))
    assert (work.ended[0].at, work.ended[0].by) == (None, google)  # nobody said when


def test_what_was_done_stays_done() -> None:
    facts = [
        said("VISITED", "Rome", 1, tense="past", valid_from=on(0), valid_to=on(1)),
        said("BORN_IN", "Kiel", 1, tense="past"),
    ]

    assert objects(read("VISITED", facts[0]).holding) == ["Rome"]
    assert objects(read("BORN_IN", facts[1]).holding) == ["Kiel"]


def test_the_time_of_a_date_is_what_it_says_not_when_it_is_true() -> None:
    launch = said("SCHEDULED_FOR", "Monday", 0, valid_from=on(6), valid_to=on(7))

    assert read("SCHEDULED_FOR", launch, day=2).now == launch


@pytest.mark.requirement("B6")
def test_a_plan_is_coming_until_its_time() -> None:
    boston = said("LIVES_IN", "Boston", 0)
    plan = said("MOVING_TO", "NYC", 2, tense="future", valid_from=on(10))

    before = read("LIVES_IN", boston, plan, day=5)
    after = read("LIVES_IN", boston, plan, day=11)

    assert (before.now, before.coming) == (boston, (plan,))
    assert (after.now, after.coming, after.since) == (plan, (), on(10))


@pytest.mark.requirement("B6")
def test_of_an_earlier_day_more_may_be_known_today() -> None:
    boston = said("LIVES_IN", "Boston", 0)
    over = said("LIVES_IN", "Boston", 20, tense="past")
    rome = said("LIVES_IN", "Rome", 20, valid_from=on(5))

    def home(day: int, *facts: Memory) -> list[str | None]:
        return objects(interpret(facts, on(day), "LIVES_IN", known_by=on(30)).holding)

    assert [home(day, boston, rome) for day in (4, 6)] == [["Boston"], ["Rome"]]
    assert [home(day, boston, over) for day in (10, 21)] == [["Boston"], []]
    assert interpret([boston, rome], on(6), "LIVES_IN").now == boston  # by what was known then


def test_a_plan_without_a_time_stays_a_plan_until_it_is_done() -> None:
    boston = said("LIVES_IN", "Boston", 0)
    plan = said("MOVING_TO", "NYC", 2, tense="future")
    moved = said("MOVED_TO", "NYC", 20, tense="past", valid_from=on(15))

    assert read("LIVES_IN", boston, plan, day=19).coming == (plan,)
    home = read("LIVES_IN", boston, plan, moved)
    assert (home.now, home.before, home.coming, home.since) == (moved, (boston,), (), on(15))


@pytest.mark.parametrize("more", [{}, {"valid_from": on(10)}], ids=["some day", "dated"])
def test_a_plan_that_was_called_off_does_not_come(more: dict[str, Any]) -> None:
    plan = said("MOVING_TO", "NYC", 2, tense="future", **more)
    off = said("MOVING_TO", "NYC", 4, tense="future", negated=True)

    for day in (5, 30):
        home = read("LIVES_IN", plan, off, day=day)
        assert (home.now, home.coming) == (None, ())
        assert home.observations


@pytest.mark.requirement("E22")
def test_what_was_corrected_never_held_but_was_believed_before() -> None:
    monday = said("SCHEDULED_FOR", "Monday", 0)
    tuesday = said("SCHEDULED_FOR", "Tuesday", 1, supersedes=[monday.id], corrects=True)

    launch = read("SCHEDULED_FOR", monday, tuesday)

    assert (launch.holding, launch.before) == ((tuesday,), ())
    assert launch.observations == (tuesday, monday)  # nothing is removed
    assert read("SCHEDULED_FOR", monday, tuesday, day=0).now == monday


@pytest.mark.requirement("E22")
def test_what_is_superseded_held_until_then() -> None:
    mysql, redis = said("USES", "MySQL", 0), said("USES", "Redis", 1)
    postgres = said("USES", "PostgreSQL", 5, supersedes=[mysql.id])

    uses = read("USES", mysql, redis, postgres)

    assert (uses.holding, uses.before) == ((postgres, redis), (mysql,))
    assert (uses.ended[0].at, uses.ended[0].by) == (on(5), postgres)


@pytest.mark.requirement("E21")
def test_what_is_held_back_holds_only_when_nothing_else_does() -> None:
    munich = said("LIVES_IN", "Munich", 0)
    berlin = said("LIVES_IN", "Berlin", 3, held_back=True)
    gone = said("LIVES_IN", "Munich", 9, negated=True)

    assert read("LIVES_IN", munich, berlin).holding == (munich,)
    assert read("LIVES_IN", munich, berlin, gone).holding == (berlin,)


@pytest.mark.requirement("E21")
def test_low_trust_takes_nothing_from_high_trust() -> None:
    munich = said("LIVES_IN", "Munich", 0)
    tea = said("LIKES", "tea", 0)
    low: dict[str, Any] = {"trust": Trust.EXTERNAL}
    berlin = said("LIVES_IN", "Berlin", 3, supersedes=[munich.id], corrects=True, **low)

    assert read("LIVES_IN", munich, berlin).holding == (munich,)
    assert read("LIKES", tea, said("LIKES", "tea", 3, negated=True, **low)).holding == (tea,)
    assert read("LIKES", tea, said("LIKES", "tea", 3, tense="past", **low)).holding == (tea,)


@pytest.mark.requirement("E21")
def test_what_a_person_accepted_counts_as_much_as_that_person() -> None:
    munich = said("LIVES_IN", "Munich", 0)
    berlin = said(
        "LIVES_IN",
        "Berlin",
        3,
        trust=Trust.EXTERNAL,
        supersedes=[munich.id],
        accepted=int(Trust.DIRECT),
    )

    assert read("LIVES_IN", munich, berlin).holding == (berlin,)


def test_nobodys_own_metadata_says_what_holds() -> None:
    munich = said("LIVES_IN", "Munich", 0)
    forged: dict[str, Any] = {"trust": Trust.EXTERNAL, "learned": False, "accepted": 9}
    berlin = said("LIVES_IN", "Berlin", 3, supersedes=[munich.id], corrects=True, **forged)

    assert read("LIVES_IN", munich, berlin).holding == (munich,)


def test_what_was_for_a_time_is_over_with_it() -> None:
    pills = said("TAKES", "pills", 0, valid_from=on(0), valid_to=on(10))

    takes = read("TAKES", pills)

    assert (takes.now, takes.before) == (None, (pills,))
    assert (takes.ended[0].at, takes.ended[0].by) == (on(10), pills)


@pytest.mark.parametrize("marks", [{}, *({name: True} for name in ("corrects", "held_back"))])
@pytest.mark.parametrize("told_by", ["LIVES_IN", "MOVED_TO", "LIKES", "BORN_ON"])
def test_one_observation_alone_is_read_like_a_row(told_by: str, marks: dict[str, Any]) -> None:
    times = (None, on(-5), on(5), on(50))
    kinds = product(("current", "past", "future"), (True, False), times, times)
    for tense, negated, begins, ends in kinds:
        spoken: dict[str, Any] = {"tense": tense, "negated": negated, **marks}
        fact = said(told_by, "Rome", 0, valid_from=begins, valid_to=ends, **spoken)
        for day, asked in product((-1, 0, 20, 60), (told_by, "LIVES_IN", "DISLIKES")):
            read(asked, fact, day=day)


@pytest.mark.requirement("E20")
def test_each_fact_has_its_tense() -> None:
    facts = {
        "likes tea": said("LIKES", "tea", 0),
        "liked coffee": said("LIKES", "coffee", 0),
        "dislikes coffee": said("DISLIKES", "coffee", 2),
        "eats no meat": said("EATS", "meat", 0, negated=True),
        "lived in Rome": said("LIVES_IN", "Rome", 0, tense="past"),
        "lives in Oslo": said("LIVES_IN", "Oslo", 0),
        "moves to NYC": said("MOVING_TO", "NYC", 0, tense="future"),
    }

    held = tenses(list(facts.values()), on(30))

    assert {name: held[fact.id] for name, fact in facts.items()} == {
        "likes tea": Tense.CURRENT,
        "liked coffee": Tense.PAST,
        "dislikes coffee": Tense.CURRENT,
        "eats no meat": Tense.CURRENT,
        "lived in Rome": Tense.PAST,
        "lives in Oslo": Tense.CURRENT,
        "moves to NYC": Tense.FUTURE,
    }
