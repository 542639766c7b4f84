"""What is over: windows let go of what nobody has looked at for long enough."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta

from ..core.errors import Unavailable
from ..core.ids import WorkspaceId
from ..core.jobs import Json, Step
from ..core.protocols import Store


def cleanup(
    store: Store, workspace: WorkspaceId, *, now: datetime, cursor: Json, idle: timedelta
) -> Step:
    """Take out of the windows of a workspace what is over."""
    del cursor  # it is one step
    pruned = 0
    with suppress(Unavailable):  # a window elsewhere lets go of it by itself
        pruned = store.window.prune(now=now, idle=idle, workspace=workspace)
    return Step(counts={"window": pruned})
