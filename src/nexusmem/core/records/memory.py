"""Memories: records derived from events, and the drafts that flows propose."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import lru_cache

from ..access import Label
from ..flows import COPY_SCOPES, FlowRule, label_rule
from ..ids import WorkspaceId, digest
from ..scope import Scope
from .event import Metadata, Trust

PLAIN_COSINES = (0.0, 1.0)
COSINE_RANGE = re.compile(r"cosine=(-?\d{1,3}(?:\.\d{1,9})?)\.\.(\d{1,3}(?:\.\d{1,9})?)")

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


class MemoryKind(StrEnum):
    """Kind of a memory."""

    PASSAGE = "passage"
    FACT = "fact"
    ENTITY = "entity"
    EPISODE = "episode"
    LANDMARK = "landmark"
    PROCEDURE = "procedure"
    GOAL = "goal"
    REVIEW = "review"  # a change proposed to a person: a merge, a contradiction
    DOSSIER = "dossier"  # a document about a person or thing, built from other memories
    LINK = "link"  # a relation between memories: see links.py


class Tier(StrEnum):
    """Storage tier: memories of tier long do not decay."""

    SHORT = "short"
    LONG = "long"


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A memory proposed by a flow.

    The store adds the fields that a caller must not choose: id, label and trust. They are computed
    from `sources`, the ids of its source events or memories. `slot` distinguishes drafts of the
    same kind with the same sources.
    """

    scope: Scope
    kind: MemoryKind
    text: str
    sources: tuple[str, ...]
    slot: str = ""
    indexed_text: str | None = None  # indexed instead of the text; "": not indexed
    at: datetime | None = None  # None: the time of its newest source
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
    learned: bool = False  # derived from its sources; searched separately from observed events
    metadata: Metadata = field(default_factory=dict)
    body: Metadata = field(default_factory=dict)  # fields of this kind only
    flow: FlowRule | None = None  # the rule that copies it to `scope`; the store checks the table

    @property
    def id(self) -> str:
        return memory_id(self.kind, self.scope, self.slot, self.sources)


def memory_id(kind: MemoryKind, scope: Scope, slot: str, sources: Sequence[str]) -> str:
    """Return the id of a memory: the same sources in the same slot give the same memory."""
    return digest("memory", kind.value, str(scope), slot, *sorted(sources))


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """A record derived from events or other memories."""

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
    indexed_text: str | None = None  # indexed instead of the text; "": not indexed
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
    archived: bool = False  # left out of contexts, but still found by searches
    metadata: Metadata = field(default_factory=dict)
    body: Metadata = field(default_factory=dict)

    @property
    def fact(self) -> Fact:
        """The fact that a memory of kind fact states."""
        return Fact(**self.body)


def is_copy(memory: Memory) -> bool:
    """Return whether a flow copied this memory to another scope."""
    if memory.scope.kind not in COPY_SCOPES or memory.kind is MemoryKind.DOSSIER:
        return False
    return label_rule(memory.label) not in (None, FlowRule.SESSIONS)


def drop_copies(memories: Iterable[Memory]) -> list[Memory]:
    """Return the memories, each statement once.

    Copies are dropped if their original or a copy that says as much is there.
    """
    every = list(memories)
    copies = [each for each in every if is_copy(each)]
    if not copies:
        return every
    originals = {statement_key(each) for each in every if not is_copy(each)}
    texts: dict[object, list[str]] = {}  # of the copies that are kept, by statement
    dropped = set()
    for each in sorted(copies, key=lambda copy: -len(copy.text)):
        same = texts.setdefault(statement_key(each), [])
        if statement_key(each) in originals or any(is_said_by(each, text) for text in same):
            dropped.add(each.id)
        else:
            same.append(each.text)
    return [each for each in every if each.id not in dropped]


def is_said_by(copy: Memory, text: str) -> bool:
    """Return whether a copy of a statement adds nothing to a text of the same statement."""
    return copy.kind is not MemoryKind.PASSAGE or copy.text in text


def statement_key(memory: Memory) -> tuple[object, ...]:
    """Return what a memory and its copies have in common."""
    slot = memory.slot.partition(":")[2] if is_copy(memory) else memory.slot
    return memory.kind, memory.sources[0], "" if memory.kind is MemoryKind.PASSAGE else slot


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A fact: subject, predicate, and object (an entity) or value (any JSON). Never overwritten."""

    subject: str
    predicate: str
    object: str | None = None
    value: Json = None
    stated: bool = True  # False: inferred
    exact: bool = False  # looked up by key, stored byte for byte
    aspect: str | None = None  # such as "color" in "my favorite color is green"
    category: str | None = None  # personal, professional, social, projects, …
    tense: str = "current"  # of the statement: current, past or future
    negated: bool = False  # the statement denies the fact


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingProfile:
    """Identity of a vector space; vectors of different profiles are never compared.

    A revision may end with the range of the model's cosines, for example "1;cosine=0.77..1": the
    cosine of unrelated and of equal texts. The range is a part of the identity, so that archives
    and other processes know it. Without one, cosines are used as they are.
    """

    provider: str
    model: str
    dimension: int
    revision: str = "1"

    @property
    def cosine_range(self) -> tuple[float, float]:
        """The cosines that count as 0 and as 1."""
        return _parse_cosine_range(self.revision)

    def calibrate(self, cosine: float) -> float:
        """Return the similarity from 0 to 1 of a cosine; without a range, the cosine itself.

        Thresholds and shown scores use it: a cosine of 0.8 is high for one model and low for
        another.
        """
        low, high = self.cosine_range
        if (low, high) == PLAIN_COSINES:
            return cosine
        return min(max((cosine - low) / (high - low), 0.0), 1.0)

    @property
    def name(self) -> str:
        return f"{self.provider}/{self.model}/{self.dimension}/{self.revision}"


@lru_cache(maxsize=64)
def _parse_cosine_range(revision: str) -> tuple[float, float]:
    """Return the range that one part of a revision states; a part without sense is a name."""
    for part in revision.split(";")[1:]:
        if stated := COSINE_RANGE.fullmatch(part):
            low, high = float(stated[1]), float(stated[2])
            if -1 <= low < high <= 1:
                return low, high
    return PLAIN_COSINES


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCost:
    """Cost of a model for one purpose; accounts sum it per day, with `at` at midnight UTC."""

    at: datetime
    purpose: str
    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    cost: float
