"""Counting tokens without a network."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as some
from tests.unit.core.counted import COUNTED

from nexus.core.tokens import FAMILIES, count, family_of, line_counter


@pytest.mark.requirement("D17")
@pytest.mark.parametrize(
    ("kind", "text", "o200k", "cl100k"), COUNTED, ids=lambda value: str(value)[:20]
)
def test_a_text_of_any_kind_has_as_many_tokens_as_it_has(
    kind: str, text: str, o200k: int, cl100k: int
) -> None:
    for family, real in (("o200k", o200k), ("cl100k", cl100k)):
        assert real <= count(text, family) <= 1.05 * real, f"{kind} for {family}"
        assert count(f"{text} {text}", family) >= 2 * real - 2
    for family in ("anthropic", "other"):
        assert count(text, family) >= 1.2 * cl100k


PIECES = some.sampled_from(
    [*"aZé9'-/ :]\n\t\r\x1c\xa0東ก𝒜\U00020001", "we'll", " - ", "  ", "\n    "]
)
TEXTS = some.one_of(some.text(), some.lists(PIECES).map("".join)).map(str.strip)


@given(TEXTS, TEXTS, some.sampled_from(sorted(FAMILIES)))
def test_a_line_has_as_many_as_its_beginning_and_its_text(
    name: str, text: str, family: str
) -> None:
    for head in ("-", f"- [2026-03-01 | said] {name}:", f"- [said | {name}]"):
        assert line_counter(family)(head, text) == count(f"{head} {text}\n", family)


def test_what_has_no_place_to_cut_is_counted_in_parts() -> None:
    assert 250 <= count("abc" * 1_000) <= 2_000
    assert count("ก" * 1_000) >= 250
    assert count("\ud800") >= 1


def test_nothing_is_no_token_and_more_text_is_never_fewer() -> None:
    text = "One word after another, and a number: 12345678."
    counts = [count(text[:end]) for end in range(len(text) + 1)]

    assert counts[0] == 0
    assert all(later >= earlier - 2 for earlier, later in pairwise(counts))
    assert count(text * 10) > 9 * count(text)


@pytest.mark.parametrize(
    ("model", "family"),
    [
        (None, "o200k"),
        ("gpt-4o-mini", "o200k"),
        ("openai/gpt-5", "o200k"),
        ("gpt-4", "cl100k"),
        ("gpt-3.5-turbo", "cl100k"),
        ("claude-sonnet-4-5", "anthropic"),
        ("llama3.2", "other"),
    ],
)
def test_every_model_has_a_family(model: str | None, family: str) -> None:
    assert family_of(model) == family
    assert count("Hello there, how are you?", family_of(model)) >= count(
        "Hello there, how are you?"
    )


def test_a_million_characters_are_counted_in_reasonable_time() -> None:
    started = time.process_time()
    assert count("abc " * 250_000) > 100_000
    assert time.process_time() - started < 10
