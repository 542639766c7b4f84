"""Late interaction scores."""

from __future__ import annotations

import pytest

from nexusmem.embedders.builtin import interaction_scores

TEXTS = ["The kettle is red.", "The kettle is loud.", "The door is red."]


@pytest.mark.requirement("E12")
def test_text_that_covers_the_question_scores_highest() -> None:
    scores = interaction_scores("Is the kettle red?", TEXTS)

    assert max(scores) == scores[0]
    assert all(0 <= score <= 1 for score in scores)


def test_word_of_every_text_has_no_weight() -> None:
    with_it, without = (
        interaction_scores("the red kettle", TEXTS),
        interaction_scores("red kettle", TEXTS),
    )

    assert with_it == pytest.approx(without, abs=1e-6)


def test_rare_words_weigh_more() -> None:
    texts = ["a kettle", "a kettle", "a kettle", "a teaspoon"]

    kettle, *_, teaspoon = interaction_scores("kettle and teaspoon", texts)

    assert teaspoon > kettle


def test_equal_and_empty_texts() -> None:
    assert interaction_scores("red", ["red", "red"]) == [0.0, 0.0]  # all texts are equal
    assert interaction_scores("", TEXTS) == [0.0, 0.0, 0.0]
    assert interaction_scores("red", ["", "red kettle"])[0] == 0.0
    assert interaction_scores("red", []) == []
