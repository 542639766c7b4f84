"""Context cache: the contexts that this process composed in the last minutes.

The key of a context contains its viewer, its request and the epoch of everything that the viewer
may see. A write increases the epoch in its own transaction, for every process, so no writer has to
notify this cache. Entries expire after five minutes at most, because a context contains the time.

A second cache that several processes share is optional. Contexts from there are cached here, too.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from threading import Lock
from typing import TYPE_CHECKING

from ...core.access import Viewer
from ...core.errors import Unavailable
from ...core.ids import WorkspaceId, digest
from ...core.protocols.context_cache import CachedContext, SharedContextCache
from ..request import ContextRequest
from ..templates import template_key
from .viewer_caches import LineCache, SectionCache, SummaryCache

if TYPE_CHECKING:
    from ...core.records.context import Context

    ComposeCall = Callable[[int | None], tuple[Context, int | None]]


def run_now(call: Callable[[], None]) -> None:
    call()


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedCacheClient:
    """A shared cache, and the fingerprint of everything that this process composes with.

    A process with other settings, another embedder or another program version has another
    fingerprint, so it does not get the contexts of this one. Computing the fingerprint may call
    the embedder.
    """

    cache: SharedContextCache
    fingerprint: Callable[[], str]
    run_later: Callable[[Callable[[], None]], None] = run_now  # runs writes in the background

    def look_up(self, viewer: Viewer, key: str) -> CacheVisit:
        """Look up a context; call this before reading anything for a new one.

        An unavailable embedder counts as a miss, and then nothing is stored.
        """
        try:
            fingerprint = self.fingerprint()
        except Unavailable:
            return CacheVisit()
        result = self.cache.get(viewer.grant(), digest(fingerprint, key))
        if result.ticket is None:
            return CacheVisit(cached=result.cached)
        ticket = result.ticket

        def store_context(key: str, cached: CachedContext, ttl: timedelta) -> None:
            def put_context() -> None:
                seconds = int(ttl.total_seconds())
                grant, full_key = viewer.grant(), digest(fingerprint, key)
                self.cache.put(grant, full_key, cached, ticket=ticket, seconds=seconds)

            self.run_later(put_context)

        return CacheVisit(cached=result.cached, store_context=store_context)


def _skip_store(key: str, cached: CachedContext, ttl: timedelta) -> None:
    del key, cached, ttl


@dataclass(frozen=True, slots=True)
class CacheVisit:
    """The result of one lookup, and the call that stores a context composed after it."""

    cached: CachedContext | None = None
    store_context: Callable[[str, CachedContext, timedelta], None] = _skip_store


DEFAULT_TTL_SECONDS = 300
MAX_BYTES = 32_000_000
ITEM_BYTES = 600  # estimate for an item or a reason, besides its text
MAX_CLOCK_SKEW = timedelta(seconds=5)  # by which another machine's clock may be ahead
SWEEPS_PER_TTL = 10  # how often expired entries are removed


@dataclass(frozen=True, slots=True)
class ContextCacheStats:
    hits: int
    misses: int
    contexts: int
    bytes: int

    @property
    def hit_rate(self) -> float:
        lookups = self.hits + self.misses
        return self.hits / lookups if lookups else 0.0


@dataclass(frozen=True, slots=True)
class _CacheEntry:
    context: Context
    workspace: WorkspaceId
    at: datetime
    bytes: int
    is_current: Callable[[], bool]  # reads the epoch: True if nothing was written since


@dataclass(frozen=True, slots=True)
class _CacheRequest:
    """One lookup, and the cache's generation when it began."""

    viewer: Viewer
    request: ContextRequest
    read_epoch: Callable[[], int]
    generation: int
    key_parts: tuple[str, ...]  # of the key, without the epoch

    def cache_key(self, epoch: int) -> str:
        return digest(*self.key_parts, str(epoch))

    def make_entry(self, cached: CachedContext) -> _CacheEntry:
        return _CacheEntry(
            context=cached.context,
            workspace=self.viewer.workspace,
            at=cached.at,
            bytes=_estimate_bytes(cached.context),
            is_current=lambda: self.read_epoch() == cached.epoch,
        )


class ContextCache:
    """LRU cache of contexts, bounded in bytes, with the smaller caches that composing uses."""

    def __init__(
        self,
        clock: Callable[[], datetime],
        *,
        seconds: float = DEFAULT_TTL_SECONDS,
        max_bytes: int = MAX_BYTES,
        shared: SharedCacheClient | None = None,
    ) -> None:
        self._clock = clock
        self._shared = shared
        self._ttl = timedelta(seconds=seconds)
        self._max_bytes = max_bytes
        self._entries: OrderedDict[str, _CacheEntry] = OrderedDict()
        self._bytes = 0
        self._hits = 0
        self._misses = 0
        self._generation = 0  # number of evictions; see evict_workspace
        self._swept_at: datetime | None = None
        self._lock = Lock()
        self.sections = SectionCache(clock, seconds=seconds)
        self.lines = LineCache(clock, seconds=seconds)
        self.summaries = SummaryCache(clock)

    @property
    def stats(self) -> ContextCacheStats:
        with self._lock:
            return ContextCacheStats(self._hits, self._misses, len(self._entries), self._bytes)

    def get_or_compose(
        self,
        viewer: Viewer,
        request: ContextRequest,
        epoch: Callable[[], int],
        compose: ComposeCall,
    ) -> Context:
        """Return the cached context of this request, or compose one and cache it.

        A context is not cached if `compose` returns no epoch, if a source was unavailable, or if
        its template has no cache key.
        """
        if not self._ttl or not template_key(request.template):
            return compose(None)[0]
        lookup = _CacheRequest(
            viewer, request, epoch, self._generation, _key_parts(viewer, request)
        )
        current, key, visit = None, "", CacheVisit()
        with suppress(Unavailable):  # the composer reports what is unavailable
            current = epoch()
            key = lookup.cache_key(current)
            cached = self._look_up(key)
            if cached is None:
                visit = self._look_up_shared(lookup, current, key)
                cached = visit.cached.context if visit.cached else None
            if cached:
                return replace(cached, receipt=replace(cached.receipt, cached=True))
        context, began = compose(current)
        if began is not None and not context.receipt.degraded:
            key = key if began == current else lookup.cache_key(began)
            entry = CachedContext(context=context, at=self._clock(), epoch=began)
            self._add_entry(key, lookup.make_entry(entry), lookup.generation)
            visit.store_context(key, entry, self._ttl)
        return context

    def _look_up_shared(self, request: _CacheRequest, epoch: int, key: str) -> CacheVisit:
        """Look in the shared cache, and copy a hit into this one."""
        if self._shared is None:
            return CacheVisit()
        visit = self._shared.look_up(request.viewer, key)
        if visit.cached is None:
            return visit
        now = self._clock()
        local = replace(visit.cached, epoch=epoch, at=min(visit.cached.at, now))
        if visit.cached.at > now + MAX_CLOCK_SKEW or not self._is_fresh(local.at):
            return replace(visit, cached=None)
        self._add_entry(key, request.make_entry(local), request.generation)
        return visit

    def evict_workspace(self, workspace: WorkspaceId) -> None:
        """Drop the outdated entries of a workspace; contexts being composed are not cached.

        Current entries stay: a viewer who cannot see what was forgotten must not notice, by a
        slower answer, that something was.
        """
        self.sections.clear_workspace(workspace)
        self.lines.clear_workspace(workspace)
        self.summaries.clear_workspace(workspace)
        with self._lock:
            self._generation += 1
            entries = [
                (key, each) for key, each in self._entries.items() if each.workspace == workspace
            ]
        outdated = [key for key, each in entries if not _is_current(each)]
        with self._lock:
            for key in outdated:
                self._remove_entry(key)

    def _look_up(self, key: str) -> Context | None:
        with self._lock:
            entry = self._entries.get(key)
            if entry is None or not self._is_fresh(entry.at):
                self._misses += 1
                return None
            self._hits += 1
            self._entries.move_to_end(key)
            return entry.context

    def _is_fresh(self, at: datetime) -> bool:
        """Return True if a context of that time has not expired and is not from the future."""
        now = self._clock()
        return now - self._ttl < at <= now

    def _add_entry(self, key: str, entry: _CacheEntry, generation: int) -> None:
        with self._lock:
            if self._generation != generation or entry.bytes > self._max_bytes:
                return
            self._remove_expired(self._clock())
            self._remove_entry(key)
            self._entries[key] = entry
            self._bytes += entry.bytes
            while self._bytes > self._max_bytes:
                self._remove_entry(next(iter(self._entries)))

    def _remove_expired(self, now: datetime) -> None:
        """Remove expired entries, at most SWEEPS_PER_TTL times within a TTL."""
        last, pause = self._swept_at, self._ttl / SWEEPS_PER_TTL
        if last and last <= now < last + pause:
            return
        self._swept_at = now
        for key in [key for key, entry in self._entries.items() if entry.at <= now - self._ttl]:
            self._remove_entry(key)

    def _remove_entry(self, key: str) -> None:
        entry = self._entries.pop(key, None)
        self._bytes -= entry.bytes if entry else 0


def _is_current(entry: _CacheEntry) -> bool:
    try:
        return entry.is_current()
    except Unavailable:
        return False


def context_key(viewer: Viewer, request: ContextRequest, epoch: int | None = None) -> str:
    """Return a digest of everything a context depends on, except the time.

    Without an epoch, the digest does not depend on what was written.
    """
    return digest(*_key_parts(viewer, request), str(epoch))


def _key_parts(viewer: Viewer, request: ContextRequest) -> tuple[str, ...]:
    grant = viewer.grant()
    shown = [part for each in request.messages for part in (each.role, each.name or "", each.text)]
    return (
        grant.workspace.value,
        str(viewer.home),
        viewer.agent.value,
        viewer.project or "",
        *(person.value for person in viewer.people),
        "sees",
        *sorted([scope.text for scope in grant.scopes]),
        "asks",
        request.question,
        repr(
            (
                request.budget,
                request.recent_messages,
                request.model,
                request.as_of,
                request.explain,
                request.thread,
                template_key(request.template) or type(request.template).__qualname__,
                tuple(map(str, request.tools)),
            )
        ),
        "shows",
        *shown,
    )


def _estimate_bytes(context: Context) -> int:
    items = [item for section in context.sections for item in section.items]
    reasons = len(items) + len(context.receipt.shown) + len(context.receipt.cut)
    texts = len(context.text) + sum(len(item.text) + len(item.line) for item in items)
    return 2 * texts + ITEM_BYTES * reasons
