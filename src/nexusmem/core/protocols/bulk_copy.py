"""Bulk copy: move all records of a workspace to another store without changing them.

An archive contains what a grant may see, and the importing store derives the rest again. A bulk
copy is for administrators. Each record is one line of canonical JSON, identical in every store.
Chain links, also those of erased events, and pending tasks are included.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Protocol

from ..access import Grant, check_grant
from ..canonical import canonical_json, format_time, parse_time
from ..errors import Conflict, InvalidInput
from ..hash_chain import chain_hash
from ..ids import WorkspaceId
from ..records import EmbeddingProfile, ModelCost, Tombstone


class RecordType(StrEnum):
    """Types of records in copy order: each one after those it depends on."""

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
class CopyRow:
    """A record and its position in the store, after which the next page starts."""

    position: str
    line: str


class BulkCopy(Protocol):
    """Reads and writes unchanged records; for administrators only."""

    def list_workspaces(self) -> list[WorkspaceId]:
        """Return all workspaces with any record."""
        ...

    def count_records(self, grant: Grant) -> dict[RecordType, int]:
        """Return the number of records of each type."""
        ...

    def read_rows(
        self, grant: Grant, record_type: RecordType, *, after: str | None = None, limit: int
    ) -> list[CopyRow]:
        """Return the next records of a type in the store's order; events in chain order.

        The grant must be an administrator's.
        """
        ...

    def write_rows(
        self, workspace: WorkspaceId, record_type: RecordType, lines: Sequence[str]
    ) -> int:
        """Store these records unchanged in one transaction; return the number of new ones.

        Existing records stay. A different event or memory under the same id raises Conflict.
        Differences in other types are found when both stores are compared. Events that do not
        continue the hash chain raise Conflict, too.
        """
        ...


def check_administrator(grant: Grant) -> WorkspaceId:
    """Return the workspace of an administrator's grant; raise InvalidInput for any other grant."""
    if not check_grant(grant).everything:
        raise InvalidInput("this operation needs an administrator's grant")
    return grant.workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class EventCopy:
    """A link of the hash chain, with its event unless that was erased."""

    number: int
    id: str
    content: str | None
    salt: bytes | None
    commitment: bytes
    hash: bytes

    @property
    def line(self) -> str:
        data = asdict(self)
        data["salt"] = None if self.salt is None else self.salt.hex()
        data["commitment"], data["hash"] = self.commitment.hex(), self.hash.hex()
        return canonical_json(data)

    @classmethod
    def from_line(cls, line: str) -> EventCopy:
        data = json.loads(line)
        for name in ("salt", "commitment", "hash"):
            data[name] = None if data[name] is None else bytes.fromhex(data[name])
        return cls(**data)


def check_event_chain(length: int, head: bytes, entries: Sequence[EventCopy]) -> None:
    """Raise Conflict unless these entries continue a chain of this length and head."""
    for number, entry in enumerate(entries, start=length + 1):
        if entry.number != number or chain_hash(head, entry.commitment) != entry.hash:
            raise Conflict(f"event {entry.number} does not continue the chain of {length} events")
        head = entry.hash


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskCopy:
    """A pending task of an event; its lease is not copied."""

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
    def from_line(cls, line: str) -> TaskCopy:
        return cls(**json.loads(line))


@dataclass(frozen=True, slots=True, kw_only=True)
class JobCopy:
    """A job of a workspace without its lease."""

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
    def from_line(cls, line: str) -> JobCopy:
        return cls(**json.loads(line))


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorCopy:
    """The vector of a memory, as little-endian float32."""

    memory: str
    profile: EmbeddingProfile
    data: bytes

    @property
    def line(self) -> str:
        data = b64encode(self.data).decode()
        fields = {"memory": self.memory, "profile": asdict(self.profile), "data": data}
        return canonical_json(fields)

    @classmethod
    def from_line(cls, line: str) -> VectorCopy:
        fields = json.loads(line)
        profile = EmbeddingProfile(**fields["profile"])
        return cls(memory=fields["memory"], profile=profile, data=b64decode(fields["data"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageCopy:
    """Usage of a memory in one scope, which is identified by its digest."""

    memory: str
    place: str
    owner: str | None  # digest of the scope's owner
    count: int
    conversations: list[str]
    last_at: str

    @property
    def line(self) -> str:
        return canonical_json(asdict(self))

    @classmethod
    def from_line(cls, line: str) -> UsageCopy:
        return cls(**json.loads(line))


def encode_tombstone(tombstone: Tombstone) -> str:
    return canonical_json({**asdict(tombstone), "at": format_time(tombstone.at)})


def decode_tombstone(line: str) -> Tombstone:
    return Tombstone(**_parse_time_field(json.loads(line)))


def encode_cost(cost: ModelCost) -> str:
    return canonical_json({**asdict(cost), "at": format_time(cost.at)})


def decode_cost(line: str) -> ModelCost:
    return ModelCost(**_parse_time_field(json.loads(line)))


def _parse_time_field(data: Mapping[str, Any]) -> dict[str, Any]:
    return {**data, "at": parse_time(data["at"])}


class RecordChecksum:
    """Count and order-independent checksum of records."""

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
        if not isinstance(other, RecordChecksum):
            return NotImplemented
        return (self.records, self.digest) == (other.records, other.digest)

    def __hash__(self) -> int:
        return hash((self.records, self.digest))
