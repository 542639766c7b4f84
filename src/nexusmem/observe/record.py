"""Event recorder: the write path of every event (telemetry, quota, append, wake the worker)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter

from ..core.ids import WorkspaceId
from ..core.protocols.store import Store
from ..core.records import NewEvent, Receipt
from ..runtime.quotas import Quotas
from ..telemetry.spans import Telemetry

IS_DUPLICATE = attrgetter("duplicate")


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRecorder:
    """Appends events to the ledger within a workspace's quota, and wakes the worker."""

    store: Store
    quotas: Quotas
    telemetry: Telemetry
    notify: Callable[[], None]  # wakes the background worker, here or in another process

    def append(
        self, workspace: WorkspaceId, events: Sequence[NewEvent], now: datetime
    ) -> list[Receipt]:
        """Append the events durably and return a receipt for each.

        Raise QuotaExceeded if the workspace has no quota left. Memories are derived later, in the
        background or by the next call that needs them.
        """
        with self.telemetry.operation("observe", workspace=workspace) as operation:
            quota = self.quotas.check_observe(workspace, len(events))
            receipts = self.store.ledger.append(workspace, events, recorded_at=now, quota=quota)
            operation.set_attributes(receipts=receipts)
        new = len(receipts) - sum(map(IS_DUPLICATE, receipts))
        self.telemetry.metrics.add("events_written_total", (), new)
        self.notify()
        return receipts
