"""Chunks of documents: bounded, in order, complete."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from nexusmem.learn.extract.passages import MAX_CHUNK_CHARS, split_chunks

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
def test_every_word_is_in_a_chunk_or_its_heading(text: str) -> None:
    kept = bare("".join(f"{piece.heading} {piece.text}" for piece in split_chunks(text)))

    missing = [
        word for word in text.split() if word.strip("#") and bare(word.strip("#")) not in kept
    ]

    assert [word for word in missing if len(word) <= MAX_CHUNK_CHARS] == []


@settings(max_examples=30)
@given(some.lists(blocks, max_size=8).map("\n\n".join))
def test_chunks_without_headings_join_to_the_text(text: str) -> None:
    assert bare("".join(piece.text for piece in split_chunks(text))) == bare(text)


@settings(max_examples=30)
@given(documents)
def test_chunks_are_bounded_and_not_empty(text: str) -> None:
    assert all(
        0 < len(piece.text) <= MAX_CHUNK_CHARS and piece.text.strip()
        for piece in split_chunks(text)
    )


def test_chunk_has_the_headings_above_it() -> None:
    text = (
        "Before.\n# Guide\nIntro.\n## Install\nRun it.\n### Linux\nApt.\n"
        "## Use\nCall it.\n# End\nBye."
    )

    assert [(piece.heading, piece.text) for piece in split_chunks(text)] == [
        ("", "Before."),
        ("Guide", "Intro."),
        ("Guide › Install", "Run it."),
        ("Guide › Install › Linux", "Apt."),
        ("Guide › Use", "Call it."),
        ("End", "Bye."),
    ]


def test_comment_in_a_code_block_is_no_heading() -> None:
    text = "# Guide\n```sh\n# install\npip install nexus\n```"

    (piece,) = split_chunks(text)

    assert piece.heading == "Guide"
    assert "# install" in piece.text


@pytest.mark.parametrize("text", ["# Only a title", "# One\n# Two", "Words.\n## Last"])
def test_heading_without_text_is_a_chunk(text: str) -> None:
    kept = " ".join(piece.text + " " + piece.heading for piece in split_chunks(text))

    assert all(word in kept for word in re.findall(r"\w+", text))


def test_title_above_chapters_is_no_chunk() -> None:
    (piece,) = split_chunks("# Guide\n## Install\nRun it.")

    assert (piece.heading, piece.text) == ("Guide › Install", "Run it.")


def test_paragraphs_are_joined_up_to_the_limit() -> None:
    short = "One.\n\nTwo.\n\nThree."
    long = "\n\n".join(["x" * 700] * 3)

    assert [piece.text for piece in split_chunks(short)] == [short]
    assert [len(piece.text) for piece in split_chunks(long)] == [700, 700, 700]


@pytest.mark.parametrize("text", ["", "   \n\n  "])
def test_empty_text_gives_no_chunks(text: str) -> None:
    assert list(split_chunks(text)) == []
