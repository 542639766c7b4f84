"""What ranking asks of every candidate, kept in memory: a card each, in the order of its thread."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import NamedTuple

from ...core.candidate import Candidate
from ...core.canonical import text_time
from ...core.metrics import CacheUse
from ...core.records import MemoryKind
from .cache import LabelCache
from .labels import Readable
from .session import Row, Session

KINDS = {kind.value: kind for kind in MemoryKind}
CARD_BYTES = 800  # with its id, its time and its places in three tables

Moment = tuple[datetime, str]  # a card's place in its thread


class Card(NamedTuple):
    memory: int
    place: int  # of its thread, among those of all labels
    kind: MemoryKind  # from here on as in a Candidate
    speaker: str | None
    role: str | None
    thread: str
    at: datetime
    length: int
    asks: bool
    directs: bool

    def candidate(self, id: str, keyword: float, thread_keyword: float) -> Candidate:
        return Candidate._make((id, *self[2:], keyword, thread_keyword))


@dataclass(frozen=True, slots=True)
class Cards:
    """The cards of one label."""

    by_id: dict[str, Card] = field(default_factory=dict)
    by_number: dict[int, str] = field(default_factory=dict)
    threads: dict[str, list[Moment]] = field(default_factory=partial(defaultdict, list))

    @property
    def bytes(self) -> int:
        return CARD_BYTES * len(self.by_id) + 200

    def add(self, id: str, card: Card) -> None:
        self.by_id[id] = card
        self.by_number[card.memory] = id
        insort(self.threads[card.thread], (card.at, id))

    def copy(self) -> Cards:
        talks = {thread: list(talk) for thread, talk in self.threads.items()}
        return Cards(dict(self.by_id), dict(self.by_number), defaultdict(list, talks))

    def around(self, id: str, reach: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What stands before and after, nearest first."""
        card = self.by_id[id]
        talk = self.threads[card.thread]
        here = bisect_left(talk, (card.at, id))
        before = talk[max(0, here - reach) : here][::-1]
        after = talk[here + 1 : here + 1 + reach]
        return tuple(each for _, each in before), tuple(each for _, each in after)


class CardBox:
    """The cards of every label that was asked about lately."""

    def __init__(self, cache_bytes: int) -> None:
        self._cache: LabelCache[Cards] = LabelCache(cache_bytes)
        self._most = cache_bytes // CARD_BYTES

    @property
    def use(self) -> CacheUse:
        return self._cache.use

    def at_hand(self, session: Session, view: Readable) -> list[Cards]:
        """The same for those who can do without: none where all of them would not stay."""
        few = sum(state.documents for state in view.labels) <= self._most
        return self.readable(session, view) if few else []

    def readable(self, session: Session, view: Readable) -> list[Cards]:
        wanted = {(view.workspace, s.label): s for s in view.labels if s.documents}
        return self._cache.fresh(wanted, partial(_read, session))


def pick(boxes: Sequence[Cards], ids: Iterable[str]) -> Iterator[tuple[str, Card]]:
    """The cards of those ids that are there."""
    for id in ids:
        for box in boxes:
            if card := box.by_id.get(id):
                yield id, card
                break


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
    _, label = key
    for id, memory, thread, at, speaker, role, length, asks, directs, kind in found:
        place, name = (label << 32) | thread, f"{label}/{thread}"
        traits = (text_time(at), length, bool(asks), bool(directs))
        cards.add(id, Card(memory, place, KINDS[kind], speaker, role, name, *traits))
    return cards
