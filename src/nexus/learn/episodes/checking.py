"""Whether a summary says what was said: the check that no model's word is taken without."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from ...core.text import STOP_WORDS, query_terms
from ..rules.instructions import instructions
from .telling import LONGEST, MOST_LINES

KEPT = 0.5  # the share of a landmark's words that one sentence must hold
NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*(?:%|[a-zA-Z]{1,2}\b)?")
WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
DENIAL = re.compile(r"\b(?:not|no|never|without|cannot|against)\b|n['’]t\b", re.IGNORECASE)
SPELT = frozenset(
    """two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred
    thousand million billion dozen half quarter twice""".split()
)


def faults(sentences: Sequence[str], sources: Iterable[str], landmarks: Iterable[str]) -> list[str]:
    """What is wrong with a summary of these texts; nothing, if it may be kept.

    Every number and every name of it must stand in the sources, and every landmark in one of its
    sentences: with its numbers and names, most of its words, and not denied if it was not.
    """
    grounds = "\n".join(sources)
    kept = list(landmarks)
    found = [*_shape(sentences, max(MOST_LINES, len(kept))), *_invented(sentences, grounds)]
    found += [f"drops {text!r:.120}" for text in kept if not _is_kept(text, sentences)]
    return found


def _shape(sentences: Sequence[str], most: int) -> list[str]:
    text = "\n".join(sentences)
    if not text.strip():
        return ["says nothing"]
    if len(sentences) > most or len(text) > LONGEST:
        return ["is too long"]
    return ["gives orders"] if instructions(text) else []


def _invented(sentences: Sequence[str], grounds: str) -> list[str]:
    numbers, words = set(map(_plain, NUMBER.findall(grounds))), _words(grounds)
    found = []
    for sentence in sentences:
        found += [
            f"invents the number {number}"
            for number in NUMBER.findall(sentence)
            if _plain(number) not in numbers
        ]
        spoken = _words(sentence)
        found += [f"invents the number {word}" for word in sorted(SPELT & (spoken - words))]
        found += [
            f"invents the name {name}" for name in _names(sentence) if _low(name) not in words
        ]
    return found


def _names(sentence: str) -> list[str]:
    """Words spelt like names. The first of a sentence is one only if no small word is spelt so."""
    found = []
    for place, match in enumerate(WORD.finditer(sentence)):
        word = match.group()
        ordinary = place == 0 and (_low(word) in STOP_WORDS or _low(word) in _openers())
        if word[0].isupper() and not ordinary and word not in ("I", "A"):
            found.append(word)
    return found


@lru_cache(maxsize=1)
def _openers() -> frozenset[str]:
    """Words that a sentence about a conversation may well begin with."""
    return frozenset(
        """both each everybody everyone nobody nothing one two three several many few during later
        earlier afterwards finally first second next meanwhile today yesterday since between instead
        however although though despite following according regarding concerning discussion
        participants people members team group work plans questions another further together
        """.split()
    )


def _is_kept(landmark: str, sentences: Sequence[str]) -> bool:
    wanted = frozenset(query_terms(landmark))
    numbers = set(map(_plain, NUMBER.findall(landmark)))
    names = {_low(name) for name in _names(landmark)}
    for sentence in sentences:
        if (
            len(wanted & frozenset(query_terms(sentence))) >= KEPT * len(wanted)
            and numbers <= set(map(_plain, NUMBER.findall(sentence)))
            and names <= _words(sentence)
            and bool(DENIAL.search(landmark)) == bool(DENIAL.search(sentence))
        ):
            return True
    return False


def _plain(number: str) -> str:
    return number.replace(",", "").lower()


def _low(word: str) -> str:
    return word.casefold().replace("’", "'").removesuffix("'s")


def _words(text: str) -> set[str]:
    return {_low(word) for word in WORD.findall(text)}
