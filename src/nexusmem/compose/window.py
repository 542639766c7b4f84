"""Working memory of a place: the last messages, summary, notes, thoughts and the active goal.

The messages are read from the ledger, so they need no second copy and are never out of date.
Messages before the last long silence are not shown: the rolling summary covers them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from ..core.access import Grant
from ..core.canonical import clean_json, clean_text, format_time
from ..core.errors import InvalidInput, Unavailable
from ..core.ids import WorkspaceId, check_name, digest
from ..core.protocols.store import Store
from ..core.records import Event, EventKind, Json
from ..core.records.window import (
    IDLE_TIMEOUT,
    ActiveGoal,
    EventCursor,
    Note,
    Summary,
    Thought,
    WindowItem,
    WindowSlot,
    WindowView,
    summary_from_json,
)
from ..core.scope import Scope
from ..learn.summary import MESSAGES_PER_REFRESH, fit_summary, rebuild_summary, refresh_summary

SHOWN_KINDS = (EventKind.MESSAGE, EventKind.TOOL, EventKind.NOTE)
VIEW_SLOTS = (WindowSlot.NOTE, WindowSlot.THOUGHT, WindowSlot.GOAL, WindowSlot.SUMMARY)
REPLAY_SLOTS = (WindowSlot.GOAL,)  # only the goal has the time since which it is unchanged
DEFAULT_LIMIT = 50
RECEIPT_TTL = timedelta(hours=24)
MAX_NOTE_CHARS = 20_000  # of its JSON
MAX_TTL = timedelta(days=365)
ACTIVE = "active"
STATUSES = (ACTIVE, "done", "dropped")
MICROSECOND = timedelta(microseconds=1)


def load_window(
    store: Store,
    grant: Grant,
    scope: Scope,
    now: datetime,
    limit: int = DEFAULT_LIMIT,
    *,
    idle: timedelta = IDLE_TIMEOUT,
    as_of: datetime | None = None,
    skip_rebuild: bool = False,
) -> WindowView:
    """Return the working memory of a place; it is empty if the grant does not cover the place.

    With `as_of`, return the messages recorded by then, and the goal if it is unchanged since. If
    the window store is unavailable, the summary is rebuilt from the ledger. `skip_rebuild` leaves
    it empty instead: a rebuilt summary cannot be stored, so every call would rebuild it.
    """
    if not grant.allows(frozenset({scope})):
        return WindowView(fresh=False)
    here = grant.narrow_to([scope])
    degraded: tuple[str, ...] = ()
    items: list[WindowItem] | None = None
    try:
        items = store.window.find(
            here, slots=REPLAY_SLOTS if as_of else VIEW_SLOTS, now=now, idle=idle
        )
    except Unavailable as error:
        degraded = (f"window: {error}",)
    recent = _last_events(store, here, limit + 1, as_of)
    since = (as_of or now) - idle
    events = _since_last_silence(recent, since, idle)[-limit:]
    hidden = recent[: len(recent) - len(events)]
    summary = Summary()
    if items is not None and as_of is None:
        stored = _read_summary(items)
        summary = _current_summary(store, here.workspace, scope, stored, (hidden, events), now=now)
    elif recent and not (degraded and skip_rebuild and as_of is None):
        summary = rebuild_summary(store, here, EventCursor.from_event(recent[-1]), as_of=as_of)
    view = _view_from_items([item for item in items or () if not as_of or item.at <= as_of], since)
    fresh = view.fresh or bool(events)
    summary = fit_summary(summary)
    return replace(view, events=tuple(events), summary=summary, fresh=fresh, degraded=degraded)


def _view_from_items(items: Sequence[WindowItem], since: datetime) -> WindowView:
    """Return notes, thoughts and the goal; `fresh` if one of them was written after `since`."""
    return WindowView(
        notes=tuple(_to_note(item) for item in items if item.slot is WindowSlot.NOTE),
        thoughts=tuple(
            _to_thought(item) for item in reversed(items) if item.slot is WindowSlot.THOUGHT
        ),
        goal=next((_to_active_goal(item) for item in items if item.slot is WindowSlot.GOAL), None),
        fresh=any(item.at > since for item in items if item.slot is not WindowSlot.SUMMARY),
    )


def _last_events(store: Store, grant: Grant, limit: int, as_of: datetime | None) -> list[Event]:
    """Return the last `limit` shown events of a place, oldest first."""
    until = as_of + MICROSECOND if as_of else None
    batch = limit
    while True:
        events = store.ledger.find(grant, until=until, limit=batch)
        shown = [
            event
            for event in events
            if event.kind in SHOWN_KINDS and (as_of is None or event.recorded_at <= as_of)
        ]
        if len(shown) >= limit or len(events) < batch:
            return shown[:limit][::-1]
        batch *= 4


def _since_last_silence(events: Sequence[Event], since: datetime, idle: timedelta) -> list[Event]:
    """Return the events after the last gap of `idle`; none if the gap lasts until now."""
    newest: list[Event] = []
    for event in reversed(events):
        if event.at <= (newest[-1].at - idle if newest else since):
            break
        newest.append(event)
    return newest[::-1]


def _read_summary(items: Iterable[WindowItem]) -> Summary:
    values = [item.value for item in items if item.slot is WindowSlot.SUMMARY]
    return summary_from_json(values[0]) if values else Summary()  # type: ignore[arg-type]


def _current_summary(
    store: Store,
    workspace: WorkspaceId,
    scope: Scope,
    existing: Summary,
    hidden_and_shown: tuple[Sequence[Event], Sequence[Event]],
    *,
    now: datetime,
) -> Summary:
    """Return the stored summary, refreshed if it lacks a hidden event or many shown ones."""
    hidden, events = hidden_and_shown
    last = existing.last_event
    if hidden and not (last and last.covers(hidden[-1])):
        return refresh_summary(store, workspace, scope, now=now, previous=existing, min_messages=1)
    fresh = sum(not (last and last.covers(event)) for event in events)
    return (
        refresh_summary(store, workspace, scope, now=now, previous=existing)
        if fresh >= MESSAGES_PER_REFRESH
        else existing
    )


# Notes, thoughts and the active goal


def put_note(
    store: Store,
    workspace: WorkspaceId,
    scope: Scope,
    key: str,
    value: Json,
    *,
    now: datetime,
    by: str | None = None,
    ttl: timedelta | None = None,
    idle: timedelta = IDLE_TIMEOUT,
) -> Note:
    """Store a text or JSON under a key, for `ttl` or until the place is idle for `idle`."""
    check_name(key, "the key of a note")
    clean = clean_text(value, "a note") if isinstance(value, str) else clean_json(value, "a note")
    if (length := len(str(clean))) > MAX_NOTE_CHARS:
        raise InvalidInput(
            f"a note must have at most {MAX_NOTE_CHARS} characters, got {length};"
            " use add_document for long texts"
        )
    if ttl is not None and not timedelta(0) < ttl <= MAX_TTL:
        raise InvalidInput(f"ttl must be between 0 and {MAX_TTL.days} days, got {ttl}")
    expires = None if ttl is None else now + ttl
    item = WindowItem(
        scope=scope, slot=WindowSlot.NOTE, key=key, value=clean, at=now, by=by, expires_at=expires
    )
    store.window.put(workspace, [item], idle=idle)
    return _to_note(item)


def list_notes(
    store: Store, grant: Grant, scope: Scope, now: datetime, *, idle: timedelta = IDLE_TIMEOUT
) -> list[Note]:
    """Return the notes of a place, newest first."""
    here = grant.narrow_to([scope])
    return [
        _to_note(i) for i in store.window.find(here, slots=[WindowSlot.NOTE], now=now, idle=idle)
    ]


def delete_note(store: Store, workspace: WorkspaceId, scope: Scope, key: str) -> bool:
    """Delete a note; return True if it existed."""
    check_name(key, "the key of a note")
    return store.window.delete(workspace, scope, WindowSlot.NOTE, key) > 0


def add_thought(
    store: Store,
    workspace: WorkspaceId,
    scope: Scope,
    text: str,
    *,
    now: datetime,
    by: str | None = None,
    idle: timedelta = IDLE_TIMEOUT,
) -> Thought:
    """Append a thought; the store keeps the newest ones."""
    thought = _clean_short_text(text, "a thought")
    key = f"{format_time(now)} {digest('thought', thought)[:8]}"
    item = WindowItem(scope=scope, slot=WindowSlot.THOUGHT, key=key, value=thought, at=now, by=by)
    store.window.put(workspace, [item], idle=idle)
    return _to_thought(item)


def list_thoughts(
    store: Store, grant: Grant, scope: Scope, now: datetime, *, idle: timedelta = IDLE_TIMEOUT
) -> list[Thought]:
    """Return the thoughts of a place, oldest first."""
    here = grant.narrow_to([scope])
    items = store.window.find(here, slots=[WindowSlot.THOUGHT], now=now, idle=idle)
    return [_to_thought(item) for item in reversed(items)]


def set_active_goal(
    store: Store,
    workspace: WorkspaceId,
    scope: Scope,
    text: str,
    *,
    now: datetime,
    by: str | None = None,
    status: str = ACTIVE,
    idle: timedelta = IDLE_TIMEOUT,
) -> ActiveGoal:
    """Set the active goal of a place, replacing the previous one."""
    if status not in STATUSES:
        raise InvalidInput(f"status must be one of {', '.join(STATUSES)}, got {status!r:.80}")
    value: Json = {"text": _clean_short_text(text, "a goal"), "status": status}
    item = WindowItem(scope=scope, slot=WindowSlot.GOAL, key=ACTIVE, value=value, at=now, by=by)
    store.window.put(workspace, [item], idle=idle)
    return _to_active_goal(item)


def get_active_goal(
    store: Store, grant: Grant, scope: Scope, now: datetime, *, idle: timedelta = IDLE_TIMEOUT
) -> ActiveGoal | None:
    """Return the active goal of a place, or None."""
    here = grant.narrow_to([scope])
    items = store.window.find(here, slots=[WindowSlot.GOAL], now=now, idle=idle)
    return _to_active_goal(items[0]) if items else None


# Receipts of contexts


def receipt_item(
    scope: Scope,
    id: str,
    receipt: Mapping[str, Any],
    *,
    source_ids: Iterable[str],
    people: Iterable[str] = (),
    extra_scopes: Iterable[Scope] = (),
    now: datetime,
) -> WindowItem:
    """Return the window item of a context's receipt; the caller stores it in the background.

    `source_ids` are the events and memories that the receipt names. Forgetting one of them, or one
    of the `people` of the place, removes the receipt. Only a grant that covers `extra_scopes` too
    can read it.
    """
    return WindowItem(
        scope=scope,
        slot=WindowSlot.CONTEXT,
        key=id,
        value=dict(receipt),
        at=now,
        expires_at=now + RECEIPT_TTL,
        source_ids=tuple(dict.fromkeys(source_ids)),
        people=tuple(people),
        extra_scopes=tuple(extra_scopes),
    )


def find_receipt(store: Store, grant: Grant, id: str, now: datetime) -> Json:
    """Return the receipt of a context that was composed in one of the grant's places, or None."""
    items = store.window.find(grant, slots=[WindowSlot.CONTEXT], key=id, now=now)
    return items[0].value if items else None


def _clean_short_text(text: str, label: str) -> str:
    clean = clean_text(text, label).strip()
    if not clean or len(clean) > MAX_NOTE_CHARS:
        raise InvalidInput(
            f"{label} must have between 1 and {MAX_NOTE_CHARS} characters, got {len(clean)}"
        )
    return clean


def _to_note(item: WindowItem) -> Note:
    return Note(key=item.key, value=item.value, at=item.at, by=item.by, expires_at=item.expires_at)


def _to_thought(item: WindowItem) -> Thought:
    return Thought(text=str(item.value), at=item.at, by=item.by)


def _to_active_goal(item: WindowItem) -> ActiveGoal:
    value = item.value if isinstance(item.value, dict) else {}
    return ActiveGoal(text=str(value["text"]), status=str(value["status"]), at=item.at, by=item.by)
