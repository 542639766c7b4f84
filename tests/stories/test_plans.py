"""Plans that later messages move, place or call off without naming them."""

from __future__ import annotations

import pytest
from tests.conftest import Clock

from nexusmem import Nexus, Place

pytestmark = pytest.mark.requirement("B4")


@pytest.fixture
def room(nexus: Nexus) -> Place:
    return nexus.workspace("acme").room("office", agent="scribe", participants=["alice", "bob"])


def tell(place: Place, clock: Clock, *messages: tuple[str, str]) -> None:
    for speaker, text in messages:
        clock.advance(minutes=30)
        place.observe(speaker, text)
    place.flush()
    clock.advance(minutes=1)


def values(place: Place, subject: str, predicate: str = "SCHEDULED_FOR") -> list[object]:
    timeline = place.fact_timeline(subject, predicate)
    return [each.fact.object or each.fact.value for each in timeline.current]


@pytest.mark.parametrize(
    ("news", "day"),
    [
        ("They've moved it to 19 June.", "2026-06-19"),
        ("they moved it! 19 June, of all days", "2026-06-19"),
        ("it got pushed back to the 19th of June", "2026-06-19"),
        ("Postponed until 19 June, the hall has no roof.", "2026-06-19"),
        ("new date: 19 June", "2026-06-19"),
        ("Let's make it 19 June.", "2026-06-19"),
        ("make that 19 June", "2026-06-19"),
        ("19 June it is", "2026-06-19"),
        ("19 June instead, sorry", "2026-06-19"),
        ("it's on 19 June now", "2026-06-19"),
        ("it's a week later, the printer is slow", "2026-06-12"),
        ("They brought it forward by two days.", "2026-06-03"),
    ],
)
def test_plan_moves_without_being_named(room: Place, clock: Clock, news: str, day: str) -> None:
    tell(room, clock, ("alice", "The exhibition is on 5 June."), ("bob", "Lovely."), ("bob", news))

    assert values(room, "exhibition") == [day]
    timeline = room.fact_timeline("exhibition", "SCHEDULED_FOR")
    assert [each.fact.value for each in timeline.before] == ["2026-06-05"]
    (newest, *_) = timeline.observations
    assert len(newest.sources) == 2  # the news and the message that names the plan


def test_plan_moves_when_it_is_named(room: Place, clock: Clock) -> None:
    tell(
        room,
        clock,
        ("alice", "The exhibition is on 5 June."),
        ("bob", "We pushed the exhibition to 19 June"),
    )

    assert values(room, "exhibition") == ["2026-06-19"]
    timeline = room.fact_timeline("exhibition", "SCHEDULED_FOR")
    assert [each.fact.value for each in timeline.before] == ["2026-06-05"]


@pytest.mark.parametrize(
    "news",
    [
        "it's off, the band is ill",
        "It has been cancelled.",
        "We had to call it off.",
        "sadly it fell through",
        "it's not going ahead",
        "exhibition's off",
        "So the exhibition is on hold, sorry all",
    ],
)
def test_plan_is_called_off_without_being_named(room: Place, clock: Clock, news: str) -> None:
    tell(room, clock, ("alice", "The exhibition is on 5 June."), ("bob", "Lovely."), ("bob", news))

    assert values(room, "exhibition") == []
    before = room.fact_timeline("exhibition", "SCHEDULED_FOR").before
    assert [each.fact.value for each in before] == ["2026-06-05"]


@pytest.mark.parametrize(
    "words",
    [
        "Could they move it to 19 June?",
        "If it rains we'll make it 19 June.",
        "maybe it's off",
        "I moved to Leeds on 19 June.",
        "Is it off?",
        "The milk is off.",
        "I'm off until 19 June",
        "My cousin's recital is on 19 June.",
    ],
)
def test_other_words_leave_the_plan(room: Place, clock: Clock, words: str) -> None:
    tell(room, clock, ("alice", "The exhibition is on 5 June."), ("bob", words))

    assert values(room, "exhibition") == ["2026-06-05"]


def test_follow_up_that_may_mean_two_plans_changes_none(room: Place, clock: Clock) -> None:
    plans = "The exhibition is on 5 June. The auction is on 6 June."
    tell(room, clock, ("alice", plans), ("bob", "They moved it to 19 June."))

    assert values(room, "exhibition") == ["2026-06-05"]
    assert values(room, "auction") == ["2026-06-06"]


def test_past_plan_is_not_moved(room: Place, clock: Clock) -> None:
    tell(room, clock, ("alice", "The exhibition is on 5 March."))
    clock.advance(days=30)
    tell(room, clock, ("bob", "They moved it to 19 June."))

    assert values(room, "exhibition") == ["2026-03-05"]


def test_cancelled_plan_gets_another_date(room: Place, clock: Clock) -> None:
    first = [("alice", "The exhibition is on 5 June."), ("alice", "It's off.")]
    tell(room, clock, *first)
    assert values(room, "exhibition") == []

    tell(room, clock, ("alice", "Right. 3 July, at the Granary."))

    assert values(room, "exhibition") == ["2026-07-03"]
    assert values(room, "exhibition", "LOCATED_IN") == ["Granary"]


def test_accepted_proposal_dates_a_cancelled_plan(room: Place, clock: Clock) -> None:
    tell(
        room,
        clock,
        ("alice", "The exhibition is on 5 June."),
        ("alice", "It's cancelled."),
        ("alice", "how about 3 July?"),
        ("bob", "works for me"),
    )

    assert values(room, "exhibition") == ["2026-07-03"]


def test_proposal_leaves_a_plan_that_stands(room: Place, clock: Clock) -> None:
    question = ("alice", "are you free on 3 July?")
    tell(room, clock, ("alice", "The exhibition is on 5 June."), question, ("bob", "yes"))

    assert values(room, "exhibition") == ["2026-06-05"]


def test_deadline_of_the_conversation_moves(room: Place, clock: Clock) -> None:
    tell(
        room,
        clock,
        ("alice", "The survey is due on 5 June."),
        ("alice", "We got more time, new deadline 19 June."),
    )

    assert values(room, "survey", "DUE_ON") == ["2026-06-19"]


def test_venue_belongs_to_the_plan(room: Place, clock: Clock) -> None:
    tell(
        room,
        clock,
        ("alice", "The exhibition is on 5 June."),
        ("bob", "venue sorted, it's the Corn Exchange"),
        ("bob", "new venue: Harbour House"),
    )

    assert values(room, "exhibition", "LOCATED_IN") == ["Harbour House"]


def test_erasing_the_plan_erases_its_move(nexus: Nexus, room: Place, clock: Clock) -> None:
    clock.advance(minutes=1)
    plan = room.observe("alice", "The exhibition is on 5 June.")
    tell(room, clock, ("bob", "They moved it to 19 June."))
    assert values(room, "exhibition") == ["2026-06-19"]

    nexus.workspace("acme").forget(event=plan)

    assert values(room, "exhibition") == []


def test_handover_ends_the_holder_before(room: Place, clock: Clock) -> None:
    tell(room, clock, ("alice", "Igor is responsible for the greenhouse."))
    tell(room, clock, ("alice", "Vera is responsible for the greenhouse from today."))

    assert values(room, "Vera", "RESPONSIBLE_FOR") == ["greenhouse"]
    assert values(room, "Igor", "RESPONSIBLE_FOR") == []
    before = room.fact_timeline("Igor", "RESPONSIBLE_FOR").before
    assert [each.fact.value for each in before] == ["greenhouse"]


def test_second_holder_without_a_handover_ends_nobody(room: Place, clock: Clock) -> None:
    tell(room, clock, ("alice", "Igor is responsible for the greenhouse."))
    tell(room, clock, ("alice", "Vera is responsible for the greenhouse."))

    assert values(room, "Igor", "RESPONSIBLE_FOR") == ["greenhouse"]


def test_pet_that_died_is_no_longer_a_pet(room: Place, clock: Clock) -> None:
    tell(room, clock, ("alice", "We have a cat called Mushka."))
    assert values(room, "alice", "HAS_PET") == ["Mushka"]

    tell(room, clock, ("alice", "Mushka died yesterday."))

    assert values(room, "alice", "HAS_PET") == []


def test_name_is_not_corrected_to_a_number(room: Place, clock: Clock) -> None:
    tell(room, clock, ("alice", "I'm moving to Leeds in June."))
    tell(room, clock, ("alice", "so Hull on july 1, not Leeds"))

    upcoming = room.fact_timeline("alice", "MOVING_TO").upcoming
    assert "1" not in [each.fact.object or each.fact.value for each in upcoming]


def test_amount_corrects_the_nearest_amount_and_no_date(room: Place, clock: Clock) -> None:
    tell(
        room,
        clock,
        ("alice", "The regatta is on 14 June."),
        ("alice", "The kennel costs 35 euros. Sorry, I meant 45 euros."),
    )

    assert values(room, "regatta") == ["2026-06-14"]
    assert values(room, "kennel", "HAS_PRICE") == ["45 euros"]
    assert room.fact_timeline("kennel", "HAS_PRICE").before == ()


def test_amount_of_another_unit_corrects_nothing(room: Place, clock: Clock) -> None:
    tell(room, clock, ("bob", "The kennel costs 70 euros."), ("bob", "Sorry, I meant 12 kg."))

    assert values(room, "kennel", "HAS_PRICE") == ["70 euros"]


def test_person_does_not_correct_a_place(room: Place, clock: Clock) -> None:
    told = "I live in Bergen and my landlord is Sandra Moe. Sorry, I meant Sara Moe."
    tell(room, clock, ("bob", told))

    assert values(room, "bob", "LIVES_IN") == ["Bergen"]


@pytest.mark.parametrize(
    ("first", "later", "subject"),
    [
        ("My mother Ingrid lives in Umeå.", "Mum moved to Kiruna.", "Ingrid"),
        ("My mum lives in Umeå.", "My mother moved to Kiruna.", "bob's mum"),
        ("My dad lives in Umeå.", "My father lives in Kiruna now.", "bob's dad"),
    ],
)
def test_relative_has_several_names(
    room: Place, clock: Clock, first: str, later: str, subject: str
) -> None:
    tell(room, clock, ("bob", first), ("alice", "Nice."), ("bob", later))

    assert values(room, subject, "LIVES_IN") == ["Kiruna"]
    before = room.fact_timeline(subject, "LIVES_IN").before
    assert [each.fact.object for each in before] == ["Umeå"]


def test_two_relatives_stay_apart(room: Place, clock: Clock) -> None:
    tell(room, clock, ("bob", "My mum lives in Umeå."), ("alice", "My mother lives in Kiruna."))

    assert values(room, "bob's mum", "LIVES_IN") == ["Umeå"]
    assert values(room, "alice's mother", "LIVES_IN") == ["Kiruna"]
