"""What is over: windows let go of it, and conversations that nobody goes on with are archived."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta

from ..core.access import administrator_grant
from ..core.audit import by_worker
from ..core.errors import Unavailable
from ..core.ids import WorkspaceId
from ..core.jobs import Json, Step
from ..core.protocols import Store
from ..core.records import MemoryKind
from .settings import BATCH

STRAY_DAYS = 30  # uses of what is gone are kept so long: it may be derived again


def cleanup(
    store: Store,
    workspace: WorkspaceId,
    *,
    now: datetime,
    cursor: Json,
    idle: timedelta,
    idle_days: int,
    batch: int = BATCH,
) -> Step:
    """Archive what was said in conversations without a word or a use for so many days.

    With its last step, take out of the windows of the workspace what is over, and let go of uses
    of memories that are gone.
    """
    since = now - timedelta(days=idle_days)
    grant = administrator_grant(workspace)
    page = store.memories.states(grant, after=cursor, limit=batch, idle_since=since)
    over = [
        state.id
        for state in page
        if state.kind is MemoryKind.PASSAGE and state.last_active_at < since
    ]
    archived = 0
    if over:
        entry = by_worker("archive", now, memories=len(over), idle_days=idle_days)
        with store.recording(workspace, entry):
            archived = store.memories.mark(workspace, over, archived=True)
    if len(page) == batch:
        return Step(counts={"archived": archived}, cursor=page[-1].place)
    strays = store.uses.tidy(workspace, before=now - timedelta(days=STRAY_DAYS))
    pruned = 0
    with suppress(Unavailable):  # a window elsewhere lets go of it by itself
        pruned = store.window.prune(now=now, idle=idle, workspace=workspace)
    return Step(counts={"archived": archived, "uses": strays, "window": pruned})
