"""The trails of workspaces, in memory: the specification of `core.audit.Audit`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Protocol, TypeVar

from ..core.access import Grant, check_grant
from ..core.audit import Entry, Recorded, TrailReport, with_outcome
from ..core.chain import GENESIS
from ..core.ids import WorkspaceId
from ..core.records import Tombstone
from ..core.trail import (
    Link,
    Walk,
    content_of,
    dropping,
    linked,
    names_one_of,
    parsed_anchor,
    retention_entry,
    without_forgotten,
)
from .along import Along
from .inprocess_gate import Gate

R = TypeVar("R")


@dataclass(slots=True)
class Trail:
    """What was done in one workspace."""

    links: list[Link] = field(default_factory=list)
    length: int = 0
    head: bytes = GENESIS

    def extend(self, links: Sequence[Link]) -> None:
        self.links += links
        self.length, self.head = links[-1].number, links[-1].hash


class Stones(Protocol):
    tombstones: list[Tombstone]


class Writer(Protocol):
    """What a trail has to know of the store."""

    along: Along[None]

    def of(self, workspace: WorkspaceId) -> Stones:
        """The tombstones of a workspace."""
        ...

    def writing(self, work: Callable[[], R]) -> R:
        """Do this with whatever goes along with it."""
        ...


class InProcessAudit:
    def __init__(self, lock: Gate, writer: Writer) -> None:
        self._lock = lock
        self._writer = writer
        self.trails: defaultdict[WorkspaceId, Trail] = defaultdict(Trail)
        self._writes = True
        self._key: bytes | None = None

    def configure(self, *, writes: bool, key: bytes | None = None) -> None:
        self._writes, self._key = writes, key

    def append(self, workspace: WorkspaceId, entries: Sequence[Entry]) -> None:
        if entries:
            self._writer.writing(lambda: self._append(workspace, entries))

    def _append(self, workspace: WorkspaceId, entries: Sequence[Entry]) -> None:
        trail = self.trails[workspace]
        links = linked(trail.length, trail.head, entries, self._key)
        stones = self._writer.of(workspace).tombstones
        trail.extend(without_forgotten(links, entries, stones))

    def find(
        self,
        grant: Grant,
        *,
        action: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        after: int | None = None,
        limit: int,
    ) -> list[Recorded]:
        if not check_grant(grant).everything:
            return []
        with self._lock:
            found = [
                told
                for told in (link.recorded for link in self.trails[grant.workspace].links)
                if told.number > (after or 0)
                and action in (None, told.action)
                and (since is None or told.at >= since)
                and (until is None or told.at < until)
            ]
        return found[::-1][:limit] if after is None else found[:limit]

    def verify(self, workspace: WorkspaceId, *, anchor: str | None = None) -> TrailReport:
        with self._lock:
            trail = self.trails[workspace]
            walk = Walk(self._key, parsed_anchor(anchor)).along(trail.links)
            return walk.ended(workspace, trail.length, trail.head)

    def naming(self, workspace: WorkspaceId, names: Sequence[str]) -> dict[int, str]:
        with self._lock:
            links = [*self.trails[workspace].links]
        told = {link.number: link.content for link in links if link.content}
        return {number: text for number, text in told.items() if names_one_of(text, names)}

    def blank(self, workspace: WorkspaceId, numbers: Sequence[int]) -> int:
        def blank() -> int:
            trail = self.trails[workspace]
            gone = {link.number for link in trail.links if link.content} & set(numbers)
            trail.links = [link.blank if link.number in gone else link for link in trail.links]
            return len(gone)

        return self._writer.writing(blank)

    def retain(self, workspace: WorkspaceId, *, before: date, now: datetime) -> int:
        def retain() -> int:
            trail = self.trails[workspace]
            every = [(link.number, link.day, link.hash) for link in trail.links]
            anchors = dropping(every, before.isoformat())
            if not anchors:
                return 0
            self._append(workspace, [retention_entry(anchors, before, now)])
            old = [link for link in trail.links if link.number <= anchors[-1].last]
            trail.links = trail.links[len(old) :]
            return len(old)

        return self._writer.writing(retain)

    def prepare(self, *, today: date, ahead: int, before: date | None = None) -> dict[str, int]:
        del today, ahead, before  # there is nothing to prepare
        return {}

    def _recording(
        self, workspace: WorkspaceId, entry: Entry, outcome: str | None
    ) -> AbstractContextManager[None]:
        if not self._writes:
            return nullcontext()
        content_of(entry)  # what cannot be recorded is not done

        def note(_: None, value: Any) -> None:
            if told := with_outcome(entry, outcome, value):
                self._append(workspace, told)

        return self._writer.along.noting(note)

    def _recording_in(self, entries: Mapping[WorkspaceId, Entry]) -> AbstractContextManager[None]:
        if not self._writes:
            return nullcontext()
        for entry in entries.values():
            content_of(entry)

        def note(_: None, _value: Any) -> None:
            for workspace, entry in entries.items():
                self._append(workspace, [entry])

        return self._writer.along.noting(note)
