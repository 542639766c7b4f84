"""Terms: the same for writing and asking, on every machine."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from string import ascii_lowercase

import pytest
from hypothesis import given
from hypothesis import strategies as some

from nexus.core.text import (
    ALONE,
    LONGEST_TERM,
    _stem,
    each_alone,
    query_terms,
    speaks_of,
    terms,
    words_alone,
    words_in,
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
def test_text_becomes_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@given(some.text(max_size=60))
def test_any_text_has_terms_that_are_short_and_plain(text: str) -> None:
    found = terms(text)

    assert all(0 < len(term) <= LONGEST_TERM for term in found)
    assert all(term == term.casefold() for term in found)
    assert terms(text) == found


@given(some.text(some.characters(max_codepoint=127), max_size=60))
def test_a_mark_that_stands_alone_changes_no_term(text: str) -> None:
    assert terms(text) == terms(f"{text} '")  # with one, words are looked for in another way


def test_an_endless_word_is_cut() -> None:
    assert terms("x" * 10_000) == ["x" * LONGEST_TERM]


def test_a_question_asks_for_each_term_once_and_not_for_stop_words() -> None:
    assert query_terms("Which database did we choose, which database?") == ["databas", "choos"]


@pytest.mark.parametrize("question", ["who are you", "what was it", "to be or not to be"])
def test_a_question_of_stop_words_alone_keeps_them(question: str) -> None:
    assert query_terms(question) == list(dict.fromkeys(terms(question)))


def test_words_written_apart_or_together_are_different_words() -> None:
    assert not set(terms("database")) & set(terms("data base"))


def test_threads_do_not_disturb_each_others_words() -> None:
    words = [
        f"{word}{suffix}"
        for word in ("nation", "relat", "connect", "organ")
        for suffix in ("ization", "ational", "edness", "fulness", "ively", "ousli")
    ]
    words = [f"{letter}{word}" for letter in "abcdefghijklmnopqrstuvwxyz" for word in words]
    alone = [terms(word) for word in words]
    _stem.cache_clear()

    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(terms, words * 4))

    assert together == alone * 4


@pytest.mark.parametrize(
    ("text", "name", "there"),
    [
        ("I met Ann at the pier.", "ann", True),
        ("Ann's brother", "Ann", True),
        ("The annual planning meeting", "ann", False),
        ("a cannery", "ann", False),
        ("room 12 is free", "room 1", False),
        ("他住在東京的北邊", "東京", True),  # no spaces there
        ("C++ and C#", "C++", True),
        ("anything", "", False),
    ],
)
def test_a_name_is_a_word_of_its_own(text: str, name: str, there: bool) -> None:
    assert speaks_of(text, name) is there


def test_words_alone_are_letters_and_numbers_in_small() -> None:
    every = "".join(map(chr, range(128)))
    assert words_alone(every) == f"0123456789 {ascii_lowercase} {ascii_lowercase}"
    assert words_alone("The \u212aelvin scale, 5_6") == "the kelvin scale 5 6"  # no ASCII yet
    assert words_alone("Ärger: groß!") == "ärger gross"


@given(some.text(some.characters(max_codepoint=127)))
def test_words_alone_of_ascii_are_those_of_any_script(text: str) -> None:
    assert words_alone(text) == " ".join(ALONE.findall(text.casefold()))


@given(some.one_of(some.text(), some.text(some.characters(max_codepoint=127))))
def test_words_one_by_one_are_those_with_spaces_between_them(text: str) -> None:
    assert words_in(text) == words_alone(text).split()


@given(some.lists(some.text(some.sampled_from("aB3 .,_'\0\n\x1f"))))
def test_words_of_many_texts_are_those_of_each(texts: list[str]) -> None:
    assert each_alone(texts) == [words_alone(text) for text in texts]
