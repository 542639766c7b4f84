"""How much time, and how often: two weeks, a year and a half, every Tuesday."""

from __future__ import annotations

from ..grammar import Reading, Rule
from ..span import Precision as Unit
from ..stretch import Length, Stretch
from ..tokens import Node
from ..words import KINDS, VAGUE

# How many finer units there are in one, for "a year and a half".
FINER = {
    Unit.DECADE: (Unit.YEAR, 10),
    Unit.YEAR: (Unit.MONTH, 12),
    Unit.MONTH: (Unit.WEEK, 4),
    Unit.WEEK: (Unit.DAY, 7),
    Unit.DAY: (Unit.HOUR, 24),
    Unit.HOUR: (Unit.MINUTE, 60),
}

UNIT_KINDS = (KINDS["unit"], KINDS["units"])


def number(node: Node) -> int:
    return 1 if node.kind == KINDS["a"] else int(node.value)


def length(_: Reading, count: Node, unit: Node) -> Length:
    if count.kind == KINDS["some"]:
        return Length(unit.value, *count.value)
    return Length.exactly(number(count), unit.value)


def and_a_half(_: Reading, *nodes: Node) -> Length | None:
    """Half an hour, two and a half years, a year and a half."""
    unit = next(node.value for node in nodes if node.kind in UNIT_KINDS)
    if unit not in FINER:
        return None
    finer, in_one = FINER[unit]
    first = nodes[0]
    whole_ones = {KINDS["half"]: 0, KINDS["unit"]: 1}.get(first.kind)
    count = number(first) if whole_ones is None else whole_ones
    return Length.exactly(count * in_one + in_one // 2, finer)


def one_or_more(_: Reading, __: Node, unit: Node, ___: Node, most: Node) -> Length:
    """A week or two."""
    return Length(unit.value, 1, 1, most.value)


def a_few(_: Reading, units: Node) -> Length:
    """The coming weeks."""
    return Length(units.value, *VAGUE["few"])


def either(_: Reading, low: Node, __: Node, high: Node) -> tuple[int, int, int] | None:
    """Two or three: about, least, most."""
    return (low.value, low.value, high.value) if low.value < high.value else None


def times_ago(reading: Reading, count: Node, again: Node, _: Node) -> Stretch | None:
    """Three summers ago."""
    if count.kind == KINDS["some"]:
        return None
    found: Stretch | None = again.value.last(reading.at, number(count))
    return found


LENGTHS = [
    Rule("tens dash? small", "small", lambda _, tens, __, small: tens.value + small.value),
    Rule("tens dash? nth", "ordinal", lambda _, tens, __, nth: tens.value + nth.value),
    Rule("a? vague of?", "some", lambda _, __, vague, ___: vague.value),
    Rule("{hour} or|{to} {hour} >units", "some", either),
    Rule("a unit or small", "length", one_or_more),
    Rule("half a unit", "length", and_a_half),
    Rule("a|{hour} and a half {units}", "length", and_a_half),
    Rule("a|{hour} {units} and a half", "length", and_a_half),
    Rule("<last|past|next unit and a half", "length", and_a_half),
    Rule("{n} {units}", "length", length),
    Rule("<last|past|next|coming units", "length", a_few),
]


def nothing(*_: object) -> bool:
    return True


RECURRING = [
    Rule("{n} plural ago", "date", times_ago),
    Rule("every another|nth|{hour}? {units}|length|part|date|{again}|maybe", "skip", nothing),
    Rule("the? nth|last unit|{weekday} of skip", "skip", nothing),
    Rule("date of skip", "skip", nothing),
    Rule("a|small|named weekday", "skip", nothing),
    Rule("plural", "skip", nothing),
    Rule("skip in? the? part", "skip", nothing),
    Rule("skip at? time|clock|{hour}", "skip", nothing),
    Rule("time|clock on? skip", "skip", nothing),
]
