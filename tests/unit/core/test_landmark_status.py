"""Landmark status: detection of changes, topic terms, repeated tasks, order."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from nexusmem.core.records.landmark_status import (
    CHANGE_PATTERN,
    DECISION_WORDS,
    Closing,
    LandmarkOutline,
    LandmarkStatus,
    common_decision_terms,
    find_closed,
    mentions_change,
    topic_terms,
)
from nexusmem.core.scope import Scope
from nexusmem.text.terms import STOP_WORDS, query_terms

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
DAY, WEEK = timedelta(days=1), timedelta(weeks=1)
LATER = NOW + 10 * WEEK
TEXTS = (
    "We use Postgres.",
    "We use Postgres INSTEAD.",
    "It is no longer there, not any more, nor anymore.",
    "Rather than that we changed it, changing nothing.",
    "Switched, switching, a switchboard, reverted, to revert.",
    "Cancelled, canceled, scrapped, dropped, withdrawn, withdrew, called off, calls.",
    "Replaced, replacing, in place of, ditched, abandoning, migrated, after all, reconsidered.",
    "We are moving away from it, back away from it, it is off the table.",
    "Exchange of unchanged things, recall, many, know, another, droplets.",
    "We \u017fwitched to tea.",  # the pattern ignores case, and matches a long s
    "",
)


@pytest.mark.parametrize("text", TEXTS)
def test_fast_change_check_agrees_with_the_pattern(text: str) -> None:
    assert mentions_change(text) is bool(CHANGE_PATTERN.search(text))
    for word in text.split():
        assert mentions_change(word) is bool(CHANGE_PATTERN.search(word))


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
    assert topic_terms(text) == frozenset(query_terms(text)) - common_decision_terms()


# Status


def outline(id: str, text: str, at: datetime, **fields: Any) -> LandmarkOutline:
    given = {"kind": "action_item", "owner": "alice", "speaker": "alice", "due": None}
    return LandmarkOutline(
        id=id,
        text=text,
        at=at,
        scope=Scope.room("office"),
        sources=(f"event {id}",),
        thread=None,
        slot="",
        body={},
        **{**given, **fields},
    )


def closed_ids(*landmarks: LandmarkOutline, now: datetime = LATER) -> dict[str, str]:
    newest_first = sorted(landmarks, key=lambda each: each.at, reverse=True)
    return {id: each.status.value for id, each in find_closed(newest_first, {}, now).items()}


def test_repeated_task_supersedes_only_the_same_owner_content_and_place() -> None:
    old = outline("old", "I will send the brochure by Friday.", NOW)
    same = outline("new", "I'll send the brochure by 13 March 2026.", NOW + WEEK)
    other_content = replace(same, text="I will send the invoice by Friday.")
    other_detail = replace(same, text="I will send the brochure to Maya.")
    other_owner = replace(same, owner="bob", speaker="bob")
    other_place = replace(same, scope=Scope.room("garden"))

    assert closed_ids(old, same) == {"old": "superseded"}
    for other in (other_content, other_detail, other_owner, other_place):
        assert closed_ids(old, other) == {}


def test_repeated_task_of_one_message_supersedes_nothing() -> None:
    one = outline("one", "I will send the brochure.", NOW)

    assert closed_ids(one, replace(one, id="two", at=NOW + WEEK)) == {}


def test_one_common_word_does_not_replace_a_task() -> None:
    task = outline("task", "I will paint the kitchen door with the green colour.", NOW)
    change = outline("change", "I will switch the light of the kitchen.", NOW + WEEK)
    moved = outline("moved", "I will paint the kitchen door on Monday instead.", NOW + WEEK)

    assert closed_ids(task, change) == {}
    assert closed_ids(task, moved) == {"task": "superseded"}
    assert closed_ids(task, replace(moved, owner="bob")) == {}


@pytest.mark.parametrize(
    ("earlier", "later", "kind", "is_closed"),
    [
        ("We go with slate for the terrace.", "The terrace party is cancelled.", "decision", False),
        ("We hold the terrace party in May.", "The terrace party is cancelled.", "decision", True),
        ("We use Kafka for the mail.", "We use NATS instead of Kafka.", "decision", True),
        ("Decided: Kafka for the mail.", "Let's go back to NATS for the mail.", "decision", True),
        ("We use NATS for the mail.", "We switch from Kafka to NATS.", "decision", False),
        ("I will order a Kafka handbook.", "We use NATS instead of Kafka.", "action_item", False),
        ("We meet on 4 May.", "We decided to change the logo on 4 May.", "decision", False),
    ],
)
def test_change_closes_only_what_it_names(
    earlier: str, later: str, kind: str, is_closed: bool
) -> None:
    old = outline("old", earlier, NOW, kind=kind)
    new = outline("new", later, NOW + WEEK, kind="decision", owner="bob", speaker="bob")

    assert closed_ids(old, new) == ({"old": "superseded"} if is_closed else {})


def test_later_records_do_not_close_a_landmark_before_their_time() -> None:
    old = outline("old", "I will send the brochure.", NOW)
    new = outline("new", "I will send the brochure.", NOW + WEEK)
    done = {"old": Closing(status=LandmarkStatus.DONE, at=NOW + DAY, by="event x")}

    assert find_closed([old], done, NOW) == {}
    assert find_closed([new, old], done, NOW + 2 * WEEK)["old"].status is LandmarkStatus.DONE
    assert closed_ids(old, new, now=NOW + DAY) == {}


def test_own_end_and_status_close_a_landmark() -> None:
    ended = outline("ended", "We use MySQL.", NOW, kind="decision", valid_to=NOW + DAY)
    marked = replace(outline("marked", "Pay the bill.", NOW), body={"status": "done"})

    assert closed_ids(ended, marked) == {"ended": "superseded", "marked": "done"}
    assert closed_ids(ended, now=NOW) == {}
