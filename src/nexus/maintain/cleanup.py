"""What is over: windows let go of it, and conversations that nobody goes on with are archived."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta

from ..core.audit import Entry, by_worker
from ..core.errors import Unavailable
from ..core.ids import WorkspaceId
from ..core.jobs import Step, Turn
from ..core.protocols import Store
from ..core.records import MemoryKind
from ..core.states import State
from .settings import BATCH
from .sweeps import marked, next_place, pages

STRAY_DAYS = 30  # uses of what is gone are kept so long: it may be derived again


def cleanup(
    store: Store,
    turns: Sequence[Turn],
    *,
    now: datetime,
    idle: timedelta,
    idle_days: int,
    batch: int = BATCH,
) -> list[Step]:
    """Archive what was said in conversations without a word or a use for so many days.

    With its last step, take out of the windows of the workspace what is over, and let go of uses
    of memories that are gone.
    """
    since = now - timedelta(days=idle_days)
    found = pages(store, dict(turns), limit=batch, idle_since=since)
    over = {
        workspace: [
            state
            for state in page
            if state.kind is MemoryKind.PASSAGE and state.last_active_at < since
        ]
        for workspace, page in found.items()
    }

    def entry(some: Sequence[State]) -> Entry:
        return by_worker("archive", now, memories=len(some), idle_days=idle_days)

    archived = marked(store, over, entry, archived=True)
    last = [workspace for workspace, page in found.items() if not next_place(page, batch)]
    tidied = _tidied(store, last, now, idle)
    return [
        Step(
            counts={"archived": archived.get(workspace, 0), **tidied.get(workspace, {})},
            cursor=next_place(page, batch),
        )
        for workspace, page in found.items()
    ]


def _tidied(
    store: Store, workspaces: Sequence[WorkspaceId], now: datetime, idle: timedelta
) -> dict[WorkspaceId, dict[str, int]]:
    strays = store.uses.tidy(workspaces, before=now - timedelta(days=STRAY_DAYS))
    pruned = [0] * len(workspaces)
    with suppress(Unavailable):  # a window elsewhere lets go of it by itself
        pruned = store.window.prune_in(workspaces, now=now, idle=idle)
    return {
        workspace: {"uses": uses, "window": items}
        for workspace, uses, items in zip(workspaces, strays, pruned, strict=True)
    }
