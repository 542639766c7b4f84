"""Rules for relative dates: last week, next March, two days ago, the first Monday of June."""

from __future__ import annotations

from dataclasses import replace

from .. import interval
from ..grammar import DATE, GrammarRule, ParseState, ResolvedDate
from ..interval import (
    COARSENESS,
    DAY,
    LAST_INDEX,
    THIRDS,
    UNIT_START,
    Date,
    Duration,
    Recurrence,
    TimeInterval,
    VerbTense,
    adjacent_unit,
    adjacent_weekday,
    part_of_day,
    shift_by_units,
    take_half,
    take_nth,
    take_nth_weekday,
    take_third,
    unit_around,
)
from ..span import DatePrecision as Unit
from ..span import DateRelation
from ..tokens import KINDS, GrammarNode
from .calendar import RECURRENCES, parse_recurrence

BEFORE, AFTER = -1, 1
SIDES_OF_ENDS = [KINDS[kind] for kind in ("by", "before", "until", "at")]
SIDES = {KINDS["before"]: BEFORE, KINDS["after"]: AFTER}
RATE_KINDS = [KINDS[kind] for kind in ("unit", "units", "number", "part", "for")]
RATE_WORDS = frozenset("once twice thrice time times".split())  # twice a week
CLOCK_UNITS = (Unit.MINUTE, Unit.HOUR, Unit.PART_OF_DAY)


def parse_ago(
    state: ParseState, qualifier: GrammarNode | None, duration: GrammarNode, _: GrammarNode
) -> TimeInterval:
    found: TimeInterval = duration.value.offset_from(state.at, BEFORE)
    return found.as_vague() if qualifier else found


def parse_ago_day(
    _: ParseState, duration: GrammarNode, __: GrammarNode, day: GrammarNode
) -> TimeInterval | None:
    """Parse "a week ago today" and "a year ago last Tuesday"."""
    if isinstance(day.value, Recurrence) or duration.value.unit in CLOCK_UNITS:
        return None
    if day.value.precision is not Unit.DAY:
        return None
    return unit_around(
        shift_by_units(day.value.since, duration.value.unit, -duration.value.count), Unit.DAY
    )


def parse_in_duration(
    state: ParseState, _: GrammarNode, qualifier: GrammarNode | None, duration: GrammarNode
) -> TimeInterval | None:
    """Parse "in two weeks", but not in "they built it in two weeks"."""
    if state.tense_near(duration) is VerbTense.PAST:
        return None
    found: TimeInterval = duration.value.offset_from(state.at, AFTER)
    return found.as_vague() if qualifier else found


def parse_for_duration(
    state: ParseState,
    _: GrammarNode | None,
    qualifier: GrammarNode | None,
    duration: GrammarNode,
    __: GrammarNode,
) -> TimeInterval:
    """Parse "for two years now": the time since then."""
    found: TimeInterval = duration.value.interval_through_today(state.at, BEFORE)
    return found.as_vague() if qualifier else found


def parse_from_date(
    state: ParseState,
    duration: GrammarNode,
    _: GrammarNode,
    __: GrammarNode | None,
    date: GrammarNode,
) -> TimeInterval | None:
    """Parse "a week from Friday", which is a Friday."""
    start = state.resolve(date, VerbTense.FUTURE)
    if start is None:
        return None
    if duration.value.unit in (Unit.DAY, Unit.WEEK):
        return unit_around(
            shift_by_units(start.since, duration.value.unit, duration.value.count), Unit.DAY
        )
    found: TimeInterval = duration.value.offset_from(start.since, AFTER)
    return found


def parse_offset_from_date(
    state: ParseState, duration: GrammarNode, side: GrammarNode, *rest: GrammarNode
) -> TimeInterval | None:
    """Parse "two weeks before 11 August"."""
    date = state.resolve(rest[-1])
    if date is None:
        return None
    length: Duration = duration.value
    to = SIDES[side.kind]
    if length.unit is Unit.WEEKEND:
        first = adjacent_unit(date, Unit.WEEKEND, to).since
        return unit_around(first + (length.count - 1) * to * 7 * DAY, Unit.WEEKEND)
    return length.offset_from(date.since if to < 0 else date.last_instant, to)


def parse_offset_from_event(
    state: ParseState, duration: GrammarNode, side: GrammarNode, *rest: GrammarNode
) -> TimeInterval | None:
    """Parse "two days before the launch on 10 April"; a launch "in April" is not precise enough."""
    if COARSENESS[rest[-1].value.precision] > COARSENESS[duration.value.unit]:
        return None
    return parse_offset_from_date(state, duration, side, *rest)


def parse_adjacent(
    state: ParseState,
    _: GrammarNode | None,
    what: GrammarNode,
    side: GrammarNode,
    *rest: GrammarNode,
) -> TimeInterval | None:
    """Parse "the week before", "the Friday after" or "the night before" a date."""
    date = state.resolve(rest[-1])
    if date is None or what.value in CLOCK_UNITS:
        return None
    to = SIDES[side.kind]
    if what.kind == KINDS["part"]:
        return part_of_day(adjacent_unit(date, Unit.DAY, to), what.value)
    if what.kind == KINDS["unit"]:
        return adjacent_unit(date, what.value, to)
    return unit_around(adjacent_weekday(date, what.value, to), Unit.DAY)


def parse_unit_of_date(
    _: ParseState, __: GrammarNode | None, unit: GrammarNode, *rest: GrammarNode
) -> Date | None:
    """Parse "the week of 23 August", "the night of 30 October" and "the month of May"."""
    named: Date = rest[-1].value
    if unit.kind == KINDS["part"]:
        if named.precision is not Unit.DAY:
            return None
        return named.map(lambda date: part_of_day(date, unit.value), Unit.PART_OF_DAY)
    if unit.value in CLOCK_UNITS:
        return None
    return named.map(lambda date: unit_around(date.since, unit.value), unit.value)


def parse_weekend(_: ParseState, unit: GrammarNode) -> Recurrence | None:
    return interval.every_weekend() if unit.value is Unit.WEEKEND else None


def parse_worked_ahead(
    state: ParseState, _: GrammarNode, qualifier: GrammarNode | None, days: GrammarNode
) -> TimeInterval | None:
    """Parse "in 3 working days", but not in "they built it in 3 working days"."""
    if state.tense_near(days) is VerbTense.PAST:
        return None
    found: TimeInterval = days.value.offset_from(state.today, AFTER)
    return found.as_vague() if qualifier else found


def parse_within_worked(
    state: ParseState, _: GrammarNode, __: GrammarNode | None, days: GrammarNode
) -> TimeInterval:
    found: TimeInterval = days.value.offset_from(state.today, AFTER)
    return replace(found, since=state.today)


def parse_worked_from_date(
    state: ParseState, days: GrammarNode, side: GrammarNode, *rest: GrammarNode
) -> TimeInterval | None:
    """Parse "two working days before 9 June" and "five business days from Monday"."""
    date = state.resolve(rest[-1], VerbTense.FUTURE if side.kind == KINDS["from"] else None)
    if date is None or COARSENESS[date.precision] > COARSENESS[Unit.DAY]:
        return None
    found: TimeInterval = days.value.offset_from(
        UNIT_START[Unit.DAY](date.since), SIDES.get(side.kind, AFTER)
    )
    return found


def parse_within_unit(
    state: ParseState, _: GrammarNode, __: GrammarNode, unit: GrammarNode
) -> TimeInterval | None:
    """Parse "within the week": in at most a week."""
    if unit.value is Unit.DAY:
        return unit_around(state.at, Unit.DAY)
    if unit.value is Unit.WEEKEND:
        return None
    return Duration.exactly(1, unit.value).interval_through_today(state.at, AFTER)


def parse_week_on_day(
    state: ParseState, duration: GrammarNode, _: GrammarNode, day: GrammarNode
) -> TimeInterval | None:
    """Parse "a week on Friday" but not "twice a week on Friday"."""
    before = state.tokens[duration.first - 1]
    is_rate = before.kind in RATE_KINDS or before.value in RATE_WORDS
    if duration.value.unit is not Unit.WEEK or is_rate or not state.ends_noun_phrase(day):
        return None
    if state.tense_near(day) is VerbTense.PAST:
        return None
    coming = interval.every_weekday(day.value).first_after(state.today + DAY)
    return coming and unit_around(coming.since + duration.value.count * 7 * DAY, Unit.DAY)


OFFSET_RULES = [
    GrammarRule("length on {weekday}", "date", parse_week_on_day),
    GrammarRule("<before|after weekday", "date", parse_recurrence),
    GrammarRule("length ago date", "date", parse_ago_day),
    GrammarRule("about|around|over? length ago", "date", parse_ago),
    GrammarRule("for? about|around|over? length now", "date", parse_for_duration),
    GrammarRule("length from now", "date", lambda r, long, *_: long.value.offset_from(r.at, AFTER)),
    GrammarRule("length before|after the? date", "date", parse_offset_from_date),
    GrammarRule(
        "length before|after the? other other? other? on|in the? date",
        "date",
        parse_offset_from_event,
    ),
    GrammarRule("in about|around? length", "date", parse_in_duration),
    GrammarRule(
        "within the? length",
        "date",
        lambda r, _, __, long: long.value.interval_through_today(r.at, AFTER),
    ),
    GrammarRule("within the unit >!of|before|after", "date", parse_within_unit),
    GrammarRule("in about|around? worked", "date", parse_worked_ahead),
    GrammarRule("within the? worked", "date", parse_within_worked),
    GrammarRule("worked ago", "date", lambda r, days, _: days.value.offset_from(r.today, BEFORE)),
    GrammarRule("worked from now", "date", lambda r, days, *_: days.value.offset_from(r.today, 1)),
    GrammarRule("the? unit|part|{weekday} before|after the? date", "date", parse_adjacent),
    GrammarRule("the? unit|part of the? date", "date", parse_unit_of_date),
    GrammarRule("<over|on|during|at|by|before|after|until <the unit", "date", parse_weekend),
    GrammarRule("weekday", "date", parse_recurrence),
    GrammarRule("<on|between|{since} short", "date", parse_recurrence),
    GrammarRule("short >{to} >{weekday}|date", "date", parse_recurrence),
    GrammarRule("short >part|time|clock", "date", parse_recurrence),
    GrammarRule("short >at >time|clock|number", "date", parse_recurrence),
    GrammarRule("<date <{to} short", "date", parse_recurrence),
    GrammarRule("length from the? date", "date", parse_from_date),
    GrammarRule("worked before|after|from the? date", "date", parse_worked_from_date),
]


def parse_nested_date(state: ParseState, *nodes: GrammarNode | None) -> TimeInterval | None:
    """Parse a date within another one: "May last year", "next week on Friday"."""
    first, *_, last = (node for node in nodes if node)
    named = parse_recurrence(state, last) if last.kind == KINDS["short"] else last.value
    pair = (first.value, named) if isinstance(first.value, Recurrence) else (named, first.value)
    return _occurrence_inside(*pair)


def _occurrence_inside(named: Date, longer: Date) -> TimeInterval | None:
    if not isinstance(named, Recurrence) or isinstance(longer, Recurrence):
        return None
    return named.first_after(longer.since) if named.period is longer.precision else None


NESTED_RULES = [
    GrammarRule("date of|on|in|at? the? date", "date", parse_nested_date),
    GrammarRule("date on? short", "date", parse_nested_date),
]


def parse_later(state: ParseState, duration: GrammarNode, _: GrammarNode) -> TimeInterval:
    anchor = state.last_date()
    found: TimeInterval = duration.value.offset_from(anchor.since if anchor else state.at, AFTER)
    return found


def parse_following(
    state: ParseState, _: GrammarNode | None, word: GrammarNode, what: GrammarNode
) -> TimeInterval | None:
    """Parse "the next day" and "the following week", relative to the last mentioned date."""
    anchor = state.last_date()
    if anchor is None:
        return None
    if what.kind in RECURRENCES:
        return RECURRENCES[what.kind](what.value).first_after(anchor.until)
    if what.kind == KINDS["part"]:
        return part_of_day(adjacent_unit(anchor, Unit.DAY, AFTER), what.value)
    if word.kind == KINDS["next"] and what.value is not Unit.DAY:
        return None
    return unit_around(shift_by_units(anchor.since, what.value, AFTER), what.value)


def parse_that(state: ParseState, _: GrammarNode, named: GrammarNode) -> TimeInterval | None:
    """Parse "that autumn": the first one since the last mentioned date."""
    anchor = state.last_date()
    return anchor and RECURRENCES[named.kind](named.value).first_after(anchor.since)


def parse_adjacent_to_last(
    state: ParseState, _: GrammarNode | None, what: GrammarNode, side: GrammarNode, *__: GrammarNode
) -> TimeInterval | None:
    """Parse "the day after", relative to the last mentioned date."""
    anchor = state.last_date()
    if anchor is None or what.value in CLOCK_UNITS:
        return None
    to = SIDES[side.kind]
    if what.kind == KINDS["part"]:
        return part_of_day(adjacent_unit(anchor, Unit.DAY, to), what.value)
    return adjacent_unit(anchor, what.value, to)


def parse_adjacent_to_that(
    state: ParseState, article: GrammarNode | None, what: GrammarNode, *rest: GrammarNode
) -> TimeInterval | None:
    """Parse "the day after that" but not "the day after that meeting"."""
    if not state.ends_noun_phrase(rest[-1]):
        return None
    return parse_adjacent_to_last(state, article, what, rest[0])


def parse_offset_from_that(
    state: ParseState, duration: GrammarNode, side: GrammarNode, that: GrammarNode
) -> TimeInterval | None:
    """Parse "a week before that"."""
    anchor = state.last_date()
    if anchor is None or not state.ends_noun_phrase(that):
        return None
    to = SIDES[side.kind]
    found: TimeInterval = duration.value.offset_from(
        anchor.since if to < 0 else anchor.last_instant, to
    )
    return found


ANAPHORA_RULES = [
    GrammarRule("length before|after that", "date", parse_offset_from_that),
    GrammarRule("the? unit|part before|after that", "date", parse_adjacent_to_that),
    GrammarRule(
        "the unit|part before|after >stop|finish|comma|close|and|or", "date", parse_adjacent_to_last
    ),
    GrammarRule("length later", "date", parse_later),
    GrammarRule("the? next|following unit|part", "date", parse_following),
    GrammarRule("the following {again}", "date", parse_following),
    GrammarRule("that season|month|name", "date", parse_that),
]


LAST_THIRD = 2  # the last of three thirds
# "Last day" and "next minute" are not dates.
UNSTEPPED_UNITS = (Unit.MINUTE, Unit.HOUR, Unit.PART_OF_DAY, Unit.DAY)
STEPS = {
    KINDS["last"]: -1,
    KINDS["past"]: -1,
    KINDS["this"]: 0,
    KINDS["next"]: 1,
    KINDS["coming"]: 1,
}


def parse_step(state: ParseState, *nodes: GrammarNode) -> TimeInterval | None:
    """Parse "last Friday", "this summer" and "next March"."""
    word, named = nodes[-2:]
    again = RECURRENCES[named.kind](named.value)
    if word.kind == KINDS["this"]:
        return again.current(state.at, state.tense_near(named))
    if word.kind == KINDS["next"]:
        return again.next(state.at)
    if word.kind == KINDS["coming"]:
        return again.first_after(state.today + DAY)
    return again.previous(state.at)


def parse_unit_step(state: ParseState, word: GrammarNode, unit: GrammarNode) -> TimeInterval | None:
    """Parse "last week", "this month" and "next year" as calendar units."""
    if unit.value in UNSTEPPED_UNITS:
        return None
    if unit.value is Unit.WEEKEND and word.kind == KINDS["this"]:
        return interval.every_weekend().current(state.at, state.tense_near(unit))
    if unit.value is Unit.WEEKEND and word.kind == KINDS["coming"]:
        return interval.every_weekend().next(state.at)
    return unit_around(
        shift_by_units(UNIT_START[unit.value](state.at), unit.value, STEPS[word.kind]), unit.value
    )


def parse_rolling(state: ParseState, *nodes: GrammarNode) -> TimeInterval | None:
    """Parse "the past week" and "the next three days" as days up to or from now; not weekends."""
    word, long = nodes[-2:]
    if long.value is Unit.WEEKEND:
        return parse_unit_step(state, word, long)
    is_unit = long.kind == KINDS["unit"]
    length: Duration = Duration.exactly(1, long.value) if is_unit else long.value
    return length.interval_through_today(state.at, STEPS[word.kind])


def parse_two_steps(
    state: ParseState, _: GrammarNode | None, named: GrammarNode, side: GrammarNode, __: GrammarNode
) -> TimeInterval | None:
    """Parse "the week before last" and "the Friday after next"."""
    by = -1 if side.kind == KINDS["before"] else 1
    if named.kind == KINDS["unit"]:
        if named.value in UNSTEPPED_UNITS:
            return None
        return unit_around(
            shift_by_units(UNIT_START[named.value](state.at), named.value, 2 * by), named.value
        )
    if named.kind == KINDS["part"]:
        return part_of_day(unit_around(state.today - 2 * DAY, Unit.DAY), named.value)
    again = RECURRENCES[named.kind](named.value)
    first = again.previous(state.at) if by < 0 else again.next(state.at)
    return first and unit_around(first.since + by * 7 * DAY, Unit.DAY)


def parse_nth(
    _: ParseState, __: GrammarNode | None, which: GrammarNode, unit: GrammarNode, *rest: GrammarNode
) -> Date | None:
    """Parse the n-th half, week or weekday of a longer time."""
    number = LAST_INDEX if which.kind == KINDS["last"] else which.value
    of: Date = rest[-1].value
    finest = unit.value if unit.kind == KINDS["unit"] else Unit.DAY
    if COARSENESS[finest] >= COARSENESS[of.precision]:  # last year in May
        return None
    if unit.kind == KINDS["half"]:
        return of.map(lambda named: take_half(named, number), Unit.WEEK)
    if unit.kind == KINDS["unit"]:
        return of.map(lambda named: take_nth(named, unit.value, number), unit.value)
    return of.map(lambda named: take_nth_weekday(named, unit.value, number), Unit.DAY)


def parse_nth_duration(
    _: ParseState,
    __: GrammarNode | None,
    which: GrammarNode,
    duration: GrammarNode,
    *rest: GrammarNode,
) -> Date | None:
    """Parse "the first two weeks" and "the last three days of June"."""
    length: Duration = duration.value
    of: Date = rest[-1].value
    if which.kind == KINDS["last"]:
        return of.map(lambda named: length.interval_from(named.until, -1), length.unit)
    if which.value != 1:
        return None
    return of.map(lambda named: length.interval_from(named.since, 1), length.unit)


def parse_before_end(state: ParseState, *nodes: GrammarNode) -> ResolvedDate | None:
    """Parse "before the end of the year": until its end."""
    *_, edge, __, ___, of = nodes
    if edge.value != LAST_THIRD:
        return None
    named = unit_around(state.at, of.value) if of.kind == KINDS["unit"] else state.resolve(of)
    return ResolvedDate(None, named.until, named.precision, DateRelation.UNTIL) if named else None


def parse_third(
    _: ParseState, __: GrammarNode | None, which: GrammarNode, *rest: GrammarNode
) -> Date | None:
    of: Date = rest[-1].value
    if of.precision not in THIRDS:
        return None
    return of.map(lambda named: take_third(named, which.value), Unit.WEEK)


def parse_unit_third(
    state: ParseState, _: GrammarNode | None, which: GrammarNode, *rest: GrammarNode
) -> TimeInterval | None:
    """Parse "the end of the month": of the current one."""
    unit = rest[-1].value
    return take_third(unit_around(state.at, unit), which.value) if unit in THIRDS else None


def parse_rest(state: ParseState, which: GrammarNode, date: GrammarNode) -> TimeInterval | None:
    """Parse "earlier this week" (up to today) and "later this year" (from today)."""
    named = date.value
    if isinstance(named, Recurrence) or not named.contains(state.at):
        return None
    if which.kind == KINDS["earlier"]:
        return TimeInterval(named.since, min(named.until, state.today + DAY), named.precision)
    return TimeInterval(max(named.since, state.today), named.until, named.precision)


def parse_other_day(
    state: ParseState, _: GrammarNode, __: GrammarNode, unit: GrammarNode
) -> TimeInterval | None:
    if unit.value not in (Unit.DAY, "night"):
        return None
    return TimeInterval(state.today - 7 * DAY, state.today, Unit.DAY, is_vague=True)


def parse_part_of_today(state: ParseState, word: GrammarNode, named: GrammarNode) -> TimeInterval:
    return part_of_day(unit_around(state.today + STEPS[word.kind] * DAY, Unit.DAY), named.value)


def parse_day_week(state: ParseState, day: GrammarNode, unit: GrammarNode) -> TimeInterval | None:
    """Parse "Friday week" and "tomorrow week" but not "a Friday week report"."""
    if unit.value is not Unit.WEEK or not state.ends_noun_phrase(unit):
        return None
    if day.kind == KINDS["today"]:
        return unit_around(state.today + (day.value + 7) * DAY, Unit.DAY)
    coming = interval.every_weekday(day.value).first_after(state.today + DAY)
    return coming and unit_around(coming.since + 7 * DAY, Unit.DAY)


def parse_end_of_day(
    _: ParseState, __: GrammarNode | None, edge: GrammarNode, *rest: GrammarNode | None
) -> Unit | None:
    """Parse "end of day" and "close of business"."""
    is_day = rest[-1] is None or rest[-1].kind == KINDS["working"] or rest[-1].value is Unit.DAY
    return Unit.DAY if edge.value == LAST_THIRD and is_day else None


def parse_end_on_date(state: ParseState, *nodes: GrammarNode | None) -> TimeInterval | None:
    """Parse "EOD Friday", "tomorrow EOD" and "EOM March"."""
    (end,) = (node for node in nodes if node and node.kind == KINDS["deadline"])
    (date,) = (node for node in nodes if node and node.kind == DATE)
    named = state.resolve(date) if date.value.precision is end.value else None
    if named is None or end.value is Unit.DAY:
        return named
    return take_third(named, LAST_THIRD)


def parse_end_alone(state: ParseState, end: GrammarNode) -> TimeInterval | None:
    """Parse "by EOD" and "send it EOW", but not "the EOD report"."""
    if state.tokens[end.first - 1].kind not in SIDES_OF_ENDS and not state.ends_noun_phrase(end):
        return None
    named = unit_around(state.at, end.value)
    return named if end.value is Unit.DAY else take_third(named, LAST_THIRD)


def parse_before_end_on_date(state: ParseState, *nodes: GrammarNode | None) -> ResolvedDate | None:
    """Parse "before EOD" and "before EOD Friday": until the end of the day."""
    (end,) = (node for node in nodes if node and node.kind == KINDS["deadline"])
    date = next((node for node in nodes if node and node.kind == DATE), None)
    named = state.resolve(date) if date else unit_around(state.at, end.value)
    if named is None or named.precision is not end.value:
        return None
    return ResolvedDate(None, named.until, named.precision, DateRelation.UNTIL)


END_RULES = [
    GrammarRule("before the? deadline on? date?", "found", parse_before_end_on_date),
    GrammarRule("before date deadline", "found", parse_before_end_on_date),
    GrammarRule("deadline on|of|by|comma? the? date", "date", parse_end_on_date),
    GrammarRule("date at|by|comma? deadline", "date", parse_end_on_date),
    GrammarRule("deadline", "date", parse_end_alone),
]

NTH_RULE = GrammarRule("the? nth|last unit|{weekday}|half of|in the? date", "date", parse_nth)

RULES = [
    GrammarRule(
        "<!last|this|next|past|coming|following|that today|{weekday} unit "
        ">!after|before|of|by|number|ordinal|year",
        "date",
        parse_day_week,
    ),
    GrammarRule("today", "date", lambda r, node: unit_around(r.today + node.value * DAY, Unit.DAY)),
    GrammarRule("tonight", "date", lambda r, _: part_of_day(unit_around(r.at, Unit.DAY), "night")),
    GrammarRule("this|last part", "date", parse_part_of_today),
    NTH_RULE,
    GrammarRule("the? unit|part|{weekday} before last", "date", parse_two_steps),
    GrammarRule("the? unit|{weekday} after next", "date", parse_two_steps),
    GrammarRule("the? this? last|past|next|coming length >!of", "date", parse_rolling),
    GrammarRule("the|this? past unit >!of", "date", parse_rolling),
    GrammarRule("the|this last unit >!of", "date", parse_rolling),
    GrammarRule("<in|over|during|within|for the next|coming unit", "date", parse_rolling),
    GrammarRule("last|this|next|coming unit >!of", "date", parse_unit_step),
    GrammarRule("the? this? last|past|coming {again} >!of", "date", parse_step),
    GrammarRule("next|this {again}", "date", parse_step),
    GrammarRule("last|next maybe >!other", "date", parse_step),
    NTH_RULE,  # applied again, for "the first day of last month"
    GrammarRule("the? nth|last length of the? date", "date", parse_nth_duration),
    GrammarRule("before the? edge of the? date|unit", "found", parse_before_end),
    GrammarRule("the? early dash? date", "date", parse_third),
    GrammarRule("the? edge of the? date", "date", parse_third),
    GrammarRule("the? edge of working unit?", "deadline", parse_end_of_day),
    GrammarRule("the? edge of unit >!number|small", "deadline", parse_end_of_day),
    GrammarRule("<by|until the? edge of the unit", "deadline", parse_end_of_day),
    GrammarRule("the? edge of the? unit", "date", parse_unit_third),
    GrammarRule("earlier|later date", "date", parse_rest),
    GrammarRule("the another unit|part", "date", parse_other_day),
]
