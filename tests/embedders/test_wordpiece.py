"""WordPiece tokenizer."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as some

from nexusmem.text import wordpiece
from nexusmem.text.wordpiece import WordPiece, clear_word_caches, split_runs, split_words

VOCABULARY = ["[UNK]", "un", "##aff", "##able", "runn", "##ing", "tea", "!", "##!"]


def split(text: str) -> list[str]:
    return [word for run in split_runs(text) for word in split_words(run)]


def split_naively(text: str) -> list[str]:
    """Reference implementation without runs and without an ASCII path."""
    cleaned = text.translate(wordpiece._clean_table)
    return unicodedata.normalize("NFD", cleaned).translate(wordpiece._fold_table).split()


# Output of Hugging Face's BertNormalizer and BertPreTokenizer.
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
def test_words_match_the_reference(text: str, found: list[str]):
    assert split(text) == found


@pytest.mark.parametrize("text", ["Tea, cake & more", "a\x07b", "tab\there", "x" * 300])
def test_ascii_path_gives_the_same_words(text: str):
    assert split(text) == split(text + " é")[:-1]


@given(some.text(max_size=40) | some.text("aÉ.\u0301\u0323 \t\n\x0b\x1c\x85\u00a0\u2003\u200b東ﬁİ"))
def test_splitting_by_runs_gives_the_same_words(text: str):
    assert split(text) == split_naively(text)


def test_longest_piece_is_chosen():
    pieces = WordPiece(VOCABULARY, unknown=(0,))

    assert pieces.encode("Unaffable running!") == [1, 2, 3, 4, 5, 7]


@pytest.mark.parametrize(("unknown", "ids"), [((0,), [6, 0, 6]), ((), [6, 6])])
def test_word_without_pieces_is_unknown(unknown, ids):
    assert WordPiece(VOCABULARY, unknown=unknown).encode("tea teapot tea") == ids


def test_long_words_are_unknown():
    assert WordPiece(["a", "##a"], unknown=()).encode("a" * 101) == []


def test_word_cache_is_bounded(monkeypatch):
    monkeypatch.setattr(wordpiece, "MAX_CACHED_WORDS", 3)
    pieces = WordPiece(VOCABULARY, unknown=(0,))

    for number in range(10):
        assert pieces.encode(f"tea {number}") == [6, 0]

    assert len(pieces._word_cache) <= 3
    assert len(pieces._run_cache) <= 3


def test_long_runs_are_not_cached():
    pieces = WordPiece(VOCABULARY, unknown=(0,))

    assert pieces.encode("tea!" * 100) == [6, 7] * 100
    assert not pieces._run_cache


def test_clear_word_caches_removes_everything():
    pieces = WordPiece(VOCABULARY, unknown=(0,))
    pieces.encode("Tea! running")

    clear_word_caches()
    assert not pieces._run_cache
    assert not pieces._word_cache
    assert pieces.encode("Tea! running") == [6, 7, 4, 5]
