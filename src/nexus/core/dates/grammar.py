"""The machine that reads: rules over kinds of words, applied in the order of their table.

A text is a row of nodes; their kinds, one character each, are a string, and a rule is a regular
expression on it. Where a rule matches, its nodes become one node, and later rules build on that.
Patterns have no repetition, so reading takes time in proportion to the text.

A pattern is a line of items:

    month number comma? year      nodes of these kinds, one of them optional
    number|ordinal                one of several kinds
    {day}                         short for `number|ordinal`: see GROUPS
    <in|of name >!other           what stands before, and not after, without being taken
    <!last month                  and what does not stand before
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from functools import cached_property, reduce
from operator import or_
from typing import Any

from .cycle import Cycle, Date, Tense
from .span import Precision as Unit
from .span import Relation
from .stretch import START, Stretch
from .tense import Signs, signs
from .tokens import Node
from .words import KINDS, OTHER

GROUPS = {
    "{n}": "a|small|tens|number|large|year|some",
    "{units}": "unit|units",
    "{day}": "number|ordinal",
    "{hour}": "number|small",
    "{month}": "month|name",
    "{any_month}": "month|name|maybe",
    "{weekday}": "weekday|short",
    "{again}": "weekday|short|season|month|name|feast|quarter",
    "{since}": "since|until|by|before|after|from",
    "{to}": "to|until|dash",
}
DATE, SKIP = KINDS["date"], KINDS["skip"]
BITS = {kind: 1 << place for place, kind in enumerate(KINDS.values())}
FARTHEST_ANCHOR = 200
LETTERS = "abcdefghijklmnopqrstuvwxyz_|"

# After "on the 5th" or "for Christmas" these go on with the sentence; a noun changes its sense.
GOES_ON = frozenset(
    """i you he she it we they me him her us them my your his its our their who what when where why
    how which is are was were be been am do does did has have had will would can could should may
    might must not but so if because while as with without than then there here please too also
    again already just only still even both everyone everybody someone nobody thanks""".split()
)


@dataclass(frozen=True, slots=True)
class Claim:
    """What is said of a date in the end; None is an open end."""

    since: datetime | None
    until: datetime | None
    precision: Unit
    relation: Relation


@dataclass(slots=True)
class Reading:
    """One text being read. The value of a `date` node is a Stretch, or a Cycle not yet settled."""

    at: datetime  # wall time
    zone: tzinfo
    tokens: list[Node]
    nodes: list[Node]
    place: int = 0  # of the first node of the match at hand
    _signs: Signs | None = None
    _settled: dict[tuple[Cycle, Tense], Stretch | None] = field(default_factory=dict)

    @property
    def today(self) -> datetime:
        return START[Unit.DAY](self.at)

    def tense(self, node: Node) -> Tense:
        if self._signs is None:
            self._signs = signs(self.tokens)
        return self._signs.at(node.first, node.last)

    def settle(self, node: Node, tense: Tense | None = None) -> Stretch | None:
        """The one stretch of time a date stands for."""
        named: Date = node.value
        if not isinstance(named, Cycle):
            return named
        key = named, tense or self.tense(node)
        if key not in self._settled:
            self._settled[key] = named.settle(self.at, key[1])
        return self._settled[key]

    def anchor(self) -> Stretch | None:
        """The date last mentioned: what "two days later" counts from."""
        before = self.nodes[max(0, self.place - FARTHEST_ANCHOR) : self.place]
        last = next((node for node in reversed(before) if node.kind == DATE), None)
        return self.settle(last) if last else None

    def after(self, node: Node) -> Node:
        return self.tokens[node.last + 1]

    def goes_on(self, node: Node) -> bool:
        """Whether after a node the sentence goes on, and not its noun phrase."""
        after = self.after(node)
        return after.kind != OTHER or after.value is None or after.value in GOES_ON


class Rule:
    """What matches becomes one node of `kind`, if `make` returns a value for it.

    `make` is given the reading and the node of every item, None for an optional one that is not
    there. ValueError and OverflowError say that this would be a date and cannot be one: then the
    words are taken, and nothing is claimed.
    """

    def __init__(self, pattern: str, kind: str, make: Callable[..., Any]) -> None:
        self.pattern = pattern
        self.kind = KINDS[kind]
        self.make = make
        for short, kinds in GROUPS.items():
            pattern = pattern.replace(short, kinds)
        self.items = pattern.split()
        self.needs = [
            reduce(or_, (BITS[KINDS[kind]] for kind in item.split("|")))
            for item in self.items
            if item[0] not in "<>" and item[-1] != "?"
        ]

    @cached_property  # a hundred of them would be slow to import, and few texts need them all
    def find(self) -> re.Pattern[str]:
        return re.compile(
            _before(self.items) + "".join(map(_item, self.items)) + _after(self.items)
        )

    def apply(self, reading: Reading, codes: str) -> bool:
        """Replace what matches; tell whether anything did."""
        nodes = reading.nodes
        made: list[Node] = []
        end = 0
        match = self.find.search(codes)
        while match:
            start, stop = match.span()
            reading.place = start
            node = self._node(reading, match)
            if node:
                made += nodes[end:start]
                made.append(node)
                end = stop
            match = self.find.search(codes, stop if node else start + 1)
        if end:
            reading.nodes = made + nodes[end:]
        return bool(end)

    def _node(self, reading: Reading, match: re.Match[str]) -> Node | None:
        nodes = reading.nodes
        given = [nodes[start] if start >= 0 else None for start, _ in match.regs[1:]]
        kind = self.kind
        try:
            value = self.make(reading, *given)
        except (ValueError, OverflowError):
            kind, value = SKIP, True
        if value is None:
            return None
        first, last = nodes[match.start()], nodes[match.end() - 1]
        return Node(kind, first.start, last.end, value, first.first, last.last)


def _class(kinds: str) -> str:
    return "[" + "".join(KINDS[kind] for kind in kinds.split("|")) + "]"


def _item(item: str) -> str:
    if item[0] in "<>":
        return ""
    return f"({_class(item.rstrip('?'))})" + "?" * item.endswith("?")


def _before(items: Sequence[str]) -> str:
    return _around("(?<=", items, "<") + _around("(?<!", items, "<!")


def _after(items: Sequence[str]) -> str:
    return _around("(?=", items, ">") + _around("(?!", items, ">!")


def _around(look: str, items: Sequence[str], sign: str) -> str:
    found = [item.removeprefix(sign) for item in items if item.rstrip(LETTERS) == sign]
    return look + "".join(map(_class, found)) + ")" if found else ""


def read(reading: Reading, rules: Sequence[Rule]) -> None:
    """Apply every rule once, in order."""
    codes, present = _codes(reading.nodes)
    for rule in rules:
        for need in rule.needs:
            if not present & need:
                break  # most rules end here: one of their words is not in the text
        else:
            if rule.apply(reading, codes):
                codes, present = _codes(reading.nodes)


def _codes(nodes: list[Node]) -> tuple[str, int]:
    codes = "".join([node.kind for node in nodes])
    return codes, reduce(or_, map(BITS.__getitem__, set(codes)))
