"""Question analysis."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from nexusmem import Nexus
from nexusmem.core.canonical import EARLIEST
from nexusmem.recall import question_analysis as understanding
from nexusmem.recall.question_analysis import (
    QuestionAnalysis,
    TimeWindow,
    find_time_window,
    strip_boilerplate,
)
from nexusmem.recall.question_analysis import analyze_question as understand_at

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)


def understand(question: str, speakers: list[str | None]) -> QuestionAnalysis:
    return understand_at(question, speakers, MONDAY)


def day(month: int, number: int, year: int = 2026) -> datetime:
    return datetime(year, month, number, tzinfo=UTC)


def test_speakers_are_recognized_by_name() -> None:
    read = understand("When did Caroline's sister call Bob?", ["Caroline", "bob", "Dave", None])

    assert read.people == {"Caroline", "bob"}


def test_names_are_removed_from_the_embedding_text_only() -> None:
    read = understand("What did Caroline research?", ["Caroline"])

    assert "caroline" not in read.embedding_text.lower()
    assert "research" in read.embedding_text
    assert "carolin" in read.terms


def test_question_of_names_keeps_them() -> None:
    assert understand("Caroline?", ["Caroline"]).embedding_text == "Caroline?"


@pytest.mark.parametrize(
    "question",
    [
        "What did you recommend for dinner?",
        "Can you remind me of the second item?",
        "Which book was on the list you gave me?",
        "What was your suggestion for the trip?",
    ],
)
def test_question_about_the_assistant_is_recognized(question: str) -> None:
    assert understand(question, []).asks_assistant


@pytest.mark.parametrize(
    "question",
    [
        "What did Caroline say?",
        "Where do I live?",
        "Who told Bob about the party?",
        "Can you give me the names of the servers?",
        "Could you list the orders of March?",
        "Would you please tell me where the key is?",
    ],
)
def test_other_questions_do_not_ask_the_assistant(question: str) -> None:
    assert not understand(question, []).asks_assistant


@pytest.mark.parametrize(
    ("question", "matter"),
    [
        ("Can you give me the name of the staging server?", "the name of the staging server?"),
        ("Could you please tell me which database we chose?", "which database we chose?"),
        ("Give me a comprehensive overview of the ledger migration", "the ledger migration"),
        (
            "What did we decide throughout our conversations about PostgreSQL?",
            "What did we decide about PostgreSQL?",
        ),
        (
            "List the order of aspects of the heron project we discussed. Name only ten items",
            "the heron project .",
        ),
        ("Which database did we choose?", "Which database did we choose?"),
    ],
)
def test_boilerplate_is_removed(question: str, matter: str) -> None:
    assert " ".join(strip_boilerplate(question).split()) == matter


@pytest.mark.parametrize("question", ["Summarize", "Remind me", "Tell me about tea", "", "List it"])
def test_question_with_few_terms_keeps_its_boilerplate(question: str) -> None:
    assert strip_boilerplate(question) == question


def test_terms_and_embedding_text_exclude_boilerplate() -> None:
    read = understand("Can you give me the names of the staging servers?", [])

    assert set(read.terms) == {"name", "stage", "server"}
    assert "give" not in read.embedding_text


@pytest.mark.requirement("D19", "E4")
@pytest.mark.parametrize(
    ("question", "window"),
    [
        ("What happened yesterday?", TimeWindow(day(3, 1), day(3, 2))),
        ("What did we say in February 2026?", TimeWindow(day(2, 1), day(3, 1))),
        ("What was decided last week?", TimeWindow(day(2, 23), day(3, 2))),
        ("Which tickets came on 3 January 2026?", TimeWindow(day(1, 3), day(1, 4))),
        ("Anything before March 2025?", TimeWindow(EARLIEST, day(3, 1, 2025))),
        ("Did it change from January 2026 to February 2026?", TimeWindow(day(1, 1), day(3, 1))),
    ],
)
def test_time_window_of_a_question(question: str, window: TimeWindow) -> None:
    assert find_time_window(question, MONDAY) == window
    assert understand(question, []).window == window


@pytest.mark.requirement("D19")
@pytest.mark.parametrize(
    "question", ["Which database?", "May I ask who won?", "Do we meet every Tuesday?", ""]
)
def test_a_question_without_a_time_has_no_window(question: str) -> None:
    assert find_time_window(question, MONDAY) is None


@pytest.mark.requirement("D19")
def test_window_depends_on_now() -> None:
    assert find_time_window("yesterday", day(6, 2)) == TimeWindow(day(6, 1), day(6, 2))


@pytest.mark.requirement("D19")
def test_window_depends_on_the_time_zone() -> None:
    late = datetime(2026, 6, 2, 23, tzinfo=UTC)
    berlin = late.astimezone(ZoneInfo("Europe/Berlin"))
    here, there = find_time_window("yesterday", late), find_time_window("yesterday", berlin)

    assert late == berlin
    assert here == TimeWindow(day(6, 1), day(6, 2))
    assert there == TimeWindow(*(datetime(2026, 6, n, tzinfo=berlin.tzinfo) for n in (2, 3)))
    assert find_time_window("yesterday", late) == here


def test_question_cache_is_cleared(tmp_path: Path) -> None:
    with Nexus.open(tmp_path / "memory.db", background=False) as nexus:
        workspace = nexus.workspace("acme")
        room = workspace.room("talk", participants=["ada", "bob"])
        room.observe("ada", "I was at the clinic yesterday.")
        room.recall("Why was ada at the clinic yesterday?")
        kept = understanding._parse_time_window_cached.cache_info().currsize
        workspace.forget(user="ada")

    assert kept
    assert not understanding._parse_time_window_cached.cache_info().currsize


@pytest.mark.parametrize(
    ("question", "people"),
    [
        ("What did Fahim say?", {"Fahim Khan"}),
        ("What did Khan say about the boat?", {"Fahim Khan"}),
        ("what did fahim khan say?", {"Fahim Khan"}),
        ("what did fahim say?", {"Fahim Khan"}),
        ("What did Fahmi say?", {"Fahim Khan"}),  # two letters swapped
        ("Did Bob's crew arrive?", {"Robert Hale"}),
        ("Did Bob and Fahim arrive?", {"Robert Hale", "Fahim Khan"}),
        ("What did Sam say?", set()),  # Samuel or Samantha
        ("We will see.", set()),
        ("Is the hale of a boat its hull?", set()),  # in a sentence with capitals, names have one
    ],
)
def test_speakers_are_recognized_by_a_part_of_their_name(question: str, people: set[str]) -> None:
    speakers = ["Fahim Khan", "Robert Hale", "Samuel Ode", "Samantha Ruiz", "Will"]

    assert understand(question, [*speakers]).people - {"Will"} == people


def test_word_that_names_one_speaker_means_no_other() -> None:
    assert understand("What did Bob say?", ["Bob", "Robert Hale"]).people == {"Bob"}
    assert understand("What did Marina say?", ["Marina", "Marika"]).people == {"Marina"}


def test_recognized_part_is_removed_from_the_embedding_text() -> None:
    read = understand("What did Fahim Khan's brother research?", ["Fahim Khan"])
    short = understand("What did Fahim research?", ["Fahim Khan"])

    assert "fahim" not in read.embedding_text.lower()
    assert "fahim" not in short.embedding_text.lower()
    assert "fahim" in short.terms
