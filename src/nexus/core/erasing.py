"""What a store must do to forget. The other contracts of a store are in `protocols`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Protocol

from .ids import WorkspaceId
from .records import Erased, Memory, Tombstone
from .scope import Scope
from .uses import owner_digest, place_digest


def drawer_digests(scopes: Iterable[Scope]) -> list[str]:
    """What tombstones know these drawers by: what each is, and whose."""
    each = [(place_digest(scope), owner_digest(scope)) for scope in scopes]
    return sorted({digest for both in each for digest in both if digest})


def with_shared(
    stones: Sequence[Tombstone], events: Iterable[str], going: Iterable[str]
) -> list[Tombstone]:
    """These, and one for each event that goes with those that were to: by which it was shared."""
    at = max((stone.at for stone in stones), default=None)
    along = dict.fromkeys(going).keys() - set(events)
    more = [Tombstone(kind="event", digest=id, at=at) for id in sorted(along)] if at else []
    return [*stones, *more]


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

        The chain stays whole. An event without a tombstone is one that somebody emptied: give one
        for each. Of two tombstones for the same, the later one holds.
        """
        ...

    def tombstones(self, workspace: WorkspaceId) -> list[Tombstone]:
        """All of them."""
        ...

    def stones(self, workspace: WorkspaceId, scopes: Iterable[Scope]) -> frozenset[Tombstone]:
        """Those of these drawers as a whole: of the places, and of the people whose they are."""
        ...

    def gone(
        self, workspace: WorkspaceId, ids: Sequence[str], *, since: datetime | None = None
    ) -> bool:
        """Whether one of these events and memories was erased; one that never was, was not.

        Or then or later, if `since` is given, one of the people and places: their digests may be
        among the ids.
        """
        ...

    def residue(self, workspace: WorkspaceId, pieces: Sequence[bytes]) -> dict[str, int]:
        """Flush everything and search every file of the store: how often these bytes are in each.

        Occurrences inside records that are still kept do not count.
        """
        ...
