"""Events of the ledger, and the records of their processing: receipts, tasks, tombstones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum, StrEnum
from functools import lru_cache
from typing import Any

from ...runtime.leases import Lease
from ..canonical import LATEST
from ..errors import InvalidInput
from ..ids import WorkspaceId, event_digest
from ..scope import Scope

Metadata = Mapping[str, Any]
PROJECT_KEY = "project"  # in event metadata: "we" in the text means this project
CONFIDENTIAL_KEY = "confidential"  # in event metadata: True keeps it in its place
REPLACES_KEY = "replaces"  # in event metadata of a correction: the replaced memory and its events
PARTICIPANTS_KEY = "participants"  # in event metadata: who was in the room


class Trust(IntEnum):
    """Origin of a record, least trusted first.

    A derived record has the lowest trust of its sources.
    """

    UNKNOWN = 0
    EXTERNAL = 1  # documents, imports, output of tools
    INFERRED = 2  # written by a model
    INTERNAL = 3  # recorded by an application: tool calls, outcomes, system messages
    DIRECT = 4  # written by a person here


class EventKind(StrEnum):
    """Kind of an event."""

    MESSAGE = "message"
    TOOL = "tool"
    DOCUMENT = "document"
    NOTE = "note"  # remember(): stored verbatim
    FACT = "fact"  # set_value() and add_fact()
    ENTITY = "entity"  # upsert_entity(): see entities.py
    REVIEW = "review"  # a person's decision about a proposed change: see reviews.py
    QUESTION = "question"  # a standing question was added or removed: see dossiers.py
    OUTCOME = "outcome"  # a task ended: see procedures.py
    GOAL = "goal"  # an action on a goal: see goals.py
    SHARE = "share"  # a memory was shared with more people: see links.py
    CONFIDENTIAL = "confidential"  # a message was marked as confidential: see learn/flows


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """Metadata of a file attached to a message; Nexus does not store its content."""

    name: str
    media_type: str = "application/octet-stream"
    url: str | None = None
    size: int | None = None

    def __post_init__(self) -> None:
        texts = isinstance(self.name, str) and isinstance(self.media_type, str)
        if not texts or not isinstance(self.url, str | None):
            raise InvalidInput("name, media_type and url of an attachment must be text")
        if not isinstance(self.size, int | None) or isinstance(self.size, bool):
            raise InvalidInput(
                f"size of an attachment must be a number of bytes, got {self.size!r:.80}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    """An event to be written to the ledger."""

    scope: Scope
    speaker: str
    text: str
    at: datetime
    key: str
    role: str = "user"
    kind: EventKind = EventKind.MESSAGE
    trust: Trust = Trust.DIRECT
    thread: str | None = None
    attachments: tuple[Attachment, ...] = ()
    metadata: Metadata = field(default_factory=dict)

    @property
    def id(self) -> str:
        """Digest of scope and key, so that writing an event twice stores it once."""
        return event_id(self.scope, self.key)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event(NewEvent):
    """An event of the ledger: immutable, and linked to its predecessors by a hash chain.

    Adding a field touches three files: this one, `core/json_codec.py`, and `observe/events.py` for
    its value.
    """

    workspace: WorkspaceId
    recorded_at: datetime


@lru_cache(maxsize=4096)  # learning one event computes the same ids dozens of times
def event_id(scope: Scope, key: str) -> str:
    return event_digest(str(scope), key)


class Stage(StrEnum):
    """Processing stage of an event."""

    ACCEPTED = "accepted"
    DURABLE = "durable"
    INDEXED = "indexed"
    DERIVED = "derived"


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """Proof that an event is durable; `duplicate` means that it was stored before."""

    workspace: WorkspaceId
    scope: Scope
    event_id: str
    key: str
    duplicate: bool = False
    stage: Stage = Stage.DURABLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Current stage of an event, with the error that delays it."""

    stage: Stage
    error: str | None = None
    attempts: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Pending work of an event, from the outbox that is written with the event."""

    event: Event
    step: Stage  # the stage this task leads to
    attempts: int
    error: str | None = None  # of the last attempt
    lease: Lease | None = None  # None: a waiting caller runs the task without a lease


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerReport:
    """Result of verifying the hash chain of a workspace."""

    workspace: WorkspaceId
    events: int
    erased: int
    problems: tuple[str, ...]

    @property
    def is_intact(self) -> bool:
        return not self.problems


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """A digest that keeps an erased record from being written again; it contains no name."""

    kind: str  # "event" | "memory" | "user" | "scope"
    digest: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureCounts:
    """Number of records that an erasure removed, per layer."""

    events: int = 0
    memories: int = 0
    vectors: int = 0
    keywords: int = 0
    links: int = 0
    queued: int = 0
    window: int = 0  # window items: summaries, notes, contexts
    graph: int = 0  # memories in an external graph
    contexts: int = 0  # contexts in an external cache
    uses: int = 0  # usage counts, one per memory and scope
    keys: int = 0  # destroyed encryption keys of people; their data cannot be decrypted again


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingTask:
    """Unfinished work, for display."""

    event_id: str
    scope: Scope
    step: Stage  # the stage this task leads to
    attempts: int
    error: str | None  # of the last attempt
    due_at: datetime

    @property
    def is_dead(self) -> bool:
        """True if the task failed too often and waits for a manual retry."""
        return self.due_at >= LATEST


def confidential_mark_key(event: str) -> str:
    """Return the key of the event that marks another event of its scope as confidential."""
    return f"{CONFIDENTIAL_KEY}/{event}"


def participants_of(event: Event) -> list[str]:
    """Return the recorded participants of a room when the event was said."""
    names = event.metadata.get(PARTICIPANTS_KEY)
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
