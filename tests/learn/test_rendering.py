"""Texts of facts."""

from __future__ import annotations

import pytest
from tests.learn.making import TWO, said


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("I live in Lisbon.", "Alice lives in Lisbon."),
        (
            "I'm working on a novel about my uncle.",
            "Alice is working on a novel about their uncle.",
        ),
        ("I've been reading a book about whales.", "Alice has been reading a book about whales."),
        ("Been reading a book about whales.", "Alice has been reading a book about whales."),
        ("Just got some new running shoes!", "Alice just got some new running shoes!"),
        ("I'm gonna paint the old fence.", "Alice is going to paint the old fence."),
        ("Gonna paint the old fence.", "Alice is going to paint the old fence."),
        (
            "I always check my mail and write notes.",
            "Alice always checks their mail and writes notes.",
        ),
        ("Hey Bob, by the way, I bought a kayak.", "Alice bought a kayak."),
        ("I taught you the basics of chess.", "Alice taught Bob the basics of chess."),
        ("My sister called me last night.", "Alice's sister called Alice on 1 March 2026."),
        ("Max and I love long walks.", "Max and Alice love long walks."),
    ],
)
def test_fact_text_is_self_contained(text: str, sentence: str) -> None:
    (fact,) = said(text, context=TWO).facts

    assert fact.sentence == sentence


def test_following_details_stay_with_the_fact() -> None:
    (fact,) = said("I painted a lake at sunrise. It's a special picture for me.", context=TWO).facts

    assert fact.sentence == "Alice painted a lake at sunrise. It's a special picture for them."


def test_opinion_is_a_fact_about_its_holder() -> None:
    (fact,) = said("It's important to protect small rivers and old forests.", context=TWO).facts

    assert (fact.subject, fact.predicate) == ("Alice", "THINKS")
    assert fact.sentence.startswith("Alice says that it's important")


def test_general_statements_are_ignored() -> None:
    assert said("Progress takes time.").facts == ()
    assert said("A lot has happened since then.").facts == ()


def test_message_may_contain_several_facts() -> None:
    found = said("I used to live in Madrid, but I moved to Porto in 2022.")

    assert [fact.sentence for fact in found.facts] == [
        "Alice used to live in Madrid.",
        "Alice moved to Porto in 2022.",
    ]
