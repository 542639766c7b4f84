"""What a store must do to forget. The other contracts of a store are in `protocols`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from .ids import WorkspaceId
from .records import Erased, Memory, Tombstone


class Eraser(Protocol):
    """Takes records out so that no file holds them any more."""

    def derived(self, workspace: WorkspaceId, ids: Iterable[str]) -> list[Memory]:
        """Every memory that rests on one of these events or memories, at any depth."""
        ...

    def erase(
        self,
        workspace: WorkspaceId,
        *,
        events: Sequence[str],
        memories: Sequence[str],
        tombstones: Sequence[Tombstone],
    ) -> Erased:
        """Remove these with all that rests on them and leave tombstones, in one transaction.

        The chain stays whole.
        """
        ...

    def tombstones(self, workspace: WorkspaceId) -> list[Tombstone]:
        """All of them."""
        ...

    def gone(self, workspace: WorkspaceId, ids: Sequence[str]) -> bool:
        """Whether one of these events and memories was erased; one that never was, was not."""
        ...

    def residue(self, workspace: WorkspaceId, pieces: Sequence[bytes]) -> dict[str, int]:
        """Flush everything and search every file of the store: how often these bytes are in each.

        Occurrences inside records that are still kept do not count.
        """
        ...
