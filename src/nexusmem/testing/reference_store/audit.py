"""Audit log of the reference store."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Protocol, TypeVar

from ...audit.chain import (
    AuditLink,
    ChainVerifier,
    blank_forgotten,
    build_links,
    droppable_days,
    entry_content,
    mentions_any,
    parse_anchor,
    retention_entry,
)
from ...audit.records import AuditEntry, AuditReport, RecordedEntry, add_outcome
from ...core.access import Grant, check_grant
from ...core.hash_chain import GENESIS
from ...core.ids import WorkspaceId
from ...core.records import Tombstone
from ...stores.transaction_hooks import WriteHooks
from .lock import ClosableLock

R = TypeVar("R")


@dataclass(slots=True)
class WorkspaceTrail:
    """Audit log of one workspace: a hash chain of links."""

    links: list[AuditLink] = field(default_factory=list)
    length: int = 0
    head: bytes = GENESIS

    def extend(self, links: Sequence[AuditLink]) -> None:
        self.links += links
        self.length, self.head = links[-1].number, links[-1].hash


class TombstoneHolder(Protocol):
    tombstones: list[Tombstone]


class AuditBackend(Protocol):
    """The state that `ReferenceAudit` uses."""

    hooks: WriteHooks[None]

    def get_workspace(self, workspace: WorkspaceId) -> TombstoneHolder:
        """Return the data of the workspace, with its tombstones."""
        ...

    def run_write(self, work: Callable[[], R]) -> R:
        """Run `work` as a transaction, with the hooks of the thread."""
        ...


class ReferenceAudit:
    """Reference implementation of the protocol `Audit`."""

    def __init__(self, lock: ClosableLock, backend: AuditBackend) -> None:
        self._lock = lock
        self._backend = backend
        self.trails: defaultdict[WorkspaceId, WorkspaceTrail] = defaultdict(WorkspaceTrail)
        self._is_enabled = True
        self._key: bytes | None = None

    def configure(self, *, writes: bool, key: bytes | None = None) -> None:
        self._is_enabled, self._key = writes, key

    def append(self, workspace: WorkspaceId, entries: Sequence[AuditEntry]) -> None:
        if entries:
            self._backend.run_write(lambda: self._append_links(workspace, entries))

    def _append_links(self, workspace: WorkspaceId, entries: Sequence[AuditEntry]) -> None:
        trail = self.trails[workspace]
        links = build_links(trail.length, trail.head, entries, self._key)
        tombstones = self._backend.get_workspace(workspace).tombstones
        trail.extend(blank_forgotten(links, entries, tombstones))

    def find(
        self,
        grant: Grant,
        *,
        action: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        after: int | None = None,
        limit: int,
    ) -> list[RecordedEntry]:
        if not check_grant(grant).everything:
            return []
        with self._lock:
            matches = [
                entry
                for entry in (link.as_recorded for link in self.trails[grant.workspace].links)
                if entry.number > (after or 0)
                and action in (None, entry.action)
                and (since is None or entry.at >= since)
                and (until is None or entry.at < until)
            ]
        return matches[::-1][:limit] if after is None else matches[:limit]

    def verify(self, workspace: WorkspaceId, *, anchor: str | None = None) -> AuditReport:
        with self._lock:
            trail = self.trails[workspace]
            walk = ChainVerifier(self._key, parse_anchor(anchor)).verify_links(trail.links)
            return walk.make_report(workspace, trail.length, trail.head)

    def find_mentions(self, workspace: WorkspaceId, names: Sequence[str]) -> dict[int, str]:
        with self._lock:
            links = [*self.trails[workspace].links]
        contents = {link.number: link.content for link in links if link.content}
        return {number: text for number, text in contents.items() if mentions_any(text, names)}

    def erase_contents(self, workspace: WorkspaceId, numbers: Sequence[int]) -> int:
        def blank_links() -> int:
            trail = self.trails[workspace]
            gone = {link.number for link in trail.links if link.content} & set(numbers)
            trail.links = [
                link.without_content if link.number in gone else link for link in trail.links
            ]
            return len(gone)

        return self._backend.run_write(blank_links)

    def apply_retention(self, workspace: WorkspaceId, *, before: date, now: datetime) -> int:
        def drop_old_links() -> int:
            trail = self.trails[workspace]
            every = [(link.number, link.day, link.hash) for link in trail.links]
            anchors = droppable_days(every, before.isoformat())
            if not anchors:
                return 0
            self._append_links(workspace, [retention_entry(anchors, before, now)])
            old = [link for link in trail.links if link.number <= anchors[-1].last]
            trail.links = trail.links[len(old) :]
            return len(old)

        return self._backend.run_write(drop_old_links)

    def prepare_days(
        self, *, today: date, ahead: int, before: date | None = None
    ) -> dict[str, int]:
        del today, ahead, before  # no partitions
        return {}

    def _with_audit_entry(
        self, workspace: WorkspaceId, entry: AuditEntry, outcome: str | None
    ) -> AbstractContextManager[None]:
        if not self._is_enabled:
            return nullcontext()
        entry_content(entry)  # raises before the operation runs, if the entry is invalid

        def append_entry(_: None, value: Any) -> None:
            if recorded := add_outcome(entry, outcome, value):
                self._append_links(workspace, recorded)

        return self._backend.hooks.add_hook(append_entry)

    def _with_audit_entries(
        self, entries: Mapping[WorkspaceId, AuditEntry]
    ) -> AbstractContextManager[None]:
        if not self._is_enabled:
            return nullcontext()
        for entry in entries.values():
            entry_content(entry)

        def append_entries(_: None, _value: Any) -> None:
            for workspace, entry in entries.items():
                self._append_links(workspace, [entry])

        return self._backend.hooks.add_hook(append_entries)
