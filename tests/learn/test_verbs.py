"""Verbs of the relation table: what begins, states and ends a relation, and what states nothing."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.learn.making import TWO, said

from nexusmem.learn.rules import MessageContext
from nexusmem.learn.rules.relations import load_rules


def facts_of(text: str, context: MessageContext = TWO) -> list[str]:
    """Return the facts of a message of Alice, written to Bob on Monday, 2 March 2026."""
    found = []
    for fact in said(text, context=context).facts:
        tense = "" if fact.temporal == "current" else f"{fact.temporal}: "
        negated = "not: " if fact.negated else ""
        found.append(f"{tense}{negated}{fact.subject} {fact.predicate} {fact.object or fact.value}")
    return sorted(found)


@pytest.mark.requirement("A5")
@pytest.mark.parametrize(
    "text",
    [
        "I love the colours in this photo.",
        "Loving your energy today!",
        "Glad you liked the cake.",
        "I'm enjoying the sunshine.",
        "I really like that idea and the calm it brings.",
        "You love old trains.",
        "We're like a big family here.",
    ],
)
def test_reaction_is_no_taste(text: str) -> None:
    assert facts_of(text) == []


@pytest.mark.requirement("A5")
@pytest.mark.parametrize(
    ("text", "noted"),
    [
        ("I love rhubarb.", ["Alice LIKES rhubarb"]),
        ("Petra hates karaoke.", ["Petra DISLIKES karaoke"]),
        ("I've always loved ice hockey.", ["Alice LIKES ice hockey"]),
        ("I like tea more than coffee.", ["Alice PREFERS tea"]),
    ],
)
def test_taste_has_a_kind_of_thing(text: str, noted: list[str]) -> None:
    assert facts_of(text) == noted


@pytest.mark.requirement("A5")
@pytest.mark.parametrize(
    "text",
    [
        "We played cards and ate noodles.",
        "I used my savings.",
        "He handled all the details.",
        "We can play pinball there.",
        "The battery died yesterday.",
        "We stopped at Lidl.",
        "We went to Siemens for lunch.",
        "I sat on the board and broke it.",
        "I have the tickets.",
        "I got to work with a potter on a vase.",
        "Teamwork plays a big part.",
    ],
)
def test_occasion_is_no_habit(text: str) -> None:
    assert facts_of(text) == []


@pytest.mark.requirement("A5")
@pytest.mark.parametrize(
    "text",
    [
        "We are saving money to teach our kids German.",
        "I'm proud of using Linux.",
        "They met for drinking beer.",
        "The town needs more parks.",
        "We are thinking of a dog and to teach our kids patience.",
        "We're considering renting a van and using Uber.",
        "I took the kids to the museum - it was nice time with them.",
        "We hired a plumber.",
        "I'm working on a shed for a bakery.",
    ],
)
def test_aim_means_and_opinion_state_nothing(text: str) -> None:
    assert [each for each in facts_of(text) if "WORKING_ON" not in each] == []


@pytest.mark.requirement("A5")
@pytest.mark.parametrize(
    ("text", "noted"),
    [
        ("I got a job at Ericsson.", ["Alice WORKS_AT Ericsson"]),
        ("Lena handed in her notice at Vodafone.", ["future: not: Lena WORKS_AT Vodafone"]),
        ("Tom was let go from Nokia.", ["past: Tom WORKS_AT Nokia"]),
        ("Karin takes on the night manager post.", ["Karin HAS_ROLE night manager"]),
        ("They appointed Maria head of design.", ["Maria HAS_ROLE head of design"]),
        ("Ben stands in for Lucia.", ["Ben COVERS_FOR Lucia"]),
        ("Karin does the rota.", ["Karin RESPONSIBLE_FOR rota"]),
        ("The hiring is with Petra.", ["Petra RESPONSIBLE_FOR hiring"]),
        ("Payroll goes to Karin.", ["Karin RESPONSIBLE_FOR Payroll"]),
        ("The newsletter is run by Sofia.", ["Sofia RESPONSIBLE_FOR newsletter"]),
        (
            "I handed over the billing service to Clara.",
            [
                "Clara RESPONSIBLE_FOR billing service",
                "past: Alice RESPONSIBLE_FOR billing service",
            ],
        ),
        ("I joined a rowing club.", ["Alice MEMBER_OF rowing club"]),
        ("I quit the gym.", ["past: Alice MEMBER_OF gym"]),
        ("I sing in the cathedral choir.", ["Alice MEMBER_OF cathedral choir"]),
    ],
)
def test_work_and_membership(text: str, noted: list[str]) -> None:
    assert facts_of(text) == noted


@pytest.mark.requirement("A5")
@pytest.mark.parametrize(
    ("text", "noted"),
    [
        ("We settled in Gothenburg.", ["we LIVES_IN Gothenburg"]),
        ("My parents moved back to Seville.", ["Alice's parents LIVES_IN Seville"]),
        ("We stay in Galway tonight.", []),
        ("Dad was put on warfarin.", ["Alice's dad TAKES_MEDICATION warfarin"]),
        ("They put my mother on Metformin.", ["Alice's mother TAKES_MEDICATION Metformin"]),
        ("I came off sertraline.", ["past: Alice TAKES_MEDICATION sertraline"]),
        ("I broke my wrist.", ["Alice HAS_CONDITION broken wrist"]),
        ("Nina went vegan.", ["Nina HAS_DIET vegan"]),
        ("Noah doesn't touch shellfish.", ["not: Noah EATS shellfish"]),
        ("I'm seeing Marco.", ["Alice DATING Marco"]),
        ("I went out with Marco and Eva.", []),
        ("Sara and Tim tied the knot.", ["Sara SPOUSE_OF Tim"]),
        ("Grandpa passed away in 2019.", ["past: Alice's grandpa DIED_ON 2019"]),
        ("We're fostering a greyhound, Captain.", ["we HAS_PET Captain"]),
        ("Milo, my dog, died in May.", []),
        ("I'm doing a PhD at ETH.", ["Alice STUDIES_AT ETH"]),
        (
            "My daughter starts at the Montessori school in August.",
            ["future: Alice's daughter STUDIES_AT Montessori school"],
        ),
        ("Alexander goes by Xander.", ["Alexander ALSO_KNOWN_AS Xander"]),
        ("Hanna is expecting twins.", ["future: Hanna EXPECTING twins"]),
    ],
)
def test_home_health_and_people(text: str, noted: list[str]) -> None:
    assert facts_of(text) == noted


@pytest.mark.requirement("A5")
@pytest.mark.parametrize(
    ("text", "noted"),
    [
        ("We swapped Jira for Linear.", ["past: we USES Jira", "we USES Linear"]),
        ("Jenkins was replaced by Buildkite.", ["past: we USES Jenkins", "we USES Buildkite"]),
        ("We moved off Heroku.", ["past: we USES Heroku"]),
        ("The backend is written in Kotlin.", ["backend USES Kotlin"]),
        ("Expenses go through Spendesk.", ["we USES Spendesk"]),
        ("The wiki talks to Keycloak.", ["wiki CONNECTS_TO Keycloak"]),
        ("The spare key hangs on the hook.", ["spare key STORED_IN hook"]),
        ("I put the drill in the shed.", ["drill STORED_IN shed"]),
        ("We got rid of the caravan.", ["past: we OWNS caravan"]),
        (
            "The outage was caused by an expired certificate.",
            ["past: outage CAUSED_BY expired certificate"],
        ),
        ("I cancelled Netflix.", ["past: Alice SUBSCRIBED_TO Netflix"]),
        ("We pay 300 euros a month for the office.", ["office HAS_PRICE 300 euros a month"]),
        ("I owe Ben 40 euros.", ["Alice OWES 40 euros to Ben"]),
    ],
)
def test_tools_places_and_money(text: str, noted: list[str]) -> None:
    assert facts_of(text) == noted


@pytest.mark.requirement("A5")
def test_contracted_perfect_is_no_passive() -> None:
    assert facts_of("Dad's given up the allotment.") == ["past: Alice's dad OWNS allotment"]


@pytest.mark.requirement("A5")
def test_each_line_of_the_table_is_read() -> None:
    rules = load_rules()
    changes = {rule.change for each in rules.values() for rule in each}
    assert changes <= set("state habit taste present seeing injury begin end coming event".split())
    arguments = {word for each in rules.values() for rule in each for word in rule.argument}
    assert not {word for word in arguments if not word.isalpha()}
    assert len(rules) > 300


@pytest.mark.requirement("A5")
@pytest.mark.parametrize(
    ("text", "noted"),
    [
        (
            "I live in Aarhus now, not in Odense anymore.",
            ["Alice LIVES_IN Aarhus", "past: Alice LIVES_IN Odense"],
        ),
        (
            "Petra now works at Siemens, not Bosch any more.",
            ["Petra WORKS_AT Siemens", "past: Petra WORKS_AT Bosch"],
        ),
        (
            "I now live in Aarhus and no longer in Odense.",
            ["Alice LIVES_IN Aarhus", "past: Alice LIVES_IN Odense"],
        ),
        (
            "We use Grafana now, no longer Kibana.",
            ["past: we USES Kibana", "we USES Grafana"],
        ),
        ("I don't live in Odense anymore.", ["past: Alice LIVES_IN Odense"]),
    ],
)
def test_contrast_ends_the_old_value(text: str, noted: list[str]) -> None:
    assert facts_of(text) == noted


@pytest.mark.requirement("A5")
@pytest.mark.parametrize(
    "text",
    [
        "I'm thinking of buying a canoe.",
        "Thinking about moving to Turku.",
        "I've been dreaming of moving to Turku.",
        "I'll order the blue chair.",
        "I'll buy a bike next week.",
        "ok, cancelled Marta",
        "The quiz night starts at 19:00.",
    ],
)
def test_thought_and_promise_are_no_facts(text: str) -> None:
    assert facts_of(text) == []


@pytest.mark.requirement("A5")
@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("I will leave Siemens at the end of the year.", "from 2026-12-31"),
        ("I'm moving to Turku at the end of June.", "from 2026-06-30"),
        ("I sold the van yesterday.", "until 2026-03-01"),
        ("I quit Siemens in December.", "until 2025-12-31"),
        ("We stopped using Jenkins in 2024.", "until 2024-12-31"),
        ("I started learning Finnish in January.", "from 2026-01-01"),
        ("Tom works at Nokia starting May 4.", "from 2026-05-04"),
        ("The rehearsal moved to May 18.", "from 2026-05-18"),
    ],
)
def test_dates_of_begin_and_end(text: str, day: str) -> None:
    (fact,) = said(text, context=TWO).facts
    if fact.valid_to is not None:
        assert f"until {(fact.valid_to - timedelta(microseconds=1)).date()}" == day
    else:
        assert fact.valid_from is not None
        assert f"from {fact.valid_from.date()}" == day


@pytest.mark.requirement("A5")
@pytest.mark.parametrize(
    "text", ["On vacation from June 1 to June 12.", "I'm on vacation from June 1 to June 12."]
)
def test_absence_has_both_days(text: str) -> None:
    (fact,) = said(text, context=TWO).facts
    assert (fact.subject, fact.predicate) == ("Alice", "HAS_STATUS")
    assert fact.valid_from is not None
    assert fact.valid_to is not None
    assert (fact.valid_from.date().isoformat(), fact.valid_to.date().isoformat()) == (
        "2026-06-01",
        "2026-06-13",
    )


@pytest.mark.requirement("A5")
@pytest.mark.parametrize(
    ("text", "noted"),
    [
        ("My wife Lotte works at Acme.", ["Alice SPOUSE_OF Lotte", "Lotte WORKS_AT Acme"]),
        ("My cousin Jenny lives in York.", ["Alice RELATIVE_OF Jenny", "Jenny LIVES_IN York"]),
        ("My roommate Kofi likes jazz.", ["Alice LIVES_WITH Kofi", "Kofi LIKES jazz"]),
        ("Our cat Miso is allergic to beef.", ["Miso ALLERGIC_TO beef", "we HAS_PET Miso"]),
        ("Priya lives in Ghent.", ["Priya LIVES_IN Ghent"]),
        ("Lieke moved to Ghent.", ["Lieke LIVES_IN Ghent"]),
        ("Bob owes me 20 euros.", ["Bob OWES 20 euros to Alice"]),
        ("I owe Tom 15 euros.", ["Alice OWES 15 euros to Tom"]),
    ],
)
def test_name_beside_kin_is_the_subject(text: str, noted: list[str]) -> None:
    assert facts_of(text) == noted
