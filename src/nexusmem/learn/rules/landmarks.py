"""Landmarks of one sentence: decisions, action items, commitments, preferences and
corrections.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from ...core.records.landmarks import LandmarkKind
from ...text.dates import DateSpan
from .clauses import Clause
from .coreference import Speakers, join_tokens
from .lexicon import CONDITIONS, word_set
from .relations import STATE_RELATIONS
from .results import Landmark, Statement, StatementTense, TextSpan
from .tokens import Token

DECISION, ACTION_ITEM, COMMITMENT, PREFERENCE, CORRECTION = LandmarkKind

DECISION_VERBS = {  # verb → required continuation
    "decide": re.compile(r"(?:to|on|that|against)\b"),
    "agree": re.compile(r"(?:to|on|that)\b"),
    "choose": re.compile(r"\S"),
    "pick": re.compile(r"(?!up\b)\S"),
    "settle": re.compile(r"on\b"),
    "opt": re.compile(r"for\b"),
    "conclude": re.compile(r""),
}
GO_WITH = re.compile(r"with\b(?! (?:you|me|him|her|them|us|my|friends)\b)")
GROUP_NOUNS = word_set("team board committee council management company group")
NON_TASK_VERBS = word_set(
    """be have see know love like miss remember forget need want think feel keep try give take let
    hope enjoy find wait stay stick look get go never continue win lose stop become support tell"""
)
TASK_PHRASE = re.compile(r"(?:take|taking) care of\b|get (?:it|that|this) done\b")

HEADING = re.compile(
    r"^\W*(?P<head>decision|decided|todo|to-do|to do|action item|action|task)\s*:\s*(?P<what>\S.*)",
    re.IGNORECASE,
)
ASSIGNEE = re.compile(r"(?P<owner>@?[A-Z][\w.-]*)\s+(?:to|will|should|must)\s")
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
STANDING_INSTRUCTION = re.compile(
    r"(?:^|[,.!] ?)(?:please )?(?:always|never|from now on,?) (?:\w+ )|\bplease (?:always|never)\b",
    re.IGNORECASE,
)
LETS_PHRASE = re.compile(r"\blet(?:['’]s| us) (?P<what>\w+\b.*)", re.IGNORECASE)
SHARED_PLAN = re.compile(
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
ATTENDANCE = re.compile(r"(?:at|there|in|back|ready)\b")

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
RETRACTION = re.compile(
    r"^\W*(?:correction|scratch that|actually,? no\b|no,? (?:actually|wait))"
    r"|^\W*sorry,? I (?:mean|misspoke)"
    r"|\bI (?:misspoke|meant (?:to say|the|[A-Z0-9\"])|was wrong|was mistaken|stand corrected)"
    r"|\bI (?:got (?:that|it) wrong|made a mistake)"
    r"|^\W*(?:that['’]s|that is) (?:wrong|incorrect|not (?:right|correct|true))"
    r"|^\W*actually\b.*(?:\bnot\b|n['’]t\b.*,|\brather than\b)|\bis spel(?:led|t) .*\bnot\b"
    r"|^\W*no,? I meant|^\W*(?:sorry|no),.*, not\b",
    re.IGNORECASE,
)
# Words of which one must occur before the patterns are tried
REQUEST_WORDS = word_set("please forget remember sure")
ABILITY_WORDS = word_set("can could would will")
STANDING_WORDS = word_set("always never now")
PLEDGE_WORDS = word_set("promise swear guarantee pledge vow word count committed")
CORRECTION_WORDS = word_set(
    """actually correction scratch misspoke meant mean wrong mistaken mistake corrected incorrect
    no sorry spelled spelt wait right correct true"""
)
LANDMARK_WORDS = REQUEST_WORDS | STANDING_WORDS | PLEDGE_WORDS | CORRECTION_WORDS | {"let", ":"}
PREFERENCE_RELATIONS = word_set("PREFERS LIKES DISLIKES")


class ParsedSentence(NamedTuple):
    """Input of the landmark rules."""

    words: Sequence[Token]
    text: str
    clauses: Sequence[Clause]
    facts: Sequence[Statement]
    is_question: bool
    render: Callable[[], str]  # the sentence rewritten for readers without the conversation
    lower_words: frozenset[str]
    speakers: Speakers
    dates: Sequence[DateSpan]
    at: datetime  # time of the message


def may_hold_landmarks(
    lower_words: frozenset[str], clauses: Sequence[Clause], facts: Sequence[Statement]
) -> bool:
    """Return whether the patterns are worth trying. Most sentences contain no landmark."""
    if not lower_words.isdisjoint(LANDMARK_WORDS) or (
        "you" in lower_words and not lower_words.isdisjoint(ABILITY_WORDS)
    ):
        return True
    for clause in clauses:
        planned = clause.tense == "future" or clause.modal == "must"
        if planned or clause.lemma == "go" or clause.lemma in DECISION_VERBS:
            return True
    return any(fact.predicate in PREFERENCE_RELATIONS for fact in facts)


def find_landmarks(sentence: ParsedSentence) -> Iterator[Landmark]:
    """Return at most one landmark of each kind. A decision or commitment is not also an
    action item.
    """
    found = [
        *_find_correction(sentence),
        *(
            _find_decision(sentence)
            or _find_commitment(sentence)
            or _find_action_item(sentence)
            or ()
        ),
    ]
    yield from found
    if not any(each.kind is CORRECTION for each in found):
        yield from _find_preference(sentence)


def _make_landmark(sentence: ParsedSentence, kind: LandmarkKind, **fields: str | None) -> Landmark:
    date = next(iter(sentence.dates), None)
    ahead = date is not None and date.until > sentence.at  # "decided on Monday" is not a due date
    dated = kind in (ACTION_ITEM, COMMITMENT, DECISION) and ahead
    return Landmark(
        kind=kind,
        text=sentence.render(),
        source=TextSpan(sentence.words[0].start, sentence.words[-1].end),
        due=date.until if dated and date else None,
        due_from=date.since if dated and date else None,
        **fields,
    )


def _find_decision(sentence: ParsedSentence) -> list[Landmark]:
    headed = HEADING.match(sentence.text) if ":" in sentence.lower_words else None
    if headed and headed["head"].lower().startswith("deci"):
        return [_make_landmark(sentence, DECISION, owner=sentence.speakers.all_participants)]
    if sentence.is_question:
        return []
    lets = LETS_PHRASE.search(sentence.text) if "let" in sentence.lower_words else None
    if lets and re.match(
        r"(?:go with|use|choose|stick with|switch to)\b", lets["what"], re.IGNORECASE
    ):
        return [_make_landmark(sentence, DECISION, owner=sentence.speakers.all_participants)]
    for clause in sentence.clauses:
        if clause.negated or clause.modal or clause.link in CONDITIONS:
            continue
        wanted = DECISION_VERBS.get(clause.lemma)
        if wanted is None and clause.lemma != "go":
            continue
        rest = join_tokens(clause.words[clause.rest :])
        ours = clause.is_first_person or clause.words[clause.subject[1] - 1].lower in GROUP_NOUNS
        impersonal = clause.kind == "it" and clause.passive and clause.lemma in ("decide", "agree")
        past = clause.tense == "past" or clause.perfect
        if wanted and past and (ours or impersonal) and wanted.match(rest):
            return [_make_landmark(sentence, DECISION, owner=_find_owner(sentence, clause))]
        heading = clause.progressive or clause.tense == "future"
        if clause.lemma == "go" and heading and clause.kind == "we" and GO_WITH.match(rest):
            return [_make_landmark(sentence, DECISION, owner=_find_owner(sentence, clause))]
    return []


def is_pledge(sentence: ParsedSentence) -> bool:
    return bool(
        sentence.lower_words & PLEDGE_WORDS and PLEDGE.search(sentence.text)
    ) and not NO_PLEDGE.search(sentence.text)


def apply_decisions(landmarks: Sequence[Landmark], facts: list[Statement]) -> list[Statement]:
    """Return facts that follow from landmarks: a decision holds from then on."""
    if not any(each.kind is DECISION for each in landmarks):
        return facts
    return [
        replace(fact, temporal=StatementTense.CURRENT)
        if fact.temporal is StatementTense.FUTURE and fact.predicate in STATE_RELATIONS
        else fact
        for fact in facts
    ]


def _find_commitment(sentence: ParsedSentence) -> list[Landmark]:
    if sentence.is_question:
        return []
    pledged = is_pledge(sentence)
    lets = LETS_PHRASE.search(sentence.text) if "let" in sentence.lower_words else None
    together = lets is not None and (sentence.dates and SHARED_PLAN.match(lets["what"]))
    if pledged or together:
        return [
            _make_landmark(
                sentence,
                COMMITMENT,
                owner=sentence.speakers.all_participants if together else sentence.speakers.speaker,
            )
        ]
    for clause in sentence.clauses:
        will_be = clause.kind in ("i", "we") and clause.lemma == "be" and clause.tense == "future"
        if (
            will_be
            and not clause.negated
            and sentence.dates
            and ATTENDANCE.match(clause_rest(clause))
        ):
            return [_make_landmark(sentence, COMMITMENT, owner=_find_owner(sentence, clause))]
    return []


def _find_action_item(sentence: ParsedSentence) -> list[Landmark]:
    headed = HEADING.match(sentence.text) if ":" in sentence.lower_words else None
    if headed:
        assigned = ASSIGNEE.match(headed["what"])
        return [
            _make_landmark(sentence, ACTION_ITEM, owner=assigned["owner"] if assigned else None)
        ]
    asked = sentence.lower_words & REQUEST_WORDS or (
        "you" in sentence.lower_words and sentence.lower_words & ABILITY_WORDS
    )
    request = REQUEST.search(sentence.text) if asked else None
    if request:
        return [_make_landmark(sentence, ACTION_ITEM, owner=_find_addressee(sentence))]
    if sentence.is_question:
        return []
    for clause in sentence.clauses:
        if _is_task(clause) and clause.link not in CONDITIONS:
            return [_make_landmark(sentence, ACTION_ITEM, owner=_find_owner(sentence, clause))]
    return []


def _is_task(clause: Clause) -> bool:
    if clause.negated or not (clause.tense == "future" or clause.modal == "must"):
        return False
    rest = clause_rest(clause)
    verb = f"{clause.lemma} {rest}"
    planned = (
        clause.tense == "future"
        and clause.modal == ""
        and clause.words[clause.verb - 1].lower != "to"
    )
    named = clause.kind == "noun" and clause.words[clause.subject[0]].text[:1].isupper()
    person = clause.kind in ("i", "we") or (named and clause.subject[1] - clause.subject[0] == 1)
    if not person or not (planned or clause.modal == "must") or not rest:
        return False
    return clause.lemma not in NON_TASK_VERBS or bool(TASK_PHRASE.match(verb))


def _find_preference(sentence: ParsedSentence) -> Iterator[Landmark]:
    if sentence.is_question:
        return
    for fact in sentence.facts:
        stated = (
            fact.predicate in PREFERENCE_RELATIONS
            and fact.subject == sentence.speakers.speaker
            and not fact.negated
        )
        if stated and fact.confidence > 0.5:
            yield _make_landmark(sentence, PREFERENCE, owner=sentence.speakers.speaker)
            return
    if (
        sentence.lower_words & STANDING_WORDS
        and not sentence.facts
        and STANDING_INSTRUCTION.search(sentence.text)
    ):
        yield _make_landmark(sentence, PREFERENCE, owner=sentence.speakers.speaker)


def _find_correction(sentence: ParsedSentence) -> list[Landmark]:
    if (
        sentence.is_question
        or not sentence.lower_words & CORRECTION_WORDS
        or not RETRACTION.search(sentence.text)
    ):
        return []
    for pattern in CORRECTIONS:
        match = pattern.search(sentence.text)
        if match:
            pair = match.groupdict()
            right, wrong = pair.get("right"), pair.get("wrong")
            return [
                _make_landmark(
                    sentence, CORRECTION, right=_trim_value(right), wrong=_trim_value(wrong)
                )
            ]
    return [_make_landmark(sentence, CORRECTION)]


def _trim_value(value: str | None) -> str | None:
    return value.strip(" ,:;\"'") or None if value else None


def _find_owner(sentence: ParsedSentence, clause: Clause) -> str | None:
    if clause.kind in ("i", ""):
        return sentence.speakers.speaker
    if clause.kind == "we":
        return sentence.speakers.all_participants
    return (
        sentence.speakers.resolve_phrase(clause.words[slice(*clause.subject)])
        if clause.kind == "noun"
        else None
    )


def _find_addressee(sentence: ParsedSentence) -> str | None:
    match = VOCATIVE.search(sentence.text)
    if match is None:
        return sentence.speakers.addressee
    named = match["first"] or match["last"] or match["handle"]
    return named.lstrip("@") if named else sentence.speakers.addressee


def clause_rest(clause: Clause) -> str:
    return join_tokens(clause.words[clause.rest : clause.end])
