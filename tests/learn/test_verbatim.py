"""Texts of facts and landmarks are the words of the speaker."""

from __future__ import annotations

import pytest
from tests.learn.making import TWO, said


@pytest.mark.parametrize(
    "text",
    [
        "I live in Lisbon.",
        "I'm working on a novel about my uncle.",
        "My e-mail is alice.k@example.org.",
        "Max and I love long walks.",
        "I used to live in Madrid, but I moved to Porto in 2022.",
    ],
)
def test_fact_is_verbatim(text: str) -> None:
    found = said(text, context=TWO)

    assert {fact.sentence for fact in found.facts} == {text}


@pytest.mark.parametrize(
    "text",
    [
        "I'll send the report by Friday",
        "Let's meet at 3pm tomorrow",
        "We decided to use PostgreSQL.",
        "Actually, it's not 40, it's 400",
    ],
)
def test_landmark_is_verbatim(text: str) -> None:
    assert [landmark.text for landmark in said(text, context=TWO).landmarks] == [text]


@pytest.mark.parametrize(
    "text",
    [
        "btw my sister lives in Graz lol",
        "Hey Bob, by the way, I bought a kayak.",
        "Please remember that I prefer tea.",
        "tbh I prefer dark mode",
        "We use Redis 😀",
        "Hey! I live in Porto. See you!",
    ],
)
def test_text_may_lack_fillers_but_keeps_the_words(text: str) -> None:
    found = said(text, context=TWO)
    kept = [each.sentence for each in found.facts] + [each.text for each in found.landmarks]

    assert kept
    assert all(each in text and len(each.split()) >= 3 for each in kept)


def test_each_fact_has_its_own_sentence() -> None:
    found = said("I live in Porto. I speak Portuguese. See you!", context=TWO)

    assert [fact.sentence for fact in found.facts] == ["I live in Porto.", "I speak Portuguese."]
    assert [fact.source.start for fact in found.facts] == [0, 17]


@pytest.mark.parametrize(
    "text",
    [
        "Progress takes time.",
        "A lot has happened since then.",
        "It's important to protect small rivers and old forests.",
        "I taught you the basics of chess.",
        "I've been reading a book about whales.",
        "I painted a lake at sunrise. It's a special picture for me.",
    ],
)
def test_general_statements_opinions_and_anecdotes_are_no_facts(text: str) -> None:
    assert said(text, context=TWO).facts == ()
