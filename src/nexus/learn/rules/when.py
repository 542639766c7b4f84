"""When a fact holds: the dates of its own clause, and the tense of its verb."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from ...core.dates import DateSpan, Relation
from .clauses import Clause
from .extracted import Temporal
from .lexicon import ADVERBS, COORDINATORS, STOP_WORDS, SUBJECTS
from .relations import BEGINNING, BEGINS, LASTING, STATES
from .tokens import Token
from .verbs import BASE, FORMS

OWN_DATES = frozenset("BORN_ON ANNIVERSARY_ON HAS_SCHEDULE TYPICALLY_CONTACTS_AT".split())

TURNS = frozenset("but because please".split())  # what follows is said of something else
ASKS = frozenset("please let lets thanks no see".split())
TURNING = TURNS | {",", "so"}
ON = COORDINATORS | ADVERBS

Times = tuple[datetime | None, datetime | None]


def validity(clause: Clause, relation: str, dates: Sequence[DateSpan]) -> Times:
    """The time of an event; the beginning of what begins; what is open stays open."""
    span = next(_own(clause, relation, dates), None) if dates else None
    if span is None or relation in OWN_DATES:
        born = span is not None and relation == "BORN_ON" and clause.lemma == "bear"
        return (span.since if span and born else None), None
    if span.relation in (Relation.SINCE, Relation.AFTER):
        return span.since, None
    if span.relation in (Relation.UNTIL, Relation.BEFORE):
        return None, span.until
    present = clause.tense == "present"
    if relation in LASTING and present:
        return None, None  # who likes skiing in May likes it in June
    goes_on = relation in BEGINS or (relation in STATES and present)
    return span.since, (None if goes_on else span.until)


def temporal(clause: Clause, relation: str, since: datetime | None, at: datetime) -> Temporal:
    """Past, current or future, seen from when it was said."""
    if clause.tense == "future" or (clause.lemma == "move" and clause.progressive):
        return Temporal.FUTURE
    planned = clause.progressive and clause.tense == "present" and not clause.perfect
    if planned and since is not None and since > at:
        return Temporal.FUTURE  # I am flying on Friday
    begun = clause.lemma in BEGINNING and relation in STATES  # who joined a company works there
    lasting = relation in STATES and _is_never(clause)  # who never liked it does not like it
    past = clause.tense == "past" and not begun and not lasting
    return Temporal.PAST if past or is_over(clause) else Temporal.CURRENT


def is_over(clause: Clause) -> bool:
    """I no longer work there."""
    first, words = clause.subject[1], clause.words
    return first + 1 < clause.verb and words[first].low == "no" and words[first + 1].low == "longer"


def _is_never(clause: Clause) -> bool:
    return any(word.low == "never" for word in clause.words[clause.subject[1] : clause.verb])


def _own(clause: Clause, relation: str, dates: Sequence[DateSpan]) -> Iterator[DateSpan]:
    """The dates that stand in the clause itself."""
    words = clause.words
    begin = words[clause.begin].start
    verb = words[clause.verb].start
    end = words[_turn(clause) - 1].end
    state = relation in LASTING or (relation in STATES and clause.tense == "present")
    for span in dates:
        if begin <= span.start < end and not (
            state and span.start < verb and _speaks_before(clause, span)
        ):
            yield span


def _turn(clause: Clause) -> int:
    """Where the speaker turns to something else, although no other subject is named."""
    words, end = clause.words, min(clause.end, len(clause.words))
    for at in range(clause.rest, end - 1):
        low = words[at].low
        if low in TURNING and (low in TURNS or _asks(words, at)):
            return at
    return end


def _asks(words: Sequence[Token], at: int) -> bool:
    """Whether after ", so" or a comma somebody is asked, told or greeted."""
    begun = at
    while at < len(words) and (words[at].text == "," or words[at].low in ON):
        at += 1
    if at >= len(words):
        return False
    low = words[at].low
    if low in ASKS or (low in SUBJECTS and words[begun].text == ","):
        return True
    known = FORMS.get(low)
    return known is not None and BASE in known.tags and words[begun].text == ","


def _speaks_before(clause: Clause, span: DateSpan) -> bool:
    """No nuts on Friday, I am allergic: more than the date stands before the comma."""
    words = clause.words[clause.begin : clause.subject[0]]
    return any(
        word.kind == "word" and word.low not in STOP_WORDS
        for word in words
        if word.start < span.start
    )
