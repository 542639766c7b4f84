"""Drop items that repeat the recent messages or an item of an earlier section. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from ..core.records.context import ContextItem, CutItem, make_cut
from ..text.terms import normalize_words
from .request import EXACT_KIND
from .sections import SECTIONS
from .sections.window import WINDOW

MIN_MATCH_CHARS = 16  # shorter texts ("Yes, sure.") repeat by chance
FREQUENT_LETTERS = b" aeioulnrstdhcm"  # letters that most words have, and the word separator

CUT_IN_WINDOW = "in the window"
CUT_SHOWN_ABOVE = "said above"

ItemKey = tuple[str, str]  # (section name, item id)
SectionLine = tuple[str, ContextItem, str]  # (section name, item, normalized words)
StatementKey = tuple[str | None, str]  # (speaker, normalized words)


@dataclass(frozen=True, slots=True, kw_only=True)
class VisibleMessages:
    """Recent messages, which the model sees in any case."""

    event_ids: set[str] | frozenset[str] = frozenset()
    words: str = ""  # normalized words, one line for each message

    def covers_item(self, item: ContextItem) -> bool:
        """Return True if the messages show every source event of the item."""
        events = item.events
        return bool(events) and events[0] in self.event_ids and self.event_ids.issuperset(events)


@dataclass(frozen=True, slots=True)
class LineComparison:
    """Every item in rendering order, and which earlier items say the same.

    Most items repeat nothing, so the repetitions are stored by line number.
    """

    lines: Sequence[SectionLine]
    cuts: dict[int, CutItem] = field(default_factory=dict)  # the cut to report if it is dropped
    in_window: set[int] = field(default_factory=set)  # lines that the last messages show
    containing_lines: dict[int, Sequence[int]] = field(default_factory=dict)  # ascending
    same_memory: dict[int, Sequence[int]] = field(default_factory=dict)  # descending


class RepeatedItem(NamedTuple):
    """An item that is dropped because an earlier one says the same."""

    words: str
    original: ItemKey
    part: str  # section of the repeated item
    original_item: ContextItem | None = None  # the original, before it was shortened

    def is_still_shown(self, shown: Mapping[ItemKey, ContextItem]) -> bool:
        """Return True if the original is shown, and is not shortened before these words."""
        item = shown.get(self.original)
        if item is None or item is self.original_item:
            return item is not None
        return not self.words or _contains_words(item_words(item), self.words)


@dataclass(frozen=True, slots=True)
class DedupResult:
    """The sections without repetitions, and the items that were dropped."""

    items: dict[str, tuple[ContextItem, ...]]
    cuts: list[CutItem]
    repeats: list[RepeatedItem]


def item_words(item: ContextItem) -> str:
    """Return the normalized words of an item.

    An exact value has none: normalized words do not distinguish -5 from 5 or "AbC" from "abc".
    """
    if item.why.get("kind") == EXACT_KIND:
        return ""
    return item.words or normalize_words(item.text)


def compare_lines(
    sections: Mapping[str, Sequence[ContextItem]], visible: VisibleMessages
) -> LineComparison:
    """Compare every item with the last messages and with all items above it.

    This runs once for a context. The budget is divided several times, without reading texts again.
    The same words of the same speaker are shown once, also if they are few; of those in one
    section, the newest comes first and stays.
    """
    lines = [line for section in SECTIONS for line in _section_lines(section.name, sections)]
    all_letters = _rare_letters("\n".join([words for _, _, words in lines]))
    window_letters, line_letters = _rare_letters(visible.words), all_letters.split(b"\n")
    starts = list(accumulate([len(letters) + 1 for letters in line_letters], initial=0))
    comparison = LineComparison(lines)
    last_line: dict[str, int] = {}  # item id → its last line
    first_line: dict[StatementKey, int] = {}
    for number, (part, item, words) in enumerate(lines):
        is_window, id, letters = part == WINDOW.name, item.id, line_letters[number]
        if not is_window and (
            visible.covers_item(item)
            or (letters in window_letters and _contains_words(visible.words, words))
        ):
            comparison.in_window.add(number)
            comparison.cuts[number] = _make_cut(part, item, CUT_IN_WINDOW)
            continue
        above = last_line.get(id)
        same = () if above is None else (above, *comparison.same_memory.get(above, ()))
        last_line[id] = number
        is_visible = is_window and id in visible.event_ids
        containing = (
            ()
            if is_visible
            else _lines_containing(comparison, number, letters, all_letters, starts)
        )
        if words and not is_window:
            first = first_line.setdefault((item.speaker, words), number)
            containing = containing or ((first,) if first < number else ())
        if containing or same:
            comparison.containing_lines[number], comparison.same_memory[number] = containing, same
            comparison.cuts[number] = _make_cut(part, item, CUT_SHOWN_ABOVE)
    return comparison


def _section_lines(part: str, sections: Mapping[str, Sequence[ContextItem]]) -> list[SectionLine]:
    """Return the lines of a section; the newest of equal statements takes the first position."""
    lines = [(part, item, item_words(item)) for item in sections.get(part, ())]
    positions: dict[StatementKey, list[int]] = {}
    if part != WINDOW.name:
        for position, (_, item, words) in enumerate(lines):
            if words:
                positions.setdefault((item.speaker, words), []).append(position)
    for equal in positions.values():
        if len(equal) > 1:
            newest = max(equal, key=lambda position: _time_of(lines[position][1]))
            lines[equal[0]], lines[newest] = lines[newest], lines[equal[0]]
    return lines


def _time_of(item: ContextItem) -> float:
    return item.at.timestamp() if item.at else 0.0


def _rare_letters(words: str) -> bytes:
    """Return the words without frequent letters: a fast filter before comparing words."""
    return words.encode(errors="replace").translate(None, FREQUENT_LETTERS)


def _lines_containing(
    comparison: LineComparison,
    number: int,
    letters: bytes,
    all_letters: bytes,
    starts: Sequence[int],
) -> Sequence[int]:
    """Return the earlier lines that contain these words; only lines with their letters are read."""
    own_start, position = starts[number], all_letters.find(letters)
    if position >= own_start:
        return ()
    words = comparison.lines[number][2]
    containing: list[int] = []
    while position < own_start:
        above = bisect_right(starts, position) - 1
        if above not in comparison.in_window and _contains_words(comparison.lines[above][2], words):
            containing.append(above)
        position = all_letters.find(letters, starts[above + 1])
    return containing


def drop_repeated(
    comparison: LineComparison, unshown: Collection[ItemKey] = (), dropped: Collection[ItemKey] = ()
) -> DedupResult:
    """Drop the items that the window shows, and those that repeat an earlier item.

    Items in `unshown` did not fit, so the items that repeat them stay. Items in `dropped` are left
    out.
    """
    kept: dict[str, list[ContextItem]] = {section.name: [] for section in SECTIONS}
    cuts: list[CutItem] = []
    repeats: list[RepeatedItem] = []
    absent: set[int] = set()  # lines that are not shown, so their repetitions stay
    excluded, droppable = {*unshown, *dropped}, comparison.cuts
    for number, (part, item, _) in enumerate(comparison.lines):
        if excluded and (key := (part, item.id)) in excluded:
            absent.add(number)
            if key in dropped:
                continue
        if number in droppable:
            repeat = (
                None
                if number in comparison.in_window
                else _find_original(comparison, number, absent)
            )
            if repeat or number in comparison.in_window:
                absent.add(number)
                cuts.append(droppable[number])
                repeats += [repeat] if repeat else []
                continue
        kept[part].append(item)
    return DedupResult({part: tuple(items) for part, items in kept.items()}, cuts, repeats)


def _make_cut(part: str, item: ContextItem, why: str) -> CutItem:
    return make_cut(part=part, id=item.id, tokens=item.tokens, why=why)


def _find_original(
    comparison: LineComparison, number: int, absent: Collection[int]
) -> RepeatedItem | None:
    """Return the first earlier line with the same words, or else with the same memory."""
    own_part, _, words = comparison.lines[number]
    for repeated_words, numbers in (
        (words, comparison.containing_lines[number]),
        ("", comparison.same_memory[number]),
    ):
        for above in numbers:
            if above not in absent:
                part, item, _ = comparison.lines[above]
                return RepeatedItem(repeated_words, (part, item.id), own_part, item)
    return None


def _contains_words(text: str, words: str) -> bool:
    """Return True if the text contains these words in a row, at word boundaries."""
    if len(words) < MIN_MATCH_CHARS:
        return False
    if text == words:  # the most frequent case
        return True
    start = text.find(words)
    while start >= 0:
        if _is_word_edge(text, start - 1) and _is_word_edge(text, start + len(words)):
            return True
        start = text.find(words, start + 1)
    return False


def _is_word_edge(text: str, position: int) -> bool:
    return not 0 <= position < len(text) or not text[position].isalnum()
