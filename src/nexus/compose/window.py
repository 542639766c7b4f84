"""The window of a place, as one looks at it: the last messages, and what lies beside them.

The messages are the ledger's own, so they are never out of date and need no second copy. What was
said before the last long silence is not replayed: the rolling summary tells it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from ..core.access import Grant
from ..core.canonical import clean_json, clean_text, time_text
from ..core.errors import InvalidInput, Unavailable
from ..core.ids import WorkspaceId, check_name, digest
from ..core.protocols import Store
from ..core.records import Event, EventKind, Json
from ..core.scope import Scope
from ..core.window import (
    IDLE,
    ActiveGoal,
    Note,
    Slot,
    Summary,
    Thought,
    Upto,
    WindowItem,
    WindowView,
    summary_from_json,
)
from ..learn.summary import EVERY, rebuilt, refreshed, within_room

SHOWN = (EventKind.MESSAGE, EventKind.TOOL, EventKind.NOTE)
LYING = (Slot.NOTE, Slot.THOUGHT, Slot.GOAL, Slot.SUMMARY)
STAYING = (Slot.GOAL,)  # there is but one, and it says since when
LIMIT = 50
CONTEXTS_KEPT_FOR = timedelta(hours=24)
LONGEST_NOTE = 20_000  # characters of JSON
LONGEST_TTL = timedelta(days=365)
ACTIVE = "active"
STATUSES = (ACTIVE, "done", "dropped")
MOMENT = timedelta(microseconds=1)


def window_of(
    store: Store,
    grant: Grant,
    scope: Scope,
    now: datetime,
    limit: int = LIMIT,
    *,
    idle: timedelta = IDLE,
    as_of: datetime | None = None,
    hurry: bool = False,
) -> WindowView:
    """What is on the table in a place; nothing at all, if the grant does not reach it.

    With `as_of`, what had been said by then, and a goal that is the same since. While the window is
    away, the summary is made from the ledger; not for somebody in a hurry, because nothing would
    keep it and the next one would make it again.
    """
    if not grant.allows(frozenset({scope})):
        return WindowView(fresh=False)
    here = grant.within([scope])
    degraded: tuple[str, ...] = ()
    lying: list[WindowItem] | None = None
    try:
        lying = store.window.find(here, slots=STAYING if as_of else LYING, now=now, idle=idle)
    except Unavailable as error:
        degraded = (f"window: {error}",)
    told = _last(store, here, limit + 1, as_of)
    since = (as_of or now) - idle
    events = _since_the_silence(told, since, idle)[-limit:]
    hidden = told[: len(told) - len(events)]
    summary = Summary()
    if lying is not None and as_of is None:
        kept = _kept(lying)
        summary = _summary(store, here.workspace, scope, kept, (hidden, events), now=now)
    elif told and not (degraded and hurry and as_of is None):
        summary = rebuilt(store, here, Upto.of(told[-1]), as_of=as_of)
    table = _on_the_table([item for item in lying or () if not as_of or item.at <= as_of], since)
    fresh = table.fresh or bool(events)
    summary = within_room(summary)
    return replace(table, events=tuple(events), summary=summary, fresh=fresh, degraded=degraded)


def _on_the_table(lying: Sequence[WindowItem], since: datetime) -> WindowView:
    """Notes, thoughts and the goal; fresh, if one of them was put down since then."""
    return WindowView(
        notes=tuple(_note(item) for item in lying if item.slot is Slot.NOTE),
        thoughts=tuple(_thought(item) for item in reversed(lying) if item.slot is Slot.THOUGHT),
        goal=next((_goal(item) for item in lying if item.slot is Slot.GOAL), None),
        fresh=any(item.at > since for item in lying if item.slot is not Slot.SUMMARY),
    )


def _last(store: Store, here: Grant, limit: int, as_of: datetime | None) -> list[Event]:
    """The last things said in a place, oldest first."""
    until = as_of + MOMENT if as_of else None
    ask = limit
    while True:
        found = store.ledger.find(here, until=until, limit=ask)
        shown = [
            event
            for event in found
            if event.kind in SHOWN and (as_of is None or event.recorded_at <= as_of)
        ]
        if len(shown) >= limit or len(found) < ask:
            return shown[:limit][::-1]
        ask *= 4


def _since_the_silence(told: Sequence[Event], since: datetime, idle: timedelta) -> list[Event]:
    """Those after the last long silence: none, if it lasts."""
    kept: list[Event] = []
    for event in reversed(told):
        if event.at <= (kept[-1].at - idle if kept else since):
            break
        kept.append(event)
    return kept[::-1]


def _kept(lying: Iterable[WindowItem]) -> Summary:
    values = [item.value for item in lying if item.slot is Slot.SUMMARY]
    return summary_from_json(values[0]) if values else Summary()  # type: ignore[arg-type]


def _summary(
    store: Store,
    workspace: WorkspaceId,
    scope: Scope,
    kept: Summary,
    told: tuple[Sequence[Event], Sequence[Event]],
    *,
    now: datetime,
) -> Summary:
    """The one that lies there, if it is up to date: it tells whatever is hidden."""
    hidden, events = told
    upto = kept.upto
    if hidden and not (upto and upto.covers(hidden[-1])):
        return refreshed(store, workspace, scope, now=now, former=kept, every=1)
    fresh = sum(not (upto and upto.covers(event)) for event in events)
    return refreshed(store, workspace, scope, now=now, former=kept) if fresh >= EVERY else kept


# Notes, thoughts and the goal


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
    idle: timedelta = IDLE,
) -> Note:
    """Keep a text or JSON under a key: for `ttl`, or else until nothing happens here any more."""
    check_name(key, "the key of a note")
    kept = clean_text(value, "a note") if isinstance(value, str) else clean_json(value, "a note")
    if len(str(kept)) > LONGEST_NOTE:
        raise InvalidInput(f"a note is at most {LONGEST_NOTE} characters; index a document instead")
    if ttl is not None and not timedelta(0) < ttl <= LONGEST_TTL:
        raise InvalidInput(f"ttl is between 0 and {LONGEST_TTL.days} days, not {ttl}")
    expires = None if ttl is None else now + ttl
    item = WindowItem(
        scope=scope, slot=Slot.NOTE, key=key, value=kept, at=now, by=by, expires_at=expires
    )
    store.window.put(workspace, [item], idle=idle)
    return _note(item)


def notes(
    store: Store, grant: Grant, scope: Scope, now: datetime, *, idle: timedelta = IDLE
) -> list[Note]:
    """The notes of a place, newest first."""
    here = grant.within([scope])
    return [_note(i) for i in store.window.find(here, slots=[Slot.NOTE], now=now, idle=idle)]


def drop_note(store: Store, workspace: WorkspaceId, scope: Scope, key: str) -> bool:
    """Take a note away; whether it was there."""
    check_name(key, "the key of a note")
    return store.window.drop(workspace, scope, Slot.NOTE, key) > 0


def think(
    store: Store,
    workspace: WorkspaceId,
    scope: Scope,
    text: str,
    *,
    now: datetime,
    by: str | None = None,
    idle: timedelta = IDLE,
) -> Thought:
    """Append a thought; the newest stay."""
    thought = _some_text(text, "a thought")
    key = f"{time_text(now)} {digest('thought', thought)[:8]}"
    item = WindowItem(scope=scope, slot=Slot.THOUGHT, key=key, value=thought, at=now, by=by)
    store.window.put(workspace, [item], idle=idle)
    return _thought(item)


def thoughts(
    store: Store, grant: Grant, scope: Scope, now: datetime, *, idle: timedelta = IDLE
) -> list[Thought]:
    """The thoughts of a place, oldest first."""
    here = grant.within([scope])
    found = store.window.find(here, slots=[Slot.THOUGHT], now=now, idle=idle)
    return [_thought(item) for item in reversed(found)]


def set_goal(
    store: Store,
    workspace: WorkspaceId,
    scope: Scope,
    text: str,
    *,
    now: datetime,
    by: str | None = None,
    status: str = ACTIVE,
    idle: timedelta = IDLE,
) -> ActiveGoal:
    """Say what is being worked on here; it takes the place of what was."""
    if status not in STATUSES:
        raise InvalidInput(f"a goal is {', '.join(STATUSES)}, not {status!r:.80}")
    value: Json = {"text": _some_text(text, "a goal"), "status": status}
    item = WindowItem(scope=scope, slot=Slot.GOAL, key=ACTIVE, value=value, at=now, by=by)
    store.window.put(workspace, [item], idle=idle)
    return _goal(item)


def goal(
    store: Store, grant: Grant, scope: Scope, now: datetime, *, idle: timedelta = IDLE
) -> ActiveGoal | None:
    """What is being worked on here."""
    here = grant.within([scope])
    found = store.window.find(here, slots=[Slot.GOAL], now=now, idle=idle)
    return _goal(found[0]) if found else None


# Receipts of contexts


def context_item(
    scope: Scope,
    id: str,
    receipt: Mapping[str, Any],
    *,
    rests_on: Iterable[str],
    people: Iterable[str] = (),
    beside: Iterable[Scope] = (),
    now: datetime,
) -> WindowItem:
    """The receipt of a context, to be put whenever nobody waits: `store.window.put(ws, [item])`.

    `rests_on` are the ids of all events and memories it shows or names; forgetting one of them,
    or one of the `people` who were there, removes it. Whoever does not reach what lies `beside`
    the place does not see it.
    """
    return WindowItem(
        scope=scope,
        slot=Slot.CONTEXT,
        key=id,
        value=dict(receipt),
        at=now,
        expires_at=now + CONTEXTS_KEPT_FOR,
        rests_on=tuple(dict.fromkeys(rests_on)),
        people=tuple(people),
        beside=tuple(beside),
    )


def kept_context(store: Store, grant: Grant, id: str, now: datetime) -> Json:
    """The receipt of a context that was composed in one of the grant's places; else None."""
    found = store.window.find(grant, slots=[Slot.CONTEXT], key=id, now=now)
    return found[0].value if found else None


def _some_text(text: str, what: str) -> str:
    kept = clean_text(text, what).strip()
    if not kept or len(kept) > LONGEST_NOTE:
        raise InvalidInput(f"{what} is a text of 1 to {LONGEST_NOTE} characters")
    return kept


def _note(item: WindowItem) -> Note:
    return Note(key=item.key, value=item.value, at=item.at, by=item.by, expires_at=item.expires_at)


def _thought(item: WindowItem) -> Thought:
    return Thought(text=str(item.value), at=item.at, by=item.by)


def _goal(item: WindowItem) -> ActiveGoal:
    value = item.value if isinstance(item.value, dict) else {}
    return ActiveGoal(text=str(value["text"]), status=str(value["status"]), at=item.at, by=item.by)
