"""The way to a cache of contexts that other processes share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from ..core.access import Viewer
from ..core.errors import Unavailable
from ..core.ids import digest
from ..core.keeping import ContextKeeper, KeptContext


def at_once(call: Callable[[], None]) -> None:
    call()


@dataclass(frozen=True, slots=True, kw_only=True)
class Elsewhere:
    """A keeper, and what every context of this process depends on besides its own key.

    Another process may have other settings, another embedder or another version of the program:
    then its contexts are not ours. `made_with` may have to ask an embedder what it is.
    """

    keeper: ContextKeeper
    made_with: Callable[[], str]
    later: Callable[[Callable[[], None]], None] = at_once  # when nobody waits

    def look(self, viewer: Viewer, key: str) -> Visit:
        """Before anything is read for a new context."""
        try:
            made_with = self.made_with()
        except Unavailable:
            return Visit()
        looked = self.keeper.get(viewer.grant(), digest(made_with, key))
        if looked.ticket is None:
            return Visit(kept=looked.kept)
        ticket = looked.ticket

        def leave(key: str, kept: KeptContext, lasts: timedelta) -> None:
            def put() -> None:
                seconds = int(lasts.total_seconds())
                named, grant = digest(made_with, key), viewer.grant()
                self.keeper.put(grant, named, kept, ticket=ticket, seconds=seconds)

            self.later(put)

        return Visit(kept=looked.kept, leave=leave)


def _nothing(key: str, kept: KeptContext, lasts: timedelta) -> None:
    del key, kept, lasts


@dataclass(frozen=True, slots=True)
class Visit:
    """What was found there, and how to leave there what is composed since."""

    kept: KeptContext | None = None
    leave: Callable[[str, KeptContext, timedelta], None] = _nothing
