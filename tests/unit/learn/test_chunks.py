"""Documents in pieces: short enough, in order, and nothing left out."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from nexus.learn.chunks import LONGEST_CHUNK, chunks

words = some.text("abcdefghij", min_size=1, max_size=30)
sentences = some.lists(words, min_size=1, max_size=60).map(lambda each: " ".join(each) + ". ")
paragraphs = some.lists(sentences, min_size=1, max_size=12).map("".join)
endless = some.integers(1, 4_000).map(lambda length: "z" * length)
blocks = paragraphs | endless | some.just("```\n# not a heading\n```") | some.just("* a\n* b")
headings = some.tuples(some.integers(1, 6), words).map(lambda each: "#" * each[0] + " " + each[1])
documents = some.lists(blocks | headings, max_size=12).map("\n\n".join)


def bare(text: str) -> str:
    return re.sub(r"\s+", "", text)


@settings(max_examples=30)
@given(some.text(max_size=200) | documents)
def test_every_word_is_in_a_piece_or_in_the_heading_above_one(text: str) -> None:
    kept = bare("".join(f"{piece.heading} {piece.text}" for piece in chunks(text)))

    missing = [
        word for word in text.split() if word.strip("#") and bare(word.strip("#")) not in kept
    ]

    assert [word for word in missing if len(word) <= LONGEST_CHUNK] == []


@settings(max_examples=30)
@given(some.lists(blocks, max_size=8).map("\n\n".join))
def test_without_headings_the_pieces_are_the_text(text: str) -> None:
    assert bare("".join(piece.text for piece in chunks(text))) == bare(text)


@settings(max_examples=30)
@given(documents)
def test_pieces_are_short_and_never_empty(text: str) -> None:
    assert all(
        0 < len(piece.text) <= LONGEST_CHUNK and piece.text.strip() for piece in chunks(text)
    )


def test_a_piece_knows_the_headings_above_it() -> None:
    text = (
        "Before.\n# Guide\nIntro.\n## Install\nRun it.\n### Linux\nApt.\n"
        "## Use\nCall it.\n# End\nBye."
    )

    assert [(piece.heading, piece.text) for piece in chunks(text)] == [
        ("", "Before."),
        ("Guide", "Intro."),
        ("Guide › Install", "Run it."),
        ("Guide › Install › Linux", "Apt."),
        ("Guide › Use", "Call it."),
        ("End", "Bye."),
    ]


def test_a_comment_in_a_code_block_is_no_heading() -> None:
    text = "# Guide\n```sh\n# install\npip install nexus\n```"

    (piece,) = chunks(text)

    assert piece.heading == "Guide"
    assert "# install" in piece.text


@pytest.mark.parametrize("text", ["# Only a title", "# One\n# Two", "Words.\n## Last"])
def test_a_heading_with_nothing_under_it_is_kept(text: str) -> None:
    kept = " ".join(piece.text + " " + piece.heading for piece in chunks(text))

    assert all(word in kept for word in re.findall(r"\w+", text))


def test_a_title_over_its_chapters_is_not_a_piece_of_its_own() -> None:
    (piece,) = chunks("# Guide\n## Install\nRun it.")

    assert (piece.heading, piece.text) == ("Guide › Install", "Run it.")


def test_paragraphs_stay_together_while_they_fit() -> None:
    short = "One.\n\nTwo.\n\nThree."
    long = "\n\n".join(["x" * 700] * 3)

    assert [piece.text for piece in chunks(short)] == [short]
    assert [len(piece.text) for piece in chunks(long)] == [700, 700, 700]


@pytest.mark.parametrize("text", ["", "   \n\n  "])
def test_nothing_gives_nothing(text: str) -> None:
    assert list(chunks(text)) == []
