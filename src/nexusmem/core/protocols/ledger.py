"""Protocol of the ledger: append-only events in a hash chain."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from ...runtime.quotas import Quota, WorkspaceUsage
from ..access import Grant
from ..filters import Filter
from ..ids import WorkspaceId
from ..records import Event, LedgerReport, NewEvent, Progress, Receipt
from ..scope import Scope


class Ledger(Protocol):
    """Append-only log of events, linked by a hash chain."""

    def append(
        self,
        workspace: WorkspaceId,
        events: Sequence[NewEvent],
        *,
        recorded_at: datetime,
        quota: Quota | None = None,
    ) -> list[Receipt]:
        """Write these events and their tasks in one durable transaction.

        An event that exists already gives a receipt with `duplicate`. The same key with different
        content raises Conflict, an erased event raises Forgotten. An `Event` (imported history)
        keeps its `recorded_at`. New events that exceed `quota` raise QuotaExceeded, and nothing is
        written. When the call returns, the events survive a power failure.
        """
        ...

    def get(self, grant: Grant, ids: Sequence[str]) -> list[Event]:
        """Return the existing visible events, in the order of `ids`."""
        ...

    def find(
        self,
        grant: Grant,
        *,
        where: Filter | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int | None = None,
    ) -> list[Event]:
        """Return the matching events, newest first, by event time and then id.

        `until` is exclusive.
        """
        ...

    def events_since(
        self, grant: Grant, *, after: int | None = None, limit: int
    ) -> tuple[list[Event], int]:
        """Return the next events after a chain number, and the number of the last one.

        `after=None` returns no events and the current end of the chain. For administrators only.
        """
        ...

    def list_scopes(self, grant: Grant, *, after: int = 0, limit: int) -> list[tuple[int, Scope]]:
        """Return the scopes of visible events, each with a number, in the order of the numbers.

        The store assigns the numbers. They stay the same while the scope has events.
        """
        ...

    def load_keys(self, grant: Grant, ids: Sequence[str]) -> dict[str, str]:
        """Return the callers' keys of visible events, by event id."""
        ...

    def load_progress(self, grant: Grant, ids: Sequence[str]) -> dict[str, Progress]:
        """Return the processing stage of each visible event."""
        ...

    def measure_usage(self, workspace: WorkspaceId, *, now: datetime) -> WorkspaceUsage:
        """Return the size of a workspace and its writes of this day, without erased events."""
        ...

    def verify(self, workspace: WorkspaceId) -> LedgerReport:
        """Recompute the hash chain and all commitments of events that still exist."""
        ...
