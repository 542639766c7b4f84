"""Asked period: which period a question is about, and what answers it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from nexusmem import Nexus
from nexusmem.recall.asked_period import find_asked_period

NOW = datetime(2026, 3, 25, 10, tzinfo=UTC)  # a Wednesday


@pytest.mark.parametrize(
    ("question", "period"),
    [
        ("What happened on Friday?", "on Friday 2026-03-20"),
        ("what did we do last week", "from 2026-03-16 to 2026-03-22"),
        ("What have I done since March?", "from 2026-03-01 to 2026-03-25"),
        ("What was I working on until last week?", "before 2026-03-23"),
        ("What did you tell me before Christmas 2025?", "before 2025-12-25"),
        ("What needs to be ready by Monday?", "from 2026-03-25 to 2026-03-30"),
        ("What must be finished before Friday?", "from 2026-03-25 to 2026-03-26"),
        ("What's planned for next Tuesday?", "on Tuesday 2026-03-31"),
        ("Which meetings do I have next week?", "from 2026-03-30 to 2026-04-05"),
        ("What did Nadia do in October?", "from 2025-10-01 to 2025-10-31"),
        ("what did i say about the demo in january", "from 2026-01-01 to 2026-01-31"),
        ("Tell me what happened between 3 and 9 February.", "from 2026-02-03 to 2026-02-09"),
        ("What was going on around Christmas?", "from 2025-12-22 to 2025-12-28"),
        ("Who called on the 12th?", "on Thursday 2026-03-12"),
    ],
)
def test_period_of_a_question(question: str, period: str) -> None:
    found = find_asked_period(question, NOW)
    assert found is not None
    assert found.describe() == period


@pytest.mark.parametrize(
    "question",
    [
        "When did Nadia move in March?",
        "On which day in March did the backups move?",
        "How long has it been since March?",
        "and when is the demo on Friday?",
        "What did I tell you before Easter 2026?",  # everything so far
        "Where does Nadia live?",
    ],
)
def test_questions_that_ask_for_a_time_have_no_period(question: str) -> None:
    assert find_asked_period(question, NOW) is None


@pytest.mark.parametrize(
    ("question", "is_alone"),
    [
        ("What happened on Friday?", True),
        ("anything from yesterday?", True),
        ("What did we decide the day before yesterday?", True),
        ("What did Ana say about the boiler last week?", False),
        ("What did I eat on March 6?", False),
    ],
)
def test_a_topic_beside_the_period_is_noticed(question: str, is_alone: bool) -> None:
    found = find_asked_period(question, NOW)
    assert found is not None
    assert found.is_whole_topic is is_alone


def recall(question: str, *said: tuple[int, str]) -> tuple[list[str], str | None, str]:
    """Return the hits, the empty period, and the context."""
    with Nexus.open(":memory:", clock=lambda: NOW) as nexus:
        place = nexus.workspace("acme").room("studio", participants=["ana", "ben"])
        for day, text in said:
            place.observe("ana", text, at=NOW - timedelta(days=25 - day))
        found = place.recall(question)
        context = place.compose(question).text
        return [hit.text for hit in found], found.empty_period, context


SOUP, PERMIT, SIXTH = (
    (20, "We had soup for the whole team."),
    (12, "The parking permit arrived."),
    (9, "Last Friday the generator would not start."),
)


def test_only_the_day_that_was_asked_for_answers() -> None:
    hits, empty, _ = recall("What happened on Friday?", SOUP, PERMIT, SIXTH)
    assert hits == [SOUP[1]]
    assert empty is None


def test_a_message_of_another_day_that_names_the_day_answers() -> None:
    hits, empty, _ = recall("What happened on March 6?", SOUP, PERMIT, SIXTH)
    assert hits == [SIXTH[1]]
    assert empty is None


def test_plans_for_a_coming_day_answer() -> None:
    plan = (18, "I will send the slides to Greta by Tuesday 31 March.")
    hits, empty, _ = recall("What's planned for next Tuesday?", SOUP, plan, PERMIT)
    assert hits == [plan[1]]
    assert empty is None


def test_an_empty_period_is_said_to_be_empty() -> None:
    hits, empty, context = recall("What happened on March 13?", SOUP, PERMIT)
    assert hits == []
    assert empty == "on Friday 2026-03-13"
    assert "\nNothing was recorded on Friday 2026-03-13.\n" in context
    assert "[RECALL]" not in context


def test_a_topic_is_found_outside_of_an_empty_period() -> None:
    hits, empty, context = recall("What did Ana say about soup on March 13?", SOUP, PERMIT)
    assert SOUP[1] in hits
    assert empty == "on Friday 2026-03-13"
    assert "\nNothing was recorded on Friday 2026-03-13.\n" in context
    assert context.count(SOUP[1]) == 1
