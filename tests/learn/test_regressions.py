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

    assert relations(found)[:2] == facts
    assert not [entity.name for entity in found.entities if " and " in entity.name]


def test_company_name_may_contain_and() -> None:
    found = relations(said("Marks and Spencer launched a new shop."))

    assert [subject for subject, _, _ in found] == ["Marks and Spencer"]


# -- "I", written as a name


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "I love pottery and I prefer short answers.",
            "Alice loves pottery and Alice prefers short answers.",
        ),
        (
            "I promise to paint the fence and I'm sure about it.",
            "Alice promises to paint the fence and Alice is sure about it.",
        ),
        (
            "My sister and I've decided to buy a boat.",
            "Alice's sister and Alice have decided to buy a boat.",
        ),
        ("Max and I decided to buy a boat.", "Max and Alice decided to buy a boat."),
    ],
)
def test_verb_agrees_with_the_rendered_subject(text: str, sentence: str) -> None:
    (landmark,) = said(text, context=TWO).landmarks

    assert landmark.text == sentence


# -- joining


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("I joined a travel club.", ("Alice", "MEMBER_OF", "travel club")),
        ("We joined a hiking group.", ("Alice", "MEMBER_OF", "hiking group")),
        ("I joined the Lisbon Chess Club.", ("Alice", "MEMBER_OF", "Lisbon Chess Club")),
        ("I joined Volvo.", ("Alice", "WORKS_AT", "Volvo")),
        ("I joined a small startup.", ("Alice", "WORKS_AT", "small startup")),
        ("I joined the tournament on time.", ("Alice", "JOIN", "the tournament on time")),
    ],
)
def test_joining_a_club_is_no_employment(text: str, fact: tuple[str, str, str]) -> None:
    assert relations(said(text)) == [fact]


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
    assert [fact.sentence for fact in found.facts] == ["Alice prefers tea."]


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

    assert relations(found) == [("Apollo", "USES", "PostgreSQL")]
    assert found.facts[0].temporal is StatementTense.CURRENT


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


def test_past_denial_with_time_is_past() -> None:
    assert said("I didn't like Java.").facts[0].temporal is StatementTense.PAST


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
    assert ("Priya", "IS", "on parental leave") in relations(said(text))
    assert not [fact.subject for fact in said(text).facts if "Priya" in fact.subject[1:]]


# -- what is shortened


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("I'm a nurse at St. Mary's.", ("Alice", "WORKS_AS", "nurse at St. Mary's")),
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

    assert found.facts[0].value == "Dr. Lee tomorrow"
    assert ("Dr. Lee", "person") in [(each.name, each.type) for each in found.entities]


def test_two_titles_are_two_people() -> None:
    found = relations(said("I met Mr. Smith and Mrs. Jones."))

    assert found == [("Alice", "MET", "Mr. Smith"), ("Alice", "MET", "Mrs. Jones")]


@pytest.mark.parametrize(
    "text",
    [
        "Bob works at Acme Inc. My boss is Tom.",
        "I live at 5 Main St. My boss is Tom.",
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
        ("I hate to wait.", ("Alice", "DISLIKES", "to wait")),
        ("I work for Volvo.", ("Alice", "WORKS_AT", "Volvo")),
        ("I live in Hope Valley.", ("Alice", "LIVES_IN", "Hope Valley")),
        ("I married Luis.", ("Alice", "SPOUSE_OF", "Luis")),
        ("I married my old neighbour.", ("Alice", "SPOUSE_OF", "old neighbour")),
        ("My dog is called Rex.", ("Alice's dog", "NAMED", "Rex")),
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
    ("text", "predicate", "value"),
    [
        ("I know Python.", "SKILLED_IN", "Python"),
        ("I know Rust and Go.", "SKILLED_IN", "Rust and Go"),
        ("I know C++.", "SKILLED_IN", "C++"),
        ("I know a little Spanish.", "SPEAKS", "Spanish"),
    ],
)
def test_programming_language_is_a_skill(text: str, predicate: str, value: str) -> None:
    found = said(text)
    (fact,) = found.facts

    assert (fact.predicate, fact.value, fact.object) == (predicate, value, None)
    assert [each.name for each in found.entities if each.type == "person"] == ["Alice"]


def test_known_person_is_a_relation() -> None:
    assert relations(said("I know Kofi.")) == [("Alice", "KNOWS", "Kofi")]


@pytest.mark.parametrize("text", ["I know English teachers in Rome.", "I know Ruby from school."])
def test_person_named_like_a_language_is_no_skill(text: str) -> None:
    assert [predicate for _, predicate, _ in relations(said(text))] == ["KNOWS"]


def test_name_after_and_is_no_verb() -> None:
    assert said("I know Rust and Go.").facts[0].sentence == "Alice knows Rust and Go."


# -- values without a tail


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("My budget is $50k, not $40k.", "$50k"),
        ("The deadline is June 16th, not the 15th.", "June 16th"),
        ("The ticket price is $50k and not $40k.", "$50k"),
        ("I live in Berlin now lol", "Berlin"),
        ("I moved to Berlin haha", "Berlin"),
        ("I painted the old fence lol", "the old fence"),
        ("I use Vim, not Emacs.", "Vim"),
        ("I love not having to commute.", "not having to commute"),
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
    ("text", "asked"),
    [
        ("Can you send me the file?", "Can Bob send Alice the file?"),
        ("Could you please send me the file?", "Could Bob please send Alice the file?"),
    ],
)
def test_question_landmarks_are_grammatical(text: str, asked: str) -> None:
    found = said(text, context=TWO)

    assert [each.text for each in found.landmarks] == [asked]
    assert found.facts == ()
