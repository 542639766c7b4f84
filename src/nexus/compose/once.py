"""Nothing twice: what the window shows, or what was said above, is not said again. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """What the model sees in any case: the last messages."""

    events: set[str] | frozenset[str] = frozenset()  # their ids
    said: str = ""  # their words, a line for each

    def shows(self, item: Item) -> bool:
        """Whether it shows all that an item rests on."""
        events = item.events
        return bool(events) and events[0] in self.events and self.events.issuperset(events)


class Line(NamedTuple):
    """An item, and which of those above it say the same, whether or not they are shown."""

    part: Part
    item: Item
    words: str
    cut: Cut | None = None  # what is told of it where it is left out, if it may be
    shown: bool = False  # in the window
    said_by: Sequence[int] = ()  # lines that say its words, from the first on
    same: Sequence[int] = ()  # lines that tell the same memory in other words, from the last on


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


def compared(sections: Mapping[Part, Sequence[Item]], before: Before) -> list[Line]:
    """Every item beside the last messages and all above it, in the order of the sections.

    Once for a context: what has room is divided several times, and no text is read for that.
    """
    found = [(part, item, words_of(item)) for part in Part for item in sections.get(part, ())]
    said = _rare_letters("\n".join([words for _, _, words in found]))
    seen, rare = _rare_letters(before.said), said.split(b"\n")
    starts = list(accumulate([len(letters) + 1 for letters in rare], initial=0))
    lines: list[Line] = []
    told: dict[str, tuple[int, ...]] = {}  # id → lines, the last first
    for (part, item, words), letters in zip(found, rare, strict=False):
        last, id = part is Part.WINDOW, item.id
        if not last and (before.shows(item) or (letters in seen and _says(before.said, words))):
            lines.append(Line(part, item, words, _cut(part, item, IN_THE_WINDOW), True))
            continue
        itself = last and id in before.events
        said_by = () if itself else _said_by(lines, words, letters, said, starts)
        same = told.get(id, ())
        cut = _cut(part, item, SAID_ABOVE) if said_by or same else None
        told[id] = (len(lines), *same)
        lines.append(Line(part, item, words, cut, False, said_by, same))
    return lines


def _rare_letters(words: str) -> bytes:
    """Those that tell words apart: where they do not stand, neither do the words; soon seen."""
    return words.encode(errors="replace").translate(None, FREQUENT)


def _said_by(
    lines: Sequence[Line], words: str, letters: bytes, said: bytes, starts: Sequence[int]
) -> Sequence[int]:
    """The lines that say these words; only those are read that have their rare letters."""
    if len(words) < SHORTEST:
        return ()
    itself = starts[len(lines)]  # where they stand in any case
    found: list[int] = []
    place = said.find(letters)
    while place < itself:
        number = bisect_right(starts, place) - 1
        if not lines[number].shown and _says(lines[number].words, words):
            found.append(number)
        place = said.find(letters, starts[number + 1])
    return found


def once(
    lines: Sequence[Line], unsaid: Collection[Place] = (), gone: Collection[Place] = ()
) -> Once:
    """Leave out what the window shows, and what is said above.

    `unsaid` are known to have no room in the end: for these nothing is left out. What is `gone`
    is not there at all.
    """
    kept: dict[Part, list[Item]] = {part: [] for part in Part}
    cut: list[Cut] = []
    repeated: list[Repeated] = []
    absent: set[int] = set()  # lines for which nothing below is left out
    for number, line in enumerate(lines):
        part, item, left_out = line.part, line.item, line.cut
        if unsaid or gone:
            place = (part, item.id)
            if place in unsaid or place in gone:
                absent.add(number)
            if place in gone:
                continue
        again = _again(lines, line, absent) if left_out and not line.shown else None
        if left_out and (again or line.shown):
            absent.add(number)
            cut.append(left_out)
            repeated += [again] if again else []
        else:
            kept[part].append(item)
    return Once({part: tuple(items) for part, items in kept.items()}, cut, repeated)


def _cut(part: Part, item: Item, why: str) -> Cut:
    return made_cut(part=part, id=item.id, tokens=item.tokens, why=why)


def _again(lines: Sequence[Line], line: Line, absent: Collection[int]) -> Repeated | None:
    """By which line above its words are said, or the same memory is told in other words."""
    for saying, numbers in ((line.words, line.said_by), ("", line.same)):
        for number in numbers:
            if number not in absent:
                part, item = lines[number].part, lines[number].item
                return Repeated(saying, (part, item.id), line.part, item)
    return None


def _says(said: str, words: str) -> bool:
    """Whether these words stand there in a row, as words of their own."""
    if len(words) < SHORTEST:
        return False
    start = said.find(words)
    while start >= 0:
        if _edge(said, start - 1) and _edge(said, start + len(words)):
            return True
        start = said.find(words, start + 1)
    return False


def _edge(said: str, place: int) -> bool:
    return not 0 <= place < len(said) or not said[place].isalnum()
