"""Nothing is said twice."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from nexus.compose.fit import left_out
from nexus.compose.once import SHORTEST, Before, Once, Repeated, compared, once
from nexus.core.context import Item
from nexus.core.part import Part
from nexus.core.text import words_alone


def item(id: str, text: str, *events: str) -> Item:
    return Item(text=text, id=id, events=events)


def left(sections: dict[Part, list[Item]], before: Before | None = None) -> Once:
    return once(compared(sections, before or Before()))


def reasons(sections: dict[Part, list[Item]], before: Before | None = None) -> dict[str, str]:
    return {each.id: each.why for each in left(sections, before).cut}


@pytest.mark.requirement("X11")
def test_what_rests_on_shown_events_alone_is_left_out() -> None:
    before = Before(events={"e1", "e2"})
    sections = {
        Part.FACTS: [item("both", "Tyler works at Anthropic.", "e1", "e2")],
        Part.RECALL: [item("one more", "They spoke of Tyler at length.", "e1", "e9")],
    }

    assert reasons(sections, before) == {"both": "in the window"}


def test_what_a_shown_message_says_is_left_out_by_its_words() -> None:
    before = Before(said=words_alone("Well, TYLER works -- at Anthropic, since May!"))
    sections = {
        Part.RECALL: [
            item("same", "Tyler works at Anthropic."),
            item("other", "Tyler works at Anthropology Weekly."),
        ]
    }

    assert reasons(sections, before) == {"same": "in the window"}


def test_what_was_said_above_is_left_out_below() -> None:
    sections = {
        Part.LANDMARKS: [item("pinned", "We decided to use PostgreSQL for the ledger.")],
        Part.RECALL: [
            item("again", "we decided to use PostgreSQL"),
            item("more", "We decided to use PostgreSQL for the ledger. Bob was against it."),
        ],
    }

    assert reasons(sections) == {"again": "said above"}


def test_the_same_memory_is_shown_once_however_it_is_told() -> None:
    sections = {
        Part.FACTS: [item("m", "Tyler works at Anthropic. (since 2026-01-02)")],
        Part.RECALL: [item("m", "Tyler, as we know, is with Anthropic these days.")],
    }

    assert reasons(sections) == {"m": "said above"}


def test_short_answers_are_nobodys_in_particular() -> None:
    sections = {Part.SUMMARY: [item("1", "Yes, sure.")], Part.WINDOW: [item("2", "Yes, sure.")]}

    assert reasons(sections) == {}


def test_the_window_itself_stays() -> None:
    said = item("e1", "We decided to use PostgreSQL.", "e1")

    found = left({Part.WINDOW: [said]}, Before(events={"e1"}, said=words_alone(said.text)))

    assert found.kept[Part.WINDOW] == (said,)
    assert found.cut == []


def test_what_has_no_room_above_is_said_below() -> None:
    said = item("pinned", "We decided to use PostgreSQL for the ledger.")
    again = item("again", "we decided to use PostgreSQL")
    sections = {Part.FACTS: [said], Part.RECALL: [again]}

    (repeated,) = left(sections).repeated
    shown = {(Part.FACTS, "pinned"): said}
    shortened = {(Part.FACTS, "pinned"): item("pinned", "We decided to use …")}

    assert repeated.still_said(shown)
    assert not repeated.still_said({})
    assert not repeated.still_said(shortened)
    assert once(compared(sections, Before()), {repeated.above}).cut == []


def test_of_two_that_stand_first_one_gives_way_for_good() -> None:
    """One without room, which finds it when the other one took its place, would be there twice."""
    pinned, profile = (Part.LANDMARKS, "1"), (Part.PROFILE, "2")
    said = (
        Repeated("words", pinned, Part.PROFILE),
        Repeated("words", profile, Part.RECALL),
        Repeated("words", (Part.RECALL, "3"), Part.WINDOW),
    )

    assert left_out(said) == {pinned, (Part.RECALL, "3")}


WORDS = some.sampled_from(
    "the tea is on a sad shore quick quack 12 größer ΟΔΟΣ ſpeech 東京".split()
)
SAID = some.lists(WORDS, max_size=8).map(" ".join)


@given(some.lists(SAID, max_size=8), some.lists(SAID, max_size=3))
def test_every_line_that_says_the_words_is_found(texts: list[str], seen: list[str]) -> None:
    """Also where all of their letters are frequent ones, or none is of our script."""
    items = [item(str(number), text) for number, text in enumerate(texts)]
    before = Before(said="\n".join(map(words_alone, seen)))

    found = compared({Part.RECALL: items[:4], Part.WINDOW: items[4:]}, before)

    for number, (part, _, words) in enumerate(found.lines):
        above = [place for place in range(number) if place not in found.shown]
        said = [place for place in above if _is_said(found.lines[place][2], words)]
        shown = part is Part.RECALL and _is_said(before.said, words)
        assert (number in found.shown) == shown
        assert list(found.said_by.get(number, ())) == ([] if shown else said)


def _is_said(said: str, words: str) -> bool:
    """The same, one line and one word after the other."""
    wanted = words.split()
    if len(words) < SHORTEST:
        return False
    rows = [row.split() for row in said.split("\n")]
    return any(
        row[place : place + len(wanted)] == wanted for row in rows for place in range(len(row))
    )
