"""Misspellings: names with one wrong letter."""

from __future__ import annotations

import pytest

from nexusmem.text.nicknames import is_misspelt, misspellings


@pytest.mark.parametrize("written", ["danutta", "danta", "danoota", "danuat", "denuta"])
def test_one_wrong_letter_leads_to_the_name(written: str) -> None:
    assert ("danuta" in misspellings(written)) == (written != "danoota")  # which has two


def test_short_names_and_other_scripts_have_no_misspellings() -> None:
    assert (
        misspellings("bob")
        == misspellings("中文名字啊")
        == misspellings("anna-maria")
        == frozenset()
    )
    assert "mara" not in misspellings("maria")  # four letters differ from too many names


def test_first_letter_is_right() -> None:
    assert "banuta" not in misspellings("danuta")
    assert "danuta" not in misspellings("danuta")


@pytest.mark.parametrize("word", ["danuta", "maria", "bob", "anna-maria"])
def test_a_name_is_misspelt_if_it_is_listed(word: str) -> None:
    others = {"danuta", "danutta", "danuat", "banuta", "mario", "mara", "bo", "annamaria", ""}
    names = {*misspellings(word), *others, word}
    assert {name for name in names if is_misspelt(name, word)} == misspellings(word)
