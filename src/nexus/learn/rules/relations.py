"""Which verbs say which relation: the rules of `relations.txt`, ready to be matched."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from .extracted import Category
from .lexicon import OCCUPATIONS, PETS, SKILLS, TONGUES

LONGEST_REST = 240  # characters that patterns see after a verb


class Rule(NamedTuple):
    pattern: re.Pattern[str]
    relation: str
    category: Category
    type: str | None  # of the object, if that is an entity
    negated: bool
    passive: bool


DATE = (
    r"(?:the )?(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|today|tonight|next|this|noon"
    r"|midnight|\d{1,2}(?:st|nd|rd|th|:\d\d|\s?[ap]m)?\b|jan|feb|mar(?:ch)?\b|apr|may\b|jun|jul|aug"
    r"|sep|oct|nov|dec)"
)
KINDS = {
    "PET": rf"(?:{'|'.join(sorted(PETS))})\b",
    "JOB": rf"(?:{'|'.join(sorted(OCCUPATIONS))})s?",
    "DATE": DATE,
    "TONGUE": rf"(?:{'|'.join(sorted(TONGUES))})\b",
    "SKILL": rf"(?:{'|'.join(map(re.escape, sorted(SKILLS, reverse=True)))})(?![\w+#])",
}
LINE = re.compile(
    r"(?P<verb>\S+)\s+(?P<what>.*?)\s+(?P<relation>[A-Z_]+)\s+(?P<category>[a-z]+)\s+(?P<type>\S+)"
)


@lru_cache(maxsize=1)  # compiled with the first message, not with the import
def rules() -> dict[str, list[Rule]]:
    """Verb → its rules, in the order they are tried."""
    found: dict[str, list[Rule]] = {}
    lines = files(__package__).joinpath("relations.txt").read_text(encoding="utf-8").splitlines()
    for line in lines:
        if not line.strip() or line.startswith("#"):
            continue
        row = LINE.fullmatch(line.strip())
        if row is None:
            raise ValueError(f"no rule: {line}")
        pattern = _pattern(row["what"])
        rule = Rule(
            re.compile(pattern, 0 if "[A-Z]" in pattern else re.IGNORECASE),
            row["relation"],
            Category(row["category"]),
            None if row["type"] == "-" else row["type"],
            row["verb"].endswith("!"),
            row["verb"].endswith("^"),
        )
        found.setdefault(row["verb"].rstrip("!^"), []).append(rule)
    return found


def _pattern(what: str) -> str:
    last = what.endswith("OBJ")  # then it reaches to the end of the clause
    made = what.replace("OBJ", "(?P<object>.+)" if last else "(?P<object>.+?)")
    for name, pattern in KINDS.items():
        made = made.replace(name, pattern)
    return made.replace(" ", r"\s+")


# The relation in another tense: (present or future) instead of what the table says
UNFINISHED = {
    "MOVED_TO": "MOVING_TO",
    "LAUNCHED": "LAUNCHING",
    "BUILDING": "BUILDING",
}
FINISHED = {"BUILDING": "CREATED"}
PAST_ONLY = frozenset(  # said of the future, these are named after their verb
    "PAID BOUGHT SOLD VISITED ATTENDED QUIT LEFT CHOSE FOUNDED INVESTED_IN MET CREATED".split()
)
OPPOSITE = {"LIKES": "DISLIKES"}
BEGINS = frozenset(
    "MOVED_TO WORKS_AT MEMBER_OF SPOUSE_OF HAS_PET FOUNDED OWNS QUIT STUDIES SWITCHED_TO".split()
)
STATES = frozenset(
    """LIVES_IN WORKS_AT WORKS_AS WORKS_IN MEMBER_OF KNOWS SPOUSE_OF FRIEND_OF HAS_PET OWNS USES
    STUDIES SPEAKS SKILLED_IN LIKES DISLIKES PREFERS INTERESTED_IN MANAGES""".split()
)
LASTING = frozenset(  # said in the present these hold always: a date beside them is another's
    """ALLERGIC_TO HAS_CONDITION LIKES DISLIKES PREFERS INTERESTED_IN SPEAKS SKILLED_IN KNOWS
    FRIEND_OF SIBLING_OF PARENT_OF CHILD_OF RELATIVE_OF NEIGHBOR_OF COLLEAGUE_OF REPORTS_TO FROM
    AGE NAMED""".split()
)
ONLY_PEOPLE = frozenset(  # are the subjects of these
    "WORKS_AT WORKS_AS LIVES_IN MOVED_TO MOVING_TO SPOUSE_OF SIBLING_OF LIKES KNOWS".split()
)
BEGINNING = frozenset("join start get hire adopt marry decide agree".split())  # of a state
