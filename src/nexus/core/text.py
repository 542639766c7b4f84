"""From text to search terms. One way for writing and asking, on every store."""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e00-\u0e7f]")
ALONE = re.compile(r"[^\W_]+")
# Of ASCII: letters are small, and what is neither a letter nor a number is a space.
WORDS_ALONE = bytes(ord(chr(code).lower() if chr(code).isalnum() else " ") for code in range(128))
WORDS_ALONE += bytes(128)
BETWEEN = "\0"  # of texts that are read in one go; it is in no word
EACH_ALONE = BETWEEN.encode() + WORDS_ALONE[1:]
LONGEST_TERM = 64

STOP_WORDS = frozenset(
    """a about after all also am an and any are as at be because been before being but by can could
    did do does doing done for from get got had has have having he her here hers him his how i if in
    into is it its just me more most my no nor not now of off on once only or other our out over own
    please same she should so some such than that the their them then there these they this those
    through to too under until up us very was we were what when where which while who whom whose why
    will with would you your yours""".split()
)


_of_thread = threading.local()  # a stemmer keeps the word it works on in itself


def _stemmer() -> Any:
    """This thread's own.

    Loaded with the first word: the package brings every language along. Its pure Python version
    is taken on purpose, so that terms are the same on every machine.
    """
    if not hasattr(_of_thread, "stemmer"):
        from snowballstemmer.english_stemmer import EnglishStemmer  # noqa: PLC0415

        _of_thread.stemmer = EnglishStemmer()
    return _of_thread.stemmer


@lru_cache(maxsize=100_000)
def _stem(word: str) -> str:
    plain = word.isdigit() or not word.isascii()  # which it leaves as they are, slowly
    return word if plain else str(_stemmer().stemWord(word))


def terms(text: str) -> list[str]:
    """The terms of a text, in order: case-folded, stemmed, and pairs where words have no spaces."""
    if text.isascii():  # the same in half the time; and in half of that, where no word has a mark
        if "'" not in text:
            words = text.encode().translate(WORDS_ALONE).decode().split()
            return [_stem(word[:LONGEST_TERM]) for word in words]
        words = WORD.findall(text.lower())
        return [_stem(word.removesuffix("'s")[:LONGEST_TERM]) for word in words]
    folded = unicodedata.normalize("NFKC", text).casefold()
    found: list[str] = []
    for match in WORD.finditer(folded):
        word = match.group().replace("’", "'").removesuffix("'s")
        if UNSPACED.search(word):
            found.extend(_pairs(word))
        else:
            found.append(_stem(word[:LONGEST_TERM]))
    return found


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def words_alone(text: str) -> str:
    """The words of a text with a space between them, case-folded; marks tell nothing here."""
    if text.isascii():  # nearly always, and five times as fast
        words = text.encode().translate(WORDS_ALONE).decode().strip()
        while "  " in words:
            words = words.replace("  ", " ")
        return words
    return " ".join(words_in(text))


def each_alone(texts: Sequence[str]) -> list[str]:
    """`words_alone` of each of many texts, all of them ASCII, in one go."""
    if not texts:
        return []
    joined = BETWEEN.join(text.replace(BETWEEN, " ") for text in texts)
    spaced = joined.encode().translate(EACH_ALONE).decode().split("  ")
    words = " ".join(filter(None, map(str.strip, spaced)))
    return [each.strip() for each in words.split(BETWEEN)]


def words_in(text: str) -> list[str]:
    """The same words, one by one."""
    if text.isascii():
        return text.encode().translate(WORDS_ALONE).decode().split()
    return ALONE.findall(text.casefold())


def speaks_of(text: str, name: str) -> bool:
    """Whether a text holds a name as a word of its own; "Ann" is not in "planning".

    Only where its script tells words apart: letters without capitals stand side by side.
    """
    wanted = name.casefold()
    before = r"(?<!\w)" if _is_of_words(wanted[:1]) else ""
    after = r"(?:'?s)?(?!\w)" if _is_of_words(wanted[-1:]) else ""
    return bool(wanted) and bool(re.search(f"{before}{re.escape(wanted)}{after}", text.casefold()))


def _is_of_words(letter: str) -> bool:
    return letter.upper() != letter.lower() or letter.isdigit()


def query_terms(text: str) -> list[str]:
    """The terms worth asking for, each once; a question of stop words alone keeps them."""
    every = list(dict.fromkeys(terms(text)))
    return [term for term in every if term not in _stop_terms()] or every


@lru_cache(maxsize=1)
def _stop_terms() -> frozenset[str]:
    return frozenset(_stem(word) for word in STOP_WORDS)
