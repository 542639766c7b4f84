"""Predicates of facts: single-valued or many-valued, states or completed events.

Predicates are free text in SCREAMING_SNAKE_CASE. Those not listed here have many values.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ..core.canonical import canonical_json
from ..core.derive import normalize_name
from ..core.records import Fact, Json

# A new value replaces the old one.
SINGLE_VALUED = frozenset(
    """WORKS_AT WORKS_AS LIVES_IN BORN_IN BORN_ON FROM AGE NAMED SPOUSE_OF DATING REPORTS_TO
    HAS_EMAIL HAS_PHONE HAS_COMPENSATION HAS_BUDGET HAS_ACCOUNT_NUMBER HAS_ROUTING_NUMBER COSTS
    SCHEDULED_FOR STARTS_ON ENDS_ON OCCURS_ON OCCURRED_ON STARTED_ON ENDED_ON ANNIVERSARY_ON
    TYPICALLY_CONTACTS_AT PREFERS_CHANNEL COMMUNICATION_FREQUENCY""".split()
)
# A new value replaces the old one of the same aspect, such as a favorite color.
SINGLE_VALUED_BY_ASPECT = frozenset(["PREFERS"])
# Completed events: a statement in the past tense is still true.
LASTING = frozenset(
    """BORN_IN BORN_ON FROM GREW_UP_IN GRADUATED_FROM FOUNDED CREATED LAUNCHED CONTRIBUTED_TO
    VISITED ATTENDED MET BOUGHT SOLD PAID INVESTED_IN CHOSE SWITCHED_TO MOVED_TO PROMOTED_TO
    LEFT QUIT BECAME NAMED OCCURRED_ON STARTED_ON ENDED_ON""".split()
)
# The time of such a fact is its value, not its validity.
DATED = frozenset(
    """SCHEDULED_FOR STARTS_ON ENDS_ON OCCURS_ON OCCURRED_ON STARTED_ON ENDED_ON BORN_ON
    ANNIVERSARY_ON HAS_SCHEDULE TYPICALLY_CONTACTS_AT""".split()
)
# Predicates with the same meaning: a person who moved to Rome lives there.
EQUIVALENTS = {
    "LIVES_IN": ("MOVED_TO", "MOVING_TO"),
    "USES": ("SWITCHED_TO", "CHOSE"),
}
# Predicates that deny each other for the same value.
CONTRARIES = {
    "LIKES": ("DISLIKES",),
    "DISLIKES": ("LIKES",),
    "WORKS_AT": ("LEFT", "QUIT"),
    "WORKS_AS": ("QUIT",),
    "OWNS": ("SOLD",),
    "SPOUSE_OF": ("DIVORCED",),
}

LEADING = re.compile(r"^(?:an?|the|my|our|his|her|their|its|some)\s+")
TRAILING = re.compile(
    r"[\s,]+(?:any ?more|any longer|now|nowadays|these days|currently|at the moment|instead)$"
)
AFTER_A_NAME = frozenset("for at in on with as to by from since because when and but of".split())
ANY_JOB = frozenset(["job", "work", "position", "day job"])


def is_single_valued(fact: Fact) -> bool:
    """Return whether a new value replaces the old one."""
    predicate = fact.predicate.upper()
    if fact.exact or predicate in SINGLE_VALUED:
        return True
    return predicate in SINGLE_VALUED_BY_ASPECT and fact.aspect is not None


def predicates_about(predicate: str) -> tuple[str, ...]:
    """Return this predicate, its equivalents and its contraries, in upper case."""
    name = predicate.upper()
    return (name, *EQUIVALENTS.get(name, ()), *CONTRARIES.get(name, ()))


def equivalent_predicates(predicate: str) -> frozenset[str]:
    """Return the predicates with the same meaning, including this one, in upper case."""
    name = predicate.upper()
    equivalents = {name}
    for one, others in EQUIVALENTS.items():
        if name == one or name in others:
            equivalents |= {one, *others}
    return frozenset(equivalents)


def is_contrary(one: str, two: str) -> bool:
    """Return whether one predicate denies the other: LIKES and DISLIKES, LEFT and WORKS_AT."""
    return one.upper() in CONTRARIES.get(two.upper(), ())


def normalize_aspect(fact: Fact) -> str:
    return normalize_name(fact.aspect) if fact.aspect else ""


def normalize_fact_value(fact: Fact) -> str:
    """Return the value of a fact in the form used for comparison."""
    value = fact.value if fact.object is None else fact.object
    if fact.exact or not isinstance(value, str):
        return canonical_json(value)
    return normalize_phrase(value)


@lru_cache(maxsize=4096)
def normalize_phrase(text: str) -> str:
    """Return a phrase without articles and fillers: "The coffee, any more" becomes "coffee"."""
    words = " ".join(text.casefold().split()).strip(" .,;:!?\"'")
    return TRAILING.sub("", LEADING.sub("", words))


def extract_name(value: str) -> str:
    """Return the name at the start of a value: "MySQL for the shop" becomes "MySQL"."""
    words = value.split(" ")
    end = next((n for n, word in enumerate(words) if word in AFTER_A_NAME), len(words))
    return " ".join(words[:end]) or value


def matches_value(words: str, value: str) -> bool:
    """Return whether `words` equal the value or the name in it."""
    return words in (value, extract_name(value))


def contains_words(words: str, value: str) -> bool:
    """Return whether `value` contains `words` as complete words."""
    return bool(words) and re.search(rf"(?<!\w){re.escape(words)}(?!\w)", value) is not None


def denies_value(denial: Fact, value: str) -> bool:
    """Return whether a denial applies to this value; a denial without a value applies to all."""
    denied = normalize_fact_value(denial)
    if denied == "null" or (denial.predicate.upper() == "QUIT" and denied in ANY_JOB):
        return True
    if denial.predicate.upper() in ("QUIT", "LEFT", "SOLD"):
        return contains_words(value, denied) or matches_value(denied, value)
    return matches_value(denied, value)


def value_text(value: Json) -> str:
    return value if isinstance(value, str) else canonical_json(value)
