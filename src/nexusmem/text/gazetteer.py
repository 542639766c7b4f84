"""Gazetteer: types of well-known names, offline.

The package contains about 17,000 first names with their usual gender, and the names of places,
organisations and products. Lookups ignore case, accents and a leading "the". The data is read at
the first lookup. A name that is not listed is unknown, which says nothing about its type.
"""

from __future__ import annotations

import unicodedata
import zlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, cast

Pronoun = Literal["she", "he", "they"]
NameType = Literal["place", "company", "product"]

DATA_FILE = Path(__file__).with_name("gazetteer.zlib")
PRONOUNS = ("she", "he", "they")
NAME_TYPES = ("place", "company", "product")  # the first one wins
# Sections of the data file: "word" repeats names that are English words, and "several" repeats
# names with more than one type
SECTIONS = (*PRONOUNS, *NAME_TYPES, "word", "several")
SECTION_SEPARATOR = "\n\n"
MAX_NAME_CHARACTERS = 80

# Letters that have no decomposition into a base letter and an accent, and apostrophes
_BASE_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ə": "e"}
    | {"’": "'", "‘": "'", "ʼ": "'", "`": "'", "´": "'"}
)


def person_gender(name: str) -> Pronoun | None:
    """Return the usual pronoun of a first name, or None if the name is no known first name.

    "they" means that women and men have the name, or that the source does not say.
    """
    return _load().pronouns.get(fold_name(name))


def is_first_name(name: str) -> bool:
    """Return whether the name is a known first name; see `is_ambiguous` for "Mark" and "Rose"."""
    return fold_name(name) in _load().pronouns


def name_type(name: str) -> NameType | None:
    """Return the type of a whole name, such as "New York" or "GitHub Actions", or None.

    A company that is also a place, such as "Santander", is a place.
    """
    types, folded = _load().types, fold_name(name)
    return types.get(folded) or types.get(folded.removeprefix("the "))


def is_common_word(name: str) -> bool:
    """Return whether a listed name is also a common English word: "Mark", "Nice", "Linear"."""
    return fold_name(name) in _load().words


def is_ambiguous(name: str) -> bool:
    """Return whether a listed name is also a common English word, or has more than one type.

    The types are first name, place, company and product.
    """
    return fold_name(name) in _load().ambiguous


def fold_name(name: str) -> str:
    """Return the name in lower case, without accents and with single spaces."""
    if len(name) > MAX_NAME_CHARACTERS:
        return ""
    folded = name.casefold()
    if not folded.isascii():
        parts = unicodedata.normalize("NFKD", folded)
        base = "".join(character for character in parts if not unicodedata.combining(character))
        folded = base.translate(_BASE_LETTERS)
    return " ".join(folded.split())


@dataclass(frozen=True, slots=True)
class _Gazetteer:
    pronouns: dict[str, Pronoun]
    types: dict[str, NameType]
    words: frozenset[str]
    ambiguous: frozenset[str]


@cache
def _load() -> _Gazetteer:
    """Read the data file: the sections in their order, one name per line."""
    texts = zlib.decompress(DATA_FILE.read_bytes()).decode().split(SECTION_SEPARATOR)
    names = {
        section: text.split("\n") if text else []
        for section, text in zip(SECTIONS, texts, strict=True)
    }
    pronouns: dict[str, Pronoun] = {}
    for pronoun in PRONOUNS:
        pronouns.update(dict.fromkeys(names[pronoun], cast("Pronoun", pronoun)))
    types: dict[str, NameType] = {}
    for type_name in reversed(NAME_TYPES):
        types.update(dict.fromkeys(names[type_name], cast("NameType", type_name)))
    words = frozenset(names["word"])
    return _Gazetteer(pronouns, types, words, words.union(names["several"]))
