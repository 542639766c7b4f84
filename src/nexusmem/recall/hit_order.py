"""Order of the hits: a current statement before the former one that it replaces.

Rankings know neither validity nor age: two messages that contradict each other score alike. This
step runs after them. It only moves hits, and marks those that a later hit tells to have changed.

A question in the past tense does not ask for what holds now, so the wording of messages moves
nothing then. On LoCoMo, moving the newer of two similar messages up for all questions costs 0.1 of
the recall at rank 1; with these rules it costs less than 0.001.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property, lru_cache

from ..core.derive import is_question
from ..core.records import HitStatus, Memory, MemoryKind, Validity
from ..text.terms import STOP_WORDS, extract_terms

MAX_COMPARED = 15  # best hits that are compared with each other
MAX_STATEMENT_CHARACTERS = 400  # of a message that another one may replace
MAX_CHARACTERS = 2_000  # of a text that the rules read
MIN_GAP = timedelta(hours=1)  # messages of one conversation answer each other
MIN_ALIKE_TERMS = 3
MIN_ALIKE_SHARE = 0.6  # shared terms of two messages that say nearly the same
MIN_CONTRARY_SHARE = 0.4  # if they name different figures or days
MIN_MARKED_TERMS = 2  # shared terms of a message and the change that marks it as earlier
MIN_MARKED_SHARE = 0.25  # of the terms of the shorter one
MAX_RARE_HITS = 2  # a term of at most so many hits is rare

CURRENT_QUESTION = re.compile(
    r"\b(?:is|are|am|does|do|doesn't|don't|can|who's|what's|where's|when's)\b", re.IGNORECASE
)
FORMER_QUESTION = re.compile(
    r"\b(?:did|was|were|had|has|been|used to|first|before|ago|original(?:ly)?|former(?:ly)?"
    r"|previous(?:ly)?|earlier|back then|in the past|history|always|ever|over time)\b",
    re.IGNORECASE,
)
MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
CHANGE_PATTERN = re.compile(
    r"\b(?:instead|no longer|no more|any ?more|these days|nowadays|correction"
    r"|(?:as of|from|starting|since|effective)(?: in| on)?"
    rf" (?:now|today|tomorrow|yesterday|this|next|last|my|\w+day|{MONTHS})"
    r"|changed|switched|swapped|moved (?:to|out)|been moved|renamed|replaced|raised|lowered"
    r"|increased|decreased|reduced|turned (?:down|up|the \w+ (?:down|up))|dropped|quit|stopped|sold"
    r"|gave (?:up|us)|pushed|push (?:the|it|this|that|back)|postponed|delayed|extended"
    r"|rescheduled|cancell?ed|updated?"
    r"|upgraded|migrated|took over"
    r"|(?:is|are|am|i'm|it's|he's|she's|we're|they're|goes?|runs?|uses?|drives?|lives?|works?"
    r"|learning) \w+ now"
    r"|now[.,!]|now$)",
)
CHANGE_HINTS = (  # every match of CHANGE_PATTERN contains one of these
    *("instead", "no longer", "no more", "any more", "anymore", "these days", "nowadays"),
    *("correction", "as of", "from ", "starting", "since", "effective"),
    *("changed", "swi", "swapped"),
    *("moved", "renamed", "replaced", "raised", "lowered", "creased", "reduced", "turned"),
    *("dropped", "quit", "stopped", "sold", "gave ", "push", "postponed", "delayed", "extended"),
    *("rescheduled", "cancel", "update", "upgraded", "migrated", "took over", "now"),
)
NUMBER = re.compile(r"\d[\d,.:]*")
WEEKDAY = re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b", re.IGNORECASE)
# A capitalized word that does not begin a sentence.
INNER_NAME = re.compile(r"(?<![.!?] )(?<!^)\b[A-Z][\w-]*\w\b(?!['’](?:m|ve|ll|d|re)\b)")


def asks_current(question: str) -> bool:
    """Return whether a question is in the present tense, and so asks for what holds now."""
    read = question[:MAX_CHARACTERS]
    return CURRENT_QUESTION.search(read) is not None and FORMER_QUESTION.search(read) is None


@dataclass(frozen=True)
class ComparedHit:
    """A hit with what the rules read of its text, each computed once."""

    memory: Memory

    @cached_property
    def text(self) -> str:
        return self.memory.text[:MAX_CHARACTERS]

    @cached_property
    def tells_change(self) -> bool:
        lowered = self.text.lower()
        return (
            not is_question(lowered)
            and any(map(lowered.__contains__, CHANGE_HINTS))
            and CHANGE_PATTERN.search(lowered) is not None
        )

    @cached_property
    def terms(self) -> frozenset[str]:
        return frozenset(extract_terms(self.text)) - _stop_terms()

    @cached_property
    def values(self) -> frozenset[str]:
        """The figures and weekdays of the text."""
        numbers = {each.strip(",.:") for each in NUMBER.findall(self.text)}
        return frozenset(numbers | {each.casefold() for each in WEEKDAY.findall(self.text)})

    @cached_property
    def names(self) -> frozenset[str]:
        """The terms of capitalized words inside of sentences."""
        return frozenset(extract_terms(" ".join(INNER_NAME.findall(self.text)))) - _stop_terms()


@lru_cache(maxsize=1)
def _stop_terms() -> frozenset[str]:
    return frozenset(term for word in STOP_WORDS for term in extract_terms(word))


@dataclass(frozen=True)
class HitComparison:
    """Compares the best hits of one question with each other.

    Terms are computed when two hits are first compared: most questions compare none.
    """

    hits: Sequence[ComparedHit]
    question_terms: frozenset[str]

    @cached_property
    def speakers(self) -> frozenset[str]:
        """The terms of the names of speakers."""
        names = {each.memory.speaker for each in self.hits if each.memory.speaker}
        return frozenset(term for name in names for term in extract_terms(name))

    @cached_property
    def asked(self) -> frozenset[str]:
        """The terms of the question, without names of speakers."""
        return self.question_terms - self.speakers

    @cached_property
    def common(self) -> frozenset[str]:
        """The terms of more than MAX_RARE_HITS hits."""
        counts = Counter(term for each in self.hits for term in each.terms)
        return frozenset(term for term, count in counts.items() if count > MAX_RARE_HITS)

    def is_newer_version(self, later: ComparedHit, earlier: ComparedHit) -> bool:
        """Return whether a message says nearly the same as an earlier one, or what changed in it.

        A change names another figure, day or name. It concerns what the question asks, or
        something else of the earlier message that few hits mention.
        """
        new, old = later.memory, earlier.memory
        if new.at - old.at < MIN_GAP or (new.speaker != old.speaker and not later.tells_change):
            return False
        shared = later.terms & earlier.terms
        if len(shared) < MIN_ALIKE_TERMS and not later.tells_change:
            return False
        shared -= self.speakers
        return bool(shared) and (
            self._is_alike(later, earlier, shared) or self._is_change(later, earlier, shared)
        )

    def marks_as_earlier(self, later: ComparedHit, earlier: ComparedHit) -> bool:
        """Return whether an earlier message may be marked: the change is of the same matter."""
        if later.memory.at - earlier.memory.at < MIN_GAP:
            return False
        if later.terms.isdisjoint(self.asked):
            return False
        shared = (later.terms & earlier.terms) - self.speakers
        return (
            len(shared) >= MIN_MARKED_TERMS
            and len(shared) >= MIN_MARKED_SHARE * min(len(later.terms), len(earlier.terms))
            and not shared.isdisjoint(self.asked)
            and self._is_change(later, earlier, shared)
        )

    def _is_alike(self, later: ComparedHit, earlier: ComparedHit, shared: frozenset[str]) -> bool:
        if later.memory.speaker != earlier.memory.speaker or len(shared) < MIN_ALIKE_TERMS:
            return False
        share = MIN_CONTRARY_SHARE if _has_other_value(later, earlier) else MIN_ALIKE_SHARE
        return len(shared) >= share * min(len(later.terms), len(earlier.terms))

    def _is_change(self, later: ComparedHit, earlier: ComparedHit, shared: frozenset[str]) -> bool:
        if not later.tells_change:
            return False
        is_rare = not (shared <= self.common | self.asked or earlier.terms.isdisjoint(self.asked))
        is_close = len(later.terms & self.asked) >= len(earlier.terms & self.asked) - 1
        if not is_rare and (shared.isdisjoint(self.asked) or not is_close):
            return False
        return _has_other_value(later, earlier) or self._has_other_name(later, earlier)

    def _has_other_name(self, later: ComparedHit, earlier: ComparedHit) -> bool:
        new, old = later.names - self.speakers, earlier.names - self.speakers
        return not new <= old and not old <= new


def _has_other_value(later: ComparedHit, earlier: ComparedHit) -> bool:
    new, old = later.values, earlier.values
    return bool(new and old) and new.isdisjoint(old)


def order_hits(
    memories: Sequence[Memory],
    question: str,
    asked: Iterable[str],
    validities: Mapping[str, Validity],
) -> tuple[list[int], dict[str, Validity]]:
    """Return the positions of the memories in their new order, and the validity of each.

    The newest of the messages that replace or repeat a memory is moved directly before it.
    Memories that a later one changes get the status `earlier`, unless they have another one.
    `asked` are the terms of the question.
    """
    hits = [ComparedHit(memory) for memory in memories[:MAX_COMPARED]]
    comparison = HitComparison(hits, frozenset(asked))
    moves_similar = asks_current(question)
    positions = list(range(len(memories)))
    marks = dict(validities)
    compared = [at for at, hit in enumerate(hits) if _is_statement(hit.memory)]
    changing = [at for at in compared if hits[at].tells_change]
    for position in compared:
        earlier = hits[position]
        known = validities.get(earlier.memory.id)
        if known is None:
            changes = [at for at in changing if comparison.marks_as_earlier(hits[at], earlier)]
            if changes:
                marks[earlier.memory.id] = _mark_earlier(hits[at].memory for at in changes)
        if known is None and not moves_similar:
            continue
        newer = [
            at
            for at in compared
            if (known and known.by in hits[at].memory.sources)
            or (moves_similar and comparison.is_newer_version(hits[at], earlier))
        ]
        if newer:
            _move_before(positions, max(newer, key=lambda at: (hits[at].memory.at, -at)), position)
    return positions, marks


def _is_statement(memory: Memory) -> bool:
    """Return whether a memory is a message that may be replaced: one that tells few things."""
    return memory.kind is MemoryKind.PASSAGE and len(memory.text) <= MAX_STATEMENT_CHARACTERS


def _mark_earlier(changes: Iterable[Memory]) -> Validity:
    last = max(changes, key=lambda each: (each.at, each.id))
    return Validity(status=HitStatus.EARLIER, since=last.at, by=last.sources[0])


def _move_before(positions: list[int], one: int, other: int) -> None:
    """Move a position directly before another one, if it is behind it."""
    if positions.index(one) > positions.index(other):
        positions.remove(one)
        positions.insert(positions.index(other), one)
