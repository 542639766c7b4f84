"""Audit log records: who did what, from where, and the protocol of its store.

`chain` implements the hash chain of the entries.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from enum import StrEnum
from typing import Protocol

from ..core.access import Grant
from ..core.errors import InvalidInput
from ..core.ids import WorkspaceId, check_name
from ..core.records import Json

ACTION_PATTERN = re.compile(r"[a-z][a-z_]{0,39}")
ADMINISTRATOR, WORKER = "administrator", "worker"  # actors that are not agents


class AuditLevel(StrEnum):
    """Amount of recording; each level includes the ones before it."""

    OFF = "off"
    WRITES = "writes"
    READS = "reads"
    VERBOSE = "verbose"  # reads with the text of their question

    @property
    def records_writes(self) -> bool:
        return self is not AuditLevel.OFF

    @property
    def records_reads(self) -> bool:
        return self in (AuditLevel.READS, AuditLevel.VERBOSE)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """A recorded action. `people` are those whose names or texts it contains."""

    at: datetime
    action: str  # one word: forget, share, recall
    actor: str  # an agent, administrator or worker
    place: str = ""  # a scope
    people: tuple[str, ...] = ()
    detail: Mapping[str, Json] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not ACTION_PATTERN.fullmatch(self.action):
            raise InvalidInput(
                f"an action must be one word of lowercase letters, got {self.action!r:.60}"
            )
        check_name(self.actor, "the actor")


def add_outcome(entry: AuditEntry, name: str | None, value: Json) -> list[AuditEntry]:
    """Return the entry with the result of the write; empty if the result is 0 or empty."""
    if name is None:
        return [entry]
    return [replace(entry, detail={**entry.detail, name: value})] if value else []


def worker_entry(action: str, now: datetime, **detail: Json) -> AuditEntry:
    """Return the entry of an action by a background job."""
    return AuditEntry(at=now, action=action, actor=WORKER, detail=detail)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedEntry:
    """A stored entry; without its content after an erasure."""

    number: int
    at: datetime
    action: str
    entry: AuditEntry | None
    proof: Mapping[str, str | None] = field(default_factory=dict)  # salt, commitment, hash, seal

    @property
    def is_erased(self) -> bool:
        return self.entry is None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditCursor:
    """Positions in the audit log and the ledger; larger numbers came later."""

    entry: int
    event: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """Result of verifying an audit log."""

    workspace: WorkspaceId
    entries: int  # stored entries
    erased: int  # of these, without content
    dropped: int  # earlier entries, dropped by retention
    sealed: int  # of the stored entries, sealed with the configured key
    head: str  # number:hash of the newest entry; a copy of it reveals any later change
    problems: tuple[str, ...] = ()

    @property
    def is_intact(self) -> bool:
        return not self.problems


class AuditLog(Protocol):
    """The audit log of each workspace, readable by administrators only."""

    def configure(self, *, writes: bool, key: bytes | None = None) -> None:
        """Set whether `Store.with_audit_entry` records, and the key that seals links."""
        ...

    def append(self, workspace: WorkspaceId, entries: Sequence[AuditEntry]) -> None:
        """Write these entries in one durable transaction."""
        ...

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
        """Return the newest entries, newest first; with `after`, later numbers, oldest first.

        A grant that does not cover the complete workspace finds nothing.
        """
        ...

    def verify(self, workspace: WorkspaceId, *, anchor: str | None = None) -> AuditReport:
        """Recompute the hash chain and all commitments of entries that still exist.

        `anchor` is the `head` of an earlier report: that link must still exist unchanged.
        """
        ...

    def find_mentions(self, workspace: WorkspaceId, names: Sequence[str]) -> dict[int, str]:
        """Return the contents that contain one of these names as a word, by entry number."""
        ...

    def erase_contents(self, workspace: WorkspaceId, numbers: Sequence[int]) -> int:
        """Erase the contents of these entries; the links of the chain stay."""
        ...

    def apply_retention(self, workspace: WorkspaceId, *, before: date, now: datetime) -> int:
        """Drop the days before this one and record their anchors; return the number of entries."""
        ...

    def prepare_days(
        self, *, today: date, ahead: int, before: date | None = None
    ) -> dict[str, int]:
        """Create storage for the next days, and drop that of empty days before `before`.

        Return the numbers of days `made` and `dropped`, for stores with one partition per day.
        """
        ...
