"""WordPiece cuts as BERT does."""

from __future__ import annotations

import pytest

from nexus.embedders import wordpiece
from nexus.embedders.wordpiece import WordPiece, split

VOCABULARY = ["[UNK]", "un", "##aff", "##able", "runn", "##ing", "tea", "!", "##!"]


# What Hugging Face's BertNormalizer and BertPreTokenizer answer.
@pytest.mark.parametrize(
    ("text", "words"),
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
def test_text_is_split_like_the_reference(text: str, words: list[str]):
    assert split(text) == words


@pytest.mark.parametrize("text", ["Tea, cake & more", "a\x07b", "tab\there", "x" * 300])
def test_plain_text_takes_a_shorter_way_to_the_same_words(text: str):
    assert split(text) == split(text + " é")[:-1]


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
