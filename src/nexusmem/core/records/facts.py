"""Facts: validation of their fields, their texts, and which of them are shown as true."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from ..canonical import canonical_json
from ..errors import InvalidInput
from .memory import Fact, Memory, MemoryKind

TENSES = ("current", "past", "future")
PREDICATE_PATTERN = re.compile(r"[A-Z][A-Z0-9_]*")
RESERVED_KEYS = frozenset({"fact", "confidence", "valid_from", "valid_to"})  # in event metadata

SURE_CONFIDENCE = 0.9  # a derived fact of at least this confidence is shown as true
WEEKLY_CONFIDENCE = 0.95  # factor of an inferred fact's confidence per week (specification 004)
WEEK = timedelta(weeks=1)
WRITTEN_BY_CALLER = "written_by_caller"  # metadata of the copy of a fact that a caller wrote
SURE_MARKS = frozenset({"accepted", WRITTEN_BY_CALLER})  # metadata that Nexus writes itself
HABIT_SOURCE = "pattern"  # `source` of facts that are counted in messages, not read from one

# Facts about a person that hold for years: contexts show them however old they are.
STABLE_PREDICATES = frozenset(
    """ALLERGIC_TO HAS_CONDITION NAMED BORN_ON BORN_IN FROM WORKS_AT WORKS_AS LIVES_IN MOVED_TO
    SPOUSE_OF SIBLING_OF PARENT_OF CHILD_OF RELATIVE_OF HAS_PET HAS_EMAIL HAS_PHONE
    HAS_HANDLE HAS_USERNAME HAS_NAME HAS_ADDRESS HAS_TIMEZONE HAS_DIET""".split()
)


def current_confidence(memory: Memory, now: datetime) -> float:
    """Return the confidence of a memory now; that of an inferred fact falls by 5 % per week.

    Stated facts and all other memories keep their confidence. The stored value never changes.
    """
    if memory.kind is not MemoryKind.FACT or memory.body.get("stated", True):
        return memory.confidence
    weeks = max(0, (now - memory.at) // WEEK)
    return memory.confidence * WEEKLY_CONFIDENCE**weeks


def is_sure(memory: Memory, now: datetime) -> bool:
    """Return whether contexts, profiles, dossiers and the graph may show a memory as true.

    That is a confidence of at least SURE_CONFIDENCE. Facts that a caller wrote, facts that a
    person accepted in a review, and counted habits ("usually") are shown with any confidence.
    """
    if not memory.learned or memory.source == HABIT_SOURCE:
        return True
    if not SURE_MARKS.isdisjoint(memory.metadata):
        return True
    return current_confidence(memory, now) >= SURE_CONFIDENCE


def is_stable_fact(memory: Memory) -> bool:
    """Return whether a fact holds for years, such as an allergy, a birthday or an employer."""
    predicate = str(memory.body.get("predicate", "")).upper()
    return memory.kind is MemoryKind.FACT and predicate in STABLE_PREDICATES


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


def exact_text(fact: Fact) -> str:
    """Return an exact value as all views show it: `user:alice jwt_expiry = "30m"`."""
    return f"{fact.subject} {fact.predicate} = {canonical_json(fact.value)}"


def fact_sentence(fact: Fact) -> str:
    """Return the fact as a sentence for search."""
    value = fact.object if fact.object is not None else _value_text(fact.value)
    return f"{fact.subject} {fact.predicate.replace('_', ' ').lower()} {value}"


def _value_text(value: object) -> str:
    return value if isinstance(value, str) else canonical_json(value)
