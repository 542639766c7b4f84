"""WordPiece cuts as BERT does."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as some

from nexus.embedders import wordpiece
from nexus.embedders.wordpiece import WordPiece, forget_words, runs, words

VOCABULARY = ["[UNK]", "un", "##aff", "##able", "runn", "##ing", "tea", "!", "##!"]


def split(text: str) -> list[str]:
    return [word for run in runs(text) for word in words(run)]


def split_at_once(text: str) -> list[str]:
    """The long way, which knows neither runs nor plain text."""
    cleaned = text.translate(wordpiece._cleaned)
    return unicodedata.normalize("NFD", cleaned).translate(wordpiece._folded).split()


# What Hugging Face's BertNormalizer and BertPreTokenizer answer.
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Hello, World!", ["hello", ",", "world", "!"]),
        ("it's $5.00_ok", ["it", "'", "s", "$", "5", ".", "00", "_", "ok"]),
        ("line\none\ttwo\r\n", ["line", "one", "two"]),
        ("zero\x00width\x0bsigns\u200bgone", ["zerowidthsignsgone"]),
        ("Crème Brûlée ÅNGSTRÖM", ["creme", "brulee", "angstrom"]),
        ("ΟΔΟΣ", ["οδοσ"]),
        ("I ♥ 東京タワー", ["i", "♥", "東", "京", "タワー"]),
        ("“quoted” — yes…", ["“", "quoted", "”", "—", "yes", "…"]),
        ("wide\u3000space and\u00a0hard", ["wide", "space", "and", "hard"]),
        ("great😀", ["great😀"]),
        ("[CLS] is text", ["[", "cls", "]", "is", "text"]),
        ("", []),
        (" \n ", []),
    ],
)
def test_text_is_split_like_the_reference(text: str, found: list[str]):
    assert split(text) == found


@pytest.mark.parametrize("text", ["Tea, cake & more", "a\x07b", "tab\there", "x" * 300])
def test_plain_text_takes_a_shorter_way_to_the_same_words(text: str):
    assert split(text) == split(text + " é")[:-1]


@given(some.text(max_size=40) | some.text("aÉ.\u0301\u0323 \t\n\x0b\x1c\x85\u00a0\u2003\u200b東ﬁİ"))
def test_words_are_the_same_run_by_run_and_all_at_once(text: str):
    assert split(text) == split_at_once(text)


def test_the_longest_piece_wins():
    pieces = WordPiece(VOCABULARY, unknown=(0,))

    assert pieces.ids("Unaffable running!") == [1, 2, 3, 4, 5, 7]


@pytest.mark.parametrize(("unknown", "ids"), [((0,), [6, 0, 6]), ((), [6, 6])])
def test_a_word_that_cannot_be_cut_is_unknown_as_a_whole(unknown, ids):
    assert WordPiece(VOCABULARY, unknown=unknown).ids("tea teapot tea") == ids


def test_endless_words_are_unknown():
    assert WordPiece(["a", "##a"], unknown=()).ids("a" * 101) == []


def test_the_words_seen_are_bounded(monkeypatch):
    monkeypatch.setattr(wordpiece, "CACHED_WORDS", 3)
    pieces = WordPiece(VOCABULARY, unknown=(0,))

    for number in range(10):
        assert pieces.ids(f"tea {number}") == [6, 0]

    assert len(pieces._words) <= 3
    assert len(pieces._runs) <= 3


def test_an_endless_run_is_cut_anew_each_time():
    pieces = WordPiece(VOCABULARY, unknown=(0,))

    assert pieces.ids("tea!" * 100) == [6, 7] * 100
    assert not pieces._runs


def test_nothing_is_left_of_what_was_cut_once_somebody_is_forgotten():
    pieces = WordPiece(VOCABULARY, unknown=(0,))
    pieces.ids("Tea! running")

    forget_words()
    assert not pieces._runs
    assert not pieces._words
    assert pieces.ids("Tea! running") == [6, 7, 4, 5]
