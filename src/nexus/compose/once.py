"""Nothing twice: what the window shows, or what was said above, is not said again. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..core.context import Cut, Item, made_cut
from ..core.part import Part
from ..core.text import words_alone
from .asking import EXACT

SHORTEST = 16  # letters: shorter ones ("Yes, sure.") are nobody's in particular

IN_THE_WINDOW = "in the window"
SAID_ABOVE = "said above"

Place = tuple[Part, str]  # of an item: its section and its id


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """What the model sees in any case: the last messages."""

    events: set[str] | frozenset[str] = frozenset()  # their ids
    said: str = ""  # their words, a line for each

    def shows(self, item: Item, words: str) -> bool:
        """Whether it shows what an item rests on, or says its words."""
        events = item.events
        if events and events[0] in self.events and self.events.issuperset(events):
            return True
        return _says(self.said, words)


class Line(NamedTuple):
    """An item, and which of those above it say the same, whether or not they are shown."""

    part: Part
    item: Item
    words: str
    shown: bool = False  # in the window
    said_by: Sequence[int] = ()  # lines that say its words, from the first on
    same: Sequence[int] = ()  # lines that tell the same memory in other words, from the last on


@dataclass(frozen=True, slots=True)
class Repeated:
    """An item that is left out because one above it says the same."""

    words: str
    above: Place  # of that one
    part: Part  # its own

    def still_said(self, shown: Mapping[Place, Item]) -> bool:
        """Whether it is, when only this is shown; of some, perhaps, not to the end."""
        item = shown.get(self.above)
        return item is not None and (not self.words or _says(words_of(item), self.words))


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
    lines: list[Line] = []
    told: dict[str, tuple[int, ...]] = {}  # id → lines, the last first
    said, starts = "", []
    for part in Part:
        last = part is Part.WINDOW
        for item in sections.get(part, ()):
            words, number, id = words_of(item), len(lines), item.id
            starts.append(len(said))
            if not last and before.shows(item, words):
                lines.append(Line(part, item, words, True))
                continue
            said_by: Sequence[int] = ()
            itself = last and id in before.events
            if not itself and words in said:
                places = [bisect_right(starts, place) - 1 for place in _places(said, words)]
                said_by = list(dict.fromkeys(places))
            same = told.get(id, ())
            lines.append(Line(part, item, words, False, said_by, same))
            told[id] = (number, *same)
            said += f"{words}\n"
    return lines


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
    above: set[int] = set()
    for number, line in enumerate(lines):
        part, item, shown = line.part, line.item, line.shown
        if gone and (part, item.id) in gone:
            continue
        again = _again(lines, line, above) if line.said_by or line.same else None
        if shown or again:
            why = IN_THE_WINDOW if shown else SAID_ABOVE
            cut.append(made_cut(part=part, id=item.id, tokens=item.tokens, why=why))
            repeated += [again] if again else []
        else:
            kept[part].append(item)
            if not unsaid or (part, item.id) not in unsaid:
                above.add(number)
    return Once({part: tuple(items) for part, items in kept.items()}, cut, repeated)


def _again(lines: Sequence[Line], line: Line, above: Collection[int]) -> Repeated | None:
    """By which line above its words are said, or the same memory is told in other words."""
    for saying, numbers in ((line.words, line.said_by), ("", line.same)):
        for number in numbers:
            if number in above:
                return Repeated(saying, (lines[number].part, lines[number].item.id), line.part)
    return None


def _says(said: str, words: str) -> bool:
    return words in said and any(True for _ in _places(said, words))


def _places(said: str, words: str) -> Iterator[int]:
    """Where these words stand in a row, as words of their own."""
    if len(words) < SHORTEST:
        return
    start = said.find(words)
    while start >= 0:
        if _edge(said, start - 1) and _edge(said, start + len(words)):
            yield start
        start = said.find(words, start + 1)


def _edge(said: str, place: int) -> bool:
    return not 0 <= place < len(said) or not said[place].isalnum()
