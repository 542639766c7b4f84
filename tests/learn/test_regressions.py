"""Regression tests: sentences that a rule once misread."""

from __future__ import annotations

import pytest
from tests.learn.making import MONDAY, TWO, relations, said

from nexusmem.learn.rules.results import LandmarkKind, StatementTense

# -- two people are two


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (
            "Tyler and Sarah live in Berlin.",
            [("Tyler", "LIVES_IN", "Berlin"), ("Sarah", "LIVES_IN", "Berlin")],
        ),
        ("I met Anil and Kofi.", [("Alice", "MET", "Anil"), ("Alice", "MET", "Kofi")]),
        (
            "My brothers Tom and Max are pilots.",
            [("Alice", "SIBLING_OF", "Tom"), ("Alice", "SIBLING_OF", "Max")],
        ),
    ],
)
def test_coordinated_subjects_have_one_fact_each(
    text: str, facts: list[tuple[str, str, str]]
) -> None:
    found = said(text)

    assert [each for each in relations(found) if each[1] != "HAS_ROLE"] == facts
    assert not [entity.name for entity in found.entities if " and " in entity.name]


def test_company_name_may_contain_and() -> None:
    found = said("I work at Marks and Spencer.")

    assert relations(found) == [("Alice", "WORKS_AT", "Marks and Spencer")]


# -- landmarks keep the words of the speaker


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("I love pottery and I prefer short answers.", LandmarkKind.PREFERENCE_STATED),
        ("I promise to paint the fence and I'm sure about it.", LandmarkKind.COMMITMENT),
        ("My sister and I've decided to buy a boat.", LandmarkKind.DECISION),
        ("Max and I decided to buy a boat.", LandmarkKind.DECISION),
    ],
)
def test_landmark_is_verbatim(text: str, kind: LandmarkKind) -> None:
    (landmark,) = said(text, context=TWO).landmarks

    assert (landmark.kind, landmark.text) == (kind, text)


# -- joining


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("I joined a travel club.", ("Alice", "MEMBER_OF", "travel club")),
        ("We joined a hiking group.", ("we", "MEMBER_OF", "hiking group")),
        ("I joined the Lisbon Chess Club.", ("Alice", "MEMBER_OF", "Lisbon Chess Club")),
        ("I joined Volvo.", ("Alice", "WORKS_AT", "Volvo")),
        ("I joined a small startup.", ("Alice", "WORKS_AT", "small startup")),
    ],
)
def test_joining_a_club_is_no_employment(text: str, fact: tuple[str, str, str]) -> None:
    assert relations(said(text)) == [fact]


def test_joining_an_event_is_no_membership() -> None:
    assert said("I joined the tournament on time.").facts == ()


def test_joining_is_a_current_membership() -> None:
    (fact,) = said("I joined a travel club.").facts

    assert fact.temporal is StatementTense.CURRENT


# -- what is to be remembered, and what is to be done


@pytest.mark.parametrize(
    "text",
    [
        "Please remember that I prefer tea.",
        "Remember that I prefer tea.",
        "Please note that I prefer tea.",
        "Please keep in mind that I prefer tea.",
    ],
)
def test_statement_to_remember_is_no_task(text: str) -> None:
    found = said(text)

    assert [each.kind for each in found.landmarks] == [LandmarkKind.PREFERENCE_STATED]
    assert relations(found) == [("Alice", "PREFERS", "tea")]
    assert text.endswith(found.facts[0].sentence)


def test_remember_to_do_is_a_task() -> None:
    (landmark,) = said("Please remember to send the report.").landmarks

    assert landmark.kind is LandmarkKind.ACTION_ITEM


# -- decisions


@pytest.mark.parametrize(
    "text",
    [
        "We decided to use PostgreSQL instead of MySQL.",
        "We have agreed to use PostgreSQL.",
        "Decision: we will use PostgreSQL.",
    ],
)
def test_decision_is_current(text: str) -> None:
    found = said(text)

    current = [fact for fact in found.facts if fact.temporal is StatementTense.CURRENT]
    assert [(fact.subject, fact.predicate, fact.object) for fact in current] == [
        ("Apollo", "USES", "PostgreSQL")
    ]


def test_future_decision_is_not_current() -> None:
    assert said("We will use PostgreSQL.").facts[0].temporal is StatementTense.FUTURE


# -- a date belongs to the clause it stands in


@pytest.mark.parametrize(
    "text",
    [
        "I'm allergic to peanuts, so please no satay on Friday",
        "Please no satay on Friday, I'm allergic to peanuts.",
        "I love hiking, see you on Friday.",
        "I love skiing in February.",
        "I live in Berlin, let's meet on Friday.",
        "Jenny is my sister, so be nice on Friday.",
    ],
)
def test_date_of_another_clause_is_not_validity(text: str) -> None:
    (fact,) = said(text).facts

    assert (fact.valid_from, fact.valid_to) == (None, None)


@pytest.mark.parametrize(
    ("text", "year"),
    [
        ("I've been allergic to peanuts since 2019.", 2019),
        ("In 2020, I moved to Berlin.", 2020),
        ("I married Luis in 2021, but we met long before.", 2021),
    ],
)
def test_date_of_the_clause_is_validity(text: str, year: int) -> None:
    since = said(text).facts[0].valid_from

    assert since is not None
    assert since.year == year


# -- plans


@pytest.mark.parametrize(
    "text",
    [
        "I'm getting married in September to Luis!",
        "I'm getting married to Luis in September!",
        "I'm flying to Rome on Friday.",
        "We are launching Apollo in May.",
    ],
)
def test_progressive_with_future_date_is_a_plan(text: str) -> None:
    (fact,) = said(text).facts

    assert fact.temporal is StatementTense.FUTURE
    assert fact.valid_from is not None
    assert fact.valid_from > MONDAY
    assert fact.valid_from.year == MONDAY.year


def test_getting_married_names_the_partner() -> None:
    found = relations(said("I'm getting married in September to Luis!"))

    assert found == [("Alice", "SPOUSE_OF", "Luis")]


def test_progressive_with_since_is_no_plan() -> None:
    assert said("I'm working at Google since January.").facts[0].temporal is StatementTense.CURRENT


# -- never


@pytest.mark.parametrize("text", ["I never liked Java.", "I've never liked Java."])
def test_never_liked_is_a_current_denial(text: str) -> None:
    (fact,) = said(text).facts

    assert (fact.predicate, fact.value) == ("DISLIKES", "Java")
    assert fact.temporal is StatementTense.CURRENT


def test_past_denial_is_not_current() -> None:
    denials = said("I didn't like Java.").facts

    assert StatementTense.CURRENT not in [fact.temporal for fact in denials]


# -- a condition is no fact


@pytest.mark.parametrize(
    "text",
    [
        "Sarah's going to kill me if I miss the call",
        "Let me know if I miss the call.",
        "Tell me whether she moved to Berlin.",
        "Bring a coat in case I move to Berlin.",
        "I'll be fine unless I lose my job at Volvo.",
        "Remind me when I work at Volvo.",
        "Call the bank once I live in Berlin.",
    ],
)
def test_condition_is_no_fact(text: str) -> None:
    assert said(text).facts == ()


def test_when_clause_in_the_past_is_a_fact() -> None:
    found = relations(said("When I lived in Berlin I worked at Siemens."))

    assert found == [("Alice", "LIVES_IN", "Berlin"), ("Alice", "WORKS_AT", "Siemens")]


# -- reasons


@pytest.mark.parametrize(
    "text",
    [
        "The launch slipped because Priya is on parental leave.",
        "The launch flopped because Priya is on parental leave.",
        "Everything slipped though Priya is on parental leave.",
    ],
)
def test_reason_has_its_own_subject(text: str) -> None:
    assert relations(said(text)) == [("Priya", "HAS_STATUS", "parental leave")]


# -- what is shortened


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("I work at St. Mary's.", ("Alice", "WORKS_AT", "St. Mary's")),
        ("I'm a nurse at St. Mary's.", ("Alice", "HAS_ROLE", "nurse")),
        ("I met Mr. Smith.", ("Alice", "MET", "Mr. Smith")),
        ("I met J. R. Tolkien yesterday.", ("Alice", "MET", "J. R. Tolkien")),
        ("My boss is Prof. Miller.", ("Alice", "REPORTS_TO", "Prof. Miller")),
        ("Mrs. Jones lives in St. Louis.", ("Mrs. Jones", "LIVES_IN", "St. Louis")),
        ("I like fruit, e.g. apples and pears.", ("Alice", "LIKES", "fruit")),
        ("I work at Acme Inc. and love it.", ("Alice", "WORKS_AT", "Acme Inc")),
    ],
)
def test_abbreviation_does_not_end_a_sentence(text: str, fact: tuple[str, str, str]) -> None:
    found = said(text)

    assert relations(found)[:1] == [fact]
    assert found.facts[0].source.end == len(text)
    assert not {"Mr", "Mrs", "Prof", "St", "J", "R"} & {each.name for each in found.entities}


def test_title_stays_part_of_the_name() -> None:
    found = said("I have a meeting with Dr. Lee tomorrow.")

    assert found.facts[0].value == "2026-03-03"
    assert ("Dr. Lee", "person") in [(each.name, each.type) for each in found.entities]


def test_two_titles_are_two_people() -> None:
    found = relations(said("I met Mr. Smith and Mrs. Jones."))

    assert found == [("Alice", "MET", "Mr. Smith"), ("Alice", "MET", "Mrs. Jones")]


@pytest.mark.parametrize(
    "text",
    [
        "Bob works at Acme Inc. My boss is Tom.",
        "I said no. My boss is Tom.",
    ],
)
def test_sentence_may_end_with_an_abbreviation(text: str) -> None:
    assert relations(said(text))[-1] == ("Alice", "REPORTS_TO", "Tom")


# -- ways of speaking


@pytest.mark.parametrize(
    "text",
    [
        "I hate to say it but it is late.",
        "I work for a living.",
        "I live in hope.",
        "I joined here last year.",
        "Monday killed me.",
        "Sent from my iPhone",
    ],
)
def test_idiom_is_no_fact(text: str) -> None:
    found = said(text)

    assert (found.facts, found.landmarks) == ((), ())


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("I work for Volvo.", ("Alice", "WORKS_AT", "Volvo")),
        ("I live in Hope Valley.", ("Alice", "LIVES_IN", "Hope Valley")),
        ("I married Luis.", ("Alice", "SPOUSE_OF", "Luis")),
        ("I married my old neighbour.", ("Alice", "SPOUSE_OF", "old neighbour")),
        ("My dog is called Rex.", ("Alice", "HAS_PET", "Rex")),
    ],
)
def test_literal_use_of_an_idiom_is_a_fact(text: str, fact: tuple[str, str, str]) -> None:
    assert relations(said(text)) == [fact]


@pytest.mark.parametrize(
    ("text", "never"),
    [
        ("I married too young.", "SPOUSE_OF"),
        ("I'll call Bob tomorrow.", "NAMED"),
        ("Sarah Miller called about the invoice.", "NAMED"),
        ("I was called about the invoice.", "NAMED"),
    ],
)
def test_verb_without_object_makes_no_relation(text: str, never: str) -> None:
    assert never not in [predicate for _, predicate, _ in relations(said(text))]


# -- skills


@pytest.mark.parametrize(
    ("text", "predicate", "values"),
    [
        ("I know Python.", "SKILLED_IN", ["Python"]),
        ("I know Rust and Python.", "SKILLED_IN", ["Rust", "Python"]),
        ("I know C++.", "SKILLED_IN", ["C++"]),
        ("I speak Spanish.", "SPEAKS", ["Spanish"]),
    ],
)
def test_known_language_is_a_skill(text: str, predicate: str, values: list[str]) -> None:
    found = said(text)

    assert relations(found) == [("Alice", predicate, value) for value in values]
    assert [each.name for each in found.entities if each.type == "person"] == ["Alice"]


def test_known_person_is_a_relation() -> None:
    assert relations(said("I know Kofi.")) == [("Alice", "KNOWS", "Kofi")]


@pytest.mark.parametrize("text", ["I know English teachers in Rome.", "I know Ruby from school."])
def test_person_named_like_a_language_is_no_skill(text: str) -> None:
    assert not {"SKILLED_IN", "SPEAKS"} & {fact.predicate for fact in said(text).facts}


# -- values without a tail


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("My budget is $50k, not $40k.", "$50k"),
        ("The deadline is June 16th, not the 15th.", "2026-06-16"),
        ("The ticket price is $50k and not $40k.", "$50k"),
        ("I live in Berlin now lol", "Berlin"),
        ("I moved to Berlin haha", "Berlin"),
        ("I use Vim, not Emacs.", "Vim"),
    ],
)
def test_value_ends_at_the_next_clause(text: str, value: str) -> None:
    (fact,) = said(text).facts

    assert (fact.object or fact.value) == value


# -- mail, and what is asked


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("On Mon, Mar 2, Bob wrote:", []),
        ("See you on Mon, Mar 2 in the Lisbon office.", ["Lisbon"]),
    ],
)
def test_days_and_months_are_no_entities(text: str, names: list[str]) -> None:
    assert [each.name for each in said(text).entities] == names


def test_quoted_mail_is_not_the_speakers() -> None:
    found = said("I live in Rome.\n\nOn Mon, Mar 2, 2026 at 9:00 Bob wrote:\n> I live in Oslo.")

    assert relations(found) == [("Alice", "LIVES_IN", "Rome")]
    assert "Bob" not in [each.name for each in found.entities]


@pytest.mark.parametrize(
    "text", ["Can you send me the file?", "Could you please send me the file?"]
)
def test_request_without_a_date_is_no_task(text: str) -> None:
    found = said(text, context=TWO)

    assert found.landmarks == ()
    assert found.facts == ()


def test_request_with_a_date_is_a_task_of_the_other() -> None:
    (task,) = said("Can you send me the file by Friday?", context=TWO).landmarks

    assert (task.kind, task.owner) == (LandmarkKind.ACTION_ITEM, "Bob")
