"""From one date to another, and what lies before, after and around a date."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from ..cycle import Cycle, Date, Tense
from ..grammar import DATE, Claim, Reading, Rule
from ..span import Precision as Unit
from ..span import Relation
from ..stretch import COARSENESS, DAY, Stretch
from ..tokens import Node
from ..words import KINDS

INSTANTS = (Unit.MINUTE, Unit.HOUR)  # "until 5pm" ends when it is five
BE = frozenset("am are is be was were".split())


def span(reading: Reading, *nodes: Node | None) -> Stretch | None:
    """From the start of one date to the end of another; a year given for one is that of both."""
    first, last = (node for node in nodes if node and node.kind == DATE)
    if isinstance(first.value, Cycle) and isinstance(last.value, Stretch):
        end: Stretch | None = last.value
        start = first.value.last(last.value.until)
    else:
        start = reading.settle(first)
        end = start and _first_after(last.value, start)
    if start is None or end is None:
        return None
    until = _end(end)
    if until <= start.since:
        return None
    precision = max(start.precision, end.precision, key=COARSENESS.__getitem__)
    return Stretch(start.since, until, precision, start.vague or end.vague)


def _first_after(named: Date, start: Stretch) -> Stretch | None:
    return named.after(start.since) if isinstance(named, Cycle) else named


def _end(date: Stretch) -> datetime:
    return date.since if date.precision in INSTANTS else date.until


def to(reading: Reading, first: Node, word: Node, _: Node | None, last: Node) -> Stretch | None:
    """Mon-Wed; but a dash between a year and a day only divides a sentence."""
    if word.kind == KINDS["dash"] and first.value.precision is not last.value.precision:
        return None
    return span(reading, first, last)


def to_now(reading: Reading, _: Node, __: Node | None, first: Node, *___: Node) -> Stretch | None:
    """Between 2019 and now."""
    start = reading.settle(first, Tense.PAST)
    end = reading.today + DAY
    return Stretch(start.since, end, start.precision) if start and start.since < end else None


RANGES = [
    Rule("from the? date to|until now", "date", to_now),
    Rule("between the? date and now", "date", to_now),
    Rule("from the? date {to} the? date", "date", span),
    Rule("between the? date and the? date", "date", span),
    Rule("date {to} the? date", "date", to),
]


def until(date: Stretch) -> Claim:
    return Claim(None, _end(date), date.precision, Relation.UNTIL)


def before(date: Stretch) -> Claim:
    return Claim(None, date.since, date.precision, Relation.BEFORE)


def after(date: Stretch) -> Claim:
    return Claim(_end(date), None, date.precision, Relation.AFTER)


def onwards(date: Stretch) -> Claim:
    return Claim(date.since, None, date.precision, Relation.SINCE)


def around(date: Stretch) -> Claim:
    return Claim(date.since, date.until, date.precision, Relation.AROUND)


def plainly(date: Stretch) -> Claim:
    relation = Relation.AROUND if date.vague else Relation.IN
    return Claim(date.since, date.until, date.precision, relation)


def since(reading: Reading, *nodes: Node) -> Claim | None:
    """Since Tuesday: until now, as far as anyone can tell."""
    date = reading.settle(nodes[-1])
    end = reading.today + DAY
    if date is None or date.since >= end:
        return onwards(date) if date else None
    return Claim(date.since, end, date.precision, Relation.SINCE)


def starting(reading: Reading, word: Node, _: Node | None, date: Node) -> Claim | None:
    """Starting tomorrow; but "I'm starting tomorrow" is only tomorrow."""
    verb = reading.tokens[word.first - 1].value
    named = reading.settle(date)
    if named is None:
        return None
    is_verb = verb in BE or str(verb).endswith(("'m", "'re", "'s"))
    return plainly(named) if is_verb else onwards(named)


def about(reading: Reading, _: Node, date: Node) -> Claim | None:
    """About noon; but one can talk about 2015."""
    named = reading.settle(date)
    return around(named) if named and named.precision in INSTANTS else None


def claim(pattern: str, make: Callable[[Stretch], Claim]) -> Rule:
    """A rule that says something of the one date in its pattern."""

    def settled(reading: Reading, *nodes: Node | None) -> Claim | None:
        (date,) = (node for node in nodes if node and node.kind == DATE)
        named = reading.settle(date)
        return make(named) if named else None

    return Rule(pattern, "found", settled)


RELATIONS = [
    Rule("since the? date", "found", since),
    claim("until|by the? date", until),
    claim("before the? date", before),
    claim("after the? date", after),
    claim("from the? date onwards", onwards),
    claim("from the? date on >!the|number|date|weekday", onwards),
    Rule("starting on|from|in? date", "found", starting),
    claim("around the? date", around),
    Rule("about date", "found", about),
    claim("date", plainly),
]
