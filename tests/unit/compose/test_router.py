"""Context router: sections, steps and names of a question."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from nexusmem.compose.conversation.turns import Turn
from nexusmem.compose.question import is_small_talk
from nexusmem.compose.router import plan_context

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)  # a Wednesday
ALWAYS_SHOWN = {"reviews", "landmarks", "profile", "awareness", "summary", "goals", "window"}

WANTED = {
    "What did we decide yesterday?": {"recall", "related", "episodes"},
    "When did Tyler move to Leeds?": {"recall", "related", "episodes"},
    "What happened last week?": {"recall", "related", "episodes", "activity"},
    "What did we talk about in January?": {"recall", "related", "episodes"},
    "What did we do this morning?": {
        "recall",
        "related",
        "episodes",
        "activity",
    },
    "Catch me up": {"recall", "related", "episodes", "activity"},
    "How do I deploy the ledger?": {"recall", "related", "procedures"},
    "Walk me through the release": {"recall", "related", "procedures"},
    "Deploy the ledger to staging.": {"recall", "related", "procedures"},
    "Which database do we use?": {"recall", "related"},
    "Where does Tyler work?": {"recall", "related"},
    "How are you?": {"recall", "related"},
    "The may bell rings": {"recall", "related"},
    "Thanks!": set(),
    "ok, great": set(),
    "hi": set(),
    "": set(),
}

TALK = {"Thanks!", "ok, great"}  # need no memory; a greeting opens a conversation


@pytest.mark.requirement("D16", "D19")
@pytest.mark.parametrize("question", WANTED)
def test_plan_has_expected_sections_with_reasons(question: str) -> None:
    wanted = plan_context(question, now=NOW).sections

    assert wanted.keys() - ALWAYS_SHOWN - {"facts"} == WANTED[question]
    needed = {"landmarks", "window"} if question in TALK else ALWAYS_SHOWN | {"facts"}
    assert needed <= wanted.keys()
    assert question not in TALK or wanted.keys() == needed
    assert all(wanted.values())


def test_plan_contains_the_named_period() -> None:
    made = plan_context("What did we decide yesterday?", now=NOW)

    assert made.window is not None
    assert (made.window.since, made.window.until) == (
        datetime(2026, 3, 3, tzinfo=UTC),
        datetime(2026, 3, 4, tzinfo=UTC),
    )
    assert "2026-03-03" in made.sections["episodes"]


STEPS = {
    "Which database do we use?": 1,
    "Compare PostgreSQL and MySQL": 3,
    "What is the difference between the old schema and the new schema?": 3,
    "Who owns billing? And when is the launch?": 3,
    "Find the owner of billing and then tell me where they live": 3,
    "Thanks! Where do we meet?": 1,
}


@pytest.mark.parametrize("question", STEPS)
def test_compound_question_is_split_into_steps(question: str) -> None:
    made = plan_context(question, now=NOW)

    assert len(made.steps) == STEPS[question], made.steps
    assert made.steps[0] == question
    assert made.is_multi_step == (STEPS[question] > 1)


def test_nested_question_needs_several_steps() -> None:
    made = plan_context("Where does the person who owns billing live?", now=NOW)

    assert made.is_nested
    assert made.is_multi_step


def test_capitalized_names_come_first() -> None:
    names = plan_context("which database does Tyler Durden use", now=NOW).names

    assert names[:3] == ("tyler", "tyler durden", "durden")
    assert "database" in names


def test_pronoun_refers_to_names_in_recent_messages() -> None:
    recent = [Turn("The launch is in May."), Turn("Have you met Tyler?")]

    assert "tyler" in plan_context("where does he work?", now=NOW, turns=recent).names
    assert "tyler" not in plan_context("which database do we use?", now=NOW, turns=recent).names
    assert (
        "tyler"
        not in plan_context("where does Bob work, and is he here?", now=NOW, turns=recent).names
    )


def test_small_talk_is_recognized() -> None:
    assert is_small_talk("Good morning!")
    assert not is_small_talk("Who are you?")
    assert not is_small_talk("PostgreSQL")


def test_plan_takes_less_than_ten_milliseconds() -> None:
    questions = [*WANTED, *STEPS, "and then compare " * 3_000, "Aa Bb? " * 3_000, "x" * 20_000]
    for question in questions:  # warm up: lazy imports are not measured
        plan_context(question, now=NOW)

    slowest = max(_seconds(question) for question in questions)

    assert slowest < 0.010


def _seconds(question: str) -> float:
    def once() -> float:
        started = time.thread_time()
        plan_context(question, now=NOW, turns=[Turn(question)])
        return time.thread_time() - started

    return min(once() for _ in range(5))


def test_question_words_are_not_names() -> None:
    assert plan_context("Which one is it?", now=NOW).sections["facts"] == "always: exact values"
    assert plan_context("Which one is Bob's?", now=NOW).sections["facts"] == "it may name Bob's"


def test_question_of_spaces_is_fast() -> None:
    started = time.process_time()
    for _ in range(20):
        plan_context(" " * 1_000, now=NOW)
    assert time.process_time() - started < 0.2


def test_names_that_are_only_the_topic_of_earlier_messages_are_not_asked_for() -> None:
    said = [Turn("Bob Hale likes tea.")]

    topic = plan_context("When is the deadline?", now=NOW, turns=said)
    person = plan_context("Where does he live?", now=NOW, turns=said)

    assert "bob hale" in topic.names
    assert not any("hale" in each for each in topic.asked_names)
    assert "bob hale" in person.asked_names
