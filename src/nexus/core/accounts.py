"""What a store must do to keep account of models. Its other contracts are in `protocols`."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from .ids import WorkspaceId
from .records import Spent


class Accounts(Protocol):
    """What models cost, added up by day, purpose and model."""

    def add(self, workspace: WorkspaceId, spent: Spent) -> None:
        """Add this to its day. Nothing is lost when several processes add at once."""
        ...

    def spent(self, workspace: WorkspaceId, *, since: datetime | None = None) -> list[Spent]:
        """One record for each day, purpose and model, in this order; from the day of `since` on."""
        ...
