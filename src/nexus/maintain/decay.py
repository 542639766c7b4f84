"""What nobody needs any more fades: it is archived, and comes back when it is used again.

Archived means: no longer brought up unasked. Nothing is deleted, and whoever asks finds it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from ..core.access import administrator_grant
from ..core.audit import Entry, by_worker
from ..core.ids import WorkspaceId
from ..core.jobs import Json, Step
from ..core.protocols import Store
from ..core.states import State
from ..core.strength import CURVES, Strengthening, strength
from .settings import BATCH, LOOKING_BACK


def decay(
    store: Store,
    workspace: WorkspaceId,
    *,
    now: datetime,
    cursor: Json,
    settings: Strengthening,
    batch: int = BATCH,
) -> Step:
    """Archive what has become weak, and bring back what is strong again.

    A cursor is where the next step goes on: among what fades, or among what was used.
    """
    fading, after = cursor or [True, None]
    counts, more = Counter[str](), None
    for kind, page in _pages(store, workspace, now, (fading, after), batch):
        turned = _turned(page, now, settings, fading=kind)
        changed = 0
        if turned:
            with store.recording(workspace, _entry(len(turned), now, settings, fading=kind)):
                changed = store.memories.mark(workspace, turned, archived=kind)
        counts.update({"looked_at": len(page), "archived" if kind else "revived": changed})
        more = [kind, page[-1].place] if len(page) == batch else None
    return Step(counts=dict(counts), cursor=more)


def _pages(
    store: Store, workspace: WorkspaceId, now: datetime, start: tuple[bool, Json], batch: int
) -> list[tuple[bool, list[State]]]:
    """The next of what fades; after its end, also the first of what was used, of one moment."""
    grant, (fading, after) = administrator_grant(workspace), start
    pages: list[tuple[bool, list[State]]] = []
    with store.moment():
        if fading:
            pages.append((True, store.memories.states(grant, after=after, limit=batch)))
            if len(pages[0][1]) == batch:
                return pages
            after = None
        since = now - LOOKING_BACK
        used = store.memories.states(grant, after=after, limit=batch, used_since=since)
    return [*pages, (False, used)]


def _turned(
    page: Sequence[State], now: datetime, settings: Strengthening, *, fading: bool
) -> list[str]:
    """What is weak now of what fades, or strong again of what is archived."""
    curve, below = CURVES[settings.curve], settings.archive_below
    return [
        state.id
        for state in page
        if state.archived is not fading
        and (strength(state, now, curve) < below) is fading
        and (fading or state.used_since(now - LOOKING_BACK))  # others' secret uses are no reason
    ]


def _entry(memories: int, now: datetime, settings: Strengthening, *, fading: bool) -> Entry:
    """How many, and the threshold that was in force."""
    grounds: dict[str, Json] = {"curve": settings.curve, "archive_below": settings.archive_below}
    return by_worker("archive" if fading else "revive", now, memories=memories, **grounds)
