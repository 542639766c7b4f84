"""What sweeps ask of the memories: their states, and to change them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from .access import Grant
from .ids import WorkspaceId
from .records import Tier
from .states import State
from .strength import NOTHING_SPARED, Spared


class States(Protocol):
    """The part of the memories that knows of their state."""

    def mark(
        self,
        workspace: WorkspaceId,
        ids: Sequence[str],
        *,
        tier: Tier | None = None,
        archived: bool | None = None,
    ) -> int:
        """Change the state of these, and nothing else; how many were otherwise before.

        Keywords and vectors stay. It is kept when a memory is derived again; a draft that says
        `long` makes it so, and none makes it `short`. The epochs of their labels grow.
        """
        ...

    def mark_in(
        self,
        ids: Mapping[WorkspaceId, Sequence[str]],
        *,
        tier: Tier | None = None,
        archived: bool | None = None,
    ) -> dict[WorkspaceId, int]:
        """The same in several workspaces, in one transaction; how many were otherwise in each."""
        ...

    def states(
        self,
        grant: Grant,
        *,
        after: str | None = None,
        limit: int,
        used_since: datetime | None = None,
        idle_since: datetime | None = None,
        archived: bool = False,
        without: Spared = NOTHING_SPARED,
    ) -> list[State]:
        """Light rows for sweeps, in an order of the store's own; the administrator's.

        Of what fades: tier short, neither pinned nor archived, and not `without`. With
        `idle_since` of these only what is from before and whose conversation has had no word
        since. With `used_since` whatever was used since, in any state, or only what is
        `archived`. Their uses are those that every reader of a memory may know of: in places
        whose scope is in its label.
        """
        ...

    def states_in(
        self,
        places: Sequence[tuple[Grant, str | None]],
        *,
        limit: int,
        used_since: datetime | None = None,
        idle_since: datetime | None = None,
        archived: bool = False,
        without: Spared = NOTHING_SPARED,
    ) -> list[list[State]]:
        """The same of several workspaces, of one moment: as many of each, after its own place."""
        ...

    def going_on_in(self, grants: Sequence[Grant], *, since: datetime) -> list[datetime | None]:
        """Of what fades: the last word of the conversation that falls silent first, or None.

        Of each of these workspaces, among conversations that had a word since; the administrator's.
        """
        ...
