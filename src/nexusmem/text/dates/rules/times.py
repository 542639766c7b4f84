"""Rules for clock times and durations: 8am, half past nine, 2-4pm, tomorrow at 9, two weeks."""

from __future__ import annotations

from dataclasses import replace

from ..grammar import GrammarRule, ParseState
from ..interval import (
    ClockTime,
    Date,
    Duration,
    TimeInterval,
    WorkingDays,
    every_day_at,
    part_of_day,
    unit_around,
)
from ..span import DatePrecision as Unit
from ..tokens import KINDS, VAGUE, GrammarNode

HOUR_KINDS = [KINDS[kind] for kind in ("number", "small", "time", "clock")]
COUNT_VERBS = frozenset("have has had got need needs needed took takes take only like".split())
VAGUE_KINDS = (KINDS["about"], KINDS["around"])


def make_hour(node: GrammarNode, minute: int | None = None, *, before: bool = False) -> ClockTime:
    if not 1 <= node.value <= 12:
        raise ValueError(f"an hour must be between 1 and 12, got {node.value}")
    return ClockTime((node.value - before - 1) % 12 + 1, minute, is_exact=False)


def to_clock_time(node: GrammarNode) -> ClockTime:
    clock: ClockTime = node.value if isinstance(node.value, ClockTime) else make_hour(node)
    return clock


def parse_quarter_hour(
    _: ParseState, __: GrammarNode | None, unit: GrammarNode, side: GrammarNode, at: GrammarNode
) -> ClockTime | None:
    """Parse "quarter past nine" and "quarter to ten"."""
    if unit.value is not Unit.QUARTER:
        return None
    return make_hour(at, 15) if side.kind == KINDS["past"] else make_hour(at, 45, before=True)


def parse_in_part(
    state: ParseState, at: GrammarNode, _: GrammarNode, __: GrammarNode, named: GrammarNode
) -> ClockTime:
    """Parse "9 in the morning": the part of the day decides between am and pm."""
    clock = to_clock_time(at)
    since = clock.on_day(part_of_day(unit_around(state.at, Unit.DAY), named.value)).since
    return ClockTime(since.hour, clock.minute)


def parse_in_zone(state: ParseState, at: GrammarNode, zone: GrammarNode) -> ClockTime:
    """Parse "02:00 UTC" if the local time is UTC; other zones are ignored."""
    if zone.value not in ("utc", "gmt") or state.zone.utcoffset(state.at):
        raise ValueError(f"time zone {zone.value} differs from the local time")
    return to_clock_time(at)


def parse_time_range(
    _: ParseState, __: GrammarNode | None, first: GrammarNode, ___: GrammarNode, last: GrammarNode
) -> ClockTime:
    return to_clock_time(first).range_to(last.value)


def parse_vague_hour(
    _: ParseState, at: GrammarNode, __: GrammarNode | None, ___: GrammarNode
) -> ClockTime:
    """Parse "9-ish"."""
    return replace(to_clock_time(at), is_vague=True)


EARLY_RULES = [
    GrammarRule("number|time|clock dash? ish", "time", parse_vague_hour),
    GrammarRule("{hour} oclock", "clock", lambda _, at, __: make_hour(at)),
    GrammarRule("half past {hour}", "clock", lambda _, __, ___, at: make_hour(at, 30)),
    GrammarRule("a? unit past|to {hour}", "clock", parse_quarter_hour),
    GrammarRule("{hour}|time|clock in the part", "clock", parse_in_part),
    GrammarRule("clock zone", "clock", parse_in_zone),
    GrammarRule("time zone", "time", parse_in_zone),
    GrammarRule("from? number|time|clock {to} clock", "clock", parse_time_range),
    GrammarRule("from? time|clock {to} time", "time", parse_time_range),
    GrammarRule("between number|time|clock and time|clock", "clock", parse_time_range),
]


def apply_to_day(date: GrammarNode, at: ClockTime) -> Date | None:
    named: Date = date.value
    if named.precision not in (Unit.DAY, Unit.PART_OF_DAY):
        return None
    return named.map(at.on_day, at.precision)


def parse_date_clock(
    _: ParseState,
    date: GrammarNode,
    __: GrammarNode | None,
    qualifier: GrammarNode | None,
    at: GrammarNode,
) -> Date | None:
    found = apply_to_day(date, to_clock_time(at))
    is_vague = qualifier is not None and qualifier.kind in VAGUE_KINDS
    return found.map(TimeInterval.as_vague, found.precision) if found and is_vague else found


def parse_date_hour(
    state: ParseState, date: GrammarNode, qualifier: GrammarNode, at: GrammarNode
) -> Date | None:
    """Parse "tomorrow at 9" but not "tomorrow at 9 places"."""
    return (
        parse_date_clock(state, date, None, qualifier, at) if state.ends_noun_phrase(at) else None
    )


def parse_clock_date(_: ParseState, *nodes: GrammarNode | None) -> Date | None:
    """Parse "8am on Friday" and "at 8 tonight"."""
    at = next(node for node in nodes if node and node.kind in HOUR_KINDS)
    date = nodes[-1]
    return apply_to_day(date, to_clock_time(at)) if date else None


def parse_part_of_day(_: ParseState, date: GrammarNode, *rest: GrammarNode) -> Date | None:
    """Parse "Friday night" and "tomorrow in the morning"."""
    named: Date = date.value
    if named.precision is not Unit.DAY:
        return None
    return named.map(lambda day: part_of_day(day, rest[-1].value), Unit.PART_OF_DAY)


def parse_vague_hour_alone(state: ParseState, at: GrammarNode) -> Date | None:
    """Parse "9ish" but not "9ish people" or "I have 9ish"."""
    is_count = state.tokens[at.first - 1].value in COUNT_VERBS
    if not at.value.is_vague or is_count or not state.ends_noun_phrase(at):
        return None
    return every_day_at(at.value)


LATE_RULES = [
    GrammarRule("date part", "date", parse_part_of_day),
    GrammarRule("date in the part", "date", parse_part_of_day),
    GrammarRule("date comma? at|around|about? time|clock", "date", parse_date_clock),
    GrammarRule("date at|around|about {hour}", "date", parse_date_hour),
    GrammarRule("time|clock comma? on? the? date", "date", parse_clock_date),
    GrammarRule("at {hour} on? the? date", "date", parse_clock_date),
    GrammarRule("clock", "date", lambda _, at: every_day_at(at.value)),
    GrammarRule("<at|around|about|{since} time", "date", lambda _, at: every_day_at(at.value)),
    GrammarRule("time >!unit|units|number|working", "date", parse_vague_hour_alone),
]


# Next smaller unit and its number, for "a year and a half".
FINER_UNITS = {
    Unit.DECADE: (Unit.YEAR, 10),
    Unit.YEAR: (Unit.MONTH, 12),
    Unit.MONTH: (Unit.WEEK, 4),
    Unit.WEEK: (Unit.DAY, 7),
    Unit.DAY: (Unit.HOUR, 24),
    Unit.HOUR: (Unit.MINUTE, 60),
}

UNIT_KINDS = (KINDS["unit"], KINDS["units"])


def to_number(node: GrammarNode) -> int:
    return 1 if node.kind == KINDS["a"] else int(node.value)


def parse_duration(_: ParseState, count: GrammarNode, unit: GrammarNode) -> Duration:
    if count.kind == KINDS["some"]:
        return Duration(unit.value, *count.value)
    return Duration.exactly(to_number(count), unit.value)


def parse_fortnights(_: ParseState, count: GrammarNode, __: GrammarNode) -> Duration | None:
    if count.kind == KINDS["some"]:
        return None
    return Duration.exactly(2 * to_number(count), Unit.WEEK)


def parse_working_days(
    _: ParseState, count: GrammarNode, __: GrammarNode, unit: GrammarNode
) -> WorkingDays | None:
    if unit.value is not Unit.DAY:
        return None
    if count.kind == KINDS["some"]:
        return WorkingDays(*count.value[1:])
    return WorkingDays(to_number(count), to_number(count))


def parse_half(_: ParseState, *nodes: GrammarNode) -> Duration | None:
    """Parse "half an hour", "two and a half years" and "a year and a half"."""
    unit = next(node.value for node in nodes if node.kind in UNIT_KINDS)
    if unit not in FINER_UNITS:
        return None
    finer, in_one = FINER_UNITS[unit]
    first = nodes[0]
    fixed = {KINDS["half"]: 0, KINDS["unit"]: 1}.get(first.kind)
    count = to_number(first) if fixed is None else fixed
    return Duration.exactly(count * in_one + in_one // 2, finer)


def parse_one_or_more(
    _: ParseState, __: GrammarNode, unit: GrammarNode, ___: GrammarNode, most: GrammarNode
) -> Duration:
    """Parse "a week or two"."""
    return Duration(unit.value, 1, 1, most.value)


def parse_few(_: ParseState, units: GrammarNode) -> Duration:
    """Parse "the coming weeks"."""
    return Duration(units.value, *VAGUE["few"])


def parse_alternative(
    _: ParseState, low: GrammarNode, __: GrammarNode, high: GrammarNode
) -> tuple[int, int, int] | None:
    """Parse "two or three" as typical, low and high count."""
    return (low.value, low.value, high.value) if low.value < high.value else None


def parse_times_ago(
    state: ParseState, count: GrammarNode, again: GrammarNode, _: GrammarNode
) -> TimeInterval | None:
    """Parse "three summers ago"."""
    if count.kind == KINDS["some"]:
        return None
    interval: TimeInterval | None = again.value.previous(state.at, to_number(count))
    return interval


def parse_two_word_ordinal(
    _: ParseState, tens: GrammarNode, __: GrammarNode | None, nth: GrammarNode
) -> int | None:
    """Parse "twenty-first"."""
    return tens.value + nth.value if nth.value < 10 else None


DURATION_RULES = [
    GrammarRule("tens dash? small", "small", lambda _, tens, __, small: tens.value + small.value),
    GrammarRule("tens dash? nth", "ordinal", parse_two_word_ordinal),
    GrammarRule("a? vague of?", "some", lambda _, __, vague, ___: vague.value),
    GrammarRule("{hour} or|{to} {hour} >units", "some", parse_alternative),
    GrammarRule("a unit or small", "length", parse_one_or_more),
    GrammarRule("half a unit", "length", parse_half),
    GrammarRule("a|{hour} and a half {units}", "length", parse_half),
    GrammarRule("a|{hour} {units} and a half", "length", parse_half),
    GrammarRule("<last|past|next unit and a half", "length", parse_half),
    GrammarRule("{n} {units}", "length", parse_duration),
    GrammarRule("{n} fortnight", "length", parse_fortnights),
    GrammarRule("{n} working {units}", "worked", parse_working_days),
    GrammarRule("<last|past|next|coming units", "length", parse_few),
]


def skip_match(*_: object) -> bool:
    return True


RECURRENCE_RULES = [
    GrammarRule("{n} plural ago", "date", parse_times_ago),
    GrammarRule(
        "every another|nth|{hour}? {units}|length|part|date|{again}|maybe", "skip", skip_match
    ),
    GrammarRule("the? nth|last unit|{weekday} of skip", "skip", skip_match),
    GrammarRule("date of skip", "skip", skip_match),
    GrammarRule("a|small|named weekday", "skip", skip_match),
    GrammarRule("plural", "skip", skip_match),
    GrammarRule("skip in? the? part", "skip", skip_match),
    GrammarRule("skip at? time|clock|{hour}", "skip", skip_match),
    GrammarRule("time|clock|deadline on? skip", "skip", skip_match),
    GrammarRule("skip at|by? deadline", "skip", skip_match),
]
