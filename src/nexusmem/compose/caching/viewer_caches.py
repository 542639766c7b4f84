"""LRU caches of one process, per viewer: stable sections, rendered lines and model summaries.

Every key contains the viewer or the viewer's place, so that no viewer gets another's entries.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...core.access import Viewer
from ...core.ids import WorkspaceId, digest
from ...runtime.cache import LruCache
from ...runtime.clock import Clock, MonotonicClock

if TYPE_CHECKING:
    from ...core.records.context import ContextItem
    from ...learn.episodes.model_written import ModelSummary

SectionItems = Mapping[str, Sequence["ContextItem"]]  # section name → items


MAX_VIEWERS = 1_024
MAX_SECTION_LINES = 100  # lines cached of one section
MAX_TEXT_CHARS = 2_000  # longer items are not cached
MAX_SUMMARIES = 256
SUMMARY_TTL_SECONDS = 3_600  # after the last use


@dataclass(frozen=True, slots=True)
class SectionCacheKey:
    """Everything that stable sections depend on, except the time of day."""

    viewer: Viewer
    window: int  # events
    family: str  # of tokenizers
    epoch: int  # of everything the viewer may see; any write there increases it
    style: str = ""  # of the template
    more: tuple[str, ...] = ()  # day (tasks become overdue), limits and tools


class SectionCache:
    """Cache of stable sections. For each viewer, the items of the newest epoch are kept."""

    def __init__(self, clock: Clock, *, seconds: float) -> None:
        self._entries: LruCache[SectionCacheKey, tuple[int, SectionItems]] = LruCache(
            MAX_VIEWERS, ttl_seconds=seconds, clock=_timestamps(clock)
        )

    @property
    def generation(self) -> int:
        """Return the number of invalidations so far; read it before the sections are read."""
        return self._entries.generation

    def get(self, key: SectionCacheKey) -> SectionItems | None:
        """Return the sections of this key; None if there are none of its epoch."""
        epoch, sections = self._entries.get(_without_epoch(key)) or (None, None)
        return sections if epoch == key.epoch else None

    def put(self, key: SectionCacheKey, sections: SectionItems, *, generation: int) -> None:
        """Store the sections, unless the cache was invalidated since `generation` was read."""
        entry = (key.epoch, sections)
        self._entries.put(_without_epoch(key), entry, generation=generation)

    def clear_workspace(self, workspace: WorkspaceId) -> None:
        """Drop all entries of a workspace."""
        self._entries.remove_where(lambda key: key.viewer.workspace == workspace)


def _without_epoch(key: SectionCacheKey) -> SectionCacheKey:
    return replace(key, epoch=0)


class ViewerLines:
    """Items of one viewer with their rendered lines, as one tokenizer family counts them."""

    def __init__(self) -> None:
        self._sections: defaultdict[str, dict[str, ContextItem]] = defaultdict(dict)

    def section_items(self, part: str) -> Mapping[str, ContextItem]:
        """Return the items of a section as they were rendered last, by id."""
        return self._sections[part]

    def add_items(self, part: str, items: Iterable[ContextItem]) -> None:
        section = self._sections[part]
        for item in items:
            if len(item.text) > MAX_TEXT_CHARS:
                continue
            if len(section) >= MAX_SECTION_LINES:
                section.clear()
            section[item.id] = item


class LineCache:
    """Cache of rendered lines, by viewer, tokenizer family, and template with the current day.

    A line is reused only if it would be rendered from equal values, so it is never out of date.
    """

    def __init__(self, clock: Clock, *, seconds: float) -> None:
        self._entries: LruCache[tuple[Viewer, str, str], ViewerLines] = LruCache(
            MAX_VIEWERS, ttl_seconds=seconds, clock=_timestamps(clock)
        )

    def for_viewer(self, viewer: Viewer, family: str, style: str = "") -> ViewerLines:
        """Return the lines of a viewer.

        Call it before reading the store: `clear_workspace` then also discards lines that are
        added later to this object.
        """
        return self._entries.get_or_create((viewer, family, style), ViewerLines)

    def clear_workspace(self, workspace: WorkspaceId) -> None:
        """Drop all entries of a workspace."""
        self._entries.remove_where(lambda key: key[0].workspace == workspace)


class SummaryCache:
    """Cache of summaries that a model wrote, so that the same turns get the same summary."""

    def __init__(self, clock: Clock) -> None:
        self._entries: LruCache[tuple[WorkspaceId, str], ModelSummary] = LruCache(
            MAX_SUMMARIES,
            ttl_seconds=SUMMARY_TTL_SECONDS,
            renew_on_read=True,
            clock=_timestamps(clock),
        )

    def get_or_create(
        self,
        viewer: Viewer,
        turns: Sequence[tuple[str, str]],
        summarize: Callable[[], ModelSummary],
    ) -> ModelSummary:
        """Return the cached summary of these (speaker, text) turns, or a new one.

        An exception of `summarize` is not cached.
        """
        words = (part for turn in turns for part in turn)
        key = viewer.workspace, digest(str(viewer.home), viewer.agent.value, *words)
        return self._entries.get_or_create(key, summarize)

    def clear_workspace(self, workspace: WorkspaceId) -> None:
        """Drop all entries of a workspace, and what is being written for it now."""
        self._entries.remove_where(lambda key: key[0] == workspace)


def _timestamps(clock: Clock) -> Callable[[], float]:
    """Return a clock in seconds since 1970.

    Reading must not advance it: the number of reads depends on the entries of other viewers.
    """
    read = clock.read if isinstance(clock, MonotonicClock) else clock
    return lambda: read().timestamp()
