"""A quick look says the same of a text as the rule itself."""

from __future__ import annotations

import pytest

from nexus.compose.sections.landmarks import (
    CHANGES,
    OF_ANY_DECISION,
    _matter,
    _speaks_of_change,
    _usual,
)
from nexus.core.text import STOP_WORDS, query_terms

TEXTS = (
    "We use Postgres.",
    "We use Postgres INSTEAD.",
    "It is no longer there, not any more, nor anymore.",
    "Rather than that we changed it, changing nothing.",
    "Switched, switching, a switchboard, reverted, to revert.",
    "Cancelled, canceled, scrapped, dropped, withdrawn, withdrew, called off, calls.",
    "Exchange of unchanged things, recall, many, know, another, droplets.",
    "We \u017fwitched to tea.",  # a long s is an s to the rule
    "",
)


@pytest.mark.parametrize("text", TEXTS)
def test_it_says_the_same_as_the_rule(text: str) -> None:
    assert _speaks_of_change(text) is bool(CHANGES.search(text))
    for word in text.split():
        assert _speaks_of_change(word) is bool(CHANGES.search(word))


@pytest.mark.parametrize(
    "text",
    [
        *TEXTS,
        OF_ANY_DECISION,  # nothing is left
        " ".join(STOP_WORDS),  # of stop words alone they are kept
        "Any more?",
        "Use it instead.",
        "Bob's tax table doesn't use Redis; es hei\u00dft jetzt \u7a0e\u8868.",
    ],
)
def test_a_matter_is_what_one_would_ask_for_without_the_usual_words(text: str) -> None:
    assert _matter(text) == frozenset(query_terms(text)) - _usual()
