"""Spelling of a model's answer: names, predicates and texts in one form, or rejected.

Small models write "works at", worksAt and WORKS_AT, and "none" for nothing.
"""

from __future__ import annotations

import re

from ..rules.instructions import find_instructions
from ..rules.results import Category


class ItemRejected(Exception):
    """Reason for dropping one item; it has no content of the item, which may be private."""


MAX_NAME_CHARS = 120
MAX_TEXT_CHARS = 1_000
MAX_PREDICATE_CHARS = 60
WORD = re.compile(r"\w+")
CASE_CHANGE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
SEPARATORS = re.compile(r"[\W_]+")
LEADING_AUXILIARY = re.compile(r"^(?:IS|ARE|WAS|BE)_(?=(?:A|AN|THE)?_?[A-Z])")
FAVORITE = re.compile(r"(?:HAS_)?(?:FAVOU?RITE|PREFERRED)_(?P<aspect>[A-Z0-9_]+)")
PREDICATE = re.compile(r"[A-Z][A-Z0-9_]*")
SENTENCE = re.compile(r"[^.!?…\n]+(?:[.!?…]+(?=\s|$)|[.!?…]+(?=\S)[^.!?…\n]*)*")
PRONOUNS = frozenset(
    """i me my mine we us our you your he him his she her it its they them their this that these
    those who someone somebody everyone everybody nobody""".split()
)
# Other words for the predicates of the prompt
SYNONYMS = {
    "WORKS_FOR": "WORKS_AT",
    "EMPLOYED_BY": "WORKS_AT",
    "EMPLOYED_AT": "WORKS_AT",
    "HAS_JOB": "WORKS_AS",
    "JOB": "WORKS_AS",
    "OCCUPATION": "WORKS_AS",
    "LIVES_AT": "LIVES_IN",
    "RESIDES_IN": "LIVES_IN",
    "MARRIED_TO": "SPOUSE_OF",
    "HUSBAND_OF": "SPOUSE_OF",
    "WIFE_OF": "SPOUSE_OF",
    "FATHER_OF": "PARENT_OF",
    "MOTHER_OF": "PARENT_OF",
    "BROTHER_OF": "SIBLING_OF",
    "SISTER_OF": "SIBLING_OF",
    "FRIENDS_WITH": "FRIEND_OF",
    "LOVES": "LIKES",
    "ENJOYS": "LIKES",
    "HATES": "DISLIKES",
    "ALLERGY": "ALLERGIC_TO",
    "HAS_ALLERGY": "ALLERGIC_TO",
    "HAS_AGE": "AGE",
    "BIRTHDAY": "BORN_ON",
    "HAS_BIRTHDAY": "BORN_ON",
    "EMAIL": "HAS_EMAIL",
    "EMAIL_ADDRESS": "HAS_EMAIL",
    "PHONE": "HAS_PHONE",
    "PHONE_NUMBER": "HAS_PHONE",
    "PRICE": "COSTS",
    "HAS_PRICE": "COSTS",
    "PET": "HAS_PET",
}
CATEGORIES = {
    Category.PROFESSIONAL: """WORKS_AT WORKS_AS WORKS_IN SKILLED_IN STUDIES MANAGES REPORTS_TO
    PROMOTED_TO GRADUATED_FROM FOUNDED LEFT QUIT TEACHES COLLEAGUE_OF""",
    Category.SOCIAL: """SPOUSE_OF PARENT_OF CHILD_OF SIBLING_OF RELATIVE_OF FRIEND_OF KNOWS MET
    DATING MEMBER_OF NEIGHBOR_OF""",
    Category.PROJECTS: """USES CHOSE CREATED LAUNCHED BUILDING WORKING_ON SWITCHED_TO
    CONTRIBUTED_TO""",
    Category.TEMPORAL: """SCHEDULED_FOR STARTS_ON ENDS_ON OCCURS_ON HAS_SCHEDULE
    ANNIVERSARY_ON""",
    Category.PREFERENCES: "LIKES DISLIKES PREFERS WANTS INTERESTED_IN AVOIDS",
    Category.BEHAVIOURAL: "TYPICALLY_CONTACTS_AT",
    Category.FINANCIAL: """COSTS BOUGHT SOLD PAID OWES HAS_BUDGET HAS_COMPENSATION INVESTED_IN
    SAVING_FOR""",
}
CATEGORY_BY_PREDICATE = {
    predicate: category for category, names in CATEGORIES.items() for predicate in names.split()
}
LITERAL_PREDICATES = frozenset(  # their objects are values, no names
    """AGE BORN_ON COSTS HAS_EMAIL HAS_PHONE HAS_BUDGET HAS_COMPENSATION SCHEDULED_FOR STARTS_ON
    ENDS_ON OCCURS_ON HAS_SCHEDULE ANNIVERSARY_ON TYPICALLY_CONTACTS_AT WORKS_AS""".split()
)


def normalize_predicate(text: str) -> tuple[str, str | None]:
    """Return the predicate in UPPER_CASE and its aspect: favoriteColor → PREFERS, color."""
    words = SEPARATORS.sub("_", CASE_CHANGE.sub("_", text[: 2 * MAX_TEXT_CHARS].strip()))
    predicate = LEADING_AUXILIARY.sub("", words.strip("_").upper())
    predicate = SYNONYMS.get(predicate, predicate)
    if not PREDICATE.fullmatch(predicate) or len(predicate) > MAX_PREDICATE_CHARS:
        raise ItemRejected("predicate is not like WORKS_AT")
    if favorite := FAVORITE.fullmatch(predicate):
        return "PREFERS", favorite["aspect"].replace("_", " ").casefold()
    return predicate, None


def clean_name(text: str) -> str:
    """Return a name without quotation marks; raise ItemRejected if it is none."""
    name = " ".join(text[: 2 * MAX_TEXT_CHARS].split()).strip("\"'“”")
    if not name or len(name) > MAX_NAME_CHARS:
        raise ItemRejected("name is empty or too long")
    if name.casefold() in PRONOUNS:
        raise ItemRejected("name is a pronoun")
    if not WORD.search(name) or find_instructions(name):
        raise ItemRejected("not a name")
    return name


def clean_text(value: str) -> str:
    """Return a text on one line; raise ItemRejected if it is empty, too long or an instruction."""
    text = " ".join(value.split())
    if not text or len(text) > MAX_TEXT_CHARS:
        raise ItemRejected("text is empty or too long")
    if find_instructions(text):
        raise ItemRejected("instruction to a model")
    return text


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text, each on one line."""
    found = (" ".join(match[0].split()) for match in SENTENCE.finditer(text))
    return [sentence for sentence in found if sentence]
