"""What every section is told, and how it makes its items."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime

from ..core.access import Grant, Viewer
from ..core.context import Item, made_item
from ..core.filters import Condition, Filter, Op, every
from ..core.links import Relation, links_of, times_said
from ..core.protocols import Store
from ..core.records import Found, Memory, MemoryKind
from ..core.scope import Scope
from ..core.window import Summary, WindowView
from ..recall.episodes import Pointed
from .plan import Plan
from .settings import Composing

DAY_SECONDS = 86_400
HUNDREDTH = DAY_SECONDS // 100  # of a day, in seconds
MOST_PINNED = 100  # the newest are looked at
EXACT = "exact"  # the kind of a value that is shown byte for byte
TIMES = "times"  # in `why`: how often it was said
NOTHING_HERE = WindowView(events=(), summary=Summary())


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """One turn: who asks what and when, what was planned, and what was found so far."""

    store: Store
    grant: Grant
    viewer: Viewer
    plan: Plan
    now: datetime  # the moment it is asked for: `as_of`, if that was given
    replayed: bool = False  # whether `now` lies in the past: later memories are not known yet
    view: WindowView = NOTHING_HERE  # the last messages, and what lies beside them
    found: Found | None = None
    pointed: Pointed | None = None  # the question as a vector, where episodes are wanted
    shown: frozenset[str] = field(default=frozenset())  # ids of events the caller shows already
    settings: Composing = field(default_factory=Composing)
    here: Scope = field(init=False)  # where it is asked
    _read: dict[MemoryKind, list[Memory]] = field(
        init=False, default_factory=dict, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "here", self.viewer.home)

    @property
    def until_then(self) -> Filter | None:
        """What had been told by the moment asked for."""
        return Condition("recorded_at", Op.LTE, self.now) if self.replayed else None

    def of_kind(self, kind: MemoryKind, *, limit: int | None = None) -> list[Memory]:
        """Everything of a kind that may be seen, newest first."""
        where = every([Condition("kind", Op.EQ, kind), self.until_then])
        return self.store.memories.find(self.grant, where=where, limit=limit)

    @property
    def landmarks(self) -> list[Memory]:
        """The newest, which two sections look at: read once."""
        kind = MemoryKind.LANDMARK
        if kind not in self._read:
            self._read[kind] = self.of_kind(kind, limit=MOST_PINNED)
        return self._read[kind]

    def known(self, memories: Iterable[Memory]) -> list[Memory]:
        """Those that had been told by then."""
        return [each for each in memories if not self.replayed or each.recorded_at <= self.now]

    def standing_in(self, memories: Iterable[Memory]) -> dict[str, Memory]:
        """What stands for those of these that say the same as others, by their ids."""
        ids = [memory.id for memory in memories]
        found = links_of(self.store, self.grant, ids, Relation.SAME_AS)
        return {id: link for id, link in found.items() if self.known([link])}

    def brought_up(self, memories: Iterable[Memory]) -> list[Memory]:
        """Those that had been told by then and are shown to somebody who did not ask for them.

        What is archived is not; nobody knows what was, at an earlier moment.
        """
        return [each for each in self.known(memories) if self.replayed or not each.archived]

    def item(self, memory: Memory, worth: float, **why: float | str) -> Item:
        """A memory as a line; where it lies is said unless it is here."""
        here, lies = self.here, memory.scope
        why["age_days"] = self.age(memory.at)
        return made_item(
            text=memory.text,
            id=memory.id,
            at=memory.at,
            speaker=memory.speaker,
            trust=memory.trust,
            scope=None if lies is here or lies == here else str(lies),
            events=memory.sources,
            worth=worth,
            why=why,
        )

    def age(self, at: datetime) -> float:
        """In days, with two digits: worked out for every item, and thus in whole numbers."""
        past = self.now - at
        days, seconds = past.days, past.seconds + HUNDREDTH // 2
        if days >= 0 and seconds % HUNDREDTH:  # else in the future, or perhaps in the middle
            return (100 * days + seconds // HUNDREDTH) / 100
        return round(past.total_seconds() / DAY_SECONDS, 2)


Source = Callable[[Asking], list[Item]]  # a section: it reads inside the grant, and no further


def said(link: Memory | None) -> dict[str, float]:
    """How often something was said, where that was more than once."""
    times = times_said(link) if link else 1
    return {TIMES: times} if times > 1 else {}


def falling(place: int, fade: float = 0.9) -> float:
    """The worth of what stands at this place, counted from 0."""
    return float(fade**place)
