"""Relation rules: the table `relations.txt`, compiled for matching."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from ...core.records import Fact
from ...text.identifiers import normalize_identifier
from .coreference import Speakers
from .lexicon import KIN, LANGUAGES, OCCUPATIONS, PARENTS, PETS, SKILLS
from .results import NO_SPAN, Category, Identity, Statement, TextSpan

EMAIL = r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}"
PHONE = r"\+?\(?\d[\d\s().-]{5,18}\d"
HANDLE = r"@[A-Za-z0-9_.-]{2,40}"
NAME = r"[A-Z][\w'’-]{1,30}(?:\s+[A-Z][\w'’-]{1,30}){0,2}"
OWNER = (
    r"(?:(?P<my>\b[Mm]y)|(?P<owner>\b[A-Z][\w-]{1,30})['’]s)\s+"
    r"(?:(?:new|work|private|personal)\s+)?"
)
MAIL_PHRASE = r"\b(?:reach|contact|e-?mail|mail|write)\s+me\s+(?:at|on|to|via)\s+"
CALL_PHRASE = r"\b(?:reach|contact|call|text|ring)\s+me\s+(?:at|on)\s+"
PHONE_WORDS = r"(?:phone|cell|mobile)?\s?(?:number|phone|cell|mobile)"

# phrase → kind; `value` is the alias
PATTERNS = {
    rf"{OWNER}e-?mail(?:\s+address)?\s+is\s+(?P<value>{EMAIL})": "email",
    rf"{OWNER}{PHONE_WORDS}\s+is\s+(?P<value>{PHONE})": "phone",
    rf"{OWNER}(?:\w+\s+)?handle\s+is\s+(?P<value>@?[\w.-]{{2,40}}\w)": "handle",
    rf"{OWNER}(?:\w+\s+)?user\s?name\s+is\s+(?P<value>@?[\w.-]{{2,40}}\w)": "username",
    rf"{MAIL_PHRASE}(?P<value>{EMAIL})": "email",
    rf"{CALL_PHRASE}(?P<value>{PHONE})": "phone",
    rf"\bI(?:['’]m|\s+am)\s+(?P<value>{HANDLE})\b": "handle",
    rf"\b(?:[Cc]all|[Cc]alls)\s+me\s+(?P<value>{NAME})": "name",
    rf"\bI\s+go\s+by\s+(?P<value>{NAME})": "name",
    rf"\b[Mm]y\s+name(?:['’]s|\s+is)\s+(?P<value>{NAME})": "name",
    rf"\b[Mm]y\s+name\s+is\s+spel(?:led|t)\s+(?P<value>{NAME})": "name",
    rf"\b[Mm]y\s+(?:nickname|nick)\s+is\s+(?P<value>{NAME})": "name",
    rf"\b(?P<owner>{NAME}),?\s+(?:also\s+known\s+as|aka|a\.k\.a\.)\s+(?P<value>{NAME})": "name",
}
COMPILED_PATTERNS = [(re.compile(pattern), kind) for pattern, kind in PATTERNS.items()]
# Identity relations and the kind of alias each gives (specification 001).
IDENTITY_RELATIONS = {
    "HAS_EMAIL": "email",
    "HAS_PHONE": "phone",
    "HAS_HANDLE": "handle",
    "HAS_USERNAME": "username",
    "ALSO_KNOWN_AS": "name",
}
IDENTITY_HINTS = ("@", "name", "call me", "calls me", "go by", "known as", "aka", "handle", "a.k.a")
THREE_DIGITS = re.compile(r"\d{3}")


def may_state_identity(text: str) -> bool:
    """Return whether the message may state an identity. Most messages do not."""
    small = text.lower()
    for each in IDENTITY_HINTS:
        if each in small:
            return True
    return THREE_DIGITS.search(text) is not None


def find_identities(text: str, offset: int, speakers: Speakers) -> Iterator[Identity]:
    """Return the aliases that one sentence states. `offset` is the position of the sentence."""
    if text.endswith("?"):
        return
    for pattern, kind in COMPILED_PATTERNS:
        for match in pattern.finditer(text):
            owner = match.groupdict().get("owner")
            if owner and owner.lower() in PARENTS:
                owner = f"{speakers.speaker}'s {owner.lower()}"
            span = TextSpan(offset + match.start(), offset + match.end())
            value = normalize_alias(kind, match["value"])
            yield Identity(owner=owner or speakers.speaker, kind=kind, value=value, source=span)


def identity_from_fact(fact: Fact) -> Identity | None:
    """Return the alias that a fact states, or None if it states none or is no longer valid."""
    kind, said = (
        IDENTITY_RELATIONS.get(fact.predicate),
        fact.value if fact.object is None else fact.object,
    )
    if kind is None or not isinstance(said, str) or fact.exact:
        return None
    if fact.negated or fact.tense != "current":
        return None
    value = " ".join(said.split()) if kind == "name" else normalize_identifier(kind, said)
    return Identity(owner=fact.subject, kind=kind, value=value, source=NO_SPAN) if value else None


def kin_identities(facts: Sequence[Statement]) -> Iterator[Identity]:
    """Yield aliases of relatives: after "Jenny is my sister", "Bob's sister" refers to Jenny."""
    for fact in facts:
        if fact.aspect in KIN and fact.object and not fact.negated:
            owner = f"{fact.subject}'s {fact.aspect}"
            yield Identity(owner=owner, kind="kin", value=fact.object, source=fact.source)


def normalize_alias(kind: str, value: str) -> str:
    """Return one canonical spelling of an address."""
    if kind == "email":
        return value.rstrip(".").lower()
    if kind == "phone":
        return ("+" if value.startswith("+") else "") + re.sub(r"\D", "", value)
    return value.rstrip(".,!")


MAX_REST_CHARACTERS = 240  # characters after a verb that patterns are applied to


class RelationRule(NamedTuple):
    pattern: re.Pattern[str]
    relation: str
    category: Category
    type: str | None  # type of the object, if it is an entity
    negated: bool
    passive: bool


DATE = (
    r"(?:the )?(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|today|tonight|next|this|noon"
    r"|midnight|\d{1,2}(?:st|nd|rd|th|:\d\d|\s?[ap]m)?\b|jan|feb|mar(?:ch)?\b|apr|may\b|jun|jul|aug"
    r"|sep|oct|nov|dec)"
)
OBJECT_PATTERNS = {
    "PET": rf"(?:{'|'.join(sorted(PETS))})\b",
    "JOB": rf"(?:{'|'.join(sorted(OCCUPATIONS))})s?",
    "DATE": DATE,
    "TONGUE": rf"(?:{'|'.join(sorted(LANGUAGES))})\b",
    "SKILL": rf"(?:{'|'.join(map(re.escape, sorted(SKILLS, reverse=True)))})(?![\w+#])",
}
RULE_LINE = re.compile(
    r"(?P<verb>\S+)\s+(?P<what>.*?)\s+(?P<relation>[A-Z_]+)\s+(?P<category>[a-z]+)\s+(?P<type>\S+)"
)


@lru_cache(maxsize=1)  # compiled with the first message, not at import
def load_rules() -> dict[str, list[RelationRule]]:
    """Return the rules by verb, in matching order."""
    found: dict[str, list[RelationRule]] = {}
    lines = files(__package__).joinpath("relations.txt").read_text(encoding="utf-8").splitlines()
    for line in lines:
        if not line.strip() or line.startswith("#"):
            continue
        row = RULE_LINE.fullmatch(line.strip())
        if row is None:
            raise ValueError(f"invalid rule in relations.txt: {line}")
        pattern = _expand_pattern(row["what"])
        rule = RelationRule(
            re.compile(pattern, 0 if "[A-Z]" in pattern else re.IGNORECASE),
            row["relation"],
            Category(row["category"]),
            None if row["type"] == "-" else row["type"],
            row["verb"].endswith("!"),
            row["verb"].endswith("^"),
        )
        found.setdefault(row["verb"].rstrip("!^"), []).append(rule)
    return found


def _expand_pattern(template: str) -> str:
    last = template.endswith("OBJ")  # then it extends to the end of the clause
    made = template.replace("OBJ", "(?P<object>.+)" if last else "(?P<object>.+?)")
    for name, pattern in OBJECT_PATTERNS.items():
        made = made.replace(name, pattern)
    return made.replace(" ", r"\s+")


# The relation in another tense: (present or future) instead of the table's entry
ONGOING_RELATIONS = {
    "MOVED_TO": "MOVING_TO",
    "LAUNCHED": "LAUNCHING",
    "BUILDING": "BUILDING",
}
FINISHED_RELATIONS = {"BUILDING": "CREATED"}
PAST_ONLY_RELATIONS = frozenset(  # in the future these are named after their verb
    "PAID BOUGHT SOLD VISITED ATTENDED QUIT LEFT CHOSE FOUNDED INVESTED_IN MET CREATED".split()
)
OPPOSITE_RELATIONS = {"LIKES": "DISLIKES"}
START_RELATIONS = frozenset(
    "MOVED_TO WORKS_AT MEMBER_OF SPOUSE_OF HAS_PET FOUNDED OWNS QUIT STUDIES SWITCHED_TO".split()
)
STATE_RELATIONS = frozenset(
    """LIVES_IN WORKS_AT WORKS_AS WORKS_IN MEMBER_OF KNOWS SPOUSE_OF FRIEND_OF HAS_PET OWNS USES
    STUDIES SPEAKS SKILLED_IN LIKES DISLIKES PREFERS INTERESTED_IN MANAGES""".split()
)
PERMANENT_RELATIONS = frozenset(  # timeless in the present tense
    """ALLERGIC_TO HAS_CONDITION LIKES DISLIKES PREFERS INTERESTED_IN SPEAKS SKILLED_IN KNOWS
    FRIEND_OF SIBLING_OF PARENT_OF CHILD_OF RELATIVE_OF NEIGHBOR_OF COLLEAGUE_OF REPORTS_TO FROM
    AGE NAMED""".split()
)
PERSON_RELATIONS = frozenset(  # subjects of these
    "WORKS_AT WORKS_AS LIVES_IN MOVED_TO MOVING_TO SPOUSE_OF SIBLING_OF LIKES KNOWS".split()
)
START_VERBS = frozenset("join start get hire adopt marry decide agree".split())  # a state
