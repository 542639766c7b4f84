"""The records: what Nexus keeps, and what it answers with. Frozen, and without I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum, StrEnum
from functools import lru_cache
from typing import Any, overload

from .access import Label
from .canonical import LATEST
from .errors import InvalidInput
from .highlight import highlights
from .ids import WorkspaceId, digest, event_digest
from .leases import Lease
from .scope import Scope

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
Metadata = Mapping[str, Any]


class Trust(IntEnum):
    """Where something came from, least trusted first; a derived record has its lowest source's."""

    UNKNOWN = 0
    EXTERNAL = 1  # documents, imports, other people's tools
    INFERRED = 2  # what a model wrote
    INTERNAL = 3  # our own tools
    DIRECT = 4  # a person said it here


class EventKind(StrEnum):
    MESSAGE = "message"
    TOOL = "tool"
    DOCUMENT = "document"
    NOTE = "note"  # remember(): keep exactly this
    FACT = "fact"  # set_fact() and add_fact()
    REVIEW = "review"  # somebody decided about a proposed change
    QUESTION = "question"  # to be answered from now on, or no more: see dossiers.py
    OUTCOME = "outcome"  # a task ended: see core/procedures.py
    GOAL = "goal"  # something was done about a goal: see core/goals.py
    SHARE = "share"  # a memory was shared with more people: see core/sharing.py


class MemoryKind(StrEnum):
    PASSAGE = "passage"
    FACT = "fact"
    ENTITY = "entity"
    EPISODE = "episode"
    LANDMARK = "landmark"
    PROCEDURE = "procedure"
    GOAL = "goal"
    REVIEW = "review"  # a change proposed to a person: a merge, a contradiction
    DOSSIER = "dossier"  # a document about somebody or something, woven from the others
    LINK = "link"  # says how memories belong together: see core/links.py


class Tier(StrEnum):
    SHORT = "short"
    LONG = "long"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file that came with a message; its bytes stay where they are."""

    name: str
    media_type: str = "application/octet-stream"
    url: str | None = None
    size: int | None = None

    def __post_init__(self) -> None:
        texts = isinstance(self.name, str) and isinstance(self.media_type, str)
        if not texts or not isinstance(self.url, str | None):
            raise InvalidInput("an attachment's name, media_type and url are texts")
        if not isinstance(self.size, int | None) or isinstance(self.size, bool):
            raise InvalidInput(f"an attachment's size is a number of bytes, not {self.size!r:.80}")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    """Something that happened, about to be written to the ledger."""

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
        """An event is known by where it happened and by its key, so writing it twice is once."""
        return event_id(self.scope, self.key)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event(NewEvent):
    """One thing that happened. Immutable; the ledger chains it to those before it."""

    workspace: WorkspaceId
    recorded_at: datetime


@lru_cache(maxsize=4096)  # learning one event asks for its id, and those before it, dozens of times
def event_id(scope: Scope, key: str) -> str:
    return event_digest(str(scope), key)


class Stage(StrEnum):
    """How far an event has come."""

    ACCEPTED = "accepted"
    DURABLE = "durable"
    INDEXED = "indexed"
    DERIVED = "derived"


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The proof that an event is on disk. `repeated` says it had been there before."""

    workspace: WorkspaceId
    scope: Scope
    event_id: str
    key: str
    repeated: bool = False
    stage: Stage = Stage.DURABLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Where an event is now, and what holds it up if something does."""

    stage: Stage
    stuck: str | None = None
    attempts: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A memory as a flow proposes it.

    The store adds what a caller must not decide: the id, the label and the trust, all
    computed from `sources`, the ids of the events or memories it rests on. `slot` tells apart
    drafts of one kind with the same sources.
    """

    scope: Scope
    kind: MemoryKind
    text: str
    sources: tuple[str, ...]
    slot: str = ""
    indexed_text: str | None = None  # what keywords are taken from, if not the text; "": never
    at: datetime | None = None  # None: when its newest source happened
    confidence: float = 1.0
    salience: float = 0.5
    tier: Tier = Tier.SHORT
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    speaker: str | None = None
    role: str | None = None
    source: str = "message"
    thread: str | None = None
    tags: tuple[str, ...] = ()
    learned: bool = False  # says again what its sources say: kept on a shelf of its own
    metadata: Metadata = field(default_factory=dict)
    body: Metadata = field(default_factory=dict)  # what only this kind has

    @property
    def id(self) -> str:
        return memory_id(self.kind, self.scope, self.slot, self.sources)


def memory_id(kind: MemoryKind, scope: Scope, slot: str, sources: Sequence[str]) -> str:
    """What a memory is known by: the same sources in the same slot are the same memory."""
    return digest("memory", kind.value, str(scope), slot, *sorted(sources))


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Something derived and worth finding again."""

    id: str
    workspace: WorkspaceId
    scope: Scope
    label: Label
    kind: MemoryKind
    text: str
    sources: tuple[str, ...]
    at: datetime
    recorded_at: datetime
    trust: Trust
    slot: str = ""
    indexed_text: str | None = None  # what keywords are taken from, if not the text alone
    confidence: float = 1.0
    salience: float = 0.5
    tier: Tier = Tier.SHORT
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    speaker: str | None = None
    role: str | None = None
    source: str = "message"
    thread: str | None = None
    tags: tuple[str, ...] = ()
    learned: bool = False
    archived: bool = False  # no longer brought up unasked; who asks finds it
    metadata: Metadata = field(default_factory=dict)
    body: Metadata = field(default_factory=dict)

    @property
    def fact(self) -> Fact:
        """What a memory of kind fact says."""
        return Fact(**self.body)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """Subject – predicate – object (an entity) or value (any JSON). Appended, never overwritten."""

    subject: str
    predicate: str
    object: str | None = None
    value: Json = None
    stated: bool = True  # False: inferred
    exact: bool = False  # looked up by key; survives byte for byte
    aspect: str | None = None  # of what: PREFERS of a color, in "my favorite color is green"
    category: str | None = None  # personal, professional, social, projects, …
    tense: str = "current"  # as it was said: current, past or future
    negated: bool = False  # is said not to be so


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """How a hit came to its place."""

    found_by: Mapping[str, int]  # strategy → its place there, counted from 1
    parts: Mapping[str, float]  # signal → what it added to the sum
    total: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyReport:
    """What one strategy did for a question, or what helps them: rewrite, wording, rerank."""

    name: str
    seconds: float
    found: int  # of what helps: how many it looked at, or texts it made
    shown: int  # how many of the hits it had found


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A memory that answers, with why."""

    memory: Memory
    score: float
    reasons: Mapping[str, float] = field(default_factory=dict)  # strategy → its own score
    event_keys: tuple[str, ...] = ()
    explanation: Explanation | None = None  # where it was asked for
    asked: tuple[str, ...] = ()  # the question's terms

    @property
    def text(self) -> str:
        return self.memory.text

    @property
    def highlights(self) -> tuple[str, ...]:
        """The sentences that answer to the question's words; made when asked for."""
        return highlights(self.memory.text, self.asked)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found(Sequence[Hit]):
    """Hits, best first, with how many there were and how long it took.

    It is the list of its hits: `for hit in found`, `found[0]`, `len(found)`. `total` counts every
    memory that holds a word of the question; under a filter or a threshold, those that passed
    of the ones looked at.
    """

    hits: tuple[Hit, ...]
    total: int
    seconds: float
    degraded: tuple[str, ...] = ()  # what did not take part, and why
    strategies: tuple[StrategyReport, ...] = ()

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, index: int | slice) -> Hit | tuple[Hit, ...]:
        return self.hits[index]

    def __len__(self) -> int:
        return len(self.hits)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingProfile:
    """Which space vectors live in. Vectors of two profiles are never compared."""

    provider: str
    model: str
    dimension: int
    revision: str = "1"

    @property
    def name(self) -> str:
        return f"{self.provider}/{self.model}/{self.dimension}/{self.revision}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Work an event still needs, from the outbox it was committed with."""

    event: Event
    step: Stage  # the stage this work reaches
    attempts: int
    error: str | None = None  # of the last attempt
    lease: Lease | None = None  # None: somebody waits for it, and takes it from nobody


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerReport:
    """What a walk along a workspace's hash chain found."""

    workspace: WorkspaceId
    events: int
    erased: int
    problems: tuple[str, ...]

    @property
    def sound(self) -> bool:
        return not self.problems


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """A promise not to take something in again. It holds a digest, not the name."""

    kind: str  # "event" | "memory" | "user" | "scope"
    digest: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """What an erasure removed, layer by layer."""

    events: int = 0
    memories: int = 0
    vectors: int = 0
    keywords: int = 0
    links: int = 0
    queued: int = 0
    window: int = 0  # what lay in windows: summaries, notes, contexts
    graph: int = 0  # memories in a graph beside the records
    contexts: int = 0  # that were kept elsewhere for whoever asks the same again
    uses: int = 0  # how often something was shown, by memory and place
    keys: int = 0  # of people, destroyed: what was sealed with one of them is lost for ever


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """Work that is not done yet, for people to look at."""

    event_id: str
    scope: Scope
    step: Stage  # the stage this work reaches
    attempts: int
    error: str | None  # of the last attempt
    due_at: datetime

    @property
    def dead(self) -> bool:
        """It failed too often, and is not tried before somebody says so."""
        return self.due_at >= LATEST


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a model cost for one purpose. Accounts add it up by day: `at` is midnight, UTC."""

    at: datetime
    purpose: str
    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    cost: float
