"""Nothing twice: what the window shows, or what was said above, is not said again. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from ..core.context import Cut, Item, made_cut
from ..core.part import Part
from ..core.text import words_alone
from .asking import EXACT

SHORTEST = 16  # letters: shorter ones ("Yes, sure.") are nobody's in particular
FREQUENT = b" aeioulnrstdhcm"  # letters that most words have, and what stands between words

IN_THE_WINDOW = "in the window"
SAID_ABOVE = "said above"

Place = tuple[Part, str]  # of an item: its section and its id
Line = tuple[Part, Item, str]  # an item, in its section, and its words


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """What the model sees in any case: the last messages."""

    events: set[str] | frozenset[str] = frozenset()  # their ids
    said: str = ""  # their words, a line for each

    def shows(self, item: Item) -> bool:
        """Whether it shows all that an item rests on."""
        events = item.events
        return bool(events) and events[0] in self.events and self.events.issuperset(events)


@dataclass(frozen=True, slots=True)
class Compared:
    """Every item, and which of those above it say the same, whether or not they are shown.

    Most say what nobody else does: what is told of the others is found by their numbers.
    """

    lines: Sequence[Line]
    cut: dict[int, Cut] = field(default_factory=dict)  # of what may be left out: what is told then
    shown: set[int] = field(default_factory=set)  # in the window
    said_by: dict[int, Sequence[int]] = field(default_factory=dict)  # lines, from the first on
    same: dict[int, Sequence[int]] = field(default_factory=dict)  # in other words, the last first


class Repeated(NamedTuple):
    """An item that is left out because one above it says the same."""

    words: str
    above: Place  # of that one
    part: Part  # its own
    whole: Item | None = None  # that one, before anything was shortened

    def still_said(self, shown: Mapping[Place, Item]) -> bool:
        """Whether it is, when only this is shown; of some, perhaps, not to the end."""
        item = shown.get(self.above)
        if item is None or item is self.whole:
            return item is not None
        return not self.words or _says(words_of(item), self.words)


@dataclass(frozen=True, slots=True)
class Once:
    """The sections without repetitions, and what was left out of them."""

    kept: dict[Part, tuple[Item, ...]]
    cut: list[Cut]
    repeated: list[Repeated]


def words_of(item: Item) -> str:
    """Its words alone; they are at hand where its tokens were counted.

    An exact value has none: words tell neither -5 from 5 nor "AbC" from "abc".
    """
    if item.why.get("kind") == EXACT:
        return ""
    return item.words or words_alone(item.text)


def compared(sections: Mapping[Part, Sequence[Item]], before: Before) -> Compared:
    """Every item beside the last messages and all above it, in the order of the sections.

    Once for a context: what has room is divided several times, and no text is read for that.
    """
    lines = [(part, item, words_of(item)) for part in Part for item in sections.get(part, ())]
    said = _rare_letters("\n".join([words for _, _, words in lines]))
    seen, rare = _rare_letters(before.said), said.split(b"\n")
    starts = list(accumulate([len(letters) + 1 for letters in rare], initial=0))
    found = Compared(lines)
    told: dict[str, int] = {}  # id → its last line
    for number, (part, item, words) in enumerate(lines):
        last, id, letters = part is Part.WINDOW, item.id, rare[number]
        if not last and (before.shows(item) or (letters in seen and _says(before.said, words))):
            found.shown.add(number)
            found.cut[number] = _cut(part, item, IN_THE_WINDOW)
            continue
        above = told.get(id)
        same = () if above is None else (above, *found.same.get(above, ()))
        told[id] = number
        itself = last and id in before.events
        said_by = () if itself else _said_by(found, number, letters, said, starts)
        if said_by or same:
            found.said_by[number], found.same[number] = said_by, same
            found.cut[number] = _cut(part, item, SAID_ABOVE)
    return found


def _rare_letters(words: str) -> bytes:
    """Those that tell words apart: where they do not stand, neither do the words; soon seen."""
    return words.encode(errors="replace").translate(None, FREQUENT)


def _said_by(
    found: Compared, number: int, letters: bytes, said: bytes, starts: Sequence[int]
) -> Sequence[int]:
    """The lines that say these words; only those are read that have their rare letters."""
    itself, place = starts[number], said.find(letters)  # where they stand in any case, and first
    if place >= itself:
        return ()
    words = found.lines[number][2]
    saying: list[int] = []
    while place < itself:
        above = bisect_right(starts, place) - 1
        if above not in found.shown and _says(found.lines[above][2], words):
            saying.append(above)
        place = said.find(letters, starts[above + 1])
    return saying


def once(found: Compared, unsaid: Collection[Place] = (), gone: Collection[Place] = ()) -> Once:
    """Leave out what the window shows, and what is said above.

    `unsaid` are known to have no room in the end: for these nothing is left out. What is `gone`
    is not there at all.
    """
    kept: dict[Part, list[Item]] = {part: [] for part in Part}
    cut: list[Cut] = []
    repeated: list[Repeated] = []
    absent: set[int] = set()  # lines for which nothing below is left out
    without, may_be_left_out = {*unsaid, *gone}, found.cut
    for number, (part, item, _) in enumerate(found.lines):
        if without and (place := (part, item.id)) in without:
            absent.add(number)
            if place in gone:
                continue
        if number in may_be_left_out:
            again = None if number in found.shown else _again(found, number, absent)
            if again or number in found.shown:
                absent.add(number)
                cut.append(may_be_left_out[number])
                repeated += [again] if again else []
                continue
        kept[part].append(item)
    return Once({part: tuple(items) for part, items in kept.items()}, cut, repeated)


def _cut(part: Part, item: Item, why: str) -> Cut:
    return made_cut(part=part, id=item.id, tokens=item.tokens, why=why)


def _again(found: Compared, number: int, absent: Collection[int]) -> Repeated | None:
    """By which line above its words are said, or the same memory is told in other words."""
    own, _, words = found.lines[number]
    for saying, numbers in ((words, found.said_by[number]), ("", found.same[number])):
        for above in numbers:
            if above not in absent:
                part, item, _ = found.lines[above]
                return Repeated(saying, (part, item.id), own, item)
    return None


def _says(said: str, words: str) -> bool:
    """Whether these words stand there in a row, as words of their own."""
    if len(words) < SHORTEST:
        return False
    if said == words:  # as most do
        return True
    start = said.find(words)
    while start >= 0:
        if _edge(said, start - 1) and _edge(said, start + len(words)):
            return True
        start = said.find(words, start + 1)
    return False


def _edge(said: str, place: int) -> bool:
    return not 0 <= place < len(said) or not said[place].isalnum()
