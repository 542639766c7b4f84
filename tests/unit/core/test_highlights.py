"""Highlights: sentences that contain the query terms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from nexusmem.text.terms import MAX_HIGHLIGHT_LENGTH, MAX_HIGHLIGHTS, extract_terms, find_highlights

TEXT = (
    "We met. The database is PostgreSQL. Lunch was fine! Databases cost money?"
    " PostgreSQL database wins."
)


@pytest.mark.requirement("C8")
def test_best_sentences_are_in_text_order() -> None:
    assert find_highlights(TEXT, extract_terms("postgresql database")) == (
        "The database is PostgreSQL.",
        "Databases cost money?",
        "PostgreSQL database wins.",
    )


def test_sentence_with_more_terms_is_preferred() -> None:
    text = "A tea. B tea. C tea. D tea. Green tea in a green pot."

    assert find_highlights(text, extract_terms("green tea pot")) == (
        "A tea.",
        "B tea.",
        "Green tea in a green pot.",
    )


def test_text_without_terms_has_no_highlights() -> None:
    assert find_highlights(TEXT, extract_terms("weather")) == ()
    assert find_highlights(TEXT, []) == ()


def test_long_sentence_is_shortened() -> None:
    (shown,) = find_highlights("database " + "and so on " * 50, ["databas"])

    assert len(shown) <= MAX_HIGHLIGHT_LENGTH
    assert shown.endswith("…")


@given(some.text(max_size=300), some.text(max_size=20))
def test_highlights_are_limited_and_quoted(text: str, question: str) -> None:
    shown = find_highlights(text, extract_terms(question))

    assert len(shown) <= MAX_HIGHLIGHTS
    assert all(each in text and len(each) <= MAX_HIGHLIGHT_LENGTH for each in shown)
