"""Facts of nouns: dates, schedules, states, absences, roles, places, prices and numbers."""

from __future__ import annotations

import pytest
from tests.learn.making import TWO, said

from nexusmem.learn.rules.results import Statement


def facts(text: str) -> list[str]:
    """Return the facts of a message of Alice, written on Monday, 2 March 2026."""
    return sorted(map(_note, said(text, context=TWO).facts))


def _note(fact: Statement) -> str:
    tense = "" if fact.temporal == "current" else f"{fact.temporal}: "
    negated = "not: " if fact.negated else ""
    return f"{tense}{negated}{fact.subject} {fact.predicate} {fact.object or fact.value}"


@pytest.mark.parametrize(
    ("text", "noted"),
    [
        ("The new portal goes live on 16 March.", ["future: portal SCHEDULED_FOR 2026-03-16"]),
        ("so 7.3 goes out on the 17th", ["future: 7.3 SCHEDULED_FOR 2026-03-17"]),
        (
            "Registration opens on 9 March and closes on 3 April.",
            [
                "future: Registration ENDED_ON 2026-04-03",
                "future: Registration STARTED_ON 2026-03-09",
            ],
        ),
        ("The exhibition runs until 14 June.", ["future: exhibition ENDED_ON 2026-06-14"]),
        ("The lease is up on 31 October.", ["future: lease ENDED_ON 2026-10-31"]),
        ("The permit is valid until 6 August.", ["future: permit ENDED_ON 2026-08-06"]),
        (
            "They pushed the inspection to the 27th.",
            ["future: inspection SCHEDULED_FOR 2026-03-27"],
        ),
        ("The tender has to be submitted by 15 March.", ["future: tender DUE_ON 2026-03-15"]),
        ("AGM 7 April, 19:00", ["future: AGM SCHEDULED_FOR 2026-04-07"]),
        ("harvest supper -> 13 June", ["future: harvest supper SCHEDULED_FOR 2026-06-13"]),
        (
            "payroll module go live 1 June -> 15 June",
            ["future: payroll module SCHEDULED_FOR 2026-06-15"],
        ),
        ("Lunch at ours on the 11th!", ["future: Lunch SCHEDULED_FOR 2026-03-11"]),
        ("Grandpa lands Tuesday 16:05 from Oslo", ["future: Grandpa SCHEDULED_FOR 2026-03-03"]),
        (
            "change freeze from Friday 18:00 until the 19th",
            [
                "future: change freeze ENDED_ON 2026-03-19",
                "future: change freeze STARTED_ON 2026-03-06",
            ],
        ),
        (
            "The recital is on Friday at seven in St Olav's.",
            ["future: recital LOCATED_IN St Olav's", "future: recital SCHEDULED_FOR 2026-03-06"],
        ),
    ],
)
def test_date_beside_a_noun(text: str, noted: list[str]) -> None:
    assert facts(text) == noted


@pytest.mark.parametrize(
    "text",
    [
        "Incident review 11 Feb",
        "Budget sync 2 March",
        "the tram is in 6 min",
        "My parcel went out today.",
        "The bus was late on Friday and it was crowded.",
        "I'd love to have a party on Friday.",
    ],
)
def test_no_appointment_is_read(text: str) -> None:
    assert facts(text) == []


@pytest.mark.parametrize(
    ("text", "noted"),
    [
        ("Yoga every Tuesday at 7pm in the town hall.", ["Yoga HAS_SCHEDULE every Tuesday at 7pm"]),
        (
            "Band practice is on Mondays at 19:30 now, no longer on Thursdays.",
            [
                "Band practice HAS_SCHEDULE Mondays at 19:30",
                "past: Band practice HAS_SCHEDULE Thursdays",
            ],
        ),
        ("I am off on Fridays.", ["Alice OFF Fridays"]),
        (
            "bins go out on Wednesday nights, recycling every other Friday",
            ["recycling HAS_SCHEDULE every other Friday"],
        ),
    ],
)
def test_schedule(text: str, noted: list[str]) -> None:
    assert facts(text) == noted


@pytest.mark.parametrize(
    ("text", "noted"),
    [
        ("I'm away 12–23 May.", ["future: Alice OFF 2026-05-12 to 2026-05-23"]),
        ("Ingrid is back on the 9th.", ["Ingrid HAS_STATUS away until 2026-03-09"]),
        (
            "Marguerite is back from maternity leave on 1 April.",
            ["future: not: Marguerite HAS_STATUS maternity leave"],
        ),
        ("Tomas goes on paternity leave mid May.", ["future: Tomas HAS_STATUS paternity leave"]),
        ("Perpetua is off sick till Easter.", ["Perpetua HAS_STATUS off sick"]),
        ("The visa got approved!", ["visa HAS_STATUS approved"]),
        ("The appeal has been rejected.", ["appeal HAS_STATUS rejected"]),
        ("The tickets are sold out.", ["tickets HAS_STATUS sold out"]),
        ("The lift is out of order.", ["lift HAS_STATUS out of order"]),
        (
            "The tumble dryer is leaking at the back.",
            ["tumble dryer HAS_ISSUE is leaking at the back"],
        ),
        ("The baby has reflux.", ["baby HAS_CONDITION reflux"]),
        ("Ingrid has a broken wrist.", ["Ingrid HAS_CONDITION broken wrist"]),
        ("Jonas turns 6 on 14 March.", ["Jonas BORN_ON 2020-03-14"]),
        ("We've got a pup and a kitty.", ["we HAS_PET kitty", "we HAS_PET pup"]),
    ],
)
def test_state(text: str, noted: list[str]) -> None:
    assert facts(text) == noted


@pytest.mark.parametrize(
    ("text", "noted"),
    [
        (
            "Berit Aas, head of logistics at Coldline, rang.",
            ["Berit Aas HAS_ROLE head of logistics", "Berit Aas WORKS_AT Coldline"],
        ),
        ("New warden of the hostel: Annika Holm.", ["Annika Holm HAS_ROLE warden of the hostel"]),
        (
            "Otto as treasurer, Hugh as secretary.",
            ["Hugh HAS_ROLE secretary", "Otto HAS_ROLE treasurer"],
        ),
        ("On the Coldline side it's Mr Tran.", ["Coldline HAS_CONTACT Mr Tran"]),
        ("Ask Ms Brandt, ext 2290.", ["Ms Brandt HAS_PHONE 2290"]),
        ("Hi all, I'm Jonas, the new caretaker.", ["Alice HAS_ROLE caretaker"]),
        (
            "Hello, I'm Ines Prado, the new accountant at Coldline.",
            ["Alice HAS_ROLE accountant", "Alice WORKS_AT Coldline"],
        ),
        ("The spare key is with Anouk.", ["spare key STORED_IN Anouk"]),
        ("The passports are under the blue pot.", ["passports STORED_IN blue pot"]),
        (
            "bike key hangs on the hook behind the cellar door",
            ["bike key STORED_IN hook behind the cellar door"],
        ),
        ("Licence 64k/yr", ["Licence HAS_PRICE 64k/yr"]),
        ("Plus is 139 a month.", ["Plus HAS_PRICE 139 a month"]),
        ("ugh the parking costs 24 euros a day", ["parking HAS_PRICE 24 euros a day"]),
        ("Booking KTL-5528, we asked for a sea view.", ["booking HAS_NUMBER KTL-5528"]),
        ("minibus sorted, ref 88-KT", ["minibus HAS_NUMBER 88-KT"]),
        ("The order number for the stove is RB-5512.", ["stove HAS_ORDER_NUMBER RB-5512"]),
        ("The serial number of the pump is HX 2290.", ["pump HAS_SERIAL_NUMBER HX 2290"]),
        ("The code for the locker is 5590.", ["locker HAS_CODE 5590"]),
        ("Can you order 3500 leaflets", []),
        ("My new mobile is 07700 900412.", ["Alice HAS_PHONE 07700 900412"]),
    ],
)
def test_role_place_price_and_number(text: str, noted: list[str]) -> None:
    assert facts(text) == noted


@pytest.mark.parametrize(
    "text",
    [
        "Since I was 17 or so.",
        "This is from when we were 10.",
        "She's an amazing dancer.",
        "Emma is a big supporter of equality.",
        "Art can be a real mood-booster - I saw someone drawing on the ground.",
        "I was in Chicago, it was awesome!",
        "As for me, I'm good.",
        "we're three",
        "My son keeps asking about trains.",
        "The rehearsal with Dupont is no longer on Tuesday.",
        "no drill on Wednesday",
        "They say it snows every winter in Tromsø",
        "Edvin was going to join Ericsson but changed his mind.",
        "'I gave up chocolate', says my uncle every February",
        "I set up the new oven in May.",
    ],
)
def test_small_talk_states_no_fact(text: str) -> None:
    assert facts(text) == []


@pytest.mark.parametrize(
    "text",
    ["I am off on Wednesdays.", "Autumn timetable", "Booking KTL-5528 please.", "Claim 7741-HB"],
)
def test_days_and_codes_are_no_names(text: str) -> None:
    names = {each.name for each in said(text, context=TWO).entities}

    assert not names & {"Wednesdays", "Autumn", "KTL", "HB", "Claim", "Booking"}
