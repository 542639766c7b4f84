"""Word features of the parser: word, affixes, shape and built-in word vector, as small integers.

All features depend on the form of one word only, so the network caches its input row per form.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ..word_vectors import DIMENSION, load_table

VECTOR_SCALE = 512  # unit vectors have components around 1/16, so these are around 32
MAX_INT8 = 127
MAX_FORM_CHARS = 40  # the rest of a longer word is ignored

URL = re.compile(
    r"(?:https?://|www\.)\S|^[\w.-]+\.(?:com|org|net|edu|gov|io|co|uk|de)(?:/|$)", re.IGNORECASE
)
EMAIL = re.compile(r"^[^\s@]+@[^\s@]+\.[^\s@]+$")
HANDLE = re.compile(r"^[@#]\w")
DIGIT = re.compile(r"\d")
LONG_RUN = re.compile(r"(.)\1{2,}")
_QUOTES = str.maketrans({"’": "'", "‘": "'", "`": "'", "“": '"', "”": '"', "–": "-", "—": "-"})

FEATURES = ("word", "suffix3", "suffix2", "prefix3", "prefix1", "shape")


def normalize_form(form: str) -> str:
    """Return the form with straight quotation marks; two quotation marks become one."""
    plain = form[:MAX_FORM_CHARS].translate(_QUOTES)
    return '"' if plain == "''" else plain


def describe_form(form: str) -> dict[str, str]:
    """Return the value of each feature of a form."""
    plain = normalize_form(form)
    lower = plain.lower()
    word = DIGIT.sub("0", lower)
    if URL.search(lower):
        word = "<url>"
    elif EMAIL.search(lower):
        word = "<email>"
    elif HANDLE.search(lower):
        word = "<handle>"
    return {
        "word": word,
        "suffix3": word[-3:],
        "suffix2": word[-2:],
        "prefix3": word[:3],
        "prefix1": word[:1],
        "shape": describe_shape(plain),
    }


def describe_shape(form: str) -> str:
    """Return the shape: X, x and 0 for letters and digits, runs shortened to two characters."""
    shape = "".join(map(_shape_char, form))
    return LONG_RUN.sub(r"\1\1", shape)


def _shape_char(character: str) -> str:
    if character.isdigit():
        return "0"
    if character.isalpha():
        return "X" if character.isupper() else "x"
    return character if character.isascii() else "?"


def feature_ids(form: str, vocabularies: Mapping[str, Mapping[str, int]]) -> list[int]:
    """Return the row of each feature in its table; row 0 is for values without one."""
    values = describe_form(form)
    return [vocabularies[name].get(values[name], 0) for name in FEATURES]


def word_vectors(forms: Sequence[str]) -> NDArray[np.int8]:
    """Return the built-in vectors of forms, as integers.

    The norm is computed from integers, so that it is the same on every machine.
    """
    table = load_table()
    vectors = np.zeros((len(forms), DIMENSION), np.int8)
    ids, counts = table.token_ids([normalize_form(form) for form in forms])
    starts = counts.cumsum() - counts
    units = np.rint(table.unit_vectors(ids) * 1024).astype(np.int64)
    for row, start, count in zip(vectors, starts.tolist(), counts.tolist(), strict=True):
        if count:
            total = np.add.reduce(units[start : start + count])
            norm = float(np.sqrt(np.float64(np.add.reduce(total * total))))
            scaled = np.rint(total * (VECTOR_SCALE / max(norm, 1.0)))
            row[:] = np.clip(scaled, -MAX_INT8, MAX_INT8)
    return vectors


def is_word(form: str) -> bool:
    """Return whether the form is one piece of the built-in vocabulary: a common English word."""
    if form in _found_words:
        return True
    ids, _ = load_table().token_ids([form])
    found = len(ids) == 1
    if found and len(form) <= MAX_FORM_CHARS and form.isascii() and form.islower():
        _found_words.add(form)
    return found


_found_words: set[str] = set()  # of the vocabulary only, so that no user's own word is kept
