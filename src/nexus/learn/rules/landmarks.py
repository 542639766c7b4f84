"""Decisions, action items, commitments, stated preferences and corrections of one sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from ...core.dates import DateSpan
from .cast import Cast, joined
from .clauses import Clause
from .extracted import Landmark, LandmarkKind, Span, Statement, Temporal
from .lexicon import CONDITIONS, words
from .relations import STATES
from .tokens import Token

DECISION, ACTION_ITEM, COMMITMENT, PREFERENCE, CORRECTION = LandmarkKind

DECIDING = {  # verb → what must follow it
    "decide": re.compile(r"(?:to|on|that|against)\b"),
    "agree": re.compile(r"(?:to|on|that)\b"),
    "choose": re.compile(r"\S"),
    "pick": re.compile(r"(?!up\b)\S"),
    "settle": re.compile(r"on\b"),
    "opt": re.compile(r"for\b"),
    "conclude": re.compile(r""),
}
GO_WITH = re.compile(r"with\b(?! (?:you|me|him|her|them|us|my|friends)\b)")
GROUPS = words("team board committee council management company group")
NOT_A_TASK = words(
    """be have see know love like miss remember forget need want think feel keep try give take let
    hope enjoy find wait stay stick look get go never continue win lose stop become support tell"""
)
TASK_AFTER_ALL = re.compile(r"(?:take|taking) care of\b|get (?:it|that|this) done\b")

HEADED = re.compile(
    r"^\W*(?P<head>decision|decided|todo|to-do|to do|action item|action|task)\s*:\s*(?P<what>\S.*)",
    re.IGNORECASE,
)
ASSIGNED = re.compile(r"(?P<owner>@?[A-Z][\w.-]*)\s+(?:to|will|should|must)\s")
REQUEST = re.compile(
    r"\b(?:can|could|would|will) you (?:please |kindly |also |maybe )?"
    r"(?!tell|imagine|believe|see|guess|hear|explain|share)[a-z]{3,}\b \S"
    r"|(?:^|[,.!] ?|\s)please (?!always|never|let|don't|do not"
    r"|(?:remember|note|know|keep in mind) (?:that|I|we|my|our|he|she|they|it|this)\b)[a-z]{3,} \S"
    r"|^\W*(?:don[’']t forget|remember|make sure) to [a-z]{3,} \S",
    re.IGNORECASE,
)
VOCATIVE = re.compile(
    r"^(?P<first>@?[A-Z][\w.-]*),|,\s*(?P<last>[A-Z][\w.-]*)[?.!]*$|(?P<handle>@[\w.-]+)"
)
STANDING = re.compile(
    r"(?:^|[,.!] ?)(?:please )?(?:always|never|from now on,?) (?:\w+ )|\bplease (?:always|never)\b",
    re.IGNORECASE,
)
LETS = re.compile(r"\blet(?:['’]s| us) (?P<what>\w+\b.*)", re.IGNORECASE)
TOGETHER = re.compile(
    r"(?:meet|have (?:a )?(?:dinner|lunch|breakfast|coffee|call|drink)|catch up|talk|sync|grab"
    r"|do (?:it|that))\b",
    re.IGNORECASE,
)
PLEDGE = re.compile(
    r"\bI (?:promise|swear|guarantee|pledge|vow)\b|\bI give you my word\b|\bcount on me\b"
    r"|\bI(?:['’]m| am) committed to\b|\byou have my word\b",
    re.IGNORECASE,
)
NO_PLEDGE = re.compile(
    r"\b(?:can't|cannot|can not|don't|do not|won't) (?:promise|guarantee|swear)", re.IGNORECASE
)
TURNING_UP = re.compile(r"(?:at|there|in|back|ready)\b")

VALUE = r"[^,.;!?]{1,80}?(?:\.\d[^,.;!?]{0,20})?"
CORRECTIONS = [
    re.compile(
        rf"\bnot (?P<wrong>{VALUE})\s*(?:,|;|-|but)\s*(?:but )?(?:it['’]?s|it is|rather)?\s*"
        rf"(?P<right>{VALUE})[.!]*$",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\bI meant(?: to say)? (?P<right>{VALUE})(?:,? (?:and )?not (?P<wrong>{VALUE}))?[.!]*$",
        re.IGNORECASE,
    ),
    re.compile(rf"\b(?P<right>[\w.@:/-]+),? (?:and )?not (?P<wrong>{VALUE})[.!]*$", re.IGNORECASE),
    re.compile(
        rf"\b(?:it['’]s|it is) (?P<right>{VALUE}) (?:rather than|instead of) (?P<wrong>{VALUE})"
        r"(?:,|[.!]*$)",
        re.IGNORECASE,
    ),
    re.compile(rf"(?:^|[:,])\s*(?P<right>{VALUE})[.!]*$", re.IGNORECASE),
]
TAKING_BACK = re.compile(
    r"^\W*(?:correction|scratch that|actually,? no\b|no,? (?:actually|wait))"
    r"|^\W*sorry,? I (?:mean|misspoke)"
    r"|\bI (?:misspoke|meant (?:to say|the|[A-Z0-9\"])|was wrong|was mistaken|stand corrected)"
    r"|\bI (?:got (?:that|it) wrong|made a mistake)"
    r"|^\W*(?:that['’]s|that is) (?:wrong|incorrect|not (?:right|correct|true))"
    r"|^\W*actually\b.*(?:\bnot\b|n['’]t\b.*,|\brather than\b)|\bis spel(?:led|t) .*\bnot\b"
    r"|^\W*no,? I meant|^\W*(?:sorry|no),.*, not\b",
    re.IGNORECASE,
)
# Words of which one must stand in a sentence before its patterns are tried
ASKING = words("please forget remember sure")
ABLE = words("can could would will")
LASTING = words("always never now")
PLEDGING = words("promise swear guarantee pledge vow word count committed")
DOUBTING = words(
    """actually correction scratch misspoke meant mean wrong mistaken mistake corrected incorrect
    no sorry spelled spelt wait right correct true"""
)
TELLING = ASKING | LASTING | PLEDGING | DOUBTING | {"let", ":"}
LIKING = words("PREFERS LIKES DISLIKES")


class Sentence(NamedTuple):
    """What the landmarks are read from."""

    words: Sequence[Token]
    text: str
    clauses: Sequence[Clause]
    facts: Sequence[Statement]
    question: bool
    write: Callable[[], str]  # the sentence for somebody who was not there
    low: frozenset[str]
    cast: Cast
    dates: Sequence[DateSpan]
    at: datetime  # when it was said


def may_hold_landmarks(
    low: frozenset[str], clauses: Sequence[Clause], facts: Sequence[Statement]
) -> bool:
    """Whether it is worth looking: most sentences turn nothing."""
    if not low.isdisjoint(TELLING) or ("you" in low and not low.isdisjoint(ABLE)):
        return True
    for clause in clauses:
        planned = clause.tense == "future" or clause.modal == "must"
        if planned or clause.lemma == "go" or clause.lemma in DECIDING:
            return True
    return any(fact.predicate in LIKING for fact in facts)


def landmarks(said: Sentence) -> Iterator[Landmark]:
    """At most one of each kind; a decision or a commitment is not an action item as well."""
    found = [*_corrections(said), *(_decision(said) or _commitment(said) or _action(said) or ())]
    yield from found
    if not any(each.kind is CORRECTION for each in found):
        yield from _preference(said)


def _make(said: Sentence, kind: LandmarkKind, **fields: str | None) -> Landmark:
    date = next(iter(said.dates), None)
    ahead = date is not None and date.until > said.at  # "decided on Monday": not for when
    dated = kind in (ACTION_ITEM, COMMITMENT, DECISION) and ahead
    return Landmark(
        kind=kind,
        text=said.write(),
        source=Span(said.words[0].start, said.words[-1].end),
        due=date.until if dated and date else None,
        due_from=date.since if dated and date else None,
        **fields,
    )


def _decision(said: Sentence) -> list[Landmark]:
    headed = HEADED.match(said.text) if ":" in said.low else None
    if headed and headed["head"].lower().startswith("deci"):
        return [_make(said, DECISION, owner=said.cast.everybody)]
    if said.question:
        return []
    lets = LETS.search(said.text) if "let" in said.low else None
    if lets and re.match(
        r"(?:go with|use|choose|stick with|switch to)\b", lets["what"], re.IGNORECASE
    ):
        return [_make(said, DECISION, owner=said.cast.everybody)]
    for clause in said.clauses:
        if clause.negated or clause.modal or clause.link in CONDITIONS:
            continue
        wanted = DECIDING.get(clause.lemma)
        if wanted is None and clause.lemma != "go":
            continue
        rest = joined(clause.words[clause.rest :])
        ours = clause.first_person or clause.words[clause.subject[1] - 1].low in GROUPS
        impersonal = clause.kind == "it" and clause.passive and clause.lemma in ("decide", "agree")
        past = clause.tense == "past" or clause.perfect
        if wanted and past and (ours or impersonal) and wanted.match(rest):
            return [_make(said, DECISION, owner=_owner(said, clause))]
        heading = clause.progressive or clause.tense == "future"
        if clause.lemma == "go" and heading and clause.kind == "we" and GO_WITH.match(rest):
            return [_make(said, DECISION, owner=_owner(said, clause))]
    return []


def is_pledge(said: Sentence) -> bool:
    return bool(said.low & PLEDGING and PLEDGE.search(said.text)) and not NO_PLEDGE.search(
        said.text
    )


def settled(turning: Sequence[Landmark], facts: list[Statement]) -> list[Statement]:
    """Facts beside the landmarks of their sentence: what was decided on is so from now on."""
    if not any(each.kind is DECISION for each in turning):
        return facts
    return [
        replace(fact, temporal=Temporal.CURRENT)
        if fact.temporal is Temporal.FUTURE and fact.predicate in STATES
        else fact
        for fact in facts
    ]


def _commitment(said: Sentence) -> list[Landmark]:
    if said.question:
        return []
    pledged = is_pledge(said)
    lets = LETS.search(said.text) if "let" in said.low else None
    together = lets is not None and (said.dates and TOGETHER.match(lets["what"]))
    if pledged or together:
        return [
            _make(said, COMMITMENT, owner=said.cast.everybody if together else said.cast.speaker)
        ]
    for clause in said.clauses:
        will_be = clause.kind in ("i", "we") and clause.lemma == "be" and clause.tense == "future"
        if will_be and not clause.negated and said.dates and TURNING_UP.match(said_rest(clause)):
            return [_make(said, COMMITMENT, owner=_owner(said, clause))]
    return []


def _action(said: Sentence) -> list[Landmark]:
    headed = HEADED.match(said.text) if ":" in said.low else None
    if headed:
        assigned = ASSIGNED.match(headed["what"])
        return [_make(said, ACTION_ITEM, owner=assigned["owner"] if assigned else None)]
    asked = said.low & ASKING or ("you" in said.low and said.low & ABLE)
    request = REQUEST.search(said.text) if asked else None
    if request:
        return [_make(said, ACTION_ITEM, owner=_addressed(said))]
    if said.question:
        return []
    for clause in said.clauses:
        if _is_task(clause) and clause.link not in CONDITIONS:
            return [_make(said, ACTION_ITEM, owner=_owner(said, clause))]
    return []


def _is_task(clause: Clause) -> bool:
    if clause.negated or not (clause.tense == "future" or clause.modal == "must"):
        return False
    rest = said_rest(clause)
    verb = f"{clause.lemma} {rest}"
    planned = (
        clause.tense == "future"
        and clause.modal == ""
        and clause.words[clause.verb - 1].low != "to"
    )
    named = clause.kind == "noun" and clause.words[clause.subject[0]].text[:1].isupper()
    person = clause.kind in ("i", "we") or (named and clause.subject[1] - clause.subject[0] == 1)
    if not person or not (planned or clause.modal == "must") or not rest:
        return False
    return clause.lemma not in NOT_A_TASK or bool(TASK_AFTER_ALL.match(verb))


def _preference(said: Sentence) -> Iterator[Landmark]:
    if said.question:
        return
    for fact in said.facts:
        stated = fact.predicate in LIKING and fact.subject == said.cast.speaker and not fact.negated
        if stated and fact.confidence > 0.5:
            yield _make(said, PREFERENCE, owner=said.cast.speaker)
            return
    if said.low & LASTING and not said.facts and STANDING.search(said.text):
        yield _make(said, PREFERENCE, owner=said.cast.speaker)


def _corrections(said: Sentence) -> list[Landmark]:
    if said.question or not said.low & DOUBTING or not TAKING_BACK.search(said.text):
        return []
    for pattern in CORRECTIONS:
        match = pattern.search(said.text)
        if match:
            pair = match.groupdict()
            right, wrong = pair.get("right"), pair.get("wrong")
            return [_make(said, CORRECTION, right=_trim(right), wrong=_trim(wrong))]
    return [_make(said, CORRECTION)]


def _trim(value: str | None) -> str | None:
    return value.strip(" ,:;\"'") or None if value else None


def _owner(said: Sentence, clause: Clause) -> str | None:
    if clause.kind in ("i", ""):
        return said.cast.speaker
    if clause.kind == "we":
        return said.cast.everybody
    return said.cast.named(clause.words[slice(*clause.subject)]) if clause.kind == "noun" else None


def _addressed(said: Sentence) -> str | None:
    match = VOCATIVE.search(said.text)
    if match is None:
        return said.cast.other
    named = match["first"] or match["last"] or match["handle"]
    return named.lstrip("@") if named else said.cast.other


def said_rest(clause: Clause) -> str:
    return joined(clause.words[clause.rest : clause.end])
