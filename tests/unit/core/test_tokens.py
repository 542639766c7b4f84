"""Token counting without a network."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as some
from tests.unit.core.token_counts import COUNTED

from nexusmem.text.tokens import FAMILIES, count_tokens, line_token_counter, tokenizer_family


@pytest.mark.requirement("D17")
@pytest.mark.parametrize(
    ("kind", "text", "o200k", "cl100k"), COUNTED, ids=lambda value: str(value)[:20]
)
def test_count_equals_that_of_the_tokenizer(kind: str, text: str, o200k: int, cl100k: int) -> None:
    for family, real in (("o200k", o200k), ("cl100k", cl100k)):
        assert real <= count_tokens(text, family) <= 1.05 * real, f"{kind} for {family}"
        assert count_tokens(f"{text} {text}", family) >= 2 * real - 2
    for family in ("anthropic", "other"):
        assert count_tokens(text, family) >= 1.2 * cl100k


PIECES = some.sampled_from(
    [*"aZé9'-/ :]\n\t\r\x1c\xa0東ก𝒜\U00020001", "we'll", " - ", "  ", "\n    "]
)
TEXTS = some.one_of(some.text(), some.lists(PIECES).map("".join)).map(str.strip)


@given(TEXTS, TEXTS, some.sampled_from(sorted(FAMILIES)))
def test_line_count_is_the_sum_of_head_and_text(name: str, text: str, family: str) -> None:
    for head in ("-", f"- [2026-03-01 | said] {name}:", f"- [said | {name}]"):
        assert line_token_counter(family)(head, text) == count_tokens(f"{head} {text}\n", family)


def test_text_without_boundaries_is_counted_in_parts() -> None:
    assert 250 <= count_tokens("abc" * 1_000) <= 2_000
    assert count_tokens("ก" * 1_000) >= 250
    assert count_tokens("\ud800") >= 1


def test_empty_text_has_no_tokens_and_counts_never_shrink() -> None:
    text = "One word after another, and a number: 12345678."
    counts = [count_tokens(text[:end]) for end in range(len(text) + 1)]

    assert counts[0] == 0
    assert all(later >= earlier - 2 for earlier, later in pairwise(counts))
    assert count_tokens(text * 10) > 9 * count_tokens(text)


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
def test_tokenizer_family_of_models(model: str | None, family: str) -> None:
    assert tokenizer_family(model) == family
    assert count_tokens("Hello there, how are you?", tokenizer_family(model)) >= count_tokens(
        "Hello there, how are you?"
    )


def test_million_characters_are_counted_fast() -> None:
    started = time.process_time()
    assert count_tokens("abc " * 250_000) > 100_000
    assert time.process_time() - started < 10
