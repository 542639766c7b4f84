"""Landmarks section: detection of changes, and topic terms."""

from __future__ import annotations

import pytest

from nexusmem.compose.sections.landmarks import (
    CHANGE_PATTERN,
    DECISION_WORDS,
    _common_terms,
    _mentions_change,
    _topic_terms,
)
from nexusmem.text.terms import STOP_WORDS, query_terms

TEXTS = (
    "We use Postgres.",
    "We use Postgres INSTEAD.",
    "It is no longer there, not any more, nor anymore.",
    "Rather than that we changed it, changing nothing.",
    "Switched, switching, a switchboard, reverted, to revert.",
    "Cancelled, canceled, scrapped, dropped, withdrawn, withdrew, called off, calls.",
    "Exchange of unchanged things, recall, many, know, another, droplets.",
    "We \u017fwitched to tea.",  # the pattern ignores case, and matches a long s
    "",
)


@pytest.mark.parametrize("text", TEXTS)
def test_fast_change_check_agrees_with_the_pattern(text: str) -> None:
    assert _mentions_change(text) is bool(CHANGE_PATTERN.search(text))
    for word in text.split():
        assert _mentions_change(word) is bool(CHANGE_PATTERN.search(word))


@pytest.mark.parametrize(
    "text",
    [
        *TEXTS,
        DECISION_WORDS,  # no terms remain
        " ".join(STOP_WORDS),  # a text of stop words keeps them
        "Any more?",
        "Use it instead.",
        "Bob's tax table doesn't use Redis; es hei\u00dft jetzt \u7a0e\u8868.",
    ],
)
def test_topic_terms_exclude_common_decision_words(text: str) -> None:
    assert _topic_terms(text) == frozenset(query_terms(text)) - _common_terms()
