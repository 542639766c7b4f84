"""What a store must do to keep events. Its other contracts are in `protocols`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from .access import Grant
from .filters import Filter
from .ids import WorkspaceId
from .quotas import Quota, Used
from .records import Event, LedgerReport, NewEvent, Progress, Receipt
from .scope import Scope


class Ledger(Protocol):
    """The events: appended, chained, never changed."""

    def append(
        self,
        workspace: WorkspaceId,
        events: Sequence[NewEvent],
        *,
        recorded_at: datetime,
        quota: Quota | None = None,
    ) -> list[Receipt]:
        """Write these and the work they cause in one durable transaction, all or none.

        An event that is there already is a `repeated` receipt; the same key with other content
        is Conflict, and an erased one is Forgotten. An `Event` (imported history) keeps its own
        time of recording. With a quota, what is new must find room in it, or nothing is
        written: QuotaExceeded.
        Returns only when a power cut would lose nothing of it.
        """
        ...

    def get(self, grant: Grant, ids: Sequence[str]) -> list[Event]:
        """Those that exist and may be seen, in the order asked."""
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
        """Newest first, by event time and then id; `until` is not included."""
        ...

    def written(
        self, grant: Grant, *, after: int | None = None, limit: int
    ) -> tuple[list[Event], int]:
        """What came after this number of the chain, as it was written, and the number of the last.

        Without a number: nothing, and where the chain ends now. It is for the administrator.
        """
        ...

    def scopes(self, grant: Grant, *, after: int = 0, limit: int) -> list[tuple[int, Scope]]:
        """Where something visible was told, each with a number, in the order of these.

        The numbers are the store's own, and stay while something told there does.
        """
        ...

    def keys(self, grant: Grant, ids: Sequence[str]) -> dict[str, str]:
        """The callers' keys of those that may be seen, by event id."""
        ...

    def progress(self, grant: Grant, ids: Sequence[str]) -> dict[str, Progress]:
        """How far each visible event has come."""
        ...

    def used(self, workspace: WorkspaceId, *, now: datetime) -> Used:
        """How much a workspace keeps, and wrote on this day; erased events keep nothing."""
        ...

    def verify(self, workspace: WorkspaceId) -> LedgerReport:
        """Walk the chain and recompute everything that is still there."""
        ...
