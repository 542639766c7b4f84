"""A question and some texts compared word by word."""

from __future__ import annotations

import pytest

from nexus.embedders.interaction import interaction

TEXTS = ["The kettle is red.", "The kettle is loud.", "The door is red."]


@pytest.mark.requirement("E12")
def test_the_text_that_covers_the_question_is_closest() -> None:
    scores = interaction("Is the kettle red?", TEXTS)

    assert max(scores) == scores[0]
    assert all(0 <= score <= 1 for score in scores)


def test_a_word_that_every_text_holds_tells_nothing() -> None:
    with_it, without = interaction("the red kettle", TEXTS), interaction("red kettle", TEXTS)

    assert with_it == pytest.approx(without, abs=1e-6)


def test_a_word_that_few_texts_hold_counts_more_than_one_that_many_hold() -> None:
    texts = ["a kettle", "a kettle", "a kettle", "a teaspoon"]

    kettle, *_, teaspoon = interaction("kettle and teaspoon", texts)

    assert teaspoon > kettle


def test_equal_texts_are_equally_close_and_nothing_is_far_from_everything() -> None:
    assert interaction("red", ["red", "red"]) == [0.0, 0.0]  # nothing tells them apart
    assert interaction("", TEXTS) == [0.0, 0.0, 0.0]
    assert interaction("red", ["", "red kettle"])[0] == 0.0
    assert interaction("red", []) == []
