"""What proves useful is kept for long.

Two roads lead from tier short to long: being important when a session is over, and being used.
Neither changes who may read a memory: nothing is copied anywhere, and whoever wants more readers
shares it. What rests on something that nobody here vouches for is never promoted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from functools import partial

from ..core.audit import WORKER, Entry
from ..core.ids import WorkspaceId
from ..core.jobs import Json, Step, Turn
from ..core.protocols import Store
from ..core.records import Tier, Trust
from ..core.states import State
from ..core.strength import Strengthening, importance
from .settings import BATCH, LOOKING_BACK
from .sweeps import Pages, marked, next_place, pages

AFTER_A_SESSION = timedelta(hours=1)
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
    ripe = {
        workspace: [
            state
            for state in page
            if state.used_since(since)  # not by a secret use
            and _may_rise(state)
            and _is_needed(state, now, settings)
        ]
        for workspace, page in found.items()
    }
    return _kept_for_long(store, found, ripe, now=now, settings=settings, batch=batch)


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
    return _kept_for_long(store, found, ripe, now=now, settings=settings, batch=batch)


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


def _entry(ripe: Sequence[State], *, now: datetime, settings: Strengthening) -> Entry:
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
