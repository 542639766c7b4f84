"""A quick look says the same of a text as the rule itself."""

from __future__ import annotations

import pytest

from nexus.compose.sections.landmarks import CHANGES, _speaks_of_change

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
