"""Window: short-lived state of a scope, such as notes, the summary and context receipts.

A window holds notes, thoughts, the active goal, the rolling summary and digests of injected
context. It expires or can be rebuilt from the ledger, and is never the only copy of an event. A
window is readable where its scope is readable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Protocol

from ..access import Grant, Label
from ..canonical import canonical_json, format_time, parse_time
from ..ids import WorkspaceId, digest
from ..json_codec import unfrozen_factory
from ..scope import Scope, parse_scope
from . import Event, Json, Trust

IDLE_TIMEOUT = timedelta(hours=24)  # a window expires this long after the last activity
ONE_MICROSECOND = timedelta(microseconds=1)


class WindowSlot(StrEnum):
    """Kind of a window item."""

    NOTE = "note"  # text or JSON under a key
    THOUGHT = "thought"  # appended; only the newest stay
    GOAL = "goal"  # the active goal
    SUMMARY = "summary"  # of the conversation so far
    INJECTED = "injected"  # digests of texts given to a model
    CONTEXT = "context"  # the receipt of a composed context


NEWS_SLOTS = frozenset(
    {WindowSlot.NOTE, WindowSlot.THOUGHT, WindowSlot.GOAL}
)  # slots that change an epoch; the others are derived from existing records
MAX_ITEMS = {
    WindowSlot.THOUGHT: 50,
    WindowSlot.INJECTED: 64,
    WindowSlot.CONTEXT: 64,
}  # per scope; the newest stay


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowItem:
    """An item in the window of a scope."""

    scope: Scope
    slot: WindowSlot
    key: str  # a new item with the same key replaces the old one
    value: Json
    at: datetime
    by: str | None = None  # author: a person or an agent
    expires_at: datetime | None = None  # None: after the idle timeout of the scope
    source_ids: tuple[str, ...] = ()  # ids of events and memories it quotes
    people: tuple[str, ...] = ()  # people it is about; erasing one of them erases the item
    extra_scopes: tuple[Scope, ...] = ()  # readers need access to these, too

    @property
    def label(self) -> Label:
        """Scopes that a reader needs: the scope of the item and those of its sources."""
        return frozenset({self.scope, *self.extra_scopes})

    @property
    def erasure_keys(self) -> tuple[str, ...]:
        """Ids and tombstone digests whose erasure also erases this item."""
        owner = self.scope.owner
        names = {*self.people, *filter(None, (self.by, owner))}
        people = (digest("user", name) for name in names)
        return tuple(sorted({*self.source_ids, *people, digest("scope", str(self.scope))}))


class Window(Protocol):
    """The windows of all scopes. They are never the only copy, so a put need not be durable.

    An implementation may be remote. It then answers fast or raises StoreUnavailable, with a circuit
    breaker for a failing server. It is never called inside `Store.snapshot`.
    """

    def put(
        self, workspace: WorkspaceId, items: Sequence[WindowItem], *, idle: timedelta = IDLE_TIMEOUT
    ) -> None:
        """Store these items in one transaction, replacing those with the same scope, slot and key.

        In a slot of `MAX_ITEMS` only the newest items stay. Items are dropped if a source was
        erased, or if a person or scope they depend on was erased after `erasable_since`. This
        covers late writes of other processes. Expired items of the scope are deleted first, so that
        the new activity does not revive them.
        """
        ...

    def find(
        self,
        grant: Grant,
        *,
        slots: Sequence[WindowSlot],
        now: datetime,
        key: str | None = None,
        idle: timedelta = IDLE_TIMEOUT,
    ) -> list[WindowItem]:
        """Return the visible items of these slots, newest first and then by key.

        Expired items are left out. An item without `expires_at` expires once its scope had neither
        an event nor a window write for `idle`. Later activity does not bring it back.
        """
        ...

    def delete(
        self, workspace: WorkspaceId, scope: Scope, slot: WindowSlot, key: str | None = None
    ) -> int:
        """Delete one item, or all items of the slot if `key` is None; return the number deleted."""
        ...

    def prune(self, *, now: datetime, idle: timedelta = IDLE_TIMEOUT) -> int:
        """Delete all expired items; return their number."""
        ...

    def prune_many(
        self, workspaces: Sequence[WorkspaceId], *, now: datetime, idle: timedelta = IDLE_TIMEOUT
    ) -> list[int]:
        """Delete the expired items of these workspaces; return the number for each."""
        ...

    def find_dependents(self, workspace: WorkspaceId, ids: Sequence[str]) -> list[WindowItem]:
        """Return the items that erasing these ids and tombstone digests would erase."""
        ...

    def epoch(self, grant: Grant) -> int:
        """Return the epoch of a window outside of the store, as `Store.epoch` does.

        Return 0 if the window is part of the store and is covered by the store's epoch.
        """
        ...


def counts_as_activity(item: WindowItem) -> bool:
    """Return whether putting the item counts as activity in its scope; a summary does not."""
    return item.slot is not WindowSlot.SUMMARY


def erasable_since(item: WindowItem) -> datetime | None:
    """Return the time from which erasing a related person or scope erases the item, too.

    None for a summary: its time is that of its last message, and all its sources are listed.
    """
    return None if item.slot is WindowSlot.SUMMARY else item.at


def is_still_active(
    put_at: Iterable[datetime],
    last_event_between: Callable[[datetime, datetime], datetime | None],
    *,
    now: datetime,
    idle: timedelta,
) -> bool:
    """Return whether the items of a scope have not expired by inactivity.

    Each put deletes the items that had expired before, so the check starts at the latest put.
    `last_event_between` returns the time of the last event between two times, or None.
    """
    active_at = max((at for at in put_at if at <= now), default=None)
    while active_at is not None and active_at <= now - idle:
        active_at = last_event_between(active_at, min(active_at + idle, now + ONE_MICROSECOND))
    return active_at is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryLine:
    """A sentence that a summary quotes."""

    event: str
    at: datetime
    speaker: str
    text: str
    trust: Trust = Trust.UNKNOWN
    place: int = 0  # index of the sentence in the event
    lead: int = 0  # seconds added to its time when ranking, for informative sentences
    memories: tuple[str, ...] = ()  # id of the landmark
    owner: str | None = None  # of an action item
    due: datetime | None = None

    @property
    def text_with_speaker(self) -> str:
        """The sentence, prefixed with its speaker."""
        return f"{self.speaker}: {self.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class EventCursor:
    """The last event that a summary covers."""

    at: datetime
    id: str

    @classmethod
    def from_event(cls, event: Event) -> EventCursor:
        return cls(at=event.at, id=event.id)

    def covers(self, event: Event) -> bool:
        """Return whether the event is not later; at the same time, the ledger order decides."""
        return event.at < self.at or (event.at == self.at and event.id >= self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Extractive summary of a conversation."""

    lines: tuple[SummaryLine, ...] = ()
    decisions: tuple[SummaryLine, ...] = ()
    action_items: tuple[SummaryLine, ...] = ()
    last_event: EventCursor | None = None

    @property
    def text(self) -> str:
        """The quoted sentences, one per line, oldest first."""
        return "\n".join(line.text_with_speaker for line in self.lines)

    @property
    def event_ids(self) -> tuple[str, ...]:
        """Ids of the quoted events."""
        return tuple(dict.fromkeys(line.event for line in self._all_lines))

    @property
    def source_ids(self) -> tuple[str, ...]:
        """Ids of quoted events and landmarks; erasing one of them rebuilds the summary."""
        memories = (id for line in self._all_lines for id in line.memories)
        last = (self.last_event.id,) if self.last_event else ()
        return tuple(dict.fromkeys([*self.event_ids, *memories, *last]))

    @property
    def _all_lines(self) -> tuple[SummaryLine, ...]:
        return (*self.lines, *self.decisions, *self.action_items)


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A value stored under a key until it expires."""

    key: str
    value: Json
    at: datetime
    by: str | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Thought:
    """A private note of an agent."""

    text: str
    at: datetime
    by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveGoal:
    """The goal that is being worked on in a scope."""

    text: str
    status: str  # "active", "done" or "dropped"
    at: datetime
    by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowView:
    """The current window of a scope, as a viewer sees it."""

    events: tuple[Event, ...] = ()  # the latest ones since the last idle period, oldest first
    summary: Summary = field(default_factory=Summary)
    notes: tuple[Note, ...] = ()
    thoughts: tuple[Thought, ...] = ()  # oldest first
    goal: ActiveGoal | None = None
    fresh: bool = True  # False: idle for long; the summary covers earlier events
    degraded: tuple[str, ...] = ()  # parts that were unavailable, and why


# JSON encoding for stores

TRUSTS = {trust.value: trust for trust in Trust}
_blank_line = unfrozen_factory(SummaryLine)  # hot path: every context decodes dozens of lines


def item_to_json(item: WindowItem) -> dict[str, Any]:
    return {
        "scope": str(item.scope),
        "slot": item.slot.value,
        "key": item.key,
        "value": item.value,
        "at": format_time(item.at),
        "by": item.by,
        "expires_at": format_time(item.expires_at) if item.expires_at else None,
        "rests_on": list(item.source_ids),
        "people": list(item.people),
        "beside": [str(scope) for scope in item.extra_scopes],
    }


def item_from_json(data: Mapping[str, Any]) -> WindowItem:
    expires = data["expires_at"]
    return WindowItem(
        scope=parse_scope(data["scope"]),
        slot=WindowSlot(data["slot"]),
        key=data["key"],
        value=data["value"],
        at=parse_time(data["at"]),
        by=data["by"],
        expires_at=parse_time(expires) if expires else None,
        source_ids=tuple(data["rests_on"]),
        people=tuple(data["people"]),
        extra_scopes=tuple(map(parse_scope, data["beside"])),
    )


def summary_to_json(summary: Summary) -> dict[str, Any]:
    last = summary.last_event
    return {
        "lines": [_line_to_json(line) for line in summary.lines],
        "decisions": [_line_to_json(line) for line in summary.decisions],
        "action_items": [_line_to_json(line) for line in summary.action_items],
        "upto": {"at": format_time(last.at), "id": last.id} if last else None,
    }


def summary_from_json(data: Mapping[str, Any]) -> Summary:
    last = data["upto"]
    return Summary(
        lines=tuple(map(_line_from_json, data["lines"])),
        decisions=tuple(map(_line_from_json, data["decisions"])),
        action_items=tuple(map(_line_from_json, data["action_items"])),
        last_event=EventCursor(at=parse_time(last["at"]), id=last["id"]) if last else None,
    )


def summary_bytes(summary: Summary) -> bytes:
    """Return the canonical encoding of a summary, for comparison."""
    return canonical_json(summary_to_json(summary)).encode()


def _line_to_json(line: SummaryLine) -> dict[str, Any]:
    return {
        "event": line.event,
        "at": format_time(line.at),
        "speaker": line.speaker,
        "text": line.text,
        "trust": line.trust.value,
        "place": line.place,
        "lead": line.lead,
        "memories": list(line.memories),
        "owner": line.owner,
        "due": format_time(line.due) if line.due else None,
    }


def _line_from_json(data: Mapping[str, Any]) -> SummaryLine:
    due = data["due"]
    made = _blank_line()
    made.event = data["event"]
    made.at = parse_time(data["at"])
    made.speaker = data["speaker"]
    made.text = data["text"]
    made.trust = TRUSTS[data["trust"]]
    made.place = data["place"]
    made.lead = data["lead"]
    made.memories = tuple(data["memories"])
    made.owner = data["owner"]
    made.due = parse_time(due) if due else None
    made.__class__ = SummaryLine
    line: SummaryLine = made
    return line
