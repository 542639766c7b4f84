"""Currency: former hits are marked, and come after the statements that replaced them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from nexusmem import Nexus
from nexusmem.core.records import Hit, HitStatus
from nexusmem.place.place import Place
from nexusmem.recall.hit_order import asks_current

START = datetime(2023, 6, 1, 9, tzinfo=UTC)
NOW = datetime(2026, 3, 25, 10, tzinfo=UTC)


@pytest.fixture
def nexus() -> Iterator[Nexus]:
    with Nexus.open(":memory:", clock=lambda: NOW) as nexus:
        yield nexus


@pytest.fixture
def place(nexus: Nexus) -> Place:
    return nexus.workspace("acme").room("studio", participants=["ana", "ben"])


def say(place: Place, speaker: str, text: str, months: int) -> str:
    place.observe(speaker, text, at=START + timedelta(days=30 * months))
    return text


def find_hit(place: Place, question: str, text: str) -> Hit:
    return next(hit for hit in place.recall(question) if hit.text == text)


def test_a_superseded_message_names_its_successor(place: Place) -> None:
    old = say(place, "ana", "I live in Utrecht.", 0)
    new = say(place, "ana", "I moved to Ghent.", 20)
    former = find_hit(place, "Where does Ana live?", old)
    current = find_hit(place, "Where does Ana live?", new)

    assert former.status is HitStatus.FORMER
    assert former.superseded_by in current.memory.sources
    assert former.validity
    assert former.validity.mark == f"until {current.at:%Y-%m-%d}"
    assert current.status is None
    assert current.superseded_by is None
    line = next(
        line for line in place.compose("Where does Ana live?").text.splitlines() if old in line
    )
    assert former.validity.mark in line


def test_a_message_of_which_a_part_still_holds_is_partly_former(place: Place) -> None:
    old = say(place, "ana", "I live in Utrecht. I am allergic to peanuts.", 0)
    say(place, "ana", "I moved to Ghent.", 20)
    assert find_hit(place, "Where does Ana live?", old).status is HitStatus.PARTLY_FORMER


def test_a_statement_about_the_past_is_not_marked(place: Place) -> None:
    say(place, "ana", "I work at Slack.", 0)
    left = say(place, "ana", "I left Slack yesterday.", 20)
    assert find_hit(place, "Where does Ana work?", left).status is None


def test_a_change_that_the_viewer_may_not_see_marks_nothing(nexus: Nexus, place: Place) -> None:
    old = say(place, "ana", "I live in Utrecht.", 0)
    private = nexus.workspace("acme").session("s", user="ana", private=True)
    private.observe("ana", "I moved to Ghent.", at=NOW - timedelta(days=9))
    private.flush()
    assert find_hit(place, "Where does Ana live?", old).status is None


def test_the_past_is_not_marked_by_what_came_later() -> None:
    clock = [START]
    with Nexus.open(":memory:", clock=lambda: clock[0]) as nexus:
        place = nexus.workspace("acme").room("studio", participants=["ana"])
        place.observe("ana", "I live in Utrecht.", at=clock[0])
        clock[0] += timedelta(days=400)
        place.observe("ana", "I moved to Ghent.", at=clock[0])
        question = "Where does Ana live?"
        (then,) = place.recall(question, as_of=START + timedelta(days=9))
        assert then.status is None
        assert place.recall(question)[-1].status is HitStatus.FORMER


def test_contradicting_messages_are_ordered_by_age(place: Place) -> None:
    old = say(place, "ben", "The till of the shop runs version 4.2.", 0)
    new = say(place, "ben", "The till was updated, it runs version 5.0 and greets nobody.", 33)
    say(place, "ana", "The shop smells of paint.", 34)
    hits = [hit.text for hit in place.recall("Which version does the till of the shop run?")]
    assert hits.index(new) < hits.index(old)
    former = find_hit(place, "Which version does the till of the shop run?", old)
    assert former.status is HitStatus.EARLIER
    assert former.validity
    assert former.validity.mark.startswith("earlier, see ")


def test_scores_never_rise_after_reordering(place: Place) -> None:
    for month, version in enumerate(("4.2", "4.3", "5.0")):
        say(place, "ben", f"The till was updated to version {version}.", 9 * month)
    scores = [hit.score for hit in place.recall("Which version does the till run?")]
    assert scores == sorted(scores, reverse=True)


def test_unrelated_messages_keep_their_order_and_marks(place: Place) -> None:
    one = say(place, "ana", "The kettle is red.", 0)
    say(place, "ben", "The printer was replaced on Monday.", 9)
    hit = place.recall("What colour is the kettle?")[0]
    assert hit.text == one
    assert hit.status is None


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Where does Nadia live?", True),
        ("What's our door code?", True),
        ("Where did Nadia live?", False),
        ("What was the door code before?", False),
        ("Where does she usually go first?", False),
    ],
)
def test_tense_of_a_question(question: str, expected: bool) -> None:
    assert asks_current(question) is expected
