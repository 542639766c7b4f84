"""What a cache of composed contexts must do that several processes share.

The contracts of a store are in `protocols`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from .access import Grant
from .metrics import CacheUse

if TYPE_CHECKING:
    from .context import Context


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptContext:
    """A context, and when it was kept: contexts speak of time, and last for minutes."""

    context: Context
    at: datetime
    epoch: int  # of the records and the window together, before it was begun to be read


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What was found where contexts are kept, and what to come back with if there was nothing."""

    kept: KeptContext | None = None
    ticket: str | None = None  # None: nothing can be kept now


class ContextKeeper(Protocol):
    """Keeps composed contexts where other processes and machines find them. Never the only copy.

    Nobody waits for it, and nothing is raised while it is away: then there is nothing, and
    nothing is kept. What it gives back is equal to what it was given, or it gives nothing.
    """

    def get(self, grant: Grant, key: str) -> Looked:
        """What was put under this key for this very grant, and is not over yet.

        The ticket is to be asked for before anything is read for a new context.
        """
        ...

    def put(self, grant: Grant, key: str, kept: KeptContext, *, ticket: str, seconds: int) -> None:
        """Keep it for so long, unless something was erased here since the ticket was given."""
        ...

    @property
    def use(self) -> CacheUse:
        """How often this process found what it looked for."""
        ...
