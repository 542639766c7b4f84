"""Counting tokens without a tokeniser."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest

from nexus.core.tokens import count, family_of

# What o200k makes of these texts of our own; counted once with the real tokeniser.
REAL = [
    ("We decided to use PostgreSQL instead of MySQL for the new billing service.", 16),
    ("def add(left: int, right: int) -> int:\n    return left + right\n", 19),
    ('{"name": "nexus", "port": 8080, "tags": ["a", "b"], "ok": true}', 28),
    ("Gestern haben wir beschlossen, die Datenbank zu wechseln.", 12),
    ("Вчера мы решили сменить базу данных.", 10),
    ("昨天我们决定更换数据库。", 7),
]


@pytest.mark.parametrize(("text", "real"), REAL)
def test_a_short_text_is_counted_about_right(text: str, real: int) -> None:
    assert abs(count(text) - real) <= max(2, 0.2 * real)


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
