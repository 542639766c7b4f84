"""Decay job: archive weak memories and restore archived memories that are used again.

An archived memory is not shown unless a query asks for it. Nothing is deleted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from ...audit.records import AuditEntry, worker_entry
from ...core.access import Grant
from ...core.derive import keyword_text
from ...core.flows import Sharing
from ...core.ids import WorkspaceId
from ...core.protocols.jobs import JobStep, Json, WorkspaceTurn
from ...core.protocols.store import Store
from ...core.protocols.usage_counts import NO_USAGE
from ...core.records import Memory
from ...core.records.facts import current_confidence
from ...core.records.projections import MemoryState, make_state
from ...core.strength import (
    CURVES,
    DIGITS,
    Strength,
    StrengthSettings,
    compute_strength,
    explain_strength,
    sweep_exclusion,
)
from ...text.terms import extract_terms
from ..settings import BATCH, USAGE_WINDOW
from .cleanup import StatePages, load_pages, next_cursor, set_states
from .promote import find_promotion


def decay(
    store: Store,
    turns: Sequence[WorkspaceTurn],
    *,
    now: datetime,
    settings: StrengthSettings,
    batch: int = BATCH,
) -> list[JobStep]:
    """Archive memories below the threshold and restore archived memories above it.

    The cursor points into the decaying memories or into the used memories.
    """
    starts = {turn.workspace: turn.cursor or [True, None] for turn in turns}
    weak, used = _load_decay_pages(store, starts, now, settings, batch)
    archived = _set_archived(store, weak, now, settings, fading=True)
    revived = _set_archived(store, used, now, settings, fading=False)
    steps = []
    for workspace in starts:
        counts = {"looked_at": sum(len(some.get(workspace, ())) for some in (weak, used))}
        if workspace in weak:
            counts["archived"] = archived.get(workspace, 0)
        if workspace in used:
            counts["revived"] = revived.get(workspace, 0)
        steps.append(JobStep(counts=counts, cursor=_decay_cursor(workspace, weak, used, batch)))
    return steps


def _load_decay_pages(
    store: Store,
    starts: Mapping[WorkspaceId, Json],
    now: datetime,
    settings: StrengthSettings,
    batch: int,
) -> tuple[StatePages, StatePages]:
    """Return the next page of decaying memories, then of used memories, from one snapshot."""
    fading = {workspace: after for workspace, (fades, after) in starts.items() if fades}
    with store.snapshot():
        weak = load_pages(store, fading, limit=batch, exclude=sweep_exclusion(now, settings))
        through = {
            workspace: None if fades else after
            for workspace, (fades, after) in starts.items()
            if next_cursor(weak.get(workspace, ()), batch) is None
        }
        since = now - USAGE_WINDOW
        used = load_pages(store, through, limit=batch, used_since=since, archived=True)
    return weak, used


def _set_archived(
    store: Store, found: StatePages, now: datetime, settings: StrengthSettings, *, fading: bool
) -> dict[WorkspaceId, int]:
    turned = {
        workspace: _states_to_change(page, now, settings, fading=fading)
        for workspace, page in found.items()
    }
    entry = partial(_audit_entry, now=now, settings=settings, fading=fading)
    return set_states(store, turned, entry, archived=fading)


def _states_to_change(
    page: Sequence[MemoryState], now: datetime, settings: StrengthSettings, *, fading: bool
) -> list[MemoryState]:
    """Return the memories to archive and the archived memories to restore."""
    curve, below = CURVES[settings.decay_curve], settings.archive_below
    return [
        state
        for state in page
        if state.archived is not fading
        and (compute_strength(state, now, curve) < below) is fading
        and (
            fading or state.was_used_since(now - USAGE_WINDOW)
        )  # uses in scopes that some readers cannot read do not count
    ]


def _decay_cursor(workspace: WorkspaceId, weak: StatePages, used: StatePages, batch: int) -> Json:
    for fading, found in ((True, weak), (False, used)):
        if place := next_cursor(found.get(workspace, ()), batch):
            return [fading, place]
    return None


def _audit_entry(
    states: Sequence[MemoryState], *, now: datetime, settings: StrengthSettings, fading: bool
) -> AuditEntry:
    """Return the audit entry with the counts and the active threshold."""
    grounds: dict[str, Json] = {
        "curve": settings.decay_curve,
        "archive_below": settings.archive_below,
    }
    return worker_entry("archive" if fading else "revive", now, memories=len(states), **grounds)


def strength_for_viewer(
    store: Store, grant: Grant, memory: Memory, *, now: datetime, curve: str, sharing: Sharing
) -> Strength:
    """Return the strength for this viewer, from usage in scopes the viewer can read."""
    use = store.usage_counts.load_usage(grant, [memory.id]).get(memory.id, NO_USAGE)
    promoted = find_promotion(store, grant, memory, sharing)
    state = make_state(memory, len(extract_terms(keyword_text(memory))), use)
    return replace(
        explain_strength(state, now, curve),
        confidence=round(current_confidence(memory, now), DIGITS),
        promoted_to=str(promoted) if promoted else None,
    )
