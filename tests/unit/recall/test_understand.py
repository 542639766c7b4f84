"""What the rules make of a question."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from nexus import Nexus
from nexus.core.canonical import EARLIEST
from nexus.recall import understand as understanding
from nexus.recall.understand import Understood, Window, unframed, window_of
from nexus.recall.understand import understand as understand_at

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)


def understand(question: str, speakers: list[str | None]) -> Understood:
    return understand_at(question, speakers, MONDAY)


def day(month: int, number: int, year: int = 2026) -> datetime:
    return datetime(year, month, number, tzinfo=UTC)


def test_people_are_recognised_by_the_names_they_speak_under() -> None:
    read = understand("When did Caroline's sister call Bob?", ["Caroline", "bob", "Dave", None])

    assert read.people == {"Caroline", "bob"}


def test_names_are_left_out_of_the_meaning_and_kept_among_the_terms() -> None:
    read = understand("What did Caroline research?", ["Caroline"])

    assert "caroline" not in read.meaning.lower()
    assert "research" in read.meaning
    assert "carolin" in read.terms


def test_a_question_of_names_alone_keeps_them() -> None:
    assert understand("Caroline?", ["Caroline"]).meaning == "Caroline?"


@pytest.mark.parametrize(
    "question",
    [
        "What did you recommend for dinner?",
        "Can you remind me of the second item?",
        "Which book was on the list you gave me?",
        "What was your suggestion for the trip?",
    ],
)
def test_the_assistants_own_words_are_asked_for(question: str) -> None:
    assert understand(question, []).asks_the_assistant


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
def test_other_questions_are_not_about_the_assistant(question: str) -> None:
    assert not understand(question, []).asks_the_assistant


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
def test_words_around_a_question_are_left_out(question: str, matter: str) -> None:
    assert " ".join(unframed(question).split()) == matter


@pytest.mark.parametrize("question", ["Summarize", "Remind me", "Tell me about tea", "", "List it"])
def test_a_frame_with_next_to_nothing_in_it_is_the_question(question: str) -> None:
    assert unframed(question) == question


def test_terms_and_meaning_are_those_of_the_matter() -> None:
    read = understand("Can you give me the names of the staging servers?", [])

    assert set(read.terms) == {"name", "stage", "server"}
    assert "give" not in read.meaning


@pytest.mark.requirement("D19", "E4")
@pytest.mark.parametrize(
    ("question", "window"),
    [
        ("What happened yesterday?", Window(day(3, 1), day(3, 2))),
        ("What did we say in February 2026?", Window(day(2, 1), day(3, 1))),
        ("What was decided last week?", Window(day(2, 23), day(3, 2))),
        ("Which tickets came on 3 January 2026?", Window(day(1, 3), day(1, 4))),
        ("Anything before March 2025?", Window(EARLIEST, day(3, 1, 2025))),
        ("Did it change from January 2026 to February 2026?", Window(day(1, 1), day(3, 1))),
    ],
)
def test_a_question_names_its_time(question: str, window: Window) -> None:
    assert window_of(question, MONDAY) == window
    assert understand(question, []).window == window


@pytest.mark.requirement("D19")
@pytest.mark.parametrize(
    "question", ["Which database?", "May I ask who won?", "Do we meet every Tuesday?", ""]
)
def test_a_question_without_a_time_has_no_window(question: str) -> None:
    assert window_of(question, MONDAY) is None


@pytest.mark.requirement("D19")
def test_the_same_words_mean_another_day_when_asked_on_another() -> None:
    assert window_of("yesterday", day(6, 2)) == Window(day(6, 1), day(6, 2))


@pytest.mark.requirement("D19")
def test_the_same_moment_is_of_another_day_elsewhere() -> None:
    late = datetime(2026, 6, 2, 23, tzinfo=UTC)
    berlin = late.astimezone(ZoneInfo("Europe/Berlin"))
    here, there = window_of("yesterday", late), window_of("yesterday", berlin)

    assert late == berlin
    assert here == Window(day(6, 1), day(6, 2))
    assert there == Window(*(datetime(2026, 6, n, tzinfo=berlin.tzinfo) for n in (2, 3)))
    assert window_of("yesterday", late) == here


def test_no_question_is_remembered_past_an_erasure(tmp_path: Path) -> None:
    with Nexus.open(tmp_path / "memory.db", background=False) as nexus:
        workspace = nexus.workspace("acme")
        room = workspace.room("talk", participants=["ada", "bob"])
        room.observe("ada", "I was at the clinic yesterday.")
        room.recall("Why was ada at the clinic yesterday?")
        kept = understanding._read_once.cache_info().currsize
        workspace.forget(user="ada")

    assert kept
    assert not understanding._read_once.cache_info().currsize
