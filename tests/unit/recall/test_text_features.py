"""Text features: answer types, first person and second person."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as some

from nexusmem.recall.ranking.features import NAME_PATTERN, TEXT_FEATURE_NAMES, compute_text_features


def compute_features(question: str, *texts: str, by_person: bool = False) -> dict[str, list[float]]:
    columns = compute_text_features(question, texts, [0.0] * len(texts), [by_person] * len(texts))
    return dict(zip(TEXT_FEATURE_NAMES, columns.T.tolist(), strict=True))


@pytest.mark.requirement("E12")
@pytest.mark.parametrize(
    ("feature", "question", "holds", "lacks"),
    [
        ("time", "When did she paint it?", "I painted it last Friday.", "I painted the pasta."),
        ("time", "Which year was that?", "It was 2019.", "It was a sincere, lasting joy."),
        ("number", "How many children has she?", "My two kids love it.", "The kids love it."),
        ("number", "How much was it?", "It was $40.", "It was on sale."),
        ("name", "Where did he go?", "we went to Lisbon", "We went to the beach"),
        ("name", "Which book was it?", 'I read "Dune" again', "I read it again"),
    ],
)
def test_text_with_the_expected_answer_type_is_marked(
    feature: str, question: str, holds: str, lacks: str
) -> None:
    assert compute_features(question, holds, lacks)[feature] == [1.0, 0.0]


def test_answer_types_count_only_if_the_question_asks_for_them() -> None:
    columns = compute_features("Does she like tea?", "Last week she had two cups of Darjeeling.")

    assert columns["time"] == columns["number"] == columns["name"] == [0.0]


def test_oneself_needs_first_person_text_of_the_person() -> None:
    texts = ("I'm a nurse.", "It is late.")

    assert compute_features("What does Ann do?", *texts, by_person=True)["oneself"] == [1.0, 0.0]
    assert compute_features("What does Ann do?", *texts)["oneself"] == [0.0, 0.0]


def test_address_marks_second_person() -> None:
    texts = ("Have you had yours?", "You did.", "We had ours.", "The young ones had some.")

    assert compute_features("tea?", *texts)["address"] == [1.0, 1.0, 0.0, 0.0]


def test_no_texts_give_no_rows() -> None:
    assert compute_text_features("When?", [], [], []).shape == (0, len(TEXT_FEATURE_NAMES))


@given(some.text(some.sampled_from("abZ ,:\"'“é_1")))
def test_name_pattern_matches_capitals_and_quotes(text: str) -> None:
    plain = re.search(r"(?<=[a-z,;:\"'] )[A-Z][a-z]|[\"“]\w", text)
    assert (NAME_PATTERN.search(text) is not None) == (plain is not None)
