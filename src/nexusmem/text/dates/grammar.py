"""Grammar engine: rules over token kinds, applied in order.

A text is a list of nodes. Each node kind is one character, so the kinds form a string, and a rule
is a regular expression on it. A match is replaced by one node, which later rules can use.
Patterns have no repetition, so parsing is linear.

A pattern is a list of items:

    month number comma? year      nodes of these kinds, one of them optional
    number|ordinal                one of several kinds
    {day}                         abbreviation of `number|ordinal`: see GROUPS
    <in|of name >!other           lookbehind, and negative lookahead
    <!last month                  negative lookbehind
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from functools import cached_property, reduce
from operator import or_
from typing import Any

from .interval import UNIT_START, Date, Recurrence, TimeInterval, VerbTense
from .span import DatePrecision as Unit
from .span import DateRelation
from .tokens import KINDS, OTHER, GrammarNode

MAX_DISTANCE_WORDS = 25
WEAK_PENALTY = 4  # words added to the distance of a weak marker
BOUNDARY_PENALTY = 5  # words added per comma in between, twice per conjunction

PAST = frozenset(
    """was were did had been went got came saw met took made said told gave found bought brought
    left felt kept began ran sat stood won lost spent sent paid wrote heard held built caught taught
    thought knew grew flew drew drove drank ate fell slept woke broke spoke chose hid sang swam
    threw wore led fought sold became used born rode rose shook stuck hung understood forgot bit
    lent meant rang sank swore tore hurt quit dealt""".split()
)
WEAKLY_PAST = frozenset("done gone seen taken given written known eaten fallen broken".split())
FUTURE = frozenset(
    """will won't shall gonna let's lets plan plans planned planning booked scheduled arranged
    supposed expected reserved due deadline""".split()
)
WEAKLY_FUTURE = frozenset(
    """is are am isn't aren't it's that's there's what's when's i'm going see meet call remind visit
    come arrive leave leaving start starts begin begins ends expires fly flying moving visiting hope
    hoping want wanna need needs free available works join attend attending might should can could
    forward wait wish please book schedule make""".split()
)
# Words in -ed without a tense.
TENSELESS = frozenset(
    """need needed excited thrilled interested tired worried stressed bed red feed speed seed weed
    indeed hundred shed wed fed embed""".split()
)
BY_WORD = {
    **dict.fromkeys(WEAKLY_PAST, (VerbTense.PAST, WEAK_PENALTY)),
    **dict.fromkeys(WEAKLY_FUTURE, (VerbTense.FUTURE, WEAK_PENALTY)),
    **dict.fromkeys(FUTURE, (VerbTense.FUTURE, 0)),
    **dict.fromkeys(PAST, (VerbTense.PAST, 0)),
    **{f"{word}n't": (VerbTense.PAST, 0) for word in ("was", "were", "did", "had")},
    **dict.fromkeys(TENSELESS, (VerbTense.NONE, 0)),
}
BY_ENDING = {
    "ed": (VerbTense.PAST, 0),
    "'ll": (VerbTense.FUTURE, 0),
    "'re": (VerbTense.FUTURE, WEAK_PENALTY),
}
BY_KIND = {
    KINDS["since"]: (VerbTense.PAST, 0),
    KINDS["by"]: (VerbTense.FUTURE, WEAK_PENALTY),
    KINDS["until"]: (VerbTense.FUTURE, WEAK_PENALTY),
    KINDS["coming"]: (VerbTense.FUTURE, WEAK_PENALTY),
    KINDS["starting"]: (VerbTense.FUTURE, WEAK_PENALTY),
    KINDS["deadline"]: (VerbTense.FUTURE, WEAK_PENALTY),
    KINDS["maybe"]: (VerbTense.FUTURE, 0),  # "she may come"
}
BE = frozenset("is are am be isn't aren't get gets getting".split())
NO_SIGN = (VerbTense.NONE, 0)
STOP = KINDS["stop"]
CLAUSE_BREAKS = {KINDS["comma"]: 1, KINDS["and"]: 2, KINDS["or"]: 2}
CONJUNCTIONS = frozenset("but because while when if so then although which who".split())


@dataclass(slots=True)
class TenseMarkers:
    """The words of a text that indicate a tense."""

    positions: list[int]
    tenses: list[tuple[VerbTense, int]]
    clauses: list[int]  # per token; differences count the boundaries in between
    sentences: list[int]

    def tense_near(self, first: int, last: int) -> VerbTense:
        """Return the tense around the tokens of a date."""
        best, found = MAX_DISTANCE_WORDS + 3 * BOUNDARY_PENALTY, VerbTense.NONE
        left = bisect_left(self.positions, first)
        right = bisect_right(self.positions, last)
        for side in (range(left - 1, -1, -1), range(right, len(self.positions))):
            for marker in side:
                at = self.positions[marker]
                distance = max(first - at, at - last)
                if distance > MAX_DISTANCE_WORDS or self.sentences[at] != self.sentences[first]:
                    break
                tense, extra = self.tenses[marker]
                between = abs(self.clauses[at] - self.clauses[first])
                weight = distance + extra + BOUNDARY_PENALTY * min(between, 2)
                if weight < best:
                    best, found = weight, tense
        return found


def find_tense_markers(tokens: list[GrammarNode]) -> TenseMarkers:
    """Return the tense markers; a participle after "is" has no tense ("we are closed in May")."""
    markers = TenseMarkers([], [], [], [])
    clause = sentence = 0
    before = ""
    for index, token in enumerate(tokens):
        word = token.value or "" if token.kind == OTHER else ""
        tense = _tense_of_token(token)
        is_passive = tense[0] is VerbTense.PAST and (before in BE or before.endswith(("'re", "'m")))
        before = word
        if tense[0] is not VerbTense.NONE and not is_passive:
            markers.positions.append(index)
            markers.tenses.append(tense)
        sentence += token.kind == STOP
        clause += 2 if word in CONJUNCTIONS else CLAUSE_BREAKS.get(token.kind, 0)
        markers.clauses.append(clause)
        markers.sentences.append(sentence)
    return markers


def _tense_of_token(token: GrammarNode) -> tuple[VerbTense, int]:
    """Return the tense of a word and its distance penalty in words."""
    word = token.value
    if token.kind != OTHER or not word:
        return BY_KIND.get(token.kind, NO_SIGN)
    if word in BY_WORD:
        return BY_WORD[word]
    return BY_ENDING.get(word[-2:]) or BY_ENDING.get(word[-3:]) or NO_SIGN


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
BITS = {kind: 1 << index for index, kind in enumerate(KINDS.values())}
MAX_ANCHOR_DISTANCE = 200
LETTERS = "abcdefghijklmnopqrstuvwxyz_|"

# After "on the 5th" these words continue the sentence; a noun would change the meaning.
SENTENCE_CONTINUATIONS = frozenset(
    """i you he she it we they me him her us them my your his its our their who what when where why
    how which is are was were be been am do does did has have had will would can could should may
    might must not but so if because while as with without than then there here please too also
    again already just only still even both everyone everybody someone nobody thanks""".split()
)


@dataclass(frozen=True, slots=True)
class ResolvedDate:
    """A date with its relation; None is an open end."""

    since: datetime | None
    until: datetime | None
    precision: Unit
    relation: DateRelation


@dataclass(slots=True)
class ParseState:
    """State of parsing one text. A `date` node holds a TimeInterval or an unresolved Recurrence."""

    at: datetime  # wall time
    zone: tzinfo
    tokens: list[GrammarNode]
    nodes: list[GrammarNode]
    tense_at: Callable[[int], VerbTense | None] | None = None  # known tenses, by place in the text
    match_position: int = 0  # index of the first node of the current match
    _tense_markers: TenseMarkers | None = None
    _resolved: dict[tuple[Recurrence, VerbTense], TimeInterval | None] = field(default_factory=dict)

    @property
    def today(self) -> datetime:
        return UNIT_START[Unit.DAY](self.at)

    def tense_near(self, node: GrammarNode) -> VerbTense:
        known = self.tense_at(node.start) if self.tense_at else None
        if known is not None:
            return known
        if self._tense_markers is None:
            self._tense_markers = find_tense_markers(self.tokens)
        return self._tense_markers.tense_near(node.first, node.last)

    def resolve(self, node: GrammarNode, tense: VerbTense | None = None) -> TimeInterval | None:
        """Return the interval of a date node, choosing one occurrence of a recurrence."""
        named: Date = node.value
        if not isinstance(named, Recurrence):
            return named
        key = named, tense or self.tense_near(node)
        if key not in self._resolved:
            self._resolved[key] = named.resolve(self.at, key[1])
        return self._resolved[key]

    def last_date(self) -> TimeInterval | None:
        """Return the last date before the match, which "two days later" refers to."""
        before = self.nodes[max(0, self.match_position - MAX_ANCHOR_DISTANCE) : self.match_position]
        last = next((node for node in reversed(before) if node.kind == DATE), None)
        return self.resolve(last) if last else None

    def next_token(self, node: GrammarNode) -> GrammarNode:
        return self.tokens[node.last + 1]

    def ends_noun_phrase(self, node: GrammarNode) -> bool:
        """Return whether the next word continues the sentence and not the noun phrase."""
        after = self.next_token(node)
        return after.kind != OTHER or after.value is None or after.value in SENTENCE_CONTINUATIONS


class GrammarRule:
    """Replaces matching nodes by one node of `kind`, if `make` returns a value.

    `make` receives the state and the node of every item, None for a missing optional one.
    ValueError and OverflowError mean an impossible date: the words are consumed without a result.
    """

    def __init__(self, pattern: str, kind: str, make: Callable[..., Any]) -> None:
        self.pattern = pattern
        self.kind = KINDS[kind]
        self.make = make
        for short, kinds in GROUPS.items():
            pattern = pattern.replace(short, kinds)
        self.items = pattern.split()
        required = [item.lstrip("<>") for item in self.items if item[-1] != "?" and "!" not in item]
        choices = [[BITS[KINDS[kind]] for kind in item.split("|")] for item in required]
        self.required_bits = reduce(or_, (kinds[0] for kinds in choices if len(kinds) == 1), 0)
        self.required_choices = [reduce(or_, kinds) for kinds in choices if len(kinds) > 1]

    @cached_property  # compiled on first use: most texts need few of the hundred rules
    def regex(self) -> re.Pattern[str]:
        return re.compile(
            _lookbehind(self.items)
            + "".join(map(_item_pattern, self.items))
            + _lookahead(self.items)
        )

    def apply(self, state: ParseState, codes: str) -> bool:
        """Replace all matches; return whether there was one."""
        nodes = state.nodes
        made: list[GrammarNode] = []
        end = 0
        match = self.regex.search(codes)
        while match:
            start, stop = match.span()
            state.match_position = start
            node = self._make_node(state, match)
            if node:
                made += nodes[end:start]
                made.append(node)
                end = stop
            match = self.regex.search(codes, stop if node else start + 1)
        if end:
            state.nodes = made + nodes[end:]
        return bool(end)

    def _make_node(self, state: ParseState, match: re.Match[str]) -> GrammarNode | None:
        nodes = state.nodes
        given = [nodes[start] if start >= 0 else None for start, _ in match.regs[1:]]
        kind = self.kind
        try:
            value = self.make(state, *given)
        except (ValueError, OverflowError):
            kind, value = SKIP, True
        if value is None:
            return None
        first, last = nodes[match.start()], nodes[match.end() - 1]
        return GrammarNode(kind, first.start, last.end, value, first.first, last.last)


def _kind_class(kinds: str) -> str:
    return "[" + "".join(KINDS[kind] for kind in kinds.split("|")) + "]"


def _item_pattern(item: str) -> str:
    if item[0] in "<>":
        return ""
    return f"({_kind_class(item.rstrip('?'))})" + "?" * item.endswith("?")


def _lookbehind(items: Sequence[str]) -> str:
    return _lookaround("(?<=", items, "<") + _lookaround("(?<!", items, "<!")


def _lookahead(items: Sequence[str]) -> str:
    return _lookaround("(?=", items, ">") + _lookaround("(?!", items, ">!")


def _lookaround(prefix: str, items: Sequence[str], sign: str) -> str:
    found = [item.removeprefix(sign) for item in items if item.rstrip(LETTERS) == sign]
    return prefix + "".join(map(_kind_class, found)) + ")" if found else ""


def apply_rules(state: ParseState, rules: Sequence[GrammarRule]) -> None:
    """Apply each rule once, in order."""
    codes, present = _encode_kinds(state.nodes)
    for rule in rules:
        if present & rule.required_bits != rule.required_bits:
            continue  # most rules stop here: a required kind is missing
        for need in rule.required_choices:
            if not present & need:
                break
        else:
            if rule.apply(state, codes):
                codes, present = _encode_kinds(state.nodes)


def _encode_kinds(nodes: list[GrammarNode]) -> tuple[str, int]:
    codes = "".join([node.kind for node in nodes])
    return codes, reduce(or_, map(BITS.__getitem__, set(codes)))
