"""Protocol of a context cache that several processes share."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from ..access import Grant

if TYPE_CHECKING:
    from ...telemetry.metrics import CacheStats
    from ..records.context import Context


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedContext:
    """A cached context and when it was stored; contexts mention times and expire in minutes."""

    context: Context
    at: datetime
    epoch: int  # of records and window together, read before composing began


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheLookup:
    """Result of a cache lookup, with the ticket that a later `put` needs."""

    cached: CachedContext | None = None
    ticket: str | None = None  # None: nothing can be stored now


class SharedContextCache(Protocol):
    """Cache of composed contexts for several processes and machines. Never the only copy.

    Callers do not wait for it, and it never raises: while unavailable, it returns nothing and
    stores nothing. It returns contexts equal to those stored, or nothing.
    """

    def get(self, grant: Grant, key: str) -> CacheLookup:
        """Return the unexpired context stored under this key for exactly this grant.

        Call it before reading anything for a new context, since `put` needs its ticket.
        """
        ...

    def put(
        self, grant: Grant, key: str, cached: CachedContext, *, ticket: str, seconds: int
    ) -> None:
        """Store the context for `seconds`, unless an erasure happened since the ticket."""
        ...

    @property
    def stats(self) -> CacheStats:
        """Hits and misses of this process."""
        ...
