"""Predicates of facts: single-valued or many-valued, states or completed events.

Predicates are free text in SCREAMING_SNAKE_CASE. Those not listed here have many values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from functools import lru_cache

from ..core.canonical import canonical_json
from ..core.derive import normalize_name
from ..core.records import Fact, Json

WE = "we"  # the subject of a fact about the speaker and others
# A new value replaces the old one.
SINGLE_VALUED = frozenset(
    """WORKS_AT WORKS_AS LIVES_IN MOVING_TO LOCATED_IN STORED_IN BORN_IN FROM AGE HAS_AGE NAMED
    HAS_NAME HAS_MAIDEN_NAME SPOUSE_OF ENGAGED_TO DATING REPORTS_TO HAS_MANAGER STUDIES_AT
    HAS_DOCTOR HAS_DENTIST HAS_THERAPIST HAS_CONTACT HAS_EMAIL HAS_PHONE HAS_ADDRESS HAS_WEBSITE
    HAS_TIMEZONE HAS_COMPENSATION HAS_BUDGET HAS_PRICE COSTS HAS_RATE HAS_LIMIT HAS_VALUE HAS_SIZE
    HAS_SEATS HAS_LEAVE HAS_WEIGHT HAS_HEIGHT HAS_BLOOD_PRESSURE HAS_BLOOD_TYPE HAS_COLOR HAS_BREED
    HAS_VERSION HAS_STATUS HAS_PASSWORD HAS_CODE HAS_PIN HAS_NUMBER HAS_SERIAL_NUMBER
    HAS_ACCOUNT_NUMBER HAS_ROUTING_NUMBER HAS_CUSTOMER_NUMBER HAS_VAT_NUMBER HAS_LICENSE_PLATE
    SCHEDULED_FOR DUE_ON STARTS_ON ENDS_ON EXPIRES_ON OCCURS_ON OCCURRED_ON STARTED_ON ENDED_ON
    BORN_ON DIED_ON ANNIVERSARY_ON TYPICALLY_CONTACTS_AT PREFERS_CHANNEL
    COMMUNICATION_FREQUENCY DEPARTS_FROM ROOMMATE_OF HAS_ROOMMATE HELD_AT HAS_VENUE HAS_DEADLINE
    HAS_LANDLORD HAS_OWNER OWNED_BY HELD_BY KEPT_IN""".split()
)
# A new value replaces the old one of the same aspect, such as a favorite color.
SINGLE_VALUED_BY_ASPECT = frozenset("PREFERS HAS_HANDLE HAS_USERNAME HAS_SCHEDULE".split())
# One message may list several values, such as two phone numbers.
LISTED_TOGETHER = frozenset(
    "HAS_SCHEDULE LOCATED_IN HAS_PHONE HAS_EMAIL HAS_CONTACT HAS_STATUS HAS_CODE".split()
)
# Completed events: a statement in the past tense is still true.
LASTING = frozenset(
    """BORN_IN BORN_ON DIED_ON FROM GREW_UP_IN GRADUATED_FROM FOUNDED CREATED LAUNCHED
    CONTRIBUTED_TO VISITED ATTENDED MET BOUGHT SOLD PAID INVESTED_IN CHOSE SWITCHED_TO MOVED_TO
    PROMOTED_TO LEFT QUIT BECAME NAMED OCCURRED_ON STARTED_ON ENDED_ON ANNIVERSARY_ON
    REPLACES""".split()
)
# Facts that repeat. The time of such a fact is its value, not its validity.
REPEATED = frozenset("HAS_SCHEDULE TYPICALLY_CONTACTS_AT".split())
# The date of such a fact is its value, not its validity: the date known last is the current one.
DATED = REPEATED | frozenset(
    """SCHEDULED_FOR DUE_ON STARTS_ON ENDS_ON EXPIRES_ON OCCURS_ON OCCURRED_ON STARTED_ON ENDED_ON
    BORN_ON DIED_ON ANNIVERSARY_ON""".split()
)
# Plans: they take effect on their date, and never by themselves without a date.
PLANS = frozenset("MOVING_TO SCHEDULED_FOR OCCURS_ON".split())
# Predicates with the same meaning: a person who moved to Rome lives there.
EQUIVALENTS = {
    "LIVES_IN": ("MOVED_TO", "MOVING_TO"),
    "USES": ("SWITCHED_TO", "CHOSE"),
    "HAS_ROLE": ("WORKS_AS",),
    "HAS_AGE": ("AGE",),
    "HAS_PRICE": ("COSTS",),
    "OCCURRED_ON": ("SCHEDULED_FOR", "OCCURS_ON"),
}
# Predicates that deny each other for the same value.
CONTRARIES = {
    "LIKES": ("DISLIKES",),
    "DISLIKES": ("LIKES",),
    "WORKS_AT": ("LEFT", "QUIT"),
    "WORKS_AS": ("QUIT",),
    "HAS_ROLE": ("QUIT",),
    "OWNS": ("SOLD",),
    "SPOUSE_OF": ("DIVORCED",),
}
# Only people have these relations.
PERSON_PREDICATES = frozenset(
    """WORKS_AT WORKS_AS HAS_ROLE WORKING_ON REPORTS_TO RESPONSIBLE_FOR LIVES_IN MOVED_TO MOVING_TO
    TRAVELING_TO BORN_IN BORN_ON GREW_UP_IN AGE HAS_AGE SPOUSE_OF ENGAGED_TO DATING FRIEND_OF KNOWS
    SIBLING_OF PARENT_OF CHILD_OF HAS_PET HAS_DOCTOR HAS_CONDITION ALLERGIC_TO TAKES_MEDICATION
    HAS_DIET STUDIES_AT STUDIES LEARNING LIKES DISLIKES PREFERS INTERESTED_IN EATS DRINKS
    DRIVES""".split()
)
# People who live together move together: "we" is also the speaker.
SHARED_HOME = frozenset("LIVES_IN MOVED_TO MOVING_TO".split())
ENDINGS = frozenset("QUIT LEFT SOLD DIVORCED".split())  # contraries that say that a value ended
# A thing has one holder of these relations, so that a correction replaces the holder.
SINGLE_HOLDER = frozenset("RESPONSIBLE_FOR MANAGES LEADS OWNS".split())
# Tastes have no longer names: coffee ice cream is not a kind of coffee.
TASTES = frozenset("LIKES LOVES DISLIKES HATES PREFERS INTERESTED_IN EATS DRINKS".split())

LEADING = re.compile(r"^(?:an?|the|my|our|his|her|their|its|some)\s+")
TRAILING = re.compile(
    r"[\s,]+(?:any ?more|any longer|now|nowadays|these days|currently|at the moment|instead)$"
)
ISO_DAY = re.compile(r"(\d{4})(?:-(\d\d))?(?:-(\d\d))?(?:[T ].*)?")
AFTER_A_NAME = frozenset("for at in on with as to by from since because when and but of".split())
TIME_WORDS = frozenset(
    """monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun january
    february march april may june july august september october november december jan feb mar apr
    jun jul aug sep oct nov dec day daily weekday weekend week weekly month monthly year yearly hour
    hourly minute morning noon afternoon evening night midnight am pm h utc cet et every each other
    second third last first st nd rd th at on in of the a and from to until till or between
    twice once biweekly fortnightly quarter quarterly o clock""".split()
)
ANY_JOB = frozenset(["job", "work", "position", "day job"])


def is_single_valued(fact: Fact) -> bool:
    """Return whether a new value replaces the old one."""
    predicate = fact.predicate.upper()
    if fact.exact or predicate in SINGLE_VALUED:
        return True
    if predicate not in SINGLE_VALUED_BY_ASPECT:
        return False
    return fact.aspect is not None or (predicate in REPEATED and _is_only_time(fact))


def _is_only_time(fact: Fact) -> bool:
    """Return whether a schedule names only times: "Tuesdays at 6pm", but not "yoga on Tuesdays"."""
    words = re.findall(r"[^\W\d]+", value_text(_fact_value(fact)).casefold())
    return all(word.removesuffix("s") in TIME_WORDS for word in words)


def normalize_predicate(predicate: str) -> str:
    """Return the usual spelling of a predicate: WORKS_AT for "works at"."""
    return re.sub("[^A-Z0-9]+", "_", predicate.upper()).strip("_")


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
    value = _fact_value(fact)
    if fact.exact or not isinstance(value, str):
        return canonical_json(value)
    return normalize_phrase(value)


def _fact_value(fact: Fact) -> Json:
    return fact.value if fact.object is None else fact.object


def has_no_value(fact: Fact) -> bool:
    """Return whether a fact names no value: "Sarah quit" does not say where she worked."""
    return fact.object is None and fact.value is None


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


def is_end(fact: Fact) -> bool:
    """Return whether a fact says that a value ended or will end, unlike a plain denial."""
    if fact.predicate.upper() in ENDINGS:
        return True
    return fact.tense == "future" if fact.negated else fact.tense == "past"


def find_ended(end: Fact, values: Iterable[str]) -> str | None:
    """Return the only one of these values that an end means, or None.

    An end without a value means the only value there is. "Fiat Panda" means "Fiat Panda 4x4".
    """
    if has_no_value(end):
        possible = list(values)
    else:
        possible = [value for value in values if _is_same_thing(end, value)]
    return possible[0] if len(possible) == 1 else None


def _is_same_thing(end: Fact, value: str) -> bool:
    """Return whether the words of one value contain those of the other.

    A name may stand anywhere in the longer value, other words only at its end.
    """
    ended, stated = normalize_fact_value(end), _fact_value(end)
    if ended == value:
        return True
    if end.exact or end.predicate.upper() in TASTES or not isinstance(stated, str):
        return False
    short, long = sorted((ended, value), key=len)
    if not any(each.isalpha() for each in short):
        return False
    has_name = stated != stated.lower()
    return contains_words(short, long) and (has_name or long.endswith(f" {short}"))


def parse_day(fact: Fact) -> date | None:
    """Return the first day of a date such as 2026-05-03 or 2026-05; None for other values."""
    match = ISO_DAY.fullmatch(value_text(_fact_value(fact)).strip())
    if match is None:
        return None
    try:
        return date(*(int(part or 1) for part in match.groups()))
    except ValueError:
        return None


def value_text(value: Json) -> str:
    return value if isinstance(value, str) else canonical_json(value)
