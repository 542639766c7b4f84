"""What nobody needs any more fades: it is archived, and comes back when it is used again.

Archived means: no longer brought up unasked. Nothing is deleted, and whoever asks finds it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial

from ..core.audit import Entry, by_worker
from ..core.ids import WorkspaceId
from ..core.jobs import Json, Step, Turn
from ..core.protocols import Store
from ..core.states import State
from ..core.strength import CURVES, Strengthening, spared, strength
from .settings import BATCH, LOOKING_BACK
from .sweeps import Pages, marked, next_place, pages


def decay(
    store: Store,
    turns: Sequence[Turn],
    *,
    now: datetime,
    settings: Strengthening,
    batch: int = BATCH,
) -> list[Step]:
    """Archive what has become weak, and bring back what is strong again.

    A cursor is where the next step goes on: among what fades, or among what was used.
    """
    starts = {turn.workspace: turn.cursor or [True, None] for turn in turns}
    weak, used = _pages(store, starts, now, settings, batch)
    archived = _mark(store, weak, now, settings, fading=True)
    revived = _mark(store, used, now, settings, fading=False)
    steps = []
    for workspace in starts:
        counts = {"looked_at": sum(len(some.get(workspace, ())) for some in (weak, used))}
        if workspace in weak:
            counts["archived"] = archived.get(workspace, 0)
        if workspace in used:
            counts["revived"] = revived.get(workspace, 0)
        steps.append(Step(counts=counts, cursor=_more(workspace, weak, used, batch)))
    return steps


def _pages(
    store: Store,
    starts: Mapping[WorkspaceId, Json],
    now: datetime,
    settings: Strengthening,
    batch: int,
) -> tuple[Pages, Pages]:
    """The next of what fades; after its end, also the first of what was used, of one moment."""
    fading = {workspace: after for workspace, (fades, after) in starts.items() if fades}
    with store.moment():
        weak = pages(store, fading, limit=batch, without=spared(now, settings))
        through = {
            workspace: None if fades else after
            for workspace, (fades, after) in starts.items()
            if next_place(weak.get(workspace, ()), batch) is None
        }
        since = now - LOOKING_BACK
        used = pages(store, through, limit=batch, used_since=since, archived=True)
    return weak, used


def _mark(
    store: Store, found: Pages, now: datetime, settings: Strengthening, *, fading: bool
) -> dict[WorkspaceId, int]:
    turned = {
        workspace: _turned(page, now, settings, fading=fading) for workspace, page in found.items()
    }
    entry = partial(_entry, now=now, settings=settings, fading=fading)
    return marked(store, turned, entry, archived=fading)


def _turned(
    page: Sequence[State], now: datetime, settings: Strengthening, *, fading: bool
) -> list[State]:
    """What is weak now of what fades, or strong again of what is archived."""
    curve, below = CURVES[settings.curve], settings.archive_below
    return [
        state
        for state in page
        if state.archived is not fading
        and (strength(state, now, curve) < below) is fading
        and (fading or state.used_since(now - LOOKING_BACK))  # others' secret uses are no reason
    ]


def _more(workspace: WorkspaceId, weak: Pages, used: Pages, batch: int) -> Json:
    for fading, found in ((True, weak), (False, used)):
        if place := next_place(found.get(workspace, ()), batch):
            return [fading, place]
    return None


def _entry(
    turned: Sequence[State], *, now: datetime, settings: Strengthening, fading: bool
) -> Entry:
    """How many, and the threshold that was in force."""
    grounds: dict[str, Json] = {"curve": settings.curve, "archive_below": settings.archive_below}
    return by_worker("archive" if fading else "revive", now, memories=len(turned), **grounds)
