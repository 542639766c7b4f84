"""Nothing twice: what the window shows, or what was said above, is not said again. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "said", "\n".join(map(words_alone, self.texts)))

    def shows(self, item: Item, words: str) -> bool:
        """Whether it shows what an item rests on, or says its words."""
        if item.events and self.events.issuperset(item.events):
            return True
        return _says(self.said, words)


def once(
    sections: Mapping[Part, Sequence[Item]], before: Before
) -> tuple[dict[Part, tuple[Item, ...]], list[Cut]]:
    """The sections without repetitions, and what was left out."""
    kept: dict[Part, tuple[Item, ...]] = {}
    cut: list[Cut] = []
    above, ids = "", set[str]()
    for part in Part:
        fresh: list[Item] = []
        for item in sections.get(part, ()):
            words = words_alone(item.text)
            why = _why_not(item, words, part, before, above)
            why = why or (SAID_ABOVE if item.id in ids else None)
            if why:
                cut.append(Cut(part=part, id=item.id, tokens=item.tokens, why=why))
            else:
                fresh.append(item)
                above += f"{words}\n"
                ids.add(item.id)
        kept[part] = tuple(fresh)
    return kept, cut


def _why_not(item: Item, words: str, part: Part, before: Before, above: str) -> str | None:
    if part is Part.WINDOW:
        if item.id in before.events:
            return None  # it is the window
    elif before.shows(item, words):
        return IN_THE_WINDOW
    return SAID_ABOVE if _says(above, words) else None


def _says(said: str, words: str) -> bool:
    """Whether these words stand there in a row, as words of their own."""
    if len(words) < SHORTEST or words not in said:
        return False
    start = said.find(words)
    while start >= 0:
        end = start + len(words)
        if _edge(said, start - 1) and _edge(said, end):
            return True
        start = said.find(words, start + 1)
    return False


def _edge(said: str, place: int) -> bool:
    return not 0 <= place < len(said) or not said[place].isalnum()
