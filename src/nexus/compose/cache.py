"""Contexts that were composed a moment ago, for whoever asks the same again.

A context is found again by who asks what, and by the epoch of everything that may be seen: any
write there makes another epoch, in its own transaction and for every process, so nothing has to
be told to this cache. It never outlives five minutes, because contexts speak of time.

Behind it may stand a cache that other processes share. What is found there is kept here, too.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from threading import Lock
from typing import TYPE_CHECKING

from ..core.access import Viewer
from ..core.errors import Unavailable
from ..core.ids import WorkspaceId, digest
from ..core.keeping import KeptContext
from .elsewhere import Elsewhere, Visit
from .lines import KeptLines
from .narrations import Narrations
from .steady import SteadySections
from .wish import Wish

if TYPE_CHECKING:
    from ..core.context import Context

    # From the epoch that was found, if one was, to a context and the epoch it began with.
    Compose = Callable[[int | None], tuple[Context, int | None]]

SECONDS = 300
MOST_BYTES = 32_000_000
ITEM_BYTES = 600  # of an item or a reason, besides its text
SKEW = timedelta(seconds=5)  # by which the clock of another machine may go before ours
SWEEPS = 10  # in the time that a context lasts


@dataclass(frozen=True, slots=True)
class CacheStats:
    hits: int
    misses: int
    contexts: int
    bytes: int

    @property
    def hit_rate(self) -> float:
        asked = self.hits + self.misses
        return self.hits / asked if asked else 0.0


@dataclass(frozen=True, slots=True)
class _Kept:
    context: Context
    workspace: WorkspaceId
    at: datetime
    bytes: int
    holds: Callable[[], bool]  # whether its epoch is still the one of what its viewer may see


@dataclass(frozen=True, slots=True)
class _Asked:
    """Who asks for what, and how often something was forgotten here before."""

    viewer: Viewer
    wish: Wish
    epoch: Callable[[], int]
    forgotten: int
    told: tuple[str, ...]  # what its key is made of, but for the epoch

    def key(self, epoch: int) -> str:
        return digest(*self.told, str(epoch))

    def entry(self, kept: KeptContext) -> _Kept:
        return _Kept(
            context=kept.context,
            workspace=self.viewer.workspace,
            at=kept.at,
            bytes=_size(kept.context),
            holds=lambda: self.epoch() == kept.epoch,
        )


class ContextCache:
    """The last contexts of this process, within so many bytes; those asked for longest ago go."""

    def __init__(
        self,
        clock: Callable[[], datetime],
        *,
        seconds: float = SECONDS,
        most_bytes: int = MOST_BYTES,
        elsewhere: Elsewhere | None = None,
    ) -> None:
        self._clock = clock
        self._elsewhere = elsewhere
        self._lasts = timedelta(seconds=seconds)
        self._most_bytes = most_bytes
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._bytes = 0
        self._hits = 0
        self._misses = 0
        self._forgotten = 0
        self._swept: datetime | None = None
        self._lock = Lock()
        self.steady = SteadySections(clock, seconds=seconds)
        self.lines = KeptLines(clock, seconds=seconds)
        self.narrations = Narrations(clock)

    @property
    def stats(self) -> CacheStats:
        with self._lock:
            return CacheStats(self._hits, self._misses, len(self._kept), self._bytes)

    def composed(
        self, viewer: Viewer, wish: Wish, epoch: Callable[[], int], compose: Compose
    ) -> Context:
        """The context of a moment ago if it still holds, else a new one.

        `compose` says what the epoch was before it began to read; without one, or if something
        was missing, its context is for this once.
        """
        if not self._lasts:
            return compose(None)[0]
        asked = _Asked(viewer, wish, epoch, self._forgotten, _told(viewer, wish))
        found, key, visit = None, "", Visit()
        with suppress(Unavailable):  # what is away is remarked upon by who needs it
            found = epoch()
            key = asked.key(found)
            known = self._look(key)
            if known is None:
                visit = self._look_elsewhere(asked, found, key)
                known = visit.kept.context if visit.kept else None
            if known:
                return replace(known, receipt=replace(known.receipt, cached=True))
        context, began = compose(found)
        if began is not None and not context.receipt.degraded:
            key = key if began == found else asked.key(began)
            kept = KeptContext(context=context, at=self._clock(), epoch=began)
            self._keep(key, asked.entry(kept), asked.forgotten)
            visit.leave(key, kept, self._lasts)
        return context

    def _look_elsewhere(self, asked: _Asked, epoch: int, key: str) -> Visit:
        """What another process composed a moment ago is kept here from now on, too."""
        if self._elsewhere is None:
            return Visit()
        visit = self._elsewhere.look(asked.viewer, key)
        if visit.kept is None:
            return visit
        now = self._clock()
        ours = replace(visit.kept, epoch=epoch, at=min(visit.kept.at, now))
        if visit.kept.at > now + SKEW or not self._lasting(ours.at):
            return replace(visit, kept=None)
        self._keep(key, asked.entry(ours), asked.forgotten)
        return visit

    def forget(self, workspace: WorkspaceId) -> None:
        """Drop what no longer holds in this workspace, and what is being composed meanwhile.

        What holds stays: who cannot see what was forgotten must not notice that it was.
        """
        self.steady.forget(workspace)
        self.lines.forget(workspace)
        self.narrations.forget(workspace)
        with self._lock:
            self._forgotten += 1
            theirs = [
                (key, each) for key, each in self._kept.items() if each.workspace == workspace
            ]
        gone = [key for key, each in theirs if not _holds(each)]
        with self._lock:
            for key in gone:
                self._drop(key)

    def _look(self, key: str) -> Context | None:
        with self._lock:
            known = self._kept.get(key)
            if known is None or not self._lasting(known.at):
                self._misses += 1
                return None
            self._hits += 1
            self._kept.move_to_end(key)
            return known.context

    def _lasting(self, at: datetime) -> bool:
        """Whether a context of that time may still be given; one of the future may not."""
        now = self._clock()
        return now - self._lasts < at <= now

    def _keep(self, key: str, entry: _Kept, before: int) -> None:
        with self._lock:
            if self._forgotten != before or entry.bytes > self._most_bytes:
                return
            self._sweep(self._clock())
            self._drop(key)
            self._kept[key] = entry
            self._bytes += entry.bytes
            while self._bytes > self._most_bytes:
                self._drop(next(iter(self._kept)))

    def _sweep(self, now: datetime) -> None:
        """Let go of what is too old, now and then: it is not given to anybody in any case."""
        last, pause = self._swept, self._lasts / SWEEPS
        if last and last <= now < last + pause:
            return
        self._swept = now
        for stale in [key for key, kept in self._kept.items() if kept.at <= now - self._lasts]:
            self._drop(stale)

    def _drop(self, key: str) -> None:
        gone = self._kept.pop(key, None)
        self._bytes -= gone.bytes if gone else 0


def _holds(entry: _Kept) -> bool:
    try:
        return entry.holds()
    except Unavailable:
        return False


def key_of(viewer: Viewer, wish: Wish, epoch: int | None = None) -> str:
    """Everything a context depends on, but for the time, and for what was told without an epoch."""
    return digest(*_told(viewer, wish), str(epoch))


def _told(viewer: Viewer, wish: Wish) -> tuple[str, ...]:
    grant = viewer.grant()
    said = [part for each in wish.said for part in (each.role, each.name or "", each.text)]
    return (
        grant.workspace.value,
        str(viewer.home),
        viewer.agent.value,
        viewer.project or "",
        *(person.value for person in viewer.people),
        "sees",
        *sorted([scope.spelt for scope in grant.scopes]),
        "asks",
        wish.question,
        repr((wish.budget, wish.window, wish.model, wish.as_of, wish.explain, wish.thread)),
        "shows",
        *said,
    )


def _size(context: Context) -> int:
    items = [item for section in context.sections for item in section.items]
    reasons = len(items) + len(context.receipt.shown) + len(context.receipt.cut)
    texts = len(context.text) + sum(len(item.text) + len(item.line) for item in items)
    return 2 * texts + ITEM_BYTES * reasons
