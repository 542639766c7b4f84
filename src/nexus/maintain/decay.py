"""What nobody needs any more fades: it is archived, and comes back when it is used again.

Archived means: no longer brought up unasked. Nothing is deleted, and whoever asks finds it.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from ..core.access import administrator_grant
from ..core.audit import Entry, by_worker
from ..core.ids import WorkspaceId
from ..core.jobs import Json, Step
from ..core.protocols import Store
from ..core.strength import CURVES, Strengthening, strength

BATCH = 1_000  # light rows in one step
LOOKING_BACK = timedelta(days=3)  # for uses that bring something back


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
    grant, curve = administrator_grant(workspace), CURVES[settings.curve]
    since = None if fading else now - LOOKING_BACK
    page = store.memories.states(grant, after=after, limit=batch, used_since=since)
    turned = [
        state.id
        for state in page
        if state.archived is not fading
        and (strength(state, now, curve) < settings.archive_below) is fading
    ]
    changed = 0
    if turned:
        with store.recording(workspace, _entry(len(turned), now, settings, fading=fading)):
            changed = store.memories.mark(workspace, turned, archived=fading)
    counts = {"looked_at": len(page), "archived" if fading else "revived": changed}
    if len(page) == batch:
        return Step(counts=counts, cursor=[fading, page[-1].place])
    if fading:
        rest = decay(
            store, workspace, now=now, cursor=[False, None], settings=settings, batch=batch
        )
        return Step(counts=_added(counts, rest), cursor=rest.cursor)
    return Step(counts=counts)


def _entry(memories: int, now: datetime, settings: Strengthening, *, fading: bool) -> Entry:
    """How many, and the threshold that was in force."""
    grounds: dict[str, Json] = {"curve": settings.curve, "archive_below": settings.archive_below}
    return by_worker("archive" if fading else "revive", now, memories=memories, **grounds)


def _added(counts: dict[str, int], rest: Step) -> dict[str, int]:
    names = counts.keys() | rest.counts.keys()
    return {name: counts.get(name, 0) + rest.counts.get(name, 0) for name in sorted(names)}
