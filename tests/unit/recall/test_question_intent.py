"""Question intent: overviews, connections and lists by rules."""

from __future__ import annotations

from time import perf_counter

import pytest

from nexusmem.recall.list_topics import find_topic
from nexusmem.recall.question_intent import NO_INTENT, Intent, find_intent


@pytest.mark.parametrize(
    ("question", "subject"),
    [
        ("Tell me about Petroc.", "Petroc"),
        ("can you tell me everything you know about Petroc Lanyon?", "Petroc Lanyon"),
        ("What do you know about the Merlin?", "the Merlin"),
        ("who is ines", "ines"),
        ("Who's Ines?", "Ines"),
        ("anything on Halyard Sails?", "Halyard Sails"),
        ("Give me an overview of Seacrest Marine", "Seacrest Marine"),
    ],
)
def test_overview_names_its_subject(question: str, subject: str) -> None:
    intent = find_intent(question)

    assert (intent.intent, intent.subject) == (Intent.OVERVIEW, subject)


@pytest.mark.parametrize(
    "question",
    [
        "How are Petroc and Halyard Sails connected?",
        "How is Petroc related to Halyard Sails?",
        "What's the link between Petroc and Halyard Sails?",
        "Is there any connection between Petroc and Halyard Sails?",
        "What connects Petroc with Halyard Sails?",
        "how does petroc know Halyard Sails",
        "What does Petroc have to do with Halyard Sails?",
    ],
)
def test_connection_names_both_ends(question: str) -> None:
    intent = find_intent(question)

    assert intent.intent is Intent.CONNECTION
    assert "petroc" in intent.subject.casefold()
    assert "Halyard Sails" in intent.subject


@pytest.mark.parametrize(
    ("question", "noun"),
    [
        ("Which sports does Marek do?", "sports"),
        ("What kinds of pets does Ruth have?", "pets"),
        ("How many pets does Ruth have?", "pets"),
        ("List all the books Ruth has read", "books"),
        ("What do Ruth and Marek have in common?", ""),
        ("Compare Ruth and Marek", ""),
    ],
)
def test_list_has_its_noun(question: str, noun: str) -> None:
    intent = find_intent(question)

    assert (intent.intent, intent.noun) == (Intent.LIST, noun)


@pytest.mark.parametrize(
    "question",
    [
        "When did Ruth and Marek both go to Lisbon?",
        "Where does Marek live?",
        "Which varnish goes on the tiller?",
        "What was the price of the refit?",
        "We decided to use PostgreSQL.",
        "How do I launch a boat?",
        "",
    ],
)
def test_other_questions_have_no_intent(question: str) -> None:
    assert find_intent(question) == NO_INTENT


@pytest.mark.parametrize(
    "part",
    ["how is ", "what is the link ", "a ", "which ", "all of the ", "so, ", "tell me ", "  "],
)
def test_long_questions_take_linear_time(part: str) -> None:
    started = perf_counter()
    find_intent(part * 20_000)

    assert perf_counter() - started < 0.5


def test_topics_have_predicates_and_words() -> None:
    sports, tools = find_topic("sports"), find_topic("tools")

    assert sports is not None
    assert "PLAYS" in sports.predicates
    assert {"squash", "swim", "climb"} <= sports.terms
    assert tools is not None
    assert not tools.terms
    assert find_topic("quarks") is None
