"""Protocol of the eraser: removes records so that no file contains them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Protocol

from ..ids import WorkspaceId
from ..records import ErasureCounts, Memory, Tombstone
from ..scope import Scope
from .usage_counts import owner_digest, scope_digest


def scope_digests(scopes: Iterable[Scope]) -> list[str]:
    """Return the tombstone digests of these scopes and of their owners."""
    pairs = [(scope_digest(scope), owner_digest(scope)) for scope in scopes]
    return sorted({digest for pair in pairs for digest in pair if digest})


def add_shared_tombstones(
    tombstones: Sequence[Tombstone], events: Iterable[str], erased: Iterable[str]
) -> list[Tombstone]:
    """Return the tombstones plus one for each share event that is erased in addition."""
    at = max((tombstone.at for tombstone in tombstones), default=None)
    extra = dict.fromkeys(erased).keys() - set(events)
    more = [Tombstone(kind="event", digest=id, at=at) for id in sorted(extra)] if at else []
    return [*tombstones, *more]


class Eraser(Protocol):
    """Erases records and stores tombstones."""

    def list_derived(self, workspace: WorkspaceId, ids: Iterable[str]) -> list[Memory]:
        """Return all memories derived from these events or memories, at any depth."""
        ...

    def erase(
        self,
        workspace: WorkspaceId,
        *,
        events: Sequence[str],
        memories: Sequence[str],
        tombstones: Sequence[Tombstone],
    ) -> ErasureCounts:
        """Erase these records with everything derived from them and store the tombstones.

        Runs in one transaction and keeps the hash chain verifiable. Pass one tombstone per event:
        an empty event without a tombstone counts as tampered. Of two tombstones with the same
        digest, the later one wins.
        """
        ...

    def list_tombstones(self, workspace: WorkspaceId) -> list[Tombstone]:
        """Return all tombstones of a workspace."""
        ...

    def scope_tombstones(
        self, workspace: WorkspaceId, scopes: Iterable[Scope]
    ) -> frozenset[Tombstone]:
        """Return the tombstones of these scopes and of their owners."""
        ...

    def any_erased(
        self, workspace: WorkspaceId, ids: Sequence[str], *, since: datetime | None = None
    ) -> bool:
        """Return whether one of these events or memories was erased.

        With `since`, also whether a person or scope was erased since then; `ids` may contain their
        digests. An id that never existed was not erased.
        """
        ...

    def find_residue(self, workspace: WorkspaceId, pieces: Sequence[bytes]) -> dict[str, int]:
        """Flush all writes and count these bytes in every file of the store.

        Occurrences inside existing records do not count.
        """
        ...
