"""What proves useful is kept for long.

Two roads lead from tier short to long: being important when a session is over, and being used.
Neither changes who may read a memory: nothing is copied anywhere, and whoever wants more readers
shares it. What rests on something that nobody here vouches for is never promoted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timedelta

from ..core.access import administrator_grant
from ..core.audit import WORKER, Entry
from ..core.ids import WorkspaceId
from ..core.jobs import Json, Step
from ..core.protocols import Store
from ..core.records import Tier, Trust
from ..core.states import State
from ..core.strength import Strengthening, importance
from .settings import BATCH, LOOKING_BACK

AFTER_A_SESSION = timedelta(hours=1)
LEAST_TRUST = Trust.INFERRED  # documents, imports and strangers' tools are below


def promote(
    store: Store,
    workspace: WorkspaceId,
    *,
    now: datetime,
    cursor: Json,
    settings: Strengthening,
    batch: int = BATCH,
) -> Step:
    """Keep for long what was used often, in several conversations."""
    since = now - LOOKING_BACK
    grant = administrator_grant(workspace)
    page = store.memories.states(grant, after=cursor, limit=batch, used_since=since)
    known = [state for state in page if state.used_since(since)]  # not by a secret use
    ripe = [state for state in known if _may_rise(state) and _is_needed(state, now, settings)]
    return _kept_for_long(store, workspace, page, ripe, now=now, settings=settings, batch=batch)


def session_end(
    store: Store,
    workspace: WorkspaceId,
    *,
    now: datetime,
    cursor: Json,
    settings: Strengthening,
    batch: int = BATCH,
) -> Step:
    """Keep for long what is important of conversations that had their last word an hour ago."""
    quiet = now - AFTER_A_SESSION
    grant = administrator_grant(workspace)
    page = store.memories.states(grant, after=cursor, limit=batch, idle_since=quiet)
    ripe = [
        state
        for state in page
        if _may_rise(state) and importance(state, now) >= settings.important_from
    ]
    return _kept_for_long(store, workspace, page, ripe, now=now, settings=settings, batch=batch)


def _may_rise(state: State) -> bool:
    return state.tier is Tier.SHORT and state.trust >= LEAST_TRUST


def _is_needed(state: State, now: datetime, settings: Strengthening) -> bool:
    """In several conversations, and certain and used often, or else important."""
    if state.use.conversations < settings.promote_conversations:
        return False
    certain = state.confidence >= settings.promote_confidence
    often = state.use.count >= settings.promote_uses
    return (certain and often) or importance(state, now) >= settings.important_from


def _kept_for_long(
    store: Store,
    workspace: WorkspaceId,
    page: Sequence[State],
    ripe: Sequence[State],
    *,
    now: datetime,
    settings: Strengthening,
    batch: int,
) -> Step:
    promoted = 0
    if ripe:
        with store.recording(workspace, _entry(ripe, now, settings)):
            ids = [state.id for state in ripe]
            promoted = store.memories.mark(workspace, ids, tier=Tier.LONG, archived=False)
    more = page[-1].place if len(page) == batch else None
    return Step(counts={"looked_at": len(page), "promoted": promoted}, cursor=more)


def _entry(ripe: Sequence[State], now: datetime, settings: Strengthening) -> Entry:
    """What was promoted, on what grounds, and what the thresholds were."""
    grounds: list[Json] = [
        {
            "memory": state.id,
            "confidence": state.confidence,
            "uses": state.use.count,
            "conversations": state.use.conversations,
            "importance": round(importance(state, now), 3),
        }
        for state in ripe
    ]
    detail: dict[str, Json] = {"promoted": grounds, "thresholds": asdict(settings)}
    return Entry(at=now, action="promote", actor=WORKER, detail=detail)
