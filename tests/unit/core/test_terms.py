"""Search terms: tokenization, stemming and word normalization."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from string import ascii_lowercase

import pytest
from hypothesis import given
from hypothesis import strategies as some

from nexusmem.text.terms import (
    MAX_TERM_LENGTH,
    PLAIN_WORD,
    WORD,
    _stem_word,
    extract_terms,
    mentions_name,
    normalize_each,
    normalize_words,
    query_terms,
    split_words,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("!!! ... ???", []),
        ("PostgreSQL postgresql", ["postgresql", "postgresql"]),
        ("deciding decided decides", ["decid", "decid", "decid"]),
        ("Alice's alice’s tea", ["alic", "alic", "tea"]),
        ("Zoë's Žižek’s", ["zoë", "žižek"]),
        ("snake_case kebab-case", ["snake", "case", "kebab", "case"]),
        ("ＦＵＬＬ width", ["full", "width"]),
        ("Straße STRASSE", ["strass", "strass"]),
        ("Ärger", ["ärger"]),
        ("naïve café", ["naïve", "café"]),
        ("東京都", ["東京", "京都"]),
        ("東", ["東"]),
        ("ภาษาไทย", ["ภา", "าษ", "ษา", "าไ", "ไท", "ทย"]),
        ("v2.0 3 1e9", ["v2", "0", "3", "1e9"]),
        ('NEAR( col:x* OR "a', ["near", "col", "x", "or", "a"]),
        ("100% a_b\\c", ["100", "a", "b", "c"]),
    ],
)
def test_terms_of_a_text(text: str, expected: list[str]) -> None:
    assert extract_terms(text) == expected


@given(some.text(max_size=60))
def test_terms_are_short_and_folded(text: str) -> None:
    found = extract_terms(text)

    assert all(0 < len(term) <= MAX_TERM_LENGTH for term in found)
    assert all(term == term.casefold() for term in found)
    assert extract_terms(text) == found


@given(some.text(some.characters(max_codepoint=127), max_size=60))
def test_separate_punctuation_changes_no_term(text: str) -> None:
    assert extract_terms(text) == extract_terms(
        f"{text} '"
    )  # an apostrophe selects another code path


def test_very_long_word_is_truncated() -> None:
    assert extract_terms("x" * 10_000) == ["x" * MAX_TERM_LENGTH]


def test_query_terms_are_distinct_without_stop_words() -> None:
    assert query_terms("Which database did we choose, which database?") == ["databas", "choos"]


@pytest.mark.parametrize("question", ["who are you", "what was it", "to be or not to be"])
def test_query_of_stop_words_only_keeps_them(question: str) -> None:
    assert query_terms(question) == list(dict.fromkeys(extract_terms(question)))


def test_joined_and_separate_words_differ() -> None:
    assert not set(extract_terms("database")) & set(extract_terms("data base"))


def test_stemming_is_thread_safe() -> None:
    words = [
        f"{word}{suffix}"
        for word in ("nation", "relat", "connect", "organ")
        for suffix in ("ization", "ational", "edness", "fulness", "ively", "ousli")
    ]
    words = [f"{letter}{word}" for letter in "abcdefghijklmnopqrstuvwxyz" for word in words]
    alone = [extract_terms(word) for word in words]
    _stem_word.cache_clear()

    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(extract_terms, words * 4))

    assert together == alone * 4


@pytest.mark.parametrize(
    ("text", "name", "there"),
    [
        ("I met Ann at the pier.", "ann", True),
        ("Ann's brother", "Ann", True),
        ("The annual planning meeting", "ann", False),
        ("a cannery", "ann", False),
        ("room 12 is free", "room 1", False),
        ("他住在東京的北邊", "東京", True),  # scripts without spaces
        ("C++ and C#", "C++", True),
        ("anything", "", False),
    ],
)
def test_name_matches_as_a_separate_word(text: str, name: str, there: bool) -> None:
    assert mentions_name(text, name) is there


def test_normalized_words_are_lowercase_letters_and_digits() -> None:
    every = "".join(map(chr, range(128)))
    assert normalize_words(every) == f"0123456789 {ascii_lowercase} {ascii_lowercase}"
    assert (
        normalize_words("The \u212aelvin scale, 5_6") == "the kelvin scale 5 6"
    )  # not ASCII before normalization
    assert normalize_words("Ärger: groß!") == "ärger gross"


@given(some.text(some.characters(max_codepoint=127)))
def test_ascii_path_equals_the_general_path(text: str) -> None:
    assert normalize_words(text) == " ".join(PLAIN_WORD.findall(text.casefold()))


@given(some.one_of(some.text(), some.text(some.characters(max_codepoint=127))))
def test_split_words_equals_normalized_words(text: str) -> None:
    assert split_words(text) == normalize_words(text).split()


@given(some.lists(some.text(some.sampled_from("aB3 .,_'\0\n\x1f"))))
def test_normalize_each_equals_normalize_words(texts: list[str]) -> None:
    assert normalize_each(texts) == [normalize_words(text) for text in texts]


@given(some.text(alphabet="aBs'_ -.0\n", max_size=30))
def test_apostrophes_join_words_as_in_the_pattern(text: str) -> None:
    words = [word.removesuffix("'s") for word in WORD.findall(text.lower())]
    assert extract_terms(text) == [_stem_word(word) for word in words]
