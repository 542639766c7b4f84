"""Statements about who is who: addresses, handles, and what somebody is called."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...core.identifiers import normal_identifier
from ...core.records import Fact
from .cast import Cast
from .extracted import NOWHERE, Identity, Span, Statement
from .lexicon import KIN, PARENTS

EMAIL = r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}"
PHONE = r"\+?\(?\d[\d\s().-]{5,18}\d"
HANDLE = r"@[A-Za-z0-9_.-]{2,40}"
NAME = r"[A-Z][\w'’-]{1,30}(?:\s+[A-Z][\w'’-]{1,30}){0,2}"
WHOSE = (
    r"(?:(?P<my>\b[Mm]y)|(?P<owner>\b[A-Z][\w-]{1,30})['’]s)\s+"
    r"(?:(?:new|work|private|personal)\s+)?"
)
MAIL_ME = r"\b(?:reach|contact|e-?mail|mail|write)\s+me\s+(?:at|on|to|via)\s+"
CALL_ME = r"\b(?:reach|contact|call|text|ring)\s+me\s+(?:at|on)\s+"
NUMBER = r"(?:phone|cell|mobile)?\s?(?:number|phone|cell|mobile)"

# what is said → kind; `value` is the alias
PATTERNS = {
    rf"{WHOSE}e-?mail(?:\s+address)?\s+is\s+(?P<value>{EMAIL})": "email",
    rf"{WHOSE}{NUMBER}\s+is\s+(?P<value>{PHONE})": "phone",
    rf"{WHOSE}(?:\w+\s+)?handle\s+is\s+(?P<value>@?[\w.-]{{2,40}}\w)": "handle",
    rf"{WHOSE}(?:\w+\s+)?user\s?name\s+is\s+(?P<value>@?[\w.-]{{2,40}}\w)": "username",
    rf"{MAIL_ME}(?P<value>{EMAIL})": "email",
    rf"{CALL_ME}(?P<value>{PHONE})": "phone",
    rf"\bI(?:['’]m|\s+am)\s+(?P<value>{HANDLE})\b": "handle",
    rf"\b(?:[Cc]all|[Cc]alls)\s+me\s+(?P<value>{NAME})": "name",
    rf"\bI\s+go\s+by\s+(?P<value>{NAME})": "name",
    rf"\b[Mm]y\s+name(?:['’]s|\s+is)\s+(?P<value>{NAME})": "name",
    rf"\b[Mm]y\s+name\s+is\s+spel(?:led|t)\s+(?P<value>{NAME})": "name",
    rf"\b[Mm]y\s+(?:nickname|nick)\s+is\s+(?P<value>{NAME})": "name",
    rf"\b(?P<owner>{NAME}),?\s+(?:also\s+known\s+as|aka|a\.k\.a\.)\s+(?P<value>{NAME})": "name",
}
COMPILED = [(re.compile(pattern), kind) for pattern, kind in PATTERNS.items()]
# Relations that say who is who, and the kind of alias each tells (seed 001's).
RELATIONS = {
    "HAS_EMAIL": "email",
    "HAS_PHONE": "phone",
    "HAS_HANDLE": "handle",
    "HAS_USERNAME": "username",
    "ALSO_KNOWN_AS": "name",
}
TELLING = ("@", "name", "call me", "calls me", "go by", "known as", "aka", "handle", "a.k.a")
NUMBERS = re.compile(r"\d{3}")


def may_name(text: str) -> bool:
    """Whether it is worth looking: most messages say nothing of the kind."""
    small = text.lower()
    for each in TELLING:
        if each in small:
            return True
    return NUMBERS.search(text) is not None


def identities(text: str, offset: int, cast: Cast) -> Iterator[Identity]:
    """The aliases one sentence states; `offset` is where it begins in the message."""
    if text.endswith("?"):
        return
    for pattern, kind in COMPILED:
        for match in pattern.finditer(text):
            owner = match.groupdict().get("owner")
            if owner and owner.lower() in PARENTS:
                owner = f"{cast.speaker}'s {owner.lower()}"
            span = Span(offset + match.start(), offset + match.end())
            value = normal(kind, match["value"])
            yield Identity(owner=owner or cast.speaker, kind=kind, value=value, source=span)


def identity_of(fact: Fact) -> Identity | None:
    """The alias a fact tells of somebody; none if it tells none, or one that is theirs no more."""
    kind, said = RELATIONS.get(fact.predicate), fact.value if fact.object is None else fact.object
    if kind is None or not isinstance(said, str) or fact.exact:
        return None
    if fact.negated or fact.tense != "current":
        return None
    value = " ".join(said.split()) if kind == "name" else normal_identifier(kind, said)
    return Identity(owner=fact.subject, kind=kind, value=value, source=NOWHERE) if value else None


def kin(facts: Sequence[Statement]) -> Iterator[Identity]:
    """Jenny is my sister: from now on, whoever says "Bob's sister" means Jenny."""
    for fact in facts:
        if fact.aspect in KIN and fact.object and not fact.negated:
            owner = f"{fact.subject}'s {fact.aspect}"
            yield Identity(owner=owner, kind="kin", value=fact.object, source=fact.source)


def normal(kind: str, value: str) -> str:
    """One spelling for each address: what is compared must be the same."""
    if kind == "email":
        return value.rstrip(".").lower()
    if kind == "phone":
        return ("+" if value.startswith("+") else "") + re.sub(r"\D", "", value)
    return value.rstrip(".,!")
