"""Deduplication of items across sections and visible messages."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as some
from tests.unit.making import NOON

from nexusmem.compose.deduplicate import (
    CUT_SHOWN_ABOVE,
    MIN_MATCH_CHARS,
    DedupResult,
    RepeatedItem,
    VisibleMessages,
    compare_lines,
    drop_repeated,
)
from nexusmem.compose.selection import items_to_drop
from nexusmem.core.records.context import ContextItem
from nexusmem.text.terms import normalize_words


def item(id: str, text: str, *events: str) -> ContextItem:
    return ContextItem(text=text, id=id, events=events)


def left(
    sections: dict[str, list[ContextItem]], before: VisibleMessages | None = None
) -> DedupResult:
    return drop_repeated(compare_lines(sections, before or VisibleMessages()))


def reasons(
    sections: dict[str, list[ContextItem]], before: VisibleMessages | None = None
) -> dict[str, str]:
    return {each.id: each.why for each in left(sections, before).cuts}


@pytest.mark.requirement("X11")
def test_item_of_visible_events_is_dropped() -> None:
    before = VisibleMessages(event_ids={"e1", "e2"})
    sections = {
        "facts": [item("both", "Tyler works at Anthropic.", "e1", "e2")],
        "recall": [item("one more", "They spoke of Tyler at length.", "e1", "e9")],
    }

    assert reasons(sections, before) == {"both": "in the window"}


def test_item_with_words_of_a_visible_message_is_dropped() -> None:
    before = VisibleMessages(words=normalize_words("Well, TYLER works -- at Anthropic, since May!"))
    sections = {
        "recall": [
            item("same", "Tyler works at Anthropic."),
            item("other", "Tyler works at Anthropology Weekly."),
        ]
    }

    assert reasons(sections, before) == {"same": "in the window"}


def test_item_repeated_in_a_later_section_is_dropped() -> None:
    sections = {
        "landmarks": [item("pinned", "We decided to use PostgreSQL for the ledger.")],
        "recall": [
            item("again", "we decided to use PostgreSQL"),
            item("more", "We decided to use PostgreSQL for the ledger. Bob was against it."),
        ],
    }

    assert reasons(sections) == {"again": "said above"}


def test_same_memory_is_shown_once() -> None:
    sections = {
        "facts": [item("m", "Tyler works at Anthropic. (since 2026-01-02)")],
        "recall": [item("m", "Tyler, as we know, is with Anthropic these days.")],
    }

    assert reasons(sections) == {"m": "said above"}


def test_short_texts_are_not_deduplicated() -> None:
    sections = {
        "summary": [item("1", "Yes, sure.")],
        "window": [item("2", "Yes, sure.")],
    }

    assert reasons(sections) == {}


def test_window_items_stay() -> None:
    said = item("e1", "We decided to use PostgreSQL.", "e1")

    found = left(
        {"window": [said]},
        VisibleMessages(event_ids={"e1"}, words=normalize_words(said.text)),
    )

    assert found.items["window"] == (said,)
    assert found.cuts == []


def test_repetition_is_shown_if_the_original_does_not_fit() -> None:
    said = item("pinned", "We decided to use PostgreSQL for the ledger.")
    again = item("again", "we decided to use PostgreSQL")
    sections = {"facts": [said], "recall": [again]}

    (repeated,) = left(sections).repeats
    shown = {("facts", "pinned"): said}
    shortened = {("facts", "pinned"): item("pinned", "We decided to use …")}

    assert repeated.is_still_shown(shown)
    assert not repeated.is_still_shown({})
    assert not repeated.is_still_shown(shortened)
    assert drop_repeated(compare_lines(sections, VisibleMessages()), {repeated.original}).cuts == []


def test_repetition_between_stable_sections_drops_the_original() -> None:
    """If the original could fit again after its repetition was shown, both would be shown."""
    pinned, profile = ("landmarks", "1"), ("profile", "2")
    said = (
        RepeatedItem("words", pinned, "profile"),
        RepeatedItem("words", profile, "recall"),
        RepeatedItem("words", ("recall", "3"), "window"),
    )

    assert items_to_drop(said) == {pinned, ("recall", "3")}


def test_newest_of_equal_statements_is_shown() -> None:
    def said(id: str, speaker: str, days: int) -> ContextItem:
        at = NOON + timedelta(days=days)
        return replace(item(id, "I work at Acme."), speaker=speaker, at=at)

    old, new, other = said("old", "alice", 0), said("new", "alice", 9), said("other", "bob", 9)

    kept = drop_repeated(compare_lines({"recall": [old, new, other]}, VisibleMessages()))
    window = drop_repeated(compare_lines({"window": [old, new]}, VisibleMessages()))

    both = drop_repeated(
        compare_lines({"profile": [said("known", "alice", 9)], "recall": [old]}, VisibleMessages())
    )

    assert [each.id for each in kept.items["recall"]] == ["new", "other"]
    assert both.items["recall"] == ()
    assert [(cut.id, cut.why) for cut in kept.cuts] == [("old", CUT_SHOWN_ABOVE)]
    assert [each.id for each in window.items["window"]] == ["old", "new"]


WORDS = some.sampled_from(
    "the tea is on a sad shore quick quack 12 größer ΟΔΟΣ ſpeech 東京".split()
)
SAID = some.lists(WORDS, max_size=8).map(" ".join)


@given(some.lists(SAID, max_size=8), some.lists(SAID, max_size=3))
def test_every_containing_line_is_found(texts: list[str], seen: list[str]) -> None:
    """Includes words of frequent letters only and words in other scripts."""
    items = [item(str(number), text) for number, text in enumerate(texts)]
    before = VisibleMessages(words="\n".join(map(normalize_words, seen)))

    found = compare_lines({"recall": items[:4], "window": items[4:]}, before)

    for number, (part, _, words) in enumerate(found.lines):
        above = [place for place in range(number) if place not in found.in_window]
        said = [place for place in above if _is_said(found.lines[place][2], words)]
        equal = [place for place in above if found.lines[place][::2] == (part, words)]
        said = said or (equal[:1] if words and part == "recall" else [])
        shown = part == "recall" and _is_said(before.words, words)
        assert (number in found.in_window) == shown
        assert list(found.containing_lines.get(number, ())) == ([] if shown else said)


def _is_said(said: str, words: str) -> bool:
    """Reference implementation: compare each line word by word."""
    wanted = words.split()
    if len(words) < MIN_MATCH_CHARS:
        return False
    rows = [row.split() for row in said.split("\n")]
    return any(
        row[place : place + len(wanted)] == wanted for row in rows for place in range(len(row))
    )
