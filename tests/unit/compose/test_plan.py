"""The context router: which sections a turn needs, told by rules."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from nexus.compose.plan import ALWAYS, is_small_talk, plan
from nexus.core.part import Part

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)  # a Wednesday

WANTED = {
    "What did we decide yesterday?": {Part.RECALL, Part.EPISODES},
    "When did Tyler move to Leeds?": {Part.RECALL, Part.EPISODES},
    "What happened last week?": {Part.RECALL, Part.EPISODES, Part.ACTIVITY},
    "What did we talk about in January?": {Part.RECALL, Part.EPISODES},
    "What did we do this morning?": {Part.RECALL, Part.EPISODES, Part.ACTIVITY},
    "Catch me up": {Part.RECALL, Part.EPISODES, Part.ACTIVITY},
    "How do I deploy the ledger?": {Part.RECALL, Part.PROCEDURES},
    "Walk me through the release": {Part.RECALL, Part.PROCEDURES},
    "Deploy the ledger to staging.": {Part.RECALL, Part.PROCEDURES},
    "Which database do we use?": {Part.RECALL},
    "Where does Tyler work?": {Part.RECALL},
    "How are you?": {Part.RECALL},
    "The may bell rings": {Part.RECALL},
    "Thanks!": set(),
    "ok, great": set(),
    "hi": set(),
    "": set(),
}


@pytest.mark.requirement("D16", "D19")
@pytest.mark.parametrize("question", WANTED)
def test_a_question_wants_these_sections_and_says_why(question: str) -> None:
    wanted = plan(question, now=NOW).wanted

    assert wanted.keys() - ALWAYS.keys() - {Part.FACTS} == WANTED[question]
    assert ALWAYS.keys() | {Part.FACTS} <= wanted.keys()
    assert all(wanted.values())


def test_a_named_time_is_told_with_its_dates() -> None:
    made = plan("What did we decide yesterday?", now=NOW)

    assert made.window is not None
    assert (made.window.since, made.window.until) == (
        datetime(2026, 3, 3, tzinfo=UTC),
        datetime(2026, 3, 4, tzinfo=UTC),
    )
    assert "2026-03-03" in made.wanted[Part.EPISODES]


STEPS = {
    "Which database do we use?": 1,
    "Compare PostgreSQL and MySQL": 3,
    "What is the difference between the old schema and the new schema?": 3,
    "Who owns billing? And when is the launch?": 3,
    "Find the owner of billing and then tell me where they live": 3,
    "Thanks! Where do we meet?": 1,
}


@pytest.mark.parametrize("question", STEPS)
def test_a_question_for_several_things_is_looked_into_step_by_step(question: str) -> None:
    made = plan(question, now=NOW)

    assert len(made.steps) == STEPS[question], made.steps
    assert made.steps[0] == question
    assert made.iterative == (STEPS[question] > 1)


def test_a_question_through_somebody_else_takes_two_looks() -> None:
    made = plan("Where does the person who owns billing live?", now=NOW)

    assert made.nested
    assert made.iterative


def test_names_come_from_the_question_capitals_first() -> None:
    names = plan("which database does Tyler Durden use", now=NOW).names

    assert names[:3] == ("tyler", "tyler durden", "durden")
    assert "database" in names


def test_a_question_that_only_points_means_whom_was_spoken_of() -> None:
    recent = ["The launch is in May.", "Have you met Tyler?"]

    assert "tyler" in plan("where does he work?", now=NOW, recent=recent).names
    assert "tyler" not in plan("which database do we use?", now=NOW, recent=recent).names
    assert "tyler" not in plan("where does Bob work, and is he here?", now=NOW, recent=recent).names


def test_small_talk_asks_for_nothing() -> None:
    assert is_small_talk("Good morning!")
    assert not is_small_talk("Who are you?")
    assert not is_small_talk("PostgreSQL")


def test_a_plan_takes_less_than_ten_milliseconds_whatever_is_asked() -> None:
    questions = [*WANTED, *STEPS, "and then compare " * 3_000, "Aa Bb? " * 3_000, "x" * 20_000]
    for question in questions:  # what loads with the first question is not counted
        plan(question, now=NOW)

    slowest = max(_seconds(question) for question in questions)

    assert slowest < 0.010


def _seconds(question: str) -> float:
    def once() -> float:
        started = time.thread_time()
        plan(question, now=NOW, recent=[question])
        return time.thread_time() - started

    return min(once() for _ in range(5))


def test_a_word_that_asks_is_no_name() -> None:
    assert plan("Which one is it?", now=NOW).wanted[Part.FACTS] == "always: exact values"
    assert plan("Which one is Bob's?", now=NOW).wanted[Part.FACTS] == "it may name Bob's"


def test_a_question_of_spaces_is_read_at_once() -> None:
    started = time.process_time()
    for _ in range(20):
        plan(" " * 1_000, now=NOW)
    assert time.process_time() - started < 0.2
