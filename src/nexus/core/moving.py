"""How a whole memory moves from one store into another, as it is.

An archive carries what a grant may see, and the importing store decides anew what follows from
it. This is the administrator's way: every record of a workspace as one line of canonical JSON,
the same line in every store, with the links of the chain, what is left of erased events and the
work that is still to be done.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Protocol

from .access import Grant, check_grant
from .canonical import canonical_json, text_time, time_text
from .chain import link
from .errors import Conflict, InvalidInput
from .ids import WorkspaceId
from .records import EmbeddingProfile, Spent, Tombstone


class Shelf(StrEnum):
    """The kinds of records, in the order they are moved: nothing comes before what it needs."""

    EVENTS = "events"
    MEMORIES = "memories"
    VECTORS = "vectors"
    USES = "uses"
    TOMBSTONES = "tombstones"
    SPENDING = "spending"
    WINDOW = "window"
    WORK = "work"
    JOBS = "jobs"
    AUDIT = "audit"


@dataclass(frozen=True, slots=True)
class Standing:
    """A record and where it stands in its store; what follows is asked for after that place."""

    place: str
    line: str


class Mover(Protocol):
    """Reads and writes records as they are. The administrator's, and nobody else's."""

    def workspaces(self) -> list[WorkspaceId]:
        """Every workspace of which anything is kept."""
        ...

    def count(self, grant: Grant) -> dict[Shelf, int]:
        """How many records stand on each shelf."""
        ...

    def read(
        self, grant: Grant, shelf: Shelf, *, after: str | None = None, limit: int
    ) -> list[Standing]:
        """The next records of a shelf, in this store's own order; events in that of the chain.

        The grant is an administrator's.
        """
        ...

    def write(self, workspace: WorkspaceId, shelf: Shelf, lines: Sequence[str]) -> int:
        """Keep these as they are, in one transaction; how many were not there yet.

        What is there stays. Among events and memories, another one under the same id is Conflict;
        on the other shelves it shows when both stores are compared. Events must continue the
        chain: one that does not follow the one before it is Conflict, too.
        """
        ...


def check_administrator(grant: Grant) -> WorkspaceId:
    """The workspace of a grant that covers all of it."""
    if not check_grant(grant).everything:
        raise InvalidInput("a whole workspace is moved by its administrator")
    return grant.workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One link of the chain, with its event unless that was erased."""

    number: int
    id: str
    content: str | None
    salt: bytes | None
    commitment: bytes
    hash: bytes

    @property
    def line(self) -> str:
        told = asdict(self)
        told["salt"] = None if self.salt is None else self.salt.hex()
        told["commitment"], told["hash"] = self.commitment.hex(), self.hash.hex()
        return canonical_json(told)

    @classmethod
    def of(cls, line: str) -> Entry:
        told = json.loads(line)
        for name in ("salt", "commitment", "hash"):
            told[name] = None if told[name] is None else bytes.fromhex(told[name])
        return cls(**told)


def continues(length: int, head: bytes, entries: Sequence[Entry]) -> None:
    """Refuse what does not follow a chain of this length and head."""
    for number, entry in enumerate(entries, start=length + 1):
        if entry.number != number or link(head, entry.commitment) != entry.hash:
            raise Conflict(f"event {entry.number} does not follow the {length} that are there")
        head = entry.hash


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What is left to do for an event. Who does it right now is not moved: it is done there."""

    event: str
    step: str
    due_at: str
    attempts: int
    error: str | None
    priority: int = 0

    @property
    def line(self) -> str:
        return canonical_json(asdict(self))

    @classmethod
    def of(cls, line: str) -> Work:
        return cls(**json.loads(line))


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedJob:
    """A job of the workspace as it stands, but for who does it right now."""

    name: str
    key: str
    every_seconds: float | None
    on_news: bool
    priority: int
    due_at: str | None
    attempts: int
    error: str | None
    dead: bool
    cursor: str | None
    last_run_at: str | None
    seconds: float
    counts: str

    @property
    def line(self) -> str:
        return canonical_json(asdict(self))

    @classmethod
    def of(cls, line: str) -> MovedJob:
        return cls(**json.loads(line))


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """The vector of a memory, as little-endian floats of four bytes."""

    memory: str
    profile: EmbeddingProfile
    data: bytes

    @property
    def line(self) -> str:
        data = b64encode(self.data).decode()
        told = {"memory": self.memory, "profile": asdict(self.profile), "data": data}
        return canonical_json(told)

    @classmethod
    def of(cls, line: str) -> Position:
        told = json.loads(line)
        profile = EmbeddingProfile(**told["profile"])
        return cls(memory=told["memory"], profile=profile, data=b64decode(told["data"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """The uses of a memory in one place, which is known by its digest."""

    memory: str
    place: str
    owner: str | None  # the digest of whose place it is
    count: int
    conversations: list[str]
    last_at: str

    @property
    def line(self) -> str:
        return canonical_json(asdict(self))

    @classmethod
    def of(cls, line: str) -> Used:
        return cls(**json.loads(line))


def stone_line(stone: Tombstone) -> str:
    return canonical_json({**asdict(stone), "at": time_text(stone.at)})


def stone_of(line: str) -> Tombstone:
    return Tombstone(**_with_time(json.loads(line)))


def bill_line(bill: Spent) -> str:
    return canonical_json({**asdict(bill), "at": time_text(bill.at)})


def bill_of(line: str) -> Spent:
    return Spent(**_with_time(json.loads(line)))


def _with_time(told: Mapping[str, Any]) -> dict[str, Any]:
    return {**told, "at": text_time(told["at"])}


class Tally:
    """How many records there were and what they were, whatever their order."""

    def __init__(self) -> None:
        self.records = 0
        self._sum = 0

    def add(self, line: str) -> None:
        self.records += 1
        self._sum += int.from_bytes(hashlib.sha256(line.encode()).digest(), "big")

    @property
    def digest(self) -> str:
        return (self._sum % 2**256).to_bytes(32, "big").hex()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tally):
            return NotImplemented
        return (self.records, self.digest) == (other.records, other.digest)

    def __hash__(self) -> int:
        return hash((self.records, self.digest))
