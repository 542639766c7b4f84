"""From what the sections found to what is shown: nothing twice, and nothing too much. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..core.context import Cut, Item, made_cut
from ..core.fence import fenced_steadily
from ..core.part import Part
from ..core.text import words_alone
from ..core.tokens import counter, family_of, line_counter
from .asking import Asking
from .budget import LEAST_PIECE, NO_ROOM, STEADY, Offer, Share, share, shortened
from .lines import PlaceLines
from .once import Before, Compared, Once, Place, Repeated, compared, once, words_of
from .render import (
    INTRODUCTION,
    NOTHING_FOUND,
    NOTHING_MORE,
    head,
    header,
    heading,
    line,
    moment,
    same_line,
    set_in,
)
from .settings import Composing
from .wish import Wish

FENCE = fenced_steadily("", id="0a" * 16)  # an id that has as many tokens as any
ROUNDS = 3  # what finds room below may take that of something else
SHORTEST = 15  # tokens of a landmark: of more than have room nobody needs to hear
LIMIT = "limit"
LONGEST_SHARE = 3  # one item takes at most a third of its section


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """What is shown, what is not, and what is said where nothing is."""

    shares: Mapping[Part, Share]
    cut: tuple[Cut, ...]
    remarks: Mapping[Part, str]
    tokens: int


@dataclass(frozen=True, slots=True)
class Measure:
    """Tokens, as one family of models counts them."""

    family: str
    lines: PlaceLines = field(default_factory=PlaceLines)  # those that are known
    texts: dict[str, tuple[str, str]] = field(default_factory=dict)  # each is read once

    @classmethod
    def of(cls, model: str | None) -> Measure:
        return cls(family_of(model))

    def count(self, text: str) -> int:
        return counter(self.family)(text)

    def tokens(self, item: Item, part: Part) -> int:
        return self.count(line(item, part) + "\n")

    def counted(self, part: Part, items: Iterable[Item]) -> list[Item]:
        """Each one's tokens counted; those that have them stay as they are."""
        made, count = list(items), line_counter(self.family)
        known, texts, new = self.lines.section(part), self.texts, []
        for item in made:
            if item.tokens:
                continue
            told = known.get(item.id)
            if told and same_line(told, item):
                item.counted(told.line, told.tokens, told.words)
            else:
                text = item.text
                shown, words = texts.get(text) or texts.setdefault(text, _read(text))
                begun = head(item, part)
                new.append(item.counted(f"{begun} {shown}", count(begun, shown), words))
        self.lines.keep(part, new)
        return made

    def frame(self, asking: Asking) -> int:
        """The header, the fence, and what is said where nothing was found."""
        said = (INTRODUCTION, header(asking.viewer), moment(asking.now))
        nothing = (heading(Part.RECALL), NOTHING_MORE)
        return sum(self.count(each + "\n") for each in (*said, *nothing, FENCE))


def _read(text: str) -> tuple[str, str]:
    """A text as it stands in a line, and its words."""
    return set_in(text), words_alone(text)


def fit(
    asking: Asking,
    wish: Wish,
    settings: Composing,
    found: Mapping[Part, Sequence[Item]],
    measure: Measure,
) -> Fitted:
    """Choose, under the budget of the wish or the settings."""
    counted: dict[Part, Sequence[Item]]
    counted = {part: measure.counted(part, items) for part, items in found.items()}
    pinned = counted.get(Part.LANDMARKS, ())
    offered = _best(pinned, settings.landmarks // SHORTEST)
    counted[Part.LANDMARKS] = offered
    beyond = _beyond(Part.LANDMARKS, pinned, offered)
    before = _before(asking, wish, settings, counted.get(Part.WINDOW, ()))
    lines = compared(counted, before)
    frame = measure.frame(asking)
    room = (wish.budget or settings.budget) - frame
    left, shares, cut = _divided(lines, settings, measure, room)
    unsaid: set[Place] = set()
    gone: set[Place] = set()
    for _ in range(ROUNDS):
        more = [each for each in _unsaid(left, shares) if each.above not in unsaid]
        if not more:
            break
        # What was to be said above has no room there: it is said where it comes next.
        unsaid.update(each.above for each in more)
        gone |= left_out(more)
        left, shares, cut = _divided(lines, settings, measure, room, unsaid=unsaid, gone=gone)
        cut += _without(counted, gone)
    return Fitted(
        shares=shares,
        cut=(*left.cut, *cut, *beyond),
        remarks=_remarks(asking, found, shares),
        tokens=frame + sum(each.tokens for each in shares.values()),
    )


def _divided(
    lines: Compared,
    settings: Composing,
    measure: Measure,
    room: int,
    *,
    unsaid: Collection[Place] = (),
    gone: Collection[Place] = (),
) -> tuple[Once, dict[Part, Share], tuple[Cut, ...]]:
    """Each thing once, and of that what has room."""
    left = once(lines, unsaid, gone)
    hits = left.kept[Part.RECALL]
    left.kept[Part.RECALL] = hits[: settings.hits]
    left.cut.extend(_beyond(Part.RECALL, hits, left.kept[Part.RECALL]))
    offers = [_offer(part, items, settings, measure) for part, items in left.kept.items() if items]
    return left, *share(offers, room, measure.tokens)


def _best(items: Sequence[Item], most: int) -> Sequence[Item]:
    """So many that are worth most, in the order they stand."""
    if len(items) <= most:
        return items
    ids = {item.id for item in sorted(items, key=lambda item: -item.worth)[:most]}
    return [item for item in items if item.id in ids]


def _beyond(part: Part, found: Sequence[Item], offered: Sequence[Item]) -> list[Cut]:
    """Those that were found, and for which no place is asked."""
    if len(found) == len(offered):
        return []
    ids = {item.id for item in offered}
    return [
        made_cut(part=part, id=item.id, tokens=item.tokens, why=LIMIT)
        for item in found
        if item.id not in ids
    ]


def _unsaid(left: Once, shares: Mapping[Part, Share]) -> list[Repeated]:
    """What others were left out for, and is not shown itself, or not to where it says the same."""
    if not left.repeated:
        return []
    shown = {(each.part, item.id): item for each in shares.values() for item in each.items}
    return [each for each in left.repeated if not each.still_said(shown)]


def left_out(unsaid: Iterable[Repeated]) -> set[Place]:
    """What is left out for good: it shall not find room after all, and be said twice.

    Those that stand first keep theirs, unless one of these says the same: whether something below
    does depends on the question, and nothing that does may move them.
    """
    return {each.above for each in unsaid if each.above[0] not in STEADY or each.part in STEADY}


def _without(counted: Mapping[Part, Sequence[Item]], gone: Collection[Place]) -> tuple[Cut, ...]:
    cut = (
        Cut(part=part, id=item.id, tokens=item.tokens, why=NO_ROOM)
        for part, items in counted.items()
        for item in items
        if (part, item.id) in gone
    )
    return tuple(cut)


def _before(asking: Asking, wish: Wish, settings: Composing, window: Sequence[Item]) -> Before:
    """What the model sees in any case: the caller's messages, and the newest of the window.

    How much of the window that is depends on nothing but the window, so that what is left out of
    the first sections does not change with every question.
    """
    room = settings.window_floor
    sure: list[Item] = []
    for item in reversed(window):
        room -= item.tokens
        if room < 0:
            break
        sure.append(item)
    words = [*(words_alone(each.text) for each in wish.said), *map(words_of, sure)]
    events = asking.shown.union(item.id for item in sure)
    return Before(events=events, said="\n".join(words))


def _offer(part: Part, items: Sequence[Item], settings: Composing, measure: Measure) -> Offer:
    budget = settings.budget_of(part)
    longest = max(LEAST_PIECE, (budget or settings.window_floor) // LONGEST_SHARE)
    fitted = (
        item if item.tokens <= longest else shortened(item, longest, part, measure.tokens) or item
        for item in items
    )
    return Offer(
        part=part,
        items=tuple(fitted),
        budget=budget,
        floor=settings.floor_of(part),
        heading=measure.count(f"\n{heading(part)}\n"),
    )


def _remarks(
    asking: Asking, found: Mapping[Part, Sequence[Item]], shares: Mapping[Part, Share]
) -> dict[Part, str]:
    """Where a question was asked and nothing is shown for it, the model is told so."""
    shown = Part.RECALL in shares and shares[Part.RECALL].items
    if Part.RECALL not in asking.plan.wanted or shown:
        return {}
    return {Part.RECALL: NOTHING_MORE if found.get(Part.RECALL) else NOTHING_FOUND}
