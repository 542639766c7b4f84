"""Nothing twice: what the window shows, or what was said above, is not said again. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from ..core.context import Cut, Item
from ..core.part import Part
from ..core.text import words_alone

SHORTEST = 16  # letters: shorter ones ("Yes, sure.") are nobody's in particular

IN_THE_WINDOW = "in the window"
SAID_ABOVE = "said above"


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """What the model sees in any case: the last messages."""

    events: set[str] | frozenset[str] = frozenset()  # their ids
    texts: Sequence[str] = ()
    said: str = field(default="", init=False)
    words: dict[str, str] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "said", "\n".join(map(words_alone, self.texts)))

    def words_of(self, item: Item) -> str:
        """Its words alone, looked for once: sections are gone through again and again."""
        words = self.words.get(item.text)
        if words is None:
            words = self.words[item.text] = words_alone(item.text)
        return words

    def shows(self, item: Item, words: str) -> bool:
        """Whether it shows what an item rests on, or says its words."""
        if item.events and self.events.issuperset(item.events):
            return True
        return _says(self.said, words)


@dataclass(frozen=True, slots=True)
class Repeated:
    """An item that is left out because one above it says the same."""

    words: str
    above: tuple[Part, str]  # the section and the id of that one

    def still_said(self, shown: Mapping[tuple[Part, str], Item]) -> bool:
        """Whether it is, when only this is shown; of some, perhaps, not to the end."""
        item = shown.get(self.above)
        return item is not None and (not self.words or _says(words_alone(item.text), self.words))


@dataclass(frozen=True, slots=True)
class Once:
    """The sections without repetitions, and what was left out of them."""

    kept: dict[Part, tuple[Item, ...]]
    cut: list[Cut]
    repeated: list[Repeated]


def once(
    sections: Mapping[Part, Sequence[Item]],
    before: Before,
    unsaid: Collection[tuple[Part, str]] = (),
) -> Once:
    """Leave out what the window shows, and what is said above.

    `unsaid` are known to have no room in the end: for these nothing is left out.
    """
    kept: dict[Part, tuple[Item, ...]] = {}
    cut: list[Cut] = []
    repeated: list[Repeated] = []
    above = _Above()
    for part in Part:
        fresh: list[Item] = []
        for item in sections.get(part, ()):
            words = before.words_of(item)
            is_window = part is Part.WINDOW and item.id in before.events
            shown = part is not Part.WINDOW and before.shows(item, words)
            again = None if shown else above.says(item, "" if is_window else words)
            if shown or again:
                why = IN_THE_WINDOW if shown else SAID_ABOVE
                cut.append(Cut(part=part, id=item.id, tokens=item.tokens, why=why))
                repeated += [again] if again else []
            else:
                fresh.append(item)
                if (part, item.id) not in unsaid:
                    above.add(part, item, words)
        kept[part] = tuple(fresh)
    return Once(kept, cut, repeated)


class _Above:
    """What was said so far, and by which item."""

    def __init__(self) -> None:
        self._said = ""
        self._starts: list[int] = []
        self._items: list[tuple[Part, str]] = []
        self._by_id: dict[str, tuple[Part, str]] = {}

    def add(self, part: Part, item: Item, words: str) -> None:
        self._starts.append(len(self._said))
        self._items.append((part, item.id))
        self._by_id[item.id] = (part, item.id)
        self._said += f"{words}\n"

    def says(self, item: Item, words: str) -> Repeated | None:
        """By which item its words are said, or the same memory is told in other words."""
        place = _place(self._said, words)
        if place >= 0:
            return Repeated(words, self._items[bisect_right(self._starts, place) - 1])
        known = self._by_id.get(item.id)
        return Repeated("", known) if known else None


def _says(said: str, words: str) -> bool:
    return _place(said, words) >= 0


def _place(said: str, words: str) -> int:
    """Where these words stand in a row, as words of their own; -1: nowhere."""
    if len(words) < SHORTEST or words not in said:
        return -1
    start = said.find(words)
    while start >= 0:
        end = start + len(words)
        if _edge(said, start - 1) and _edge(said, end):
            return start
        start = said.find(words, start + 1)
    return -1


def _edge(said: str, place: int) -> bool:
    return not 0 <= place < len(said) or not said[place].isalnum()
