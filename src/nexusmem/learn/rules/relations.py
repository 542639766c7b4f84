"""Relation table: which verb with which argument states which predicate (`relations.txt`)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from ...core.records import Fact
from ...text.identifiers import KINDS, normalize_identifier
from .results import NO_SPAN, Category, Identity, Statement

PERSON_PREDICATES = frozenset(
    """WORKS_AT HAS_ROLE WORKING_ON WORKS_IN REPORTS_TO MANAGES FOUNDED GRADUATED_FROM STUDIES_AT
    LEARNING TEACHES RESPONSIBLE_FOR COVERS_FOR LIVES_IN GREW_UP_IN FROM BORN_IN BORN_ON SPEAKS
    HAS_CONDITION HAS_PET PLAYS DRINKS DRIVES OWES ATTENDED SPOUSE_OF DATING PREFERS LIKES DISLIKES
    MOVING_TO HAS_DIET ALLERGIC_TO TAKES_MEDICATION PARENT_OF CHILD_OF SIBLING_OF FRIEND_OF
    RELATIVE_OF COLLEAGUE_OF NEIGHBOR_OF HAS_PHONE HAS_EMAIL HAS_HANDLE HAS_USERNAME HAS_AGE
    MEMBER_OF TRAVELING_TO HAS_DOCTOR VOLUNTEERS_AT LIVES_WITH EXPECTING ENGAGED_TO
    HAS_COMPENSATION ANNIVERSARY_ON OFF""".split()
)
OBJECT_TYPES = {
    **dict.fromkeys(
        "WORKS_AT FOUNDED GRADUATED_FROM CUSTOMER_OF STUDIES_AT MEMBER_OF VOLUNTEERS_AT".split(),
        "company",
    ),
    **dict.fromkeys("LIVES_IN BORN_IN FROM MOVING_TO GREW_UP_IN TRAVELING_TO".split(), "place"),
    **dict.fromkeys(
        """KNOWS SPOUSE_OF SIBLING_OF PARENT_OF CHILD_OF FRIEND_OF DATING ENGAGED_TO REPORTS_TO
        COLLEAGUE_OF NEIGHBOR_OF RELATIVE_OF COVERS_FOR HAS_DOCTOR REPLACES
        LIVES_WITH""".split(),
        "person",
    ),
    **dict.fromkeys("USES SUBSCRIBED_TO DRIVES TAKES_MEDICATION".split(), "product"),
    "WORKING_ON": "project",
    "HAS_PET": "pet",
    "ATTENDED": "event",
}
PARTICLE_PREPOSITIONS = frozenset("on over up off down in after".split())


@dataclass(frozen=True, slots=True)
class RelationRule:
    """One line of the table."""

    is_passive: bool
    nouns: frozenset[str]  # of the object, for a verb with a noun: "hand in" + "notice"
    argument: tuple[str, ...]  # ("obj",), ("subj",), ("mod",) or prepositions
    predicate: str
    change: str  # state, habit, taste, begin, end, coming or event
    category: Category
    object_type: str
    needs_type: bool
    subject: str
    is_intransitive: bool = False  # only without an object


@cache
def load_rules() -> dict[str, tuple[RelationRule, ...]]:
    """Return the rules of each verb, in the order of the table."""
    rules: dict[str, list[RelationRule]] = {}
    path = Path(__file__).with_name("relations.txt")
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        *verbs, argument, predicate, change, category, object_type, subject = line.split()
        for written in " ".join(verbs).split("|"):
            names, _, nouns = written.partition("+")
            rule = RelationRule(
                is_passive=names.endswith("^"),
                nouns=frozenset(nouns.split("/")) if nouns else frozenset(),
                argument=tuple(argument.split("|")),
                predicate=predicate,
                change=change,
                category=Category(category),
                object_type=object_type.rstrip("!"),
                needs_type=object_type.endswith("!"),
                subject=subject,
            )
            for verb in names.rstrip("^").split("/"):
                rules.setdefault(verb, []).append(rule)
                for other, moved in _move_particle(verb, rule):
                    rules.setdefault(other, []).append(moved)
    return {verb: tuple(each) for verb, each in rules.items()}


def _move_particle(verb: str, rule: RelationRule) -> list[tuple[str, RelationRule]]:
    """Return the rule for a parse that takes the particle for a preposition: "took on the post"."""
    base, _, particle = verb.partition(" ")
    if rule.argument != ("obj",) or rule.is_passive or particle not in PARTICLE_PREPOSITIONS:
        return []
    return [(base, replace(rule, argument=(particle,), is_intransitive=True))]


CATEGORIES = {
    Category.PROFESSIONAL: """WORKS_AT HAS_ROLE WORKS_IN STUDIES_AT LEARNING TEACHES MANAGES
    REPORTS_TO RESPONSIBLE_FOR COVERS_FOR REPLACES PROMOTED_TO GRADUATED_FROM FOUNDED COLLEAGUE_OF
    SKILLED_IN HAS_CONTACT""",
    Category.SOCIAL: """SPOUSE_OF PARENT_OF CHILD_OF SIBLING_OF RELATIVE_OF FRIEND_OF KNOWS MET
    DATING ENGAGED_TO MEMBER_OF NEIGHBOR_OF ATTENDED HAS_DOCTOR""",
    Category.PROJECTS: """USES SUPPORTS ACCEPTS REQUIRES ALLOWS WORKING_ON STORED_IN HAS_VALUE
    HAS_SIZE HAS_STATUS HAS_LIMIT HAS_CODE HAS_PASSWORD HAS_VERSION""",
    Category.TEMPORAL: """SCHEDULED_FOR DUE_ON STARTED_ON ENDED_ON OCCURRED_ON HAS_SCHEDULE
    LOCATED_IN BORN_ON ANNIVERSARY_ON OFF""",
    Category.PREFERENCES: "LIKES DISLIKES PREFERS PREFERS_CHANNEL WANTS INTERESTED_IN AVOIDS",
    Category.BEHAVIOURAL: "TYPICALLY_CONTACTS_AT",
    Category.FINANCIAL: """HAS_PRICE COSTS BOUGHT PAID OWES HAS_BUDGET HAS_COMPENSATION
    SUBSCRIBED_TO INVESTED_IN HAS_ACCOUNT_NUMBER HAS_ORDER_NUMBER HAS_VAT_NUMBER SAVING_FOR
    CUSTOMER_OF""",
}
CATEGORY_BY_PREDICATE = {
    predicate: category for category, names in CATEGORIES.items() for predicate in names.split()
}
# Predicates whose object is an entity if it is a name.
NAMED_OBJECTS = frozenset(OBJECT_TYPES) | frozenset(
    """OWNS LOCATED_IN HAS_CONTACT HAS_NAME WORKS_IN MANAGES RESPONSIBLE_FOR REQUIRES SUPPORTS
    BOUGHT MET""".split()
)


def category_of(predicate: str) -> Category:
    """Return the category of a predicate; unknown ones are personal."""
    return CATEGORY_BY_PREDICATE.get(predicate, Category.PERSONAL)


IDENTITY_KINDS = {f"HAS_{kind.upper()}": kind for kind in KINDS}
IDENTITY_KINDS |= {"HAS_NAME": "name", "ALSO_KNOWN_AS": "name"}


def identity_from_fact(fact: Fact | Statement) -> Identity | None:
    """Return the identity that a fact states: an address or another name of its subject."""
    kind = IDENTITY_KINDS.get(fact.predicate.upper())
    value = fact.value if fact.object is None else fact.object
    if kind is None or not isinstance(value, str) or fact.negated:
        return None
    if isinstance(fact, Fact) and (fact.exact or fact.tense != "current"):
        return None
    known = " ".join(value.split()) if kind == "name" else normalize_identifier(kind, value)
    source = fact.source if isinstance(fact, Statement) else NO_SPAN
    return Identity(owner=fact.subject, kind=kind, value=known, source=source) if known else None


# Predicates of states: they hold until something ends them.
STATE_RELATIONS = frozenset(
    """LIVES_IN WORKS_AT HAS_ROLE WORKS_IN MEMBER_OF KNOWS SPOUSE_OF FRIEND_OF HAS_PET OWNS USES
    STUDIES_AT SPEAKS LIKES DISLIKES PREFERS MANAGES RESPONSIBLE_FOR""".split()
)
START_RELATIONS = frozenset("WORKS_AT MEMBER_OF SPOUSE_OF HAS_PET FOUNDED OWNS USES".split())
