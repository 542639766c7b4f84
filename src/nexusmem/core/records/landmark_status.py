"""Landmark status: whether a landmark is open, done, cancelled or superseded at a time. Pure.

No landmark is ever changed. A message that closes one adds a link with the relation CLOSES, and a
later landmark may replace or repeat an earlier one. The status is computed from these records, so
erasing the closing message opens the landmark again.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import Any

from ...text.terms import STOP_WORDS, extract_terms, query_terms
from ..canonical import parse_time
from ..derive import normalize_name
from ..scope import Scope
from . import Draft, Event, Memory
from .landmarks import LandmarkKind
from .links import LinkRelation


class LandmarkStatus(StrEnum):
    OPEN = "open"  # for a decision or preference: it holds
    DONE = "done"
    CANCELLED = "cancelled"
    SUPERSEDED = "superseded"  # a later landmark replaces it


TASK_KINDS = frozenset({LandmarkKind.ACTION_ITEM, LandmarkKind.COMMITMENT})
STATUS_NAMES = {"closed": LandmarkStatus.DONE, **{each.value: each for each in LandmarkStatus}}
MAX_COMPARED = 40  # newest landmarks of which one shared term shows that a later one replaces it
MIN_SAME_SHARE = 0.75  # shared terms of two equal tasks, relative to all their terms
CHANGE_PATTERN = re.compile(
    r"\b(?:instead|no longer|any ?more|rather than|chang(?:e|ed|ing)|switch(?:ed|ing)?"
    r"|revert(?:ed)?|cancel(?:led|ed)?|scrap(?:ped)?|drop(?:ped|ping)?|withdr[ae]wn?"
    r"|call(?:ed)? off|in place of|replac(?:e[sd]?|ing)|after all|ditch(?:ed|ing)?"
    r"|abandon(?:ed|ing)?|migrat(?:e|ed|ing)|(?:mov(?:e|ed|ing)|back) away from"
    r"|(?:go|going|went|gone) back to"
    r"|off the table|reconsider(?:ed)?)\b",
    re.IGNORECASE,
)
CALLED_OFF_PATTERN = re.compile(  # nothing takes the place of what is called off
    r"\b(?:no longer|any ?more|cancel(?:led|ed)?|scrap(?:ped)?|drop(?:ped|ping)?|withdr[ae]wn?"
    r"|call(?:ed)? off|ditch(?:ed|ing)?|abandon(?:ed|ing)?|off the table)\b",
    re.IGNORECASE,
)
REPLACED_PATTERN = re.compile(  # what comes after the words is replaced
    r"\b(?:instead of|rather than|in place of|away from|(?:switch|migrat|mov|chang)\w{0,3}"
    r" (?:[\w'’-]+ ){0,4}?from|replac(?:e[sd]?|ing))\s+(?P<what>[^,.;:!?\n]{1,80}?)"
    r"(?=\s+(?:with|to|by|for|in|on|at|as|from|because|since|and)\b|[,.;:!?\n]|$)",
    re.IGNORECASE,
)
MIN_CALLED_OFF_SHARE = 0.6  # of the terms of "the deck opening is cancelled" in what is called off
MIN_TASK_SHARE = 0.5  # of the terms of a task in the decision that makes it needless
CHANGE_HINTS = (  # every match of CHANGE_PATTERN contains one of these
    *("instead", "no longer", "any more", "anymore", "rather than"),
    *("chang", "switch", "revert", "cancel", "scrap", "drop", "withdr", "call"),
    *("in place of", "replac", "after all", "ditch", "abandon", "migrat", "away from"),
    *("off the table", "reconsider", "back to"),
)
DECISION_WORDS = (
    "we decided decide decision agreed agree chose choose picked settled use using go going with"
    " switch switched change changed instead longer rather anymore let's team"
)
CHANGE_WORDS = (
    "cancel cancelled canceled scrap scrapped drop dropped dropping withdrawn call called off ditch"
    " ditched abandon abandoned longer more anymore table replace replaced revert reconsider after"
    " all day whole entire plan"
)
TASK_WORDS = (  # words of a task that do not tell what is to be done
    "i'll we'll he'll she'll they'll you'll i'm we're i've we've let's must need needs want shall"
    " should might may going gonna promise sure make remember todo action item task ok okay yes"
    " hi hey hello thanks thank again still really already then soon later asap finally keep like"
    " love know see look think feel come try time day thing things people lot way definitely"
    " certainly absolutely surely gladly happily awesome great good nice amazing"
)
VAGUE_WORDS = "check tell call talk ask send help give show work let share read write bring"
MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}"
DATE_WORDS = re.compile(
    r"\b(?:\d{4}-\d\d-\d\d|"
    rf"\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{MONTH}(?:,? \d{{4}})?|"
    rf"{MONTH} \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?|"
    r"\d{1,2}:\d\d|\d{1,2} ?[ap]m|\d{1,2}(?:st|nd|rd|th)|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|today|tonight|tomorrow|yesterday|"
    r"next|this|week|weekend|month|morning|afternoon|evening|noon|eod)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class LandmarkOutline:
    """The fields of a landmark that its status depends on, with their terms computed once."""

    id: str
    kind: str
    text: str
    owner: str | None
    due: datetime | None
    at: datetime
    scope: Scope
    speaker: str | None
    sources: tuple[str, ...]
    thread: str | None
    slot: str
    body: Mapping[str, Any]
    valid_to: datetime | None = None

    @classmethod
    def from_memory(cls, memory: Memory) -> LandmarkOutline:
        return cls._make(memory, memory.at)

    @classmethod
    def from_draft(cls, event: Event, draft: Draft) -> LandmarkOutline:
        return cls._make(draft, draft.at or event.at)

    @classmethod
    def _make(cls, record: Memory | Draft, at: datetime) -> LandmarkOutline:
        body = record.body
        due = body.get("due")
        return cls(
            id=record.id,
            kind=str(body.get("kind") or ""),
            text=record.text,
            owner=body.get("owner"),
            due=parse_time(due) if due else None,
            at=at,
            scope=record.scope,
            speaker=record.speaker,
            sources=record.sources,
            thread=record.thread,
            slot=record.slot,
            body=body,
            valid_to=record.valid_to,
        )

    @property
    def is_task(self) -> bool:
        return self.kind in TASK_KINDS

    @cached_property
    def content_terms(self) -> frozenset[str]:
        """The terms that tell what is to be done, without dates, names and common words."""
        names = extract_terms(f"{self.owner or ''} {self.speaker or ''}")
        return plain_terms(self.text).difference(names)

    @cached_property
    def topic_terms(self) -> frozenset[str]:
        """The terms of the topic; two plans of one day are not about the same."""
        return topic_terms(DATE_WORDS.sub(" ", self.text))

    @cached_property
    def replaced_terms(self) -> frozenset[str]:
        """The terms of what a change replaces, or all if the text does not say it."""
        named = REPLACED_PATTERN.search(self.text)
        if named and (terms := topic_terms(named["what"])):
            return terms
        return self.topic_terms - _change_terms() or self.topic_terms

    @cached_property
    def calls_off(self) -> bool:
        """Whether the text calls something off and names nothing in its place."""
        is_called_off = CALLED_OFF_PATTERN.search(self.text) is not None
        return is_called_off and REPLACED_PATTERN.search(self.text) is None

    @cached_property
    def mentions_change(self) -> bool:
        return mentions_change(self.text)

    @cached_property
    def owner_key(self) -> tuple[str, ...]:
        """The names of the owners, normalized and sorted."""
        return tuple(sorted(map(normalize_name, (self.owner or "").split(" and "))))


@dataclass(frozen=True, slots=True, kw_only=True)
class Closing:
    """The end of a landmark: its new status, the time, and the id of the event that ended it."""

    status: LandmarkStatus
    at: datetime
    by: str | None = None  # None: the landmark itself has an end


def closings_by_landmark(links: Iterable[Memory]) -> dict[str, Closing]:
    """Return the first closing of each landmark from links of the relation CLOSES."""
    first: dict[str, Closing] = {}
    for link in sorted(links, key=lambda each: (each.at, each.id), reverse=True):
        if link.body.get("relation") == LinkRelation.CLOSES:
            status = LandmarkStatus(link.body["status"])
            first |= {
                member: Closing(status=status, at=link.at, by=link.sources[0])
                for member in link.body["members"]
            }
    return first


def find_closed(
    newest_first: Sequence[LandmarkOutline],
    closings: Mapping[str, Closing],
    now: datetime,
) -> dict[str, Closing]:
    """Return the closing of each landmark that is not open at `now`, by landmark id.

    `closings` are those that messages state. If several records close a landmark, the first one
    counts.
    """
    known = [each for each in newest_first if each.at <= now]
    found = [
        *((id, each) for id, each in closings.items() if each.at <= now),
        *_find_ended(known, now),
        *_find_replaced(known),
        *_find_repeated(known),
    ]
    first: dict[str, Closing] = {}
    for id, closing in found:
        if id not in first or closing.at < first[id].at:
            first[id] = closing
    return first


def _find_ended(
    landmarks: Iterable[LandmarkOutline], now: datetime
) -> Iterator[tuple[str, Closing]]:
    """Yield the landmarks whose own fields say that they are over."""
    for each in landmarks:
        status = STATUS_NAMES.get(str(each.body.get("status")), LandmarkStatus.OPEN)
        if status is not LandmarkStatus.OPEN:
            yield each.id, Closing(status=status, at=each.at)
        elif each.valid_to is not None and each.valid_to <= now:
            yield each.id, Closing(status=LandmarkStatus.SUPERSEDED, at=each.valid_to)


def _find_replaced(newest_first: Sequence[LandmarkOutline]) -> Iterator[tuple[str, Closing]]:
    """Yield landmarks that a later one replaces.

    The later one mentions a change and shares a topic term with the earlier one: if it says what
    is replaced, one of that; if it calls something off, most of its terms. If many landmarks are
    newer than the earlier one, half of its terms or of the later one's must be shared: of
    hundreds, some share a term by chance.
    """
    changes = [
        (position, later, later.body.get("wrong"))
        for position, later in enumerate(newest_first)
        if later.body.get("wrong") or later.mentions_change
    ]
    if not changes:
        return
    about: defaultdict[str, list[int]] = defaultdict(list)  # term → positions
    for position in range(changes[0][0], len(newest_first)):
        for term in newest_first[position].topic_terms:
            about[term].append(position)
    for position, later, wrong in changes:
        topic = topic_terms(str(wrong)) if wrong else later.replaced_terms
        called_off = 1.0 if wrong or not later.calls_off else MIN_CALLED_OFF_SHARE * len(topic)
        shared = Counter(place for term in topic for place in about[term] if place > position)
        for place in sorted(shared):
            each = newest_first[place]
            is_near = place < MAX_COMPARED
            least = 1.0 if is_near else min(len(topic), len(each.topic_terms)) / 2
            least = max(least, called_off)
            if shared[place] >= least and each.at < later.at and _may_replace(later, each):
                yield each.id, _supersede(later)


def _may_replace(later: LandmarkOutline, earlier: LandmarkOutline) -> bool:
    """Return whether a change may concern an earlier landmark.

    A decision or correction may replace anything but a correction, and a task only with half of
    its words: "we switch to larch" does not end "order screws for the larch". A task or preference
    replaces one of the same owner with most of its words: many tasks concern the same thing.
    """
    if earlier.kind == LandmarkKind.CORRECTION:
        return False
    if later.kind in (LandmarkKind.DECISION, LandmarkKind.CORRECTION):
        if not earlier.is_task or later.body.get("wrong") or later.calls_off:
            return True
        content = content_terms(earlier)
        return len(content & content_terms(later)) >= MIN_TASK_SHARE * len(content)
    if later.is_task != earlier.is_task or owner_key(later) != owner_key(earlier):
        return False
    one, other = (content_terms(each) - common_decision_terms() for each in (later, earlier))
    return len(one & other) >= MIN_SAME_SHARE * min(len(one), len(other)) > 0


def _find_repeated(newest_first: Sequence[LandmarkOutline]) -> Iterator[tuple[str, Closing]]:
    """Yield tasks that the same owner takes on again later, usually with another due date."""
    groups: defaultdict[object, list[LandmarkOutline]] = defaultdict(list)
    for each in newest_first:
        if each.is_task:
            groups[each.scope, owner_key(each)].append(each)
    for tasks in groups.values():
        if len(tasks) > 1:
            yield from _repeated_in_group(tasks)


def _repeated_in_group(newest_first: Sequence[LandmarkOutline]) -> Iterator[tuple[str, Closing]]:
    compared = newest_first[:MAX_COMPARED]
    terms = [content_terms(each) for each in compared]
    for position, earlier in enumerate(compared):
        later = next(
            (
                other
                for other, words in zip(compared[:position], terms[:position], strict=True)
                if other.at > earlier.at
                and other.sources[0] != earlier.sources[0]
                and _is_same_task(words, terms[position])
            ),
            None,
        )
        if later:
            yield earlier.id, _supersede(later)


def _is_same_task(one: frozenset[str], other: frozenset[str]) -> bool:
    """Return whether two tasks have almost the same terms: "check it out" says too little."""
    shared = one & other
    return not shared <= _vague_terms() and len(shared) >= MIN_SAME_SHARE * len(one | other)


def _supersede(later: LandmarkOutline) -> Closing:
    return Closing(status=LandmarkStatus.SUPERSEDED, at=later.at, by=later.sources[0])


def owner_key(landmark: LandmarkOutline) -> tuple[str, ...]:
    """Return the names of the owners, normalized and sorted."""
    return landmark.owner_key


def content_terms(landmark: LandmarkOutline) -> frozenset[str]:
    """Return the terms that tell what is to be done, without dates, names and common words."""
    return landmark.content_terms


def plain_terms(text: str) -> frozenset[str]:
    """Return the terms of a text without dates, stop words and words that any task has."""
    return frozenset(extract_terms(DATE_WORDS.sub(" ", text.replace("’", "'")))) - _task_terms()


@lru_cache(maxsize=1)  # the stemmer is loaded on first use
def _task_terms() -> frozenset[str]:
    return frozenset(extract_terms(TASK_WORDS)).union(*map(extract_terms, STOP_WORDS))


@lru_cache(maxsize=1)
def _vague_terms() -> frozenset[str]:
    return frozenset(extract_terms(VAGUE_WORDS))


def mentions_change(text: str) -> bool:
    """Return True if CHANGE_PATTERN matches; most texts are ruled out without the pattern."""
    if text.isascii():
        lowered = text.lower()
        if not any(hint in lowered for hint in CHANGE_HINTS):
            return False
    return CHANGE_PATTERN.search(text) is not None


def topic_terms(text: str) -> frozenset[str]:
    """Return the terms of a decision without those that any decision has."""
    specific = frozenset(extract_terms(text)) - _common_and_stop_terms()
    return specific or frozenset(query_terms(text)) - common_decision_terms()


@lru_cache(maxsize=1)
def _change_terms() -> frozenset[str]:
    return frozenset(extract_terms(CHANGE_WORDS))


@lru_cache(maxsize=1)
def common_decision_terms() -> frozenset[str]:
    """Return the terms that any decision may have."""
    return frozenset(query_terms(DECISION_WORDS))


@lru_cache(maxsize=1)
def _common_and_stop_terms() -> frozenset[str]:
    return common_decision_terms().union(*map(extract_terms, STOP_WORDS))


# -- keys of the landmarks that a context may pin


DECISION_KEY = "#decision"
CHANGE_KEY = "#change"  # it may replace earlier landmarks
BEHAVIOUR_KEY = "#behaviour"  # a preference about what the agent does
UNDATED_KEY = "#undated"  # a task without a due date
MAX_RULE_CHARS = 500  # of a text that the rule below reads
TALK = (  # what an agent does that a person may have wishes about
    r"(?:answers?|repl(?:y|ies)|respon(?:d|ses?)|explain\w*|explanations?|messages?|e-?mails?|calls?"
    r"|texts?|notifications?|reminders?|pings?|meetings?|emojis?|bullets?|bullet points|summar\w+"
    r"|examples?|sources?|citations?|units?|tone|jargon|slang|small talk|markdown|tables?|lists?"
    r"|paragraphs?|sentences?|code|comments?|greetings?|sign-?offs?|follow-?ups?|updates?|drafts?"
    r"|first name|last name|pronouns?|spoilers?)"
)
BEHAVIOUR_PATTERN = re.compile(
    # an order: "keep it short", "please never call before ten", "no calls before ten"
    r"^\W*(?:(?:and|but|also|so|ok|hey|hi),?\s+){0,2}(?:(?:please|pls|kindly|just|only|always|never"
    r"|from now on|going forward|do not|don['’]t|try to|remember to),?\s+){0,3}"
    r"(?:answer|reply|respond|write|speak|talk|use|keep|be|ask|check|show|send|address|cite|include"
    r"|avoid|skip|stop|give|explain|summari[sz]e|format|translate|remind|ping|confirm|warn|tell"
    r"|contact|e-?mail|text|schedule|book|link|quote|round|double-check|let me|refer to|message"
    r"|call(?! (?:it|them|him|her|us|later|back)\b))\b"
    rf"|\bno (?:\w+ ){{0,2}}{TALK}\b.{{0,20}}"
    r"\b(?:before|after|on|during|at|between|until|please|in)\b"
    # a wish about the agent: "I like it when you …", "I'd prefer that you …", "you should always"
    r"|\b(?:i(?:['’]d| would)?|we(?:['’]d| would)?) (?:\w+ )?(?:prefer|like|love|hate|want"
    r"|appreciate|need|rather|expect)\b(?: it)?(?: that| when| if| for)? you(?:r)?\b"
    r"|\b(?:you|you['’]d) (?:should|must|need to|have to|can) (?:always|never|only)\b"
    r"|\bfrom now on\b|\bgoing forward\b"
    # a wish about how one is talked to: "I prefer short answers", "short answers are best"
    r"|\b(?:prefer|like|love|hate|want|dislike|rather have|appreciate|favou?r)\s"
    rf"(?:[\w-]+ ){{0,3}}{TALK}\b"
    rf"|\bmy (?:preferred|favou?rite) (?:\w+ )?(?:tone|format|units|form of address|pronouns)\b",
    re.IGNORECASE,
)


def pin_keys(memory: Memory) -> frozenset[str]:
    """Return the keys that find a landmark by its kind, its due week and its role."""
    kind, text = memory.body.get("kind"), memory.text
    keys = []
    if kind == LandmarkKind.DECISION:
        keys.append(DECISION_KEY)
    elif kind in TASK_KINDS:
        due = memory.body.get("due")
        keys.append(due_week_key(parse_time(due)) if due else UNDATED_KEY)
    elif kind == LandmarkKind.PREFERENCE_STATED and concerns_behaviour(text):
        keys.append(BEHAVIOUR_KEY)
    if kind == LandmarkKind.CORRECTION or memory.body.get("wrong") or mentions_change(text):
        keys.append(CHANGE_KEY)
    return frozenset(keys)


def due_week_key(due: datetime) -> str:
    """Return the key of the tasks that are due in the week of this time: `#due 2026-w10`."""
    year, week, _ = due.isocalendar()
    return f"#due {year}-w{week:02}"


def concerns_behaviour(text: str) -> bool:
    """Return whether a preference says how an agent should act: "answer in bullet points"."""
    return BEHAVIOUR_PATTERN.search(text[:MAX_RULE_CHARS]) is not None
