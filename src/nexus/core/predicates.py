"""What kind of thing a relation says: one value at a time or many, a state or something done.

Relations are free (SCREAMING_SNAKE_CASE); those nobody listed here hold many values.
"""

from __future__ import annotations

import re
from functools import lru_cache

from .canonical import canonical_json
from .derive import known_as
from .records import Fact, Json

# A new value takes the place of the one before.
ONE_VALUE = frozenset(
    """WORKS_AT WORKS_AS LIVES_IN BORN_IN BORN_ON FROM AGE NAMED SPOUSE_OF DATING REPORTS_TO
    HAS_EMAIL HAS_PHONE HAS_COMPENSATION HAS_BUDGET HAS_ACCOUNT_NUMBER HAS_ROUTING_NUMBER COSTS
    SCHEDULED_FOR STARTS_ON ENDS_ON OCCURS_ON OCCURRED_ON STARTED_ON ENDED_ON ANNIVERSARY_ON
    TYPICALLY_CONTACTS_AT PREFERS_CHANNEL COMMUNICATION_FREQUENCY""".split()
)
# A new value takes the place of the one before if both are about one aspect: a favourite color.
ONE_OF_AN_ASPECT = frozenset(["PREFERS"])
# What was done once stays done: said in the past tense, it is no less true today.
LASTING = frozenset(
    """BORN_IN BORN_ON FROM GREW_UP_IN GRADUATED_FROM FOUNDED CREATED LAUNCHED CONTRIBUTED_TO
    VISITED ATTENDED MET BOUGHT SOLD PAID INVESTED_IN CHOSE SWITCHED_TO MOVED_TO PROMOTED_TO
    LEFT QUIT BECAME NAMED OCCURRED_ON STARTED_ON ENDED_ON""".split()
)
# The time such a fact carries is what it says, not when it is true.
DATED = frozenset(
    """SCHEDULED_FOR STARTS_ON ENDS_ON OCCURS_ON OCCURRED_ON STARTED_ON ENDED_ON BORN_ON
    ANNIVERSARY_ON HAS_SCHEDULE TYPICALLY_CONTACTS_AT""".split()
)
# Other ways to say the same: whoever moved to Rome lives there.
ALSO_SAID_BY = {
    "LIVES_IN": ("MOVED_TO", "MOVING_TO"),
    "USES": ("SWITCHED_TO", "CHOSE"),
}
# What says the contrary of the same value.
DENIED_BY = {
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


def holds_one(fact: Fact) -> bool:
    """Whether a new value takes the place of the one before."""
    predicate = fact.predicate.upper()
    if fact.exact or predicate in ONE_VALUE:
        return True
    return predicate in ONE_OF_AN_ASPECT and fact.aspect is not None


def bearing_on(predicate: str) -> tuple[str, ...]:
    """The relations that tell something about this one, itself first; in capitals."""
    asked = predicate.upper()
    return (asked, *ALSO_SAID_BY.get(asked, ()), *DENIED_BY.get(asked, ()))


def said_alike(predicate: str) -> frozenset[str]:
    """The relations that say the same in other ways, this one among them; in capitals."""
    asked = predicate.upper()
    found = {asked}
    for relation, others in ALSO_SAID_BY.items():
        if asked == relation or asked in others:
            found |= {relation, *others}
    return frozenset(found)


def contrary(one: str, two: str) -> bool:
    """Whether one relation denies the other: LIKES and DISLIKES, LEFT and WORKS_AT."""
    return one.upper() in DENIED_BY.get(two.upper(), ())


def aspect_of(fact: Fact) -> str:
    return known_as(fact.aspect) if fact.aspect else ""


def value_of(fact: Fact) -> str:
    """What a fact says, in the spelling values are compared by."""
    said = fact.value if fact.object is None else fact.object
    return canonical_json(said) if fact.exact or not isinstance(said, str) else plain(said)


@lru_cache(maxsize=4096)
def plain(text: str) -> str:
    """The coffee, any more → coffee."""
    words = " ".join(text.casefold().split()).strip(" .,;:!?\"'")
    return TRAILING.sub("", LEADING.sub("", words))


def named_by(value: str) -> str:
    """The name in how a value was put: MySQL for the shop → MySQL."""
    words = value.split(" ")
    end = next((place for place, word in enumerate(words) if word in AFTER_A_NAME), len(words))
    return " ".join(words[:end]) or value


def names_value(words: str, value: str) -> bool:
    """Whether these words are the value, or the name in it."""
    return words in (value, named_by(value))


def holds_words(words: str, value: str) -> bool:
    """Whether these words stand in the value, whole."""
    return bool(words) and re.search(rf"(?<!\w){re.escape(words)}(?!\w)", value) is not None


def denies(denying: Fact, value: str) -> bool:
    """Whether a denial, or what was left behind, is about this value; with none it is about all."""
    said = value_of(denying)
    if said == "null" or (denying.predicate.upper() == "QUIT" and said in ANY_JOB):
        return True
    if denying.predicate.upper() in ("QUIT", "LEFT", "SOLD"):
        return holds_words(value, said) or names_value(said, value)
    return names_value(said, value)


def in_words(value: Json) -> str:
    return value if isinstance(value, str) else canonical_json(value)
