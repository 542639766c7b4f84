"""Putting the right value where the wrong one was: "No, I meant Tuesday"."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime

from ..core.dates import dates_in
from ..core.predicates import DATED, in_words
from ..core.records import Fact
from .explicit import fact_sentence
from .known import Known

MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
KINDS = {  # only like is put in the place of like
    "clock": r"\b\d{1,2}(?::\d\d)?\s?[ap]m\b|\b\d{1,2}:\d\d\b|\b(?:noon|midnight)\b",
    "weekday": r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b",
    "date": rf"\b{MONTH} \d{{1,2}}(?:st|nd|rd|th)?\b|\b\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{MONTH}\b"
    r"|\b\d{4}-\d\d-\d\d\b|\b(?:tomorrow|today|tonight)\b",
    "number": r"[$€£]?\d[\d,.]*\d%?k?\b|\b\d\b",
}
PATTERNS = {kind: re.compile(pattern, re.IGNORECASE) for kind, pattern in KINDS.items()}
LONGEST_NAME = 60  # characters: what is longer is a sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class PutRight:
    """A fact as it was meant."""

    fact: Fact
    text: str
    valid_from: datetime | None
    valid_to: datetime | None


def put_right(known: Known, wrong: str | None, right: str) -> PutRight | None:
    """The fact with what is right in the place of what was wrong; None if that does not fit."""
    fact = known.fact
    said = in_words(fact.value) if fact.object is None else fact.object
    pair = _pair(said, wrong, right)
    if pair is None or pair[0] == pair[1]:
        return None
    new = said.replace(*pair, 1)
    meant = replace(fact, object=new) if fact.object is not None else replace(fact, value=new)
    since, until = known.valid_from, known.valid_to
    if fact.predicate.upper() in DATED:
        since, until = _dates(f"is {fact_sentence(meant)}", known.at)
    old, better = pair
    told = known.text.replace(old, better, 1) if old in known.text else f"{fact_sentence(meant)}."
    text = told[:1].upper() + told[1:]
    return PutRight(fact=meant, text=text, valid_from=since, valid_to=until)


def _pair(said: str, wrong: str | None, right: str) -> tuple[str, str] | None:
    """What stands in the value, and what is to stand there."""
    if wrong is not None:
        found = re.search(rf"(?<!\w){re.escape(wrong)}(?!\w)", said, re.IGNORECASE)
        return (found.group(), right) if found else None
    for pattern in PATTERNS.values():
        better, old = pattern.search(right), pattern.search(said)
        if better:
            return (old.group(), better.group()) if old else None
    named = right[:1].isupper() and said[:1].isupper() and len(right) <= LONGEST_NAME
    return (said, right) if named and _is_plain(said) else None


def _is_plain(said: str) -> bool:
    return not any(pattern.search(said) for pattern in PATTERNS.values())


def _dates(sentence: str, at: datetime) -> tuple[datetime | None, datetime | None]:
    span = next(iter(dates_in(sentence, at)), None)
    return (span.since, span.until) if span else (None, None)
