"""The trail of what was done in a workspace: who, from where, what, and how much of it.

These are the words and what a store must do; `trail` has the chain that entries form.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from enum import StrEnum
from typing import Protocol

from .access import Grant
from .errors import InvalidInput
from .ids import WorkspaceId, check_name
from .records import Json

WORD = re.compile(r"[a-z][a-z_]{0,39}")
ADMINISTRATOR, WORKER = "administrator", "worker"  # who acts, if it is no agent


class Level(StrEnum):
    """How much is recorded; each one records what those before it do."""

    OFF = "off"
    WRITES = "writes"
    READS = "reads"
    VERBOSE = "verbose"  # questions in their own words

    @property
    def writes(self) -> bool:
        return self is not Level.OFF

    @property
    def reads(self) -> bool:
        return self in (Level.READS, Level.VERBOSE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One thing that was done. `people` are those whose names or words it holds."""

    at: datetime
    action: str  # one word: forget, share, recall
    actor: str  # an agent, administrator or worker
    place: str = ""  # a scope
    people: tuple[str, ...] = ()
    detail: Mapping[str, Json] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not WORD.fullmatch(self.action):
            raise InvalidInput(f"an action is one small word, not {self.action!r:.60}")
        check_name(self.actor, "the actor")


def with_outcome(entry: Entry, name: str | None, value: Json) -> list[Entry]:
    """The entry with what came of it under this name; none, if nothing did."""
    if name is None:
        return [entry]
    return [replace(entry, detail={**entry.detail, name: value})] if value else []


def by_worker(action: str, now: datetime, **detail: Json) -> Entry:
    """What a job did by itself."""
    return Entry(at=now, action=action, actor=WORKER, detail=detail)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """An entry as it stands in the trail; without its content once that was erased."""

    number: int
    at: datetime
    action: str
    entry: Entry | None
    proof: Mapping[str, str | None] = field(default_factory=dict)  # salt, commitment, hash, seal

    @property
    def erased(self) -> bool:
        return self.entry is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Where a trail and its ledger ended at a moment: what has a larger number came later."""

    entry: int
    event: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TrailReport:
    """What a walk along the trail found."""

    workspace: WorkspaceId
    entries: int  # that are there
    erased: int  # of these, without their content
    dropped: int  # before these, by retention
    sealed: int  # of these, with the key that is configured
    head: str  # number:hash of the newest one. Kept elsewhere, it shows any later change before it
    problems: tuple[str, ...] = ()

    @property
    def sound(self) -> bool:
        return not self.problems


class Audit(Protocol):
    """The trail of each workspace. Its administrator reads it, and nobody else."""

    def configure(self, *, writes: bool, key: bytes | None = None) -> None:
        """Whether `Store.recording` records anything, and the key that links are sealed with."""
        ...

    def append(self, workspace: WorkspaceId, entries: Sequence[Entry]) -> None:
        """Write these down, in one durable transaction."""
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
    ) -> list[Recorded]:
        """The newest, newest first; with `after`, those of larger numbers, oldest first.

        A grant that does not cover the whole workspace finds nothing.
        """
        ...

    def verify(self, workspace: WorkspaceId, *, anchor: str | None = None) -> TrailReport:
        """Walk the chain and recompute everything that is still there.

        An anchor is the `head` of an earlier report: that link must still be there, the same.
        """
        ...

    def naming(self, workspace: WorkspaceId, names: Sequence[str]) -> dict[int, str]:
        """The contents that hold one of these names as a word, by number: what has to go."""
        ...

    def blank(self, workspace: WorkspaceId, numbers: Sequence[int]) -> int:
        """Erase the contents of these. The links stay."""
        ...

    def retain(self, workspace: WorkspaceId, *, before: date, now: datetime) -> int:
        """Drop whole days before this one, and record it with their anchors; how many entries."""
        ...

    def prepare(self, *, today: date, ahead: int, before: date | None = None) -> dict[str, int]:
        """Make room for the days ahead and give back that of empty days before another one.

        How many days were `made` and `dropped`, where a store keeps each day apart.
        """
        ...
