"""Questions: what is small talk."""

from __future__ import annotations

import pytest

from nexusmem.compose.question import is_small_talk


@pytest.mark.parametrize(
    "text", ["hello everyone", "Good morning all!", "thanks everybody", "hey team", "night folks"]
)
def test_greeting_of_a_group_is_small_talk(text: str) -> None:
    assert is_small_talk(text)


@pytest.mark.parametrize("text", ["team", "who is everyone", "is that all?", "what about the team"])
def test_question_about_a_group_is_none(text: str) -> None:
    assert not is_small_talk(text)
