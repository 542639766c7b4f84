"""What "be" and "have" say, where the words around them decide: kin, favourites, birthdays."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from .cast import Cast, joined
from .clauses import Clause
from .extracted import Category
from .lexicon import KIN, PETS
from .tokens import NAMED


class Told(NamedTuple):
    """A relation before it has a sentence, a time and a certainty."""

    subject: str
    relation: str
    object: str
    type: str | None
    category: Category
    aspect: str | None = None
    negated: bool = False
    inferred: bool = False  # said in passing: "my brother Tom is a pilot"
    only: bool = False  # nothing else is to be read from the clause


NAME = rf"{NAMED}(?:\s+{NAMED}){{0,2}}"
WHO_IS = re.compile(rf"(?:(?P<my>my)|(?P<owner>{NAME})['’]s)\s+(?:\w+\s+)?(?P<kin>\w+)[.!\s]*")
OF_MINE = re.compile(r"(?:a|an|one)\s+(?:\w+\s+)?(?P<kin>\w+) of mine")
FAVOURITE = re.compile(r"(?:favou?rite)\s+(?P<aspect>[\w\s]{2,40})", re.IGNORECASE)
PLAIN_NAME = re.compile(rf"(?P<name>{NAME})[.!\s]*")
HAS_KIN = re.compile(
    r"(?P<object>(?:an?|one|two|three|four|five|six|\d+|\w+)\s+(?:\w+\s+){0,2}?(?P<kin>[\w-]+)\b.*)",
    re.IGNORECASE,
)
CALLED = re.compile(rf"\b(?:called|named)\s+(?P<name>{NAME})")

# noun → relation, category, and whether the fact is about whoever has it
ATTRIBUTES = {
    "birthday": ("BORN_ON", Category.TEMPORAL, True),
    "anniversary": ("ANNIVERSARY_ON", Category.TEMPORAL, True),
    "salary": ("HAS_COMPENSATION", Category.FINANCIAL, True),
    "income": ("HAS_COMPENSATION", Category.FINANCIAL, True),
    "account": ("HAS_ACCOUNT_NUMBER", Category.FINANCIAL, True),
    "deadline": ("SCHEDULED_FOR", Category.TEMPORAL, False),
    "rent": ("COSTS", Category.FINANCIAL, False),
    "budget": ("HAS_BUDGET", Category.FINANCIAL, False),
}
RELATED = Category.SOCIAL
TAIL = re.compile(
    r"^(?:on|at|in)\s+|,?\s+(?:and )?not\s.*$|(?:\s+(?:now|these days|nowadays))?[.!\s]*$"
)


def copula(clause: Clause, rest: str, subject: str, cast: Cast) -> Iterator[Told]:
    """What only the words around the verb tell, beside the table of relations."""
    if clause.kind == "noun":
        yield from _apposition(clause, cast)
    if clause.lemma == "have" and clause.kind != "it":
        yield from _has_kin(rest, subject, negated=clause.negated)
    if clause.lemma == "be" and clause.kind == "noun":
        said = joined(clause.words[slice(*clause.subject)])
        yield from _favourite(said, rest, subject, clause)
        yield from _attribute(said, rest, subject, clause)
        yield from _named(said, rest, cast, clause)
        yield from _is_kin(rest, subject, cast, clause)


def _apposition(clause: Clause, cast: Cast) -> Iterator[Told]:
    """My brother Tom is a pilot: Tom is a brother, too."""
    phrase = clause.words[slice(*clause.subject)]
    if len(phrase) >= 3 and phrase[0].low == "my":
        for kin, name in pairwise(phrase[1:]):
            if kin.low in KIN and name.text[:1].isupper() and name.kind == "word":
                rest = joined(phrase[list(phrase).index(name) :])
                yield Told(
                    cast.speaker,
                    KIN[kin.low],
                    rest,
                    "person",
                    RELATED,
                    aspect=kin.low,
                    inferred=True,
                )
                return


def _has_kin(rest: str, subject: str, *, negated: bool) -> Iterator[Told]:
    match = HAS_KIN.match(rest)
    if match is None:
        return
    relation = KIN.get(match["kin"].lower())
    if relation in (None, "KNOWS", "REPORTS_TO"):
        return
    called = CALLED.search(rest)
    who = called["name"] if called else match["object"].strip(" .!,")
    yield Told(subject, str(relation), who, "person", RELATED, negated=negated, only=True)


def _favourite(said: str, rest: str, subject: str, clause: Clause) -> Iterator[Told]:
    match = FAVOURITE.search(said)
    if match is None:
        return
    owner = re.split(r"['’]s\s+favou?rite", subject)[0]
    value = TAIL.sub("", rest)
    yield Told(
        owner,
        "PREFERS",
        value,
        None,
        Category.PREFERENCES,
        match["aspect"].lower(),
        clause.negated,
        only=True,
    )


def _attribute(said: str, rest: str, subject: str, clause: Clause) -> Iterator[Told]:
    for noun, (relation, category, owned) in ATTRIBUTES.items():
        if not re.search(rf"\b{noun}\b", said.lower()):
            continue
        owner = re.split(r"['’]s\s", subject)
        about = "'s ".join(owner[:-1]) if owned and len(owner) > 1 else subject
        value = TAIL.sub("", rest)
        if value:
            yield Told(about, relation, value, None, category, None, clause.negated, only=True)
        return


def _named(said: str, rest: str, cast: Cast, clause: Clause) -> Iterator[Told]:
    """My best friend is Chloe; my dog's name is Rusty."""
    plain = re.sub(r"['’]s name$", "", said)
    head = plain.rsplit(None, 1)[-1].lower()
    name = PLAIN_NAME.fullmatch(rest)
    if name is None or not said.lower().startswith("my ") or clause.negated:
        return
    if head in KIN:
        yield Told(cast.speaker, KIN[head], name["name"], "person", RELATED, head, only=True)
    elif head in PETS:
        yield Told(cast.speaker, "HAS_PET", name["name"], "pet", Category.PERSONAL, head, only=True)


def _is_kin(rest: str, subject: str, cast: Cast, clause: Clause) -> Iterator[Told]:
    """Jenny is my sister; Anna is Peter's wife; Diego is a friend of mine; Luna is my dog."""
    match = WHO_IS.fullmatch(rest) or OF_MINE.match(rest)
    if match is None:
        return
    found = match.groupdict()
    owner = found.get("owner") or cast.speaker
    kin = match["kin"].lower()
    if kin in KIN:
        yield Told(owner, KIN[kin], subject, "person", RELATED, kin, clause.negated, only=True)
    elif kin in PETS:
        yield Told(
            owner, "HAS_PET", subject, "pet", Category.PERSONAL, kin, clause.negated, only=True
        )
