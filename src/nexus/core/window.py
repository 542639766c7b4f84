"""The window of a place: what was lately on the table there, beside the events themselves.

Notes, thoughts and the active goal, the rolling summary, and what was put before a model. All of
it is short-lived or can be made again from the ledger; nothing here is the only copy of what
somebody said. A place's window is readable wherever the place is, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Protocol

from .access import Grant, Label
from .canonical import canonical_json, text_time, time_text
from .ids import WorkspaceId, digest
from .quick import open_for
from .records import Event, Json, Trust
from .scope import Scope, parse_scope

IDLE = timedelta(hours=24)  # after the last activity in a place its window is empty
MOMENT = timedelta(microseconds=1)


class Slot(StrEnum):
    """What lies in a window."""

    NOTE = "note"  # a text or JSON under a key
    THOUGHT = "thought"  # appended; the newest stay
    GOAL = "goal"  # the active one
    SUMMARY = "summary"  # of the conversation so far
    INJECTED = "injected"  # digests of what was put before a model
    CONTEXT = "context"  # the receipt of a composed context


NEWS = frozenset({Slot.NOTE, Slot.THOUGHT, Slot.GOAL})  # the rest is made of what was there
MOST_KEPT = {Slot.THOUGHT: 50, Slot.INJECTED: 64, Slot.CONTEXT: 64}  # of one place, the newest


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowItem:
    """One thing in the window of a place, as a store keeps it."""

    scope: Scope
    slot: Slot
    key: str  # the same key again takes the place of what was there
    value: Json
    at: datetime
    by: str | None = None  # who wrote it: a person or an agent
    expires_at: datetime | None = None  # None: when the place has been idle for long enough
    rests_on: tuple[str, ...] = ()  # ids of events and memories it says again
    people: tuple[str, ...] = ()  # whoever else it is about: forgetting one of them removes it
    beside: tuple[Scope, ...] = ()  # readable only where these are, too

    @property
    def label(self) -> Label:
        """Who may see it: whoever reaches its place, and all it was made from."""
        return frozenset({self.scope, *self.beside})

    @property
    def tied_to(self) -> tuple[str, ...]:
        """What takes it along when it is erased: ids, and the digests tombstones have."""
        owner = self.scope.owner
        names = {*self.people, *filter(None, (self.by, owner))}
        people = (digest("user", name) for name in names)
        return tuple(sorted({*self.rests_on, *people, digest("scope", str(self.scope))}))


class Window(Protocol):
    """The windows of all places. Not the only copy of anything, so a put need not be durable.

    It may be far away. Then it answers soon or is StoreUnavailable, and leaves a server that
    does not answer alone for a while; and it is not asked inside of a store's `moment`.
    """

    def put(
        self, workspace: WorkspaceId, items: Sequence[WindowItem], *, idle: timedelta = IDLE
    ) -> None:
        """Keep these, each in the place of one with the same scope, slot and key; all or none.

        Of a slot in `MOST_KEPT` only the newest stay. What rests on an event or a memory that
        is gone is left out, and what is tied to a person or a place that was erased since: it
        comes late, maybe from another process. What was over in the place by then is taken out
        first, so that it is not kept by what comes now.
        """
        ...

    def find(
        self,
        grant: Grant,
        *,
        slots: Sequence[Slot],
        now: datetime,
        key: str | None = None,
        idle: timedelta = IDLE,
    ) -> list[WindowItem]:
        """What lies there and may be seen, newest first and then by key.

        Gone is what has expired; and, if it does not say when it expires, what lies in a place
        where since then, for `idle`, nothing was said and nothing was put into the window. It
        stays gone, whatever happens there later.
        """
        ...

    def drop(self, workspace: WorkspaceId, scope: Scope, slot: Slot, key: str | None = None) -> int:
        """Take this one out, or all of its slot; how many that were."""
        ...

    def prune(self, *, now: datetime, idle: timedelta = IDLE) -> int:
        """Take out what `find` would not show anybody any more; how much that was."""
        ...

    def prune_in(
        self, workspaces: Sequence[WorkspaceId], *, now: datetime, idle: timedelta = IDLE
    ) -> list[int]:
        """The same of these workspaces; how much of each."""
        ...

    def tied_to(self, workspace: WorkspaceId, ids: Sequence[str]) -> list[WindowItem]:
        """What would go with these ids and digests of tombstones."""
        ...

    def epoch(self, grant: Grant) -> int:
        """As of a store, for the news in windows that lie elsewhere than the records.

        0, where they lie in the store itself: there they are in its own epoch.
        """
        ...


def keeps_awake(item: WindowItem) -> bool:
    """Whether putting it is something that happens in a place; a summary only tells what did."""
    return item.slot is not Slot.SUMMARY


def gone_since(item: WindowItem) -> datetime | None:
    """From when on the erasure of a person or a place it is tied to is the erasure of it, too.

    Never, for a summary: its time is that of the last message, and it rests on all it says.
    """
    return None if item.slot is Slot.SUMMARY else item.at


def never_silent(
    put_at: Iterable[datetime],
    said: Callable[[datetime, datetime], datetime | None],
    *,
    now: datetime,
    idle: timedelta,
) -> bool:
    """Whether nothing that lies in a place is over.

    With each thing that is put there, what was over goes. So it is enough to look from the last
    one on. `said` tells when something was last said after one moment and before another.
    """
    reached = max((at for at in put_at if at <= now), default=None)
    while reached is not None and reached <= now - idle:
        reached = said(reached, min(reached + idle, now + MOMENT))
    return reached is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A sentence as a summary quotes it."""

    event: str
    at: datetime
    speaker: str
    text: str
    trust: Trust = Trust.UNKNOWN
    place: int = 0  # which sentence of the event
    lead: int = 0  # seconds it counts as newer than it is, because it tells more
    memories: tuple[str, ...] = ()  # a landmark's own id
    owner: str | None = None  # of an action item
    due: datetime | None = None

    @property
    def said(self) -> str:
        """With who said it."""
        return f"{self.speaker}: {self.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Upto:
    """The last event something covers."""

    at: datetime
    id: str

    @classmethod
    def of(cls, event: Event) -> Upto:
        return cls(at=event.at, id=event.id)

    def covers(self, event: Event) -> bool:
        """Whether the event comes no later; of the same moment, in the ledger's own order."""
        return event.at < self.at or (event.at == self.at and event.id >= self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What was said in a place so far, in its own sentences."""

    lines: tuple[Line, ...] = ()
    decisions: tuple[Line, ...] = ()
    action_items: tuple[Line, ...] = ()
    upto: Upto | None = None

    @property
    def text(self) -> str:
        """What was said, a line for each sentence, oldest first."""
        return "\n".join(line.said for line in self.lines)

    @property
    def events(self) -> tuple[str, ...]:
        """The ids of the events it says again."""
        return tuple(dict.fromkeys(line.event for line in self._all))

    @property
    def rests_on(self) -> tuple[str, ...]:
        """Those and the landmarks: when one is erased, the summary is made again."""
        memories = (id for line in self._all for id in line.memories)
        last = (self.upto.id,) if self.upto else ()
        return tuple(dict.fromkeys([*self.events, *memories, *last]))

    @property
    def _all(self) -> tuple[Line, ...]:
        return (*self.lines, *self.decisions, *self.action_items)


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Something kept under a key for a while."""

    key: str
    value: Json
    at: datetime
    by: str | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Thought:
    """Something an agent said to itself."""

    text: str
    at: datetime
    by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveGoal:
    """What is being worked on here."""

    text: str
    status: str  # "active", "done" or "dropped"
    at: datetime
    by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowView:
    """What is on the table in a place now."""

    events: tuple[Event, ...] = ()  # the last ones since the last long silence, oldest first
    summary: Summary = field(default_factory=Summary)
    notes: tuple[Note, ...] = ()
    thoughts: tuple[Thought, ...] = ()  # oldest first
    goal: ActiveGoal | None = None
    fresh: bool = True  # False: nothing happened here for long; the summary tells what was before
    degraded: tuple[str, ...] = ()  # what did not take part, and why


# Their spelling in a store

TRUSTS = {trust.value: trust for trust in Trust}
_open_line = open_for(Line)  # a summary has dozens, and is read with every context


def item_to_json(item: WindowItem) -> dict[str, Any]:
    return {
        "scope": str(item.scope),
        "slot": item.slot.value,
        "key": item.key,
        "value": item.value,
        "at": time_text(item.at),
        "by": item.by,
        "expires_at": time_text(item.expires_at) if item.expires_at else None,
        "rests_on": list(item.rests_on),
        "people": list(item.people),
        "beside": [str(scope) for scope in item.beside],
    }


def item_from_json(told: Mapping[str, Any]) -> WindowItem:
    expires = told["expires_at"]
    return WindowItem(
        scope=parse_scope(told["scope"]),
        slot=Slot(told["slot"]),
        key=told["key"],
        value=told["value"],
        at=text_time(told["at"]),
        by=told["by"],
        expires_at=text_time(expires) if expires else None,
        rests_on=tuple(told["rests_on"]),
        people=tuple(told["people"]),
        beside=tuple(map(parse_scope, told["beside"])),
    )


def summary_to_json(summary: Summary) -> dict[str, Any]:
    upto = summary.upto
    return {
        "lines": [_line_to_json(line) for line in summary.lines],
        "decisions": [_line_to_json(line) for line in summary.decisions],
        "action_items": [_line_to_json(line) for line in summary.action_items],
        "upto": {"at": time_text(upto.at), "id": upto.id} if upto else None,
    }


def summary_from_json(told: Mapping[str, Any]) -> Summary:
    upto = told["upto"]
    return Summary(
        lines=tuple(map(_line_from_json, told["lines"])),
        decisions=tuple(map(_line_from_json, told["decisions"])),
        action_items=tuple(map(_line_from_json, told["action_items"])),
        upto=Upto(at=text_time(upto["at"]), id=upto["id"]) if upto else None,
    )


def summary_bytes(summary: Summary) -> bytes:
    """One spelling, so that two summaries can be compared."""
    return canonical_json(summary_to_json(summary)).encode()


def _line_to_json(line: Line) -> dict[str, Any]:
    return {
        "event": line.event,
        "at": time_text(line.at),
        "speaker": line.speaker,
        "text": line.text,
        "trust": line.trust.value,
        "place": line.place,
        "lead": line.lead,
        "memories": list(line.memories),
        "owner": line.owner,
        "due": time_text(line.due) if line.due else None,
    }


def _line_from_json(told: Mapping[str, Any]) -> Line:
    due = told["due"]
    made = _open_line()
    made.event = told["event"]
    made.at = text_time(told["at"])
    made.speaker = told["speaker"]
    made.text = told["text"]
    made.trust = TRUSTS[told["trust"]]
    made.place = told["place"]
    made.lead = told["lead"]
    made.memories = tuple(told["memories"])
    made.owner = told["owner"]
    made.due = text_time(due) if due else None
    made.__class__ = Line
    line: Line = made
    return line
