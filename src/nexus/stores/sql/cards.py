"""What ranking asks of every candidate, kept in memory: a card each, in the order of its thread."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import groupby
from operator import itemgetter

from ...core.canonical import text_time
from ...core.metrics import CacheUse
from ...core.records import MemoryKind
from .cache import LabelCache
from .labels import Readable
from .session import Row, Session

KINDS = {kind.value: kind for kind in MemoryKind}
CARD_BYTES = 800  # with its id, its time and its places in three tables

Neighbours = tuple[tuple[str, ...], tuple[str, ...]]  # before and after, nearest first

# What a Candidate begins with: id, kind, speaker, role, thread, at, length, asks, directs. The kind
# is spelt: of tuples that hold nothing but plain values the garbage collector knows soon that it
# need not look at them again.
Traits = tuple[str, str, str | None, str | None, str, datetime, int, bool, bool]
# The number of the memory, the place of its thread among those of all labels, and its traits.
# Plain tuples: thousands are made when a workspace is first asked about.
Card = tuple[int, int, Traits]
Moment = tuple[datetime, str]  # a card's place in its thread


@dataclass(frozen=True, slots=True)
class Talk:
    """A thread in order: when each was said, and its id."""

    moments: list[Moment] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)

    def add(self, moments: Sequence[Moment]) -> None:
        """These, which are in order; nearly always they come after all others."""
        if not self.moments or self.moments[-1] < moments[0]:
            self.moments.extend(moments)
            self.ids.extend([id for _, id in moments])
            return
        for moment in moments:
            here = bisect_left(self.moments, moment)
            self.moments.insert(here, moment)
            self.ids.insert(here, moment[1])

    def copy(self) -> Talk:
        return Talk(list(self.moments), list(self.ids))

    def around(self, moment: Moment, reach: int) -> Neighbours:
        """What stands before and after, nearest first."""
        here, ids = bisect_left(self.moments, moment), self.ids
        before = ids[max(0, here - reach) : here]
        before.reverse()
        return tuple(before), tuple(ids[here + 1 : here + 1 + reach])


@dataclass(frozen=True, slots=True)
class Cards:
    """The cards of one label."""

    by_id: dict[str, Card] = field(default_factory=dict)
    by_number: dict[int, str] = field(default_factory=dict)
    threads: dict[str, Talk] = field(default_factory=partial(defaultdict, Talk))

    @property
    def bytes(self) -> int:
        return CARD_BYTES * len(self.by_id) + 200

    def until(self, _number: int, /) -> Cards:
        """All: a card is looked at only for what a search found."""
        return self

    def copy(self) -> Cards:
        talks = {thread: talk.copy() for thread, talk in self.threads.items()}
        return Cards(dict(self.by_id), dict(self.by_number), defaultdict(Talk, talks))

    def around(self, ids: Iterable[str], reach: int) -> dict[str, Neighbours]:
        """What stands before and after each of those that are here."""
        found: dict[str, Neighbours] = {}
        for id in ids:
            card = self.by_id.get(id)
            if card:
                traits = card[2]
                found[id] = self.threads[traits[4]].around((traits[5], id), reach)
        return found


class CardBox:
    """The cards of every label that was asked about lately."""

    def __init__(self, cache_bytes: int) -> None:
        self._cache: LabelCache[Cards] = LabelCache(cache_bytes)
        self._most = cache_bytes // CARD_BYTES
        self._last: tuple[Readable | None, list[Cards]] = (None, [])  # one question asks many times

    @property
    def use(self) -> CacheUse:
        return self._cache.use

    def at_hand(self, session: Session, view: Readable) -> list[Cards]:
        """The same for those who can do without: none where all of them would not stay."""
        few = sum(state.documents for state in view.labels) <= self._most
        return self.readable(session, view) if few else []

    def readable(self, session: Session, view: Readable) -> list[Cards]:
        last, boxes = self._last
        if last is not view:
            wanted = {(view.workspace, s.label): s for s in view.labels if s.documents}
            boxes = self._cache.fresh(wanted, partial(_read, session))
            self._last = (view, boxes)
        return boxes


def pick(boxes: Sequence[Cards], ids: Sequence[str]) -> list[Card]:
    """The cards of those ids that are there, in the order of the ids."""
    if len(boxes) == 1:
        return list(filter(None, map(boxes[0].by_id.get, ids)))
    return [card for id in ids for box in boxes if (card := box.by_id.get(id))]


def _read(
    session: Session, stale: Mapping[tuple[int, int], tuple[Cards | None, int]]
) -> list[Cards]:
    places = [(*key, after) for key, (_, after) in stale.items()]
    found = session.read_each("new_cards", places)
    known = (cards for cards, _ in stale.values())
    return [_grown(*each) for each in zip(stale, known, found, strict=True)]


def _grown(key: tuple[int, int], known: Cards | None, found: Sequence[Row]) -> Cards:
    if known and not found:
        return known
    # A copy: others may be reading the known ones.
    cards = known.copy() if known else Cards()
    by_id, by_number, label = cards.by_id, cards.by_number, key[1]
    for thread, rows in groupby(found, key=itemgetter(2)):
        name, place = f"{label}/{thread}", (label << 32) | thread
        moments: list[Moment] = []
        for id, memory, _, at, speaker, role, length, asks, directs, kind in rows:
            when = text_time(at)
            said = (id, kind, speaker, role, name, when, length, bool(asks), bool(directs))
            by_id[id] = (memory, place, said)
            by_number[memory] = id
            moments.append((when, id))
        cards.threads[name].add(moments)
    return cards
