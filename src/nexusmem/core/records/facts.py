"""Facts: validation of their fields, and the sentence that search indexes."""

from __future__ import annotations

import re

from ..canonical import canonical_json
from ..errors import InvalidInput
from . import Fact

TENSES = ("current", "past", "future")
PREDICATE_PATTERN = re.compile(r"[A-Z][A-Z0-9_]*")
RESERVED_KEYS = frozenset({"fact", "confidence", "valid_from", "valid_to"})  # in event metadata


def check_fact(fact: Fact, confidence: float) -> Fact:
    """Return the fact; raise InvalidInput if a field is invalid."""
    if not fact.exact and not PREDICATE_PATTERN.fullmatch(fact.predicate):
        better = re.sub("[^A-Z0-9]+", "_", fact.predicate.upper()).strip("_")
        hint = f"; did you mean {better!r}?" if PREDICATE_PATTERN.fullmatch(better) else ""
        raise InvalidInput(f"predicate must look like WORKS_AT, got {fact.predicate!r:.80}{hint}")
    if fact.object is not None and fact.value is not None:
        raise InvalidInput("a fact has an object or a value, got both")
    if not all(isinstance(each, bool) for each in (fact.stated, fact.exact, fact.negated)):
        raise InvalidInput("stated, exact and negated of a fact must be true or false")
    if not all(isinstance(each, str | None) for each in (fact.aspect, fact.category)):
        raise InvalidInput("aspect and category of a fact must be strings")
    if fact.tense not in TENSES:
        raise InvalidInput(f"tense must be one of {', '.join(TENSES)}, got {fact.tense!r:.80}")
    number = isinstance(confidence, int | float) and not isinstance(confidence, bool)
    if not number or not 0 <= confidence <= 1:
        raise InvalidInput(f"confidence must be between 0 and 1, got {confidence!r:.80}")
    return fact


def fact_sentence(fact: Fact) -> str:
    """Return the fact as a sentence for search."""
    value = fact.object if fact.object is not None else _value_text(fact.value)
    return f"{fact.subject} {fact.predicate.replace('_', ' ').lower()} {value}"


def _value_text(value: object) -> str:
    return value if isinstance(value, str) else canonical_json(value)
