"""The sentences of a text that answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from nexus.core.highlight import LONGEST, MOST, highlights
from nexus.core.text import terms

TEXT = (
    "We met. The database is PostgreSQL. Lunch was fine! Databases cost money?"
    " PostgreSQL database wins."
)


@pytest.mark.requirement("C8")
def test_the_best_sentences_are_shown_in_reading_order() -> None:
    assert highlights(TEXT, terms("postgresql database")) == (
        "The database is PostgreSQL.",
        "Databases cost money?",
        "PostgreSQL database wins.",
    )


def test_a_later_sentence_with_more_of_the_words_comes_before_earlier_ones() -> None:
    text = "A tea. B tea. C tea. D tea. Green tea in a green pot."

    assert highlights(text, terms("green tea pot")) == (
        "A tea.",
        "B tea.",
        "Green tea in a green pot.",
    )


def test_a_text_without_the_words_has_no_highlights() -> None:
    assert highlights(TEXT, terms("weather")) == ()
    assert highlights(TEXT, []) == ()


def test_a_long_sentence_is_shortened() -> None:
    (shown,) = highlights("database " + "and so on " * 50, ["databas"])

    assert len(shown) <= LONGEST
    assert shown.endswith("…")


@given(some.text(max_size=300), some.text(max_size=20))
def test_highlights_are_few_short_and_from_the_text(text: str, question: str) -> None:
    shown = highlights(text, terms(question))

    assert len(shown) <= MOST
    assert all(each in text and len(each) <= LONGEST for each in shown)
