"""That a piece of work is somebody's for a while."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from .ids import WorkspaceId

LEASE = timedelta(seconds=30)  # for how long work belongs to whoever took it; it is renewed
MOST_LOST = 1000  # eight hours of ended workers; then work is given up: it seems to end them
LOST = "whoever did it ended without a word"  # the error of work that nobody ended


@dataclass(frozen=True, slots=True)
class Lease:
    """That a piece of work is ours for a while.

    `fence` grows each time somebody takes the work. A store compares it in the transaction of a
    write: whoever was away longer than the lease, and comes back, writes nothing any more.
    """

    workspace: WorkspaceId
    kind: str  # "event" | "job"
    of: tuple[int | str, ...]  # which one; only its store reads this
    fence: int
