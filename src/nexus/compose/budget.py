"""Which items of which section fit: value per token under floors. Pure.

Each section has a budget of its own, and what it leaves flows to the next one in the order of
priority. Floors are kept free for the sections that have one. Inside a section the items that say
most for their length are kept. What is left in the end goes round once more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from ..core.context import Cut, Item, made_cut
from ..core.part import Part

# Who is served first. The first three stand first, too, and change rarely: nothing that depends on
# the question may move them.
PRIORITY = (
    Part.LANDMARKS,
    Part.PROFILE,
    Part.AWARENESS,
    Part.SUMMARY,
    Part.FACTS,
    Part.RECALL,
    Part.EPISODES,
    Part.PROCEDURES,
    Part.GOALS,
    Part.ACTIVITY,
    Part.WINDOW,
)
STEADY = frozenset({Part.LANDMARKS, Part.PROFILE, Part.AWARENESS})
IN_A_ROW = frozenset({Part.WINDOW})  # the newest, without a gap
ATTENTION = 20  # tokens: what a line costs a reader before its first word
LEAST_PIECE = 24  # tokens: of less nothing is understood
NO_ROOM = "budget"
SHORTENED = "shortened_from"  # in `why`: how many tokens it has as a whole
SENTENCE_ENDS = ".!?…。！？\n"

Count = Callable[[Item, Part], int]  # tokens of an item as it is rendered


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What a section has to say, in the order it stands there, and how much room it has."""

    part: Part
    items: tuple[Item, ...]  # with their tokens
    budget: int
    floor: int = 0
    heading: int = 0  # tokens of its heading, if there is any item
    need: int = field(init=False)  # tokens of all of it

    def __post_init__(self) -> None:
        need = sum(item.tokens for item in self.items) + self.heading if self.items else 0
        object.__setattr__(self, "need", need)


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What a section may show of what it offered."""

    part: Part
    items: tuple[Item, ...]
    tokens: int


def share(
    offers: Sequence[Offer], total: int, count: Count
) -> tuple[dict[Part, Share], tuple[Cut, ...]]:
    """Divide `total` tokens; what every section may show, and what was cut."""
    ordered = sorted(offers, key=lambda offer: PRIORITY.index(offer.part))
    rooms = _rooms(ordered, total)
    shares = {offer.part: _fill(offer, rooms[offer.part], count) for offer in ordered}
    left = total - sum(each.tokens for each in shares.values())
    for offer in ordered:
        if offer.part in STEADY:
            continue
        before = shares[offer.part]
        shares[offer.part] = _fill(offer, before.tokens + left, count)
        left -= shares[offer.part].tokens - before.tokens
    cut = [each for offer in ordered for each in _cut(offer, shares[offer.part])]
    return shares, tuple(cut)


def _rooms(ordered: Sequence[Offer], total: int) -> dict[Part, int]:
    """How much each section may use at first: its budget and what those before it left."""
    rooms: dict[Part, int] = {}
    left, carried, kept_free = total, 0, _floors(ordered, total)
    for offer in ordered:
        kept_free.pop(offer.part)
        wanted = max(offer.budget + carried, offer.floor)
        rooms[offer.part] = min(wanted, left - sum(kept_free.values()))
        used = min(rooms[offer.part], offer.need)
        carried = wanted - used
        left -= used
    return rooms


def _floors(ordered: Sequence[Offer], total: int) -> dict[Part, int]:
    """What is kept free for each section; if it is too much for all, for those that come first."""
    floors, left = {}, total
    for offer in ordered:
        floors[offer.part] = min(offer.floor, offer.need, left)
        left -= floors[offer.part]
    return floors


def _fill(offer: Offer, room: int, count: Count) -> Share:
    """The best of what fits, in the order it stands."""
    if offer.need <= room:
        return Share(part=offer.part, items=offer.items, tokens=offer.need)
    free = room - offer.heading
    chosen: dict[int, Item] = {}
    for place in _best_first(offer):
        item = offer.items[place]
        if item.tokens <= free:
            chosen[place] = item
            free -= item.tokens
        elif not chosen and (piece := shortened(item, free, offer.part, count)):
            chosen[place] = piece
            free -= piece.tokens
        elif offer.part in IN_A_ROW:
            break
    items = tuple(chosen[place] for place in sorted(chosen))
    used = sum(item.tokens for item in items) + offer.heading if items else 0
    return Share(part=offer.part, items=items, tokens=used)


def _best_first(offer: Offer) -> list[int]:
    places = range(len(offer.items))
    if offer.part in IN_A_ROW:
        return list(reversed(places))
    return sorted(places, key=lambda place: (-value(offer.items[place]), place))


def value(item: Item) -> float:
    """What an item is worth for its length."""
    return item.worth / (ATTENTION + item.tokens)


def shortened(item: Item, room: int, part: Part, count: Count) -> Item | None:
    """As much of an item as fits, cut at a sentence if there is one; none if that is too little."""
    if item.tokens <= room:
        return item
    if room < LEAST_PIECE:
        return None
    text, why = item.text, {**item.why, SHORTENED: item.why.get(SHORTENED, float(item.tokens))}
    length = len(text) * room // max(1, item.tokens)
    while length > 0:
        piece = replace(item, text=_until(text, length), why=why, line="", words="")
        tokens = count(piece, part)
        if tokens <= room:
            return replace(piece, tokens=tokens) if piece.text != "…" else None
        length = min(length - 1, length * room // tokens)
    return None


def _until(text: str, length: int) -> str:
    """The first sentences that have together at most this length, or else the first words."""
    start = text[:length]
    end = max(start.rfind(mark) for mark in SENTENCE_ENDS)
    if end >= length // 2:
        return start[: end + 1].rstrip() + " …"
    return start.rpartition(" ")[0].rstrip() + "…" if " " in start else start + "…"


def _cut(offer: Offer, shown: Share) -> list[Cut]:
    if len(shown.items) == len(offer.items):
        return []
    kept = {item.id for item in shown.items}
    return [
        made_cut(part=offer.part, id=item.id, tokens=item.tokens, why=NO_ROOM)
        for item in offer.items
        if item.id not in kept
    ]
