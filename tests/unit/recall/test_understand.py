"""What the rules make of a question."""

from __future__ import annotations

import pytest

from nexus.recall.understand import understand


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
    "question", ["What did Caroline say?", "Where do I live?", "Who told Bob about the party?"]
)
def test_other_questions_are_not_about_the_assistant(question: str) -> None:
    assert not understand(question, []).asks_the_assistant
