"""What proves useful is kept for long, and facts of which one is certain are known for a person.

Two roads lead from tier short to long: being important when a session is over, and being used.
A fact that is certain and was used often is user-wide as well (`user_wide`). Nothing of it lets
one more reader in: for that, somebody shares. What rests on something that nobody here vouches
for is never promoted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from functools import partial

from ..core.access import administrator_grant
from ..core.audit import WORKER, Entry
from ..core.ids import WorkspaceId
from ..core.jobs import Json, Step, Turn
from ..core.protocols import Store
from ..core.records import MemoryKind, Tier, Trust
from ..core.states import State
from ..core.strength import Strengthening, importance
from .settings import BATCH, LOOKING_BACK
from .sweeps import Pages, marked, next_place, pages
from .user_wide import Widened, make_user_wide

AFTER_A_SESSION = timedelta(hours=1)
MOMENT = timedelta(microseconds=1)
SOONEST = timedelta(minutes=5)  # between two looks for conversations that are over by then
LEAST_TRUST = Trust.INFERRED  # documents, imports and strangers' tools are below


def promote(
    store: Store,
    turns: Sequence[Turn],
    *,
    now: datetime,
    settings: Strengthening,
    batch: int = BATCH,
) -> list[Step]:
    """Keep for long what was used often, in several conversations."""
    since = now - LOOKING_BACK
    found = pages(store, dict(turns), limit=batch, used_since=since)
    used = {
        workspace: [state for state in page if state.used_since(since)]  # not by a secret use
        for workspace, page in found.items()
    }
    ripe = {
        workspace: [
            state for state in page if _may_rise(state) and _is_needed(state, now, settings)
        ]
        for workspace, page in used.items()
    }
    wide = {
        workspace: _made_user_wide(store, workspace, page, now, settings)
        for workspace, page in used.items()
    }
    steps = _kept_for_long(store, found, ripe, now=now, settings=settings, batch=batch)
    return [
        replace(step, counts={**step.counts, "user_wide": count})
        for step, count in zip(steps, wide.values(), strict=True)
    ]


def session_end(
    store: Store,
    turns: Sequence[Turn],
    *,
    now: datetime,
    settings: Strengthening,
    batch: int = BATCH,
) -> list[Step]:
    """Keep for long what is important of conversations that had their last word an hour ago."""
    quiet = now - AFTER_A_SESSION
    found = pages(store, dict(turns), limit=batch, idle_since=quiet)
    ripe = {
        workspace: [
            state
            for state in page
            if _may_rise(state) and importance(state, now) >= settings.important_from
        ]
        for workspace, page in found.items()
    }
    steps = _kept_for_long(store, found, ripe, now=now, settings=settings, batch=batch)
    return _until_all_are_over(store, dict(zip(found, steps, strict=True)), now)


def _until_all_are_over(
    store: Store, steps: Mapping[WorkspaceId, Step], now: datetime
) -> list[Step]:
    """No news will say that a conversation which goes on has ended: a look when it may have."""
    through = [workspace for workspace, step in steps.items() if step.cursor is None]
    grants = [administrator_grant(workspace) for workspace in through]
    last = store.memories.going_on_in(grants, since=now - AFTER_A_SESSION)
    again = {
        workspace: max(at + AFTER_A_SESSION + MOMENT, now + SOONEST)
        for workspace, at in zip(through, last, strict=True)
        if at
    }
    return [replace(step, again_at=again.get(workspace)) for workspace, step in steps.items()]


def _made_user_wide(
    store: Store,
    workspace: WorkspaceId,
    used: Sequence[State],
    now: datetime,
    settings: Strengthening,
) -> int:
    """How many facts became known for a person. Also of those that are kept for long already."""
    proven = {
        state.id: state
        for state in used
        if state.kind is MemoryKind.FACT and _vouched(state) and _has_proved(state, settings)
    }

    def entry(widened: Widened) -> Entry:
        states = [proven[id] for id in widened]
        return _entry(states, now=now, settings=settings, to=widened)

    return make_user_wide(store, workspace, list(proven), entry, now=now) if proven else 0


def _may_rise(state: State) -> bool:
    return state.tier is Tier.SHORT and _vouched(state)


def _vouched(state: State) -> bool:
    return state.trust >= LEAST_TRUST


def _is_needed(state: State, now: datetime, settings: Strengthening) -> bool:
    """In several conversations, and certain and used often, or else important."""
    several = state.use.conversations >= settings.promote_conversations
    important = importance(state, now) >= settings.important_from
    return _has_proved(state, settings) or (several and important)


def _has_proved(state: State, settings: Strengthening) -> bool:
    return (
        state.confidence >= settings.promote_confidence
        and state.use.count >= settings.promote_uses
        and state.use.conversations >= settings.promote_conversations
    )


def _kept_for_long(
    store: Store,
    found: Pages,
    ripe: Mapping[WorkspaceId, Sequence[State]],
    *,
    now: datetime,
    settings: Strengthening,
    batch: int,
) -> list[Step]:
    entry = partial(_entry, now=now, settings=settings)
    promoted = marked(store, ripe, entry, tier=Tier.LONG, archived=False)
    return [
        Step(
            counts={"looked_at": len(page), "promoted": promoted.get(workspace, 0)},
            cursor=next_place(page, batch),
        )
        for workspace, page in found.items()
    ]


def _entry(
    ripe: Sequence[State],
    *,
    now: datetime,
    settings: Strengthening,
    to: Widened | None = None,
) -> Entry:
    """What was promoted, on what grounds, what the thresholds were, and for whom it is known."""
    grounds: list[Json] = [
        {
            "memory": state.id,
            "confidence": state.confidence,
            "uses": state.use.count,
            "conversations": state.use.conversations,
            "importance": round(importance(state, now), 3),
            **({"to": str(to[state.id])} if to else {}),
        }
        for state in ripe
    ]
    detail: dict[str, Json] = {"promoted": grounds, "thresholds": asdict(settings)}
    people = sorted({scope.ids[0] for scope in to.values()}) if to else ()
    return Entry(at=now, action="promote", actor=WORKER, people=tuple(people), detail=detail)
