"""Rules for date ranges and for relations: before, after, since, until, around."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from ..grammar import DATE, GrammarRule, ParseState, ResolvedDate
from ..interval import COARSENESS, DAY, Date, Recurrence, TimeInterval, VerbTense
from ..span import DatePrecision as Unit
from ..span import DateRelation
from ..tokens import KINDS, GrammarNode

CLOCK_UNITS = (Unit.MINUTE, Unit.HOUR)  # "until 5pm" ends at the start of that hour
BE = frozenset("am are is be was were".split())


def parse_range(state: ParseState, *nodes: GrammarNode | None) -> TimeInterval | None:
    """Return the interval from one date to another; a year of one applies to both."""
    first, last = (node for node in nodes if node and node.kind == DATE)
    if isinstance(first.value, Recurrence) and isinstance(last.value, TimeInterval):
        end: TimeInterval | None = last.value
        start = first.value.previous(last.value.until)
    else:
        start = state.resolve(first)
        end = start and _resolve_end(last.value, start)
    if start is None or end is None:
        return None
    until = _range_end(end)
    if until <= start.since:
        return None
    precision = max(start.precision, end.precision, key=COARSENESS.__getitem__)
    return TimeInterval(start.since, until, precision, start.is_vague or end.is_vague)


def _resolve_end(named: Date, start: TimeInterval) -> TimeInterval | None:
    return named.first_after(start.since) if isinstance(named, Recurrence) else named


def _range_end(date: TimeInterval) -> datetime:
    return date.since if date.precision in CLOCK_UNITS else date.until


def parse_to(
    state: ParseState,
    first: GrammarNode,
    word: GrammarNode,
    _: GrammarNode | None,
    last: GrammarNode,
) -> TimeInterval | None:
    """Parse "Mon-Wed"; a dash between different units, such as a year and a day, is no range."""
    if word.kind == KINDS["dash"] and first.value.precision is not last.value.precision:
        return None
    return parse_range(state, first, last)


def parse_to_now(
    state: ParseState, _: GrammarNode, __: GrammarNode | None, first: GrammarNode, *___: GrammarNode
) -> TimeInterval | None:
    """Parse "between 2019 and now"."""
    start = state.resolve(first, VerbTense.PAST)
    end = state.today + DAY
    return TimeInterval(start.since, end, start.precision) if start and start.since < end else None


RANGE_RULES = [
    GrammarRule("from the? date to|until now", "date", parse_to_now),
    GrammarRule("between the? date and now", "date", parse_to_now),
    GrammarRule("from the? date {to} the? date", "date", parse_range),
    GrammarRule("between the? date and the? date", "date", parse_range),
    GrammarRule("date {to} the? date", "date", parse_to),
]


def until_date(date: TimeInterval) -> ResolvedDate:
    return ResolvedDate(None, _range_end(date), date.precision, DateRelation.UNTIL)


def before_date(date: TimeInterval) -> ResolvedDate:
    return ResolvedDate(None, date.since, date.precision, DateRelation.BEFORE)


def after_date(date: TimeInterval) -> ResolvedDate:
    return ResolvedDate(_range_end(date), None, date.precision, DateRelation.AFTER)


def onwards_from(date: TimeInterval) -> ResolvedDate:
    return ResolvedDate(date.since, None, date.precision, DateRelation.SINCE)


def around_date(date: TimeInterval) -> ResolvedDate:
    return ResolvedDate(date.since, date.until, date.precision, DateRelation.AROUND)


def in_date(date: TimeInterval) -> ResolvedDate:
    relation = DateRelation.AROUND if date.is_vague else DateRelation.IN
    return ResolvedDate(date.since, date.until, date.precision, relation)


def parse_since(state: ParseState, *nodes: GrammarNode) -> ResolvedDate | None:
    """Parse "since Tuesday": until today."""
    date = state.resolve(nodes[-1])
    end = state.today + DAY
    if date is None or date.since >= end:
        return onwards_from(date) if date else None
    return ResolvedDate(date.since, end, date.precision, DateRelation.SINCE)


def parse_starting(
    state: ParseState, word: GrammarNode, _: GrammarNode | None, date: GrammarNode
) -> ResolvedDate | None:
    """Parse "starting tomorrow"; in "I'm starting tomorrow" it is just tomorrow."""
    verb = state.tokens[word.first - 1].value
    named = state.resolve(date)
    if named is None:
        return None
    is_verb = verb in BE or str(verb).endswith(("'m", "'re", "'s"))
    return in_date(named) if is_verb else onwards_from(named)


def parse_about(state: ParseState, _: GrammarNode, date: GrammarNode) -> ResolvedDate | None:
    """Parse "about noon"; "about 2015" may name a topic, so only clock times count."""
    named = state.resolve(date)
    return around_date(named) if named and named.precision in CLOCK_UNITS else None


def relation_rule(pattern: str, make: Callable[[TimeInterval], ResolvedDate]) -> GrammarRule:
    """Return a rule that applies `make` to the one date in its pattern."""

    def resolve_date(state: ParseState, *nodes: GrammarNode | None) -> ResolvedDate | None:
        (date,) = (node for node in nodes if node and node.kind == DATE)
        named = state.resolve(date)
        return make(named) if named else None

    return GrammarRule(pattern, "found", resolve_date)


RELATION_RULES = [
    GrammarRule("since the? date", "found", parse_since),
    relation_rule("until|by the? date", until_date),
    relation_rule("before the? date", before_date),
    relation_rule("after the? date", after_date),
    relation_rule("from the? date onwards", onwards_from),
    relation_rule("from the? date on >!the|number|date|weekday", onwards_from),
    GrammarRule("starting on|from|in? date", "found", parse_starting),
    relation_rule("around the? date", around_date),
    GrammarRule("about date", "found", parse_about),
    relation_rule("date", in_date),
]
