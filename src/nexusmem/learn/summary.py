"""Rolling summary: recent sentences, decisions and action items of one scope.

It is updated after every five messages from the previous summary and the new messages. A sentence's
rank never changes (`sentence_ranking`), so the order and the batches of messages do not matter:
a rebuild from the ledger gives the same bytes if a week has at most MAX_EVENTS messages.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta

from ..core.access import Grant, administrator_grant
from ..core.canonical import parse_time
from ..core.errors import Unavailable
from ..core.flows import memory_scopes
from ..core.ids import WorkspaceId
from ..core.protocols.store import Store
from ..core.records import Event, Memory, MemoryKind
from ..core.records.landmarks import kinds_in_summary
from ..core.records.memory import is_copy
from ..core.records.window import (
    EventCursor,
    Summary,
    SummaryLine,
    WindowItem,
    WindowSlot,
    summary_from_json,
    summary_to_json,
)
from ..core.scope import Scope
from .extract.event_context import CONVERSATION_KINDS, MAX_RECENT_EVENTS
from .sentence_ranking import MAX_LEAD, effective_time, event_lines, line_bytes, select_lines

__all__ = [
    "extend_summary",
    "fit_summary",
    "load_landmarks",
    "load_summary",
    "rebuild_summary",
    "refresh_summary",
    "select_lines",
    "update_summaries",
]

MESSAGES_PER_REFRESH = 5
SENTENCE_BYTES = 1_200  # with the two limits below about 500 tokens
DECISION_BYTES = ACTION_ITEM_BYTES = 350  # plus the bytes that sentences leave
TOTAL_BYTES = SENTENCE_BYTES + DECISION_BYTES + ACTION_ITEM_BYTES
MAX_AGE = timedelta(
    days=7
)  # before the last message; lines with an older effective time are dropped
RETENTION = timedelta(days=30)  # of the stored summary; after it, a rebuild is needed
EVENTS_PER_READ = 100
MAX_EVENTS = 1_000  # read by a rebuild
MAX_MEMORIES_PER_EVENT = 100  # average, for the limit of a read
ONE_MICROSECOND = timedelta(microseconds=1)
WINDOW_KEY = "rolling"

DECISION_KINDS = kinds_in_summary("decisions")
ACTION_ITEM_KINDS = kinds_in_summary("action_items")

LandmarksByEvent = Mapping[str, Sequence[Memory]]  # event id → landmarks
EventWithRecent = tuple[Event, Sequence[Event]]  # event, preceding events of its conversation


def update_summaries(store: Store, events: Iterable[Event], *, now: datetime) -> None:
    """Update the summaries of the scopes of newly learned events.

    If the window does not answer, nothing is updated: a reader rebuilds the summary later.
    """
    by_scope: defaultdict[tuple[WorkspaceId, Scope], list[Event]] = defaultdict(list)
    for event in events:
        if event.kind in CONVERSATION_KINDS:
            by_scope[event.workspace, event.scope].append(event)
    for (workspace, scope), learned in by_scope.items():
        with suppress(Unavailable):
            refresh_summary(store, workspace, scope, now=now, learned_events=learned)


def refresh_summary(
    store: Store,
    workspace: WorkspaceId,
    scope: Scope,
    *,
    now: datetime,
    previous: Summary | None = None,
    learned_events: Sequence[Event] = (),
    min_messages: int = MESSAGES_PER_REFRESH,
) -> Summary:
    """Return the summary of a scope, updated if `min_messages` new messages exist.

    `previous` is the stored summary, if the caller has read it. `learned_events` that it covers
    are read again, because they were late or have new landmarks. Later events that are not learned
    yet are left for the next update.
    """
    grant = administrator_grant(workspace).narrow_to([scope])
    previous = load_summary(store, grant, now) if previous is None else previous
    with store.snapshot():
        summary = _next_summary(store, grant, previous, learned_events, min_messages)
    if summary != previous:
        _save_summary(store, workspace, scope, summary, now)
    return summary


def load_summary(store: Store, grant: Grant, now: datetime) -> Summary:
    """Return the stored summary of the grant's only scope; an empty one if none is stored."""
    items = store.window.find(grant, slots=[WindowSlot.SUMMARY], key=WINDOW_KEY, now=now)
    return summary_from_json(items[0].value) if items else Summary()  # type: ignore[arg-type]


def rebuild_summary(
    store: Store, grant: Grant, upto: EventCursor | None = None, *, as_of: datetime | None = None
) -> Summary:
    """Return the summary of the grant's only scope, computed from the ledger and landmarks.

    With `as_of`, only events recorded until then count.
    """
    summary = Summary()
    for events in _read_backwards(store, grant, upto):
        last = summary.last_event or EventCursor.from_event(events[0])
        batch = [
            event
            for event in events
            if event.kind in CONVERSATION_KINDS and (as_of is None or event.recorded_at <= as_of)
        ]
        summary = replace(
            _add_events(store, grant, replace(summary, last_event=last), batch), last_event=last
        )
        if not _is_recent_enough(events[-1], last):
            break
    return summary


def extend_summary(
    previous: Summary, new_events: Sequence[EventWithRecent], landmarks: LandmarksByEvent
) -> Summary:
    """Return the previous summary extended by new messages. Pure."""
    ids = {event.id for event, _ in new_events}
    events = [event for event, _ in new_events]
    last = max(map(EventCursor.from_event, events), key=_ledger_order, default=previous.last_event)
    upto = max(
        (each for each in (previous.last_event, last) if each), key=_ledger_order, default=None
    )
    if upto is None:
        return previous
    oldest = (upto.at - MAX_AGE).timestamp()

    def choose_lines(
        old: Iterable[SummaryLine], new: Iterable[SummaryLine], max_bytes: int
    ) -> tuple[SummaryLine, ...]:
        lines = [*(line for line in old if line.event not in ids), *new]
        return select_lines(
            (line for line in lines if effective_time(line) >= oldest), max_bytes=max_bytes
        )

    sentences = (
        line for event, recent in new_events for line in _event_sentences(event, recent, landmarks)
    )
    marks = [mark for id in ids for mark in landmarks.get(id, ())]
    return Summary(
        lines=choose_lines(previous.lines, sentences, SENTENCE_BYTES),
        decisions=choose_lines(
            previous.decisions, _landmark_lines(marks, DECISION_KINDS), TOTAL_BYTES
        ),
        action_items=choose_lines(
            previous.action_items, _landmark_lines(marks, ACTION_ITEM_KINDS), TOTAL_BYTES
        ),
        last_event=upto,
    )


def fit_summary(summary: Summary) -> Summary:
    """Return the part of a summary that fits TOTAL_BYTES; decisions use the rest of the bytes.

    The stored summary has more lines: when sentences expire, older decisions get their bytes.
    """
    free = TOTAL_BYTES - _total_bytes(summary.lines)
    reserved = min(ACTION_ITEM_BYTES, _total_bytes(summary.action_items))
    decisions = select_lines(summary.decisions, max_bytes=free - reserved)
    action_items = select_lines(summary.action_items, max_bytes=free - _total_bytes(decisions))
    return replace(summary, decisions=decisions, action_items=action_items)


def _total_bytes(lines: Iterable[SummaryLine]) -> int:
    return sum(map(line_bytes, lines))


def _next_summary(
    store: Store,
    grant: Grant,
    previous: Summary,
    learned_events: Sequence[Event],
    min_messages: int,
) -> Summary:
    """Return the previous summary, or an extended one."""
    end = max(event.at for event in learned_events) + ONE_MICROSECOND if learned_events else None
    if previous.last_event is None:
        newest = store.ledger.find(grant, until=end, limit=min_messages)
        last = EventCursor.from_event(newest[0]) if newest else None
        return rebuild_summary(store, grant, last) if len(newest) >= min_messages else previous
    upto = previous.last_event
    events = store.ledger.find(grant, since=upto.at, until=end, limit=MAX_EVENTS + 1)
    if len(events) > MAX_EVENTS:  # not updated for a long time
        return rebuild_summary(store, grant, EventCursor.from_event(events[0]))
    new = [event for event in events if event.kind in CONVERSATION_KINDS and not upto.covers(event)]
    again = [
        event for event in learned_events if upto.covers(event) and _is_recent_enough(event, upto)
    ]
    if len(new) < min_messages and not again:
        return previous
    summary = _add_events(store, grant, previous, new) if len(new) >= min_messages else previous
    for event in again:
        summary = _add_events(store, grant, summary, [event])
    return summary


def _is_recent_enough(event: Event, upto: EventCursor) -> bool:
    """Return whether a sentence of the event can be within MAX_AGE."""
    return event.at + timedelta(seconds=MAX_LEAD) >= upto.at - MAX_AGE


def _add_events(store: Store, grant: Grant, previous: Summary, events: Sequence[Event]) -> Summary:
    """Return the summary extended by consecutive events."""
    if not events:
        return previous
    pairs = list(_pair_with_recent(store, grant, events))
    return extend_summary(previous, pairs, load_landmarks(store, grant, events))


def _pair_with_recent(
    store: Store, grant: Grant, events: Sequence[Event]
) -> Iterator[EventWithRecent]:
    first, last = (pick(event.at for event in events) for pick in (min, max))
    wanted = {event.id for event in events}
    before = store.ledger.find(grant, until=first, limit=3 * MAX_RECENT_EVENTS)
    inside = store.ledger.find(
        grant, since=first, until=last + ONE_MICROSECOND, limit=2 * MAX_EVENTS
    )
    recent: list[Event] = []
    for event in reversed([*inside, *before]):
        if event.id in wanted:
            yield event, [each for each in recent if each.thread == event.thread]
        if event.kind in CONVERSATION_KINDS:
            recent = [*recent, event][-MAX_RECENT_EVENTS:]


def _read_backwards(store: Store, grant: Grant, upto: EventCursor | None) -> Iterator[list[Event]]:
    """Yield batches of events up to a cursor, newest first."""
    end = upto.at + ONE_MICROSECOND if upto else None
    seen: set[str] = set()
    while len(seen) < MAX_EVENTS:
        events = store.ledger.find(grant, until=end, limit=EVENTS_PER_READ + len(seen))
        new = [
            event
            for event in events
            if event.id not in seen and (upto is None or upto.covers(event))
        ]
        if not new:
            return
        yield new
        seen.update(event.id for event in new)
        end = new[-1].at + ONE_MICROSECOND  # other events may have the same time


def load_landmarks(store: Store, grant: Grant, events: Sequence[Event]) -> LandmarksByEvent:
    """Return the landmarks of these events by event id."""
    if not events:
        return {}
    times = [event.at for event in events]
    scopes = {scope for event in events for scope in memory_scopes(event.scope)}
    grant = administrator_grant(grant.workspace).narrow_to(scopes)
    ids = store.memories.ids_between(
        grant,
        min(times),
        max(times) + ONE_MICROSECOND,
        limit=MAX_MEMORIES_PER_EVENT * len(events),
        learned=True,
    )
    by_event: defaultdict[str, list[Memory]] = defaultdict(list)
    for memory in store.memories.get(grant, ids):
        if memory.kind is MemoryKind.LANDMARK and not is_copy(memory):
            by_event[memory.sources[0]].append(memory)
    return by_event


def _event_sentences(
    event: Event, recent: Sequence[Event], landmarks: LandmarksByEvent
) -> list[SummaryLine]:
    kinds = (*DECISION_KINDS, *ACTION_ITEM_KINDS)
    known = [mark.text for mark in landmarks.get(event.id, ()) if mark.body.get("kind") in kinds]
    return event_lines(event, recent, known)


def _landmark_lines(marks: Iterable[Memory], kinds: Sequence[str]) -> Iterator[SummaryLine]:
    for mark in marks:
        if mark.body.get("kind") in kinds:
            due = mark.body.get("due")
            yield SummaryLine(
                event=mark.sources[0],
                at=mark.at,
                speaker=mark.speaker or "",
                text=mark.text,
                trust=mark.trust,
                memories=(mark.id,),
                owner=mark.body.get("owner"),
                due=parse_time(due) if due else None,
            )


def _ledger_order(upto: EventCursor) -> tuple[datetime, tuple[int, ...]]:
    """Sort key in the order of the ledger: at one time the smaller id is later."""
    return upto.at, tuple(-ord(letter) for letter in upto.id)


def _save_summary(
    store: Store, workspace: WorkspaceId, scope: Scope, summary: Summary, now: datetime
) -> None:
    """Store the summary with the time of its last message: an update is no activity.

    If the window does not answer, a reader rebuilds the summary later.
    """
    if summary.last_event is None:
        return
    item = WindowItem(
        scope=scope,
        slot=WindowSlot.SUMMARY,
        key=WINDOW_KEY,
        value=summary_to_json(summary),
        at=summary.last_event.at,
        expires_at=now + RETENTION,
        source_ids=summary.source_ids,
    )
    with suppress(Unavailable):
        store.window.put(workspace, [item])
