"""A closer look at texts: what a question asks for, and whether a text could hold it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as some

from nexus.recall.closely import NAME, NAMES, look


def seen(question: str, *texts: str, asked: bool = False) -> dict[str, list[float]]:
    columns = look(question, texts, [0.0] * len(texts), [asked] * len(texts))
    return dict(zip(NAMES, columns.T.tolist(), strict=True))


@pytest.mark.requirement("E12")
@pytest.mark.parametrize(
    ("sort", "question", "holds", "lacks"),
    [
        ("time", "When did she paint it?", "I painted it last Friday.", "I painted the pasta."),
        ("time", "Which year was that?", "It was 2019.", "It was a sincere, lasting joy."),
        ("number", "How many children has she?", "My two kids love it.", "The kids love it."),
        ("number", "How much was it?", "It was $40.", "It was on sale."),
        ("name", "Where did he go?", "we went to Lisbon", "We went to the beach"),
        ("name", "Which book was it?", 'I read "Dune" again', "I read it again"),
    ],
)
def test_a_text_that_could_hold_the_answer_is_told_from_one_that_could_not(
    sort: str, question: str, holds: str, lacks: str
) -> None:
    assert seen(question, holds, lacks)[sort] == [1.0, 0.0]


def test_what_is_not_asked_for_counts_for_nobody() -> None:
    columns = seen("Does she like tea?", "Last week she had two cups of Darjeeling.")

    assert columns["time"] == columns["number"] == columns["name"] == [0.0]


def test_only_whom_the_question_is_about_tells_of_themselves() -> None:
    texts = ("I'm a nurse.", "It is late.")

    assert seen("What does Ann do?", *texts, asked=True)["oneself"] == [1.0, 0.0]
    assert seen("What does Ann do?", *texts)["oneself"] == [0.0, 0.0]


def test_who_turns_to_somebody_is_seen() -> None:
    texts = ("Have you had yours?", "You did.", "We had ours.", "The young ones had some.")

    assert seen("tea?", *texts)["address"] == [1.0, 1.0, 0.0, 0.0]


def test_no_texts_no_rows() -> None:
    assert look("When?", [], [], []).shape == (0, len(NAMES))


@given(some.text(some.sampled_from("abZ ,:\"'“é_1")))
def test_a_name_has_a_capital_in_a_sentence_or_stands_after_a_quote(text: str) -> None:
    plain = re.search(r"(?<=[a-z,;:\"'] )[A-Z][a-z]|[\"“]\w", text)
    assert (NAME.search(text) is not None) == (plain is not None)
