"""Times of day, alone and on a day: 8am, half past nine, noon, 2-4pm, tomorrow at 9."""

from __future__ import annotations

from ..clock import Clock, daily
from ..cycle import Date
from ..grammar import Reading, Rule
from ..span import Precision as Unit
from ..stretch import Stretch, part, whole
from ..tokens import Node
from ..words import KINDS

HOURS = [KINDS[kind] for kind in ("number", "small", "time", "clock")]
VAGUELY = (KINDS["about"], KINDS["around"])


def hour(node: Node, minute: int | None = None, *, before: bool = False) -> Clock:
    if not 1 <= node.value <= 12:
        raise ValueError("no hour of a clock")
    return Clock((node.value - before - 1) % 12 + 1, minute, exact=False)


def clock(node: Node) -> Clock:
    found: Clock = node.value if isinstance(node.value, Clock) else hour(node)
    return found


def quarter(_: Reading, __: Node | None, unit: Node, side: Node, at: Node) -> Clock | None:
    """Quarter past nine, quarter to ten."""
    if unit.value is not Unit.QUARTER:
        return None
    return hour(at, 15) if side.kind == KINDS["past"] else hour(at, 45, before=True)


def in_part(reading: Reading, at: Node, _: Node, __: Node, named: Node) -> Clock:
    """9 in the morning: the part of the day chooses between the two nines."""
    told = clock(at)
    since = told.on(part(whole(reading.at, Unit.DAY), named.value)).since
    return Clock(since.hour, told.minute)


def in_zone(reading: Reading, at: Node, zone: Node) -> Clock:
    """02:00 UTC where that is the wall time; elsewhere the hour would be another."""
    if zone.value not in ("utc", "gmt") or reading.zone.utcoffset(reading.at):
        raise ValueError("of another zone")
    return clock(at)


def from_to(_: Reading, __: Node | None, first: Node, ___: Node, last: Node) -> Clock:
    return clock(first).to(last.value)


EARLY = [
    Rule("{hour} oclock", "clock", lambda _, at, __: hour(at)),
    Rule("half past {hour}", "clock", lambda _, __, ___, at: hour(at, 30)),
    Rule("a? unit past|to {hour}", "clock", quarter),
    Rule("{hour}|time|clock in the part", "clock", in_part),
    Rule("clock zone", "clock", in_zone),
    Rule("time zone", "time", in_zone),
    Rule("from? number|time|clock {to} clock", "clock", from_to),
    Rule("from? time|clock {to} time", "time", from_to),
    Rule("between number|time|clock and time|clock", "clock", from_to),
]


def on_day(date: Node, at: Clock) -> Date | None:
    named: Date = date.value
    if named.precision not in (Unit.DAY, Unit.PART_OF_DAY):
        return None
    return named.map(at.on, at.precision)


def then_clock(_: Reading, date: Node, __: Node | None, how: Node | None, at: Node) -> Date | None:
    found = on_day(date, clock(at))
    vague = how is not None and how.kind in VAGUELY
    return found.map(Stretch.blurred, found.precision) if found and vague else found


def then_hour(reading: Reading, date: Node, how: Node, at: Node) -> Date | None:
    """Tomorrow at 9, but not tomorrow at 9 places."""
    return then_clock(reading, date, None, how, at) if reading.goes_on(at) else None


def clock_then(_: Reading, *nodes: Node | None) -> Date | None:
    """8am on Friday, at 8 tonight."""
    at = next(node for node in nodes if node and node.kind in HOURS)
    date = nodes[-1]
    return on_day(date, clock(at)) if date else None


def part_of(_: Reading, date: Node, *rest: Node) -> Date | None:
    """Friday night, tomorrow in the morning."""
    named: Date = date.value
    if named.precision is not Unit.DAY:
        return None
    return named.map(lambda day: part(day, rest[-1].value), Unit.PART_OF_DAY)


LATE = [
    Rule("date part", "date", part_of),
    Rule("date in the part", "date", part_of),
    Rule("date comma? at|around|about? time|clock", "date", then_clock),
    Rule("date at|around|about {hour}", "date", then_hour),
    Rule("time|clock comma? on? the? date", "date", clock_then),
    Rule("at {hour} on? the? date", "date", clock_then),
    Rule("clock", "date", lambda _, at: daily(at.value)),
    Rule("<at|around|about|{since} time", "date", lambda _, at: daily(at.value)),
]
