"""Token budget: choose the items of each section that fit, by worth per token. Pure.

Each section has a cap. Its unused tokens go to the next section in order of priority; floors stay
reserved. Inside a section, the items with the most worth for their length are chosen. A second pass
distributes the remaining tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from ..core.records.context import ContextItem, CutItem, make_cut
from .request import EXACT_KIND
from .sections import SECTIONS, STABLE_SECTIONS
from .sections.recall import RECALL, RELATED

# Stable sections have the highest priority: nothing that depends on the question may move them.
PRIORITY = tuple(section.name for section in sorted(SECTIONS, key=lambda section: section.priority))
CONTIGUOUS_SECTIONS = frozenset(section.name for section in SECTIONS if section.is_contiguous)
ANSWER_SECTIONS = (RECALL.name, RELATED.name)
ANSWER_SHARE = 0.75  # of a small budget, reserved for these sections
MIN_FLOOR_TOKENS = 40  # of a section with a floor: its heading and a line
FULL_FLOORS_TOKENS = 2_000  # budget from which every section has its whole floor
LINE_OVERHEAD_TOKENS = 20  # cost of a line to the reader, besides its tokens
MIN_PIECE_TOKENS = 24  # a shorter piece of an item cannot be understood
CUT_BY_BUDGET = "budget"
SHORTENED_KEY = "shortened_from"  # in `why`: tokens of the item before it was shortened
SENTENCE_ENDS = ".!?…。！？\n"

ItemCounter = Callable[[ContextItem, str], int]  # (item, section name) → tokens as rendered


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionOffer:
    """The items of a section in rendering order, and the section's limits."""

    part: str
    items: tuple[ContextItem, ...]  # with their tokens
    budget: int
    floor: int = 0
    heading_tokens: int = 0  # used if any item is shown
    needed_tokens: int = field(init=False)  # to show every item

    def __post_init__(self) -> None:
        needed = sum(item.tokens for item in self.items) + self.heading_tokens if self.items else 0
        object.__setattr__(self, "needed_tokens", needed)


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionShare:
    """The items of a section that fit, and their tokens with the heading."""

    part: str
    items: tuple[ContextItem, ...]
    tokens: int


def share_budget(
    offers: Sequence[SectionOffer], total: int, count: ItemCounter
) -> tuple[dict[str, SectionShare], tuple[CutItem, ...]]:
    """Divide `total` tokens; return the share of each section, and the items that were cut."""
    ordered = sorted(offers, key=lambda offer: PRIORITY.index(offer.part))
    rooms = _initial_rooms(ordered, total)
    shares = {offer.part: _fill_section(offer, rooms[offer.part], count) for offer in ordered}
    left = total - sum(each.tokens for each in shares.values())
    for offer in ordered:
        if offer.part in STABLE_SECTIONS:
            continue
        before = shares[offer.part]
        shares[offer.part] = _fill_section(offer, before.tokens + left, count)
        left -= shares[offer.part].tokens - before.tokens
    cuts = [each for offer in ordered for each in _list_cuts(offer, shares[offer.part])]
    return shares, tuple(cuts)


def _initial_rooms(ordered: Sequence[SectionOffer], total: int) -> dict[str, int]:
    """Return the tokens of each section in the first pass: its cap and earlier leftovers."""
    rooms: dict[str, int] = {}
    left, carried, reserved = total, 0, _reserve_floors(ordered, total)
    for offer in ordered:
        reserved.pop(offer.part)
        wanted = max(offer.budget + carried, offer.floor)
        rooms[offer.part] = min(wanted, left - sum(reserved.values()))
        used = min(rooms[offer.part], offer.needed_tokens)
        carried = wanted - used
        left -= used
    return rooms


def _reserve_floors(ordered: Sequence[SectionOffer], total: int) -> dict[str, int]:
    """Return the reserved tokens of each section.

    If `total` is too small for all floors, the answer comes first, and the others are lowered.
    """
    floors = {offer.part: min(offer.floor, offer.needed_tokens) for offer in ordered}
    if sum(floors.values()) <= total:
        return floors
    left, scale = total, min(1.0, total / FULL_FLOORS_TOKENS)
    answer = int(total * ANSWER_SHARE)
    for offer in sorted(ordered, key=lambda offer: offer.part not in ANSWER_SECTIONS):
        if offer.part in ANSWER_SECTIONS:
            floors[offer.part] = min(offer.floor, offer.needed_tokens, answer)
            answer -= floors[offer.part]
        else:
            scaled = max(int(offer.floor * scale), min(offer.floor, MIN_FLOOR_TOKENS))
            floors[offer.part] = min(scaled, offer.needed_tokens, left)
        left -= floors[offer.part]
    return floors


def _fill_section(offer: SectionOffer, room: int, count: ItemCounter) -> SectionShare:
    """Choose the best items that fit in `room` tokens; they keep their order."""
    if offer.needed_tokens <= room:
        return SectionShare(part=offer.part, items=offer.items, tokens=offer.needed_tokens)
    free = room - offer.heading_tokens
    chosen: dict[int, ContextItem] = {}
    for position in _rank_positions(offer):
        item = offer.items[position]
        if item.tokens <= free:
            chosen[position] = item
            free -= item.tokens
        elif not chosen and (piece := shorten_item(item, free, offer.part, count)):
            chosen[position] = piece
            free -= piece.tokens
        elif offer.part in CONTIGUOUS_SECTIONS:
            break
    items = tuple(chosen[position] for position in sorted(chosen))
    used = sum(item.tokens for item in items) + offer.heading_tokens if items else 0
    return SectionShare(part=offer.part, items=items, tokens=used)


def _rank_positions(offer: SectionOffer) -> list[int]:
    positions = range(len(offer.items))
    if offer.part in CONTIGUOUS_SECTIONS:
        return list(reversed(positions))
    return sorted(
        positions, key=lambda position: (-worth_per_token(offer.items[position]), position)
    )


def worth_per_token(item: ContextItem) -> float:
    """Return the worth of an item for its length."""
    return item.worth / (LINE_OVERHEAD_TOKENS + item.tokens)


def shorten_item(item: ContextItem, room: int, part: str, count: ItemCounter) -> ContextItem | None:
    """Return the beginning of an item that fits, cut at a sentence; None if too little fits.

    An exact value is never cut.
    """
    if item.tokens <= room:
        return item
    if room < MIN_PIECE_TOKENS or item.why.get("kind") == EXACT_KIND:
        return None
    text, why = (
        item.text,
        {**item.why, SHORTENED_KEY: item.why.get(SHORTENED_KEY, float(item.tokens))},
    )
    length = len(text) * room // max(1, item.tokens)
    while length > 0:
        piece = replace(item, text=_truncate_text(text, length), why=why, line="", words="")
        tokens = count(piece, part)
        if tokens <= room:
            return replace(piece, tokens=tokens) if piece.text != "…" else None
        length = min(length - 1, length * room // tokens)
    return None


def _truncate_text(text: str, length: int) -> str:
    """Return the first sentences up to `length` characters, or else the first words."""
    start = text[:length]
    end = max(start.rfind(mark) for mark in SENTENCE_ENDS)
    if end >= length // 2:
        return start[: end + 1].rstrip() + " …"
    return start.rpartition(" ")[0].rstrip() + "…" if " " in start else start + "…"


def _list_cuts(offer: SectionOffer, share: SectionShare) -> list[CutItem]:
    if len(share.items) == len(offer.items):
        return []
    shown = {item.id for item in share.items}
    return [
        make_cut(part=offer.part, id=item.id, tokens=item.tokens, why=CUT_BY_BUDGET)
        for item in offer.items
        if item.id not in shown
    ]
