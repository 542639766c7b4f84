"""Search terms: the same tokenization and stemming for indexing and queries, on every store."""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import log
from typing import Any

BM25_K1 = 1.2  # saturation of term frequency
BM25_B = 0.75  # length normalization


def inverse_document_frequency(documents: int, matching: int) -> float:
    """Return the BM25 weight of a term that occurs in `matching` of `documents` texts."""
    return log(1 + (documents - matching + 0.5) / (matching + 0.5))


def max_bm25_score(weights: list[float]) -> float:
    """Return the upper bound of the score: all terms with infinite frequency."""
    return sum(weights) * (BM25_K1 + 1)


WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e00-\u0e7f]")
PLAIN_WORD = re.compile(r"[^\W_]+")
# ASCII: letters become lowercase, everything but letters and digits becomes a space.
ASCII_WORD_TABLE = bytes(
    ord(chr(code).lower() if chr(code).isalnum() else " ") for code in range(128)
)
ASCII_WORD_TABLE += bytes(128)
ASCII_QUOTED_TABLE = ASCII_WORD_TABLE[: ord("'")] + b"'" + ASCII_WORD_TABLE[ord("'") + 1 :]
TEXT_SEPARATOR = "\0"  # joins texts that are normalized together; never part of a word
ASCII_TEXTS_TABLE = TEXT_SEPARATOR.encode() + ASCII_WORD_TABLE[1:]
MAX_TERM_LENGTH = 64

STOP_WORDS = frozenset(
    """a about after all also am an and any are as at be because been before being but by can could
    did do does doing done for from get got had has have having he her here hers him his how i if in
    into is it its just me more most my no nor not now of off on once only or other our out over own
    please same she should so some such than that the their them then there these they this those
    through to too under until up us very was we were what when where which while who whom whose why
    will with would you your yours""".split()
)


_thread_local = threading.local()  # a stemmer has mutable state


def _get_stemmer() -> Any:
    """Return the stemmer of this thread, loaded on first use because the package is large.

    The pure Python version is used deliberately, so that terms are equal on all machines.
    """
    if not hasattr(_thread_local, "stemmer"):
        from snowballstemmer.english_stemmer import EnglishStemmer

        _thread_local.stemmer = EnglishStemmer()
    return _thread_local.stemmer


@lru_cache(maxsize=100_000)
def _stem_word(word: str) -> str:
    is_unstemmable = word.isdigit() or not word.isascii()  # the stemmer returns them unchanged
    return word if is_unstemmable else str(_get_stemmer().stemWord(word))


def extract_terms(text: str) -> list[str]:
    """Return the terms in order: case-folded and stemmed; character pairs for unspaced scripts."""
    if text.isascii():  # fast paths with the same result
        if "'" not in text:
            words = text.encode().translate(ASCII_WORD_TABLE).decode().split()
            return [_stem_word(word[:MAX_TERM_LENGTH]) for word in words]
        return list(_stem_quoted_words(text))
    folded = unicodedata.normalize("NFKC", text).casefold()
    found: list[str] = []
    for match in WORD.finditer(folded):
        word = match.group().replace("’", "'").removesuffix("'s")
        if UNSPACED.search(word):
            found.extend(_character_pairs(word))
        else:
            found.append(_stem_word(word[:MAX_TERM_LENGTH]))
    return found


def _stem_quoted_words(text: str) -> Iterator[str]:
    """Yield the terms of an ASCII text; only words with an apostrophe need the pattern."""
    for piece in text.encode().translate(ASCII_QUOTED_TABLE).decode().split():
        if "'" not in piece:
            yield _stem_word(piece[:MAX_TERM_LENGTH])
            continue
        for word in WORD.findall(piece):
            yield _stem_word(word.removesuffix("'s")[:MAX_TERM_LENGTH])


def _character_pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def normalize_words(text: str) -> str:
    """Return the case-folded words of a text, separated by one space, without punctuation."""
    if text.isascii():  # almost always, and five times as fast
        words = text.encode().translate(ASCII_WORD_TABLE).decode().strip()
        while "  " in words:
            words = words.replace("  ", " ")
        return words
    return " ".join(split_words(text))


def normalize_each(texts: Sequence[str]) -> list[str]:
    """Return `normalize_words` of each of many ASCII texts, computed together."""
    if not texts:
        return []
    joined = TEXT_SEPARATOR.join(text.replace(TEXT_SEPARATOR, " ") for text in texts)
    spaced = joined.encode().translate(ASCII_TEXTS_TABLE).decode().split("  ")
    words = " ".join(filter(None, map(str.strip, spaced)))
    return [each.strip() for each in words.split(TEXT_SEPARATOR)]


def split_words(text: str) -> list[str]:
    """Return the case-folded words of a text as a list."""
    if text.isascii():
        return text.encode().translate(ASCII_WORD_TABLE).decode().split()
    return PLAIN_WORD.findall(text.casefold())


def mentions_name(text: str, name: str) -> bool:
    """Return whether a text contains a name as a separate word; "planning" does not contain "Ann".

    Scripts without upper and lower case have no word boundaries, so any position matches.
    """
    folded = name.casefold()
    before = r"(?<!\w)" if _has_word_boundaries(folded[:1]) else ""
    after = r"(?:'?s)?(?!\w)" if _has_word_boundaries(folded[-1:]) else ""
    return bool(folded) and bool(re.search(f"{before}{re.escape(folded)}{after}", text.casefold()))


def _has_word_boundaries(letter: str) -> bool:
    return letter.upper() != letter.lower() or letter.isdigit()


def query_terms(text: str) -> list[str]:
    """Return the distinct terms of a query without stop words, unless it has no others."""
    terms = list(dict.fromkeys(extract_terms(text)))
    return [term for term in terms if term not in _stop_terms()] or terms


@lru_cache(maxsize=1)
def _stop_terms() -> frozenset[str]:
    return frozenset(_stem_word(word) for word in STOP_WORDS)


SENTENCE = re.compile(r"[^.!?…\n]+[.!?…]*")
MAX_HIGHLIGHT_LENGTH = 200
MAX_HIGHLIGHTS = 3


def find_highlights(text: str, wanted: Sequence[str]) -> tuple[str, ...]:
    """Return up to three sentences with the most wanted terms, in text order."""
    terms = set(wanted)
    scored = []
    for index, match in enumerate(SENTENCE.finditer(text[:20_000])):
        sentence = match.group().strip()
        matched = len(terms.intersection(extract_terms(sentence)))
        if matched:
            scored.append((-matched, index, sentence))
    best = sorted(sorted(scored)[:MAX_HIGHLIGHTS], key=lambda each: each[1])
    return tuple(_shorten_sentence(sentence) for _, _, sentence in best)


def _shorten_sentence(sentence: str) -> str:
    return (
        sentence
        if len(sentence) <= MAX_HIGHLIGHT_LENGTH
        else sentence[: MAX_HIGHLIGHT_LENGTH - 1].rstrip() + "…"
    )
