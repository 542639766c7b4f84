"""Late interaction scores."""

from __future__ import annotations

import pytest

from nexusmem.embedders.builtin import match_words

TEXTS = ["The kettle is red.", "The kettle is loud.", "The door is red."]


@pytest.mark.requirement("E12")
def test_text_that_covers_the_question_scores_highest() -> None:
    scores = match_words("Is the kettle red?", TEXTS).scores

    assert max(scores) == scores[0]
    assert all(0 <= score <= 1 for score in scores)


def test_word_of_every_text_has_no_weight() -> None:
    with_it, without = (
        match_words("the red kettle", TEXTS).scores,
        match_words("red kettle", TEXTS).scores,
    )

    assert with_it == pytest.approx(without, abs=1e-6)


def test_rare_words_weigh_more() -> None:
    texts = ["a kettle", "a kettle", "a kettle", "a teaspoon"]

    kettle, *_, teaspoon = match_words("kettle and teaspoon", texts).scores

    assert teaspoon > kettle


def test_equal_and_empty_texts() -> None:
    assert match_words("red", ["red", "red"]).scores == [0.0, 0.0]  # all texts are equal
    assert match_words("", TEXTS).scores == [0.0, 0.0, 0.0]
    assert match_words("red", ["", "red kettle"]).scores[0] == 0.0
    assert match_words("red", []).scores == []
