"""Light projections of memories: ranking candidates, fact outlines and memory states.

A sweep over all memories reads states only, without their content.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple, Self

from ..protocols.usage_counts import NO_USAGE, UsageCount
from .event import Trust
from .memory import Memory, MemoryKind, Tier


class Candidate(NamedTuple):
    """The fields of a memory that ranking needs; one search creates hundreds."""

    id: str
    kind: MemoryKind
    speaker: str | None
    role: str | None
    thread: str  # conversation of the memory; comparable within one result only
    at: datetime
    length: int  # in terms
    is_question: bool
    is_instruction: bool  # states how things are to be done from now on
    keyword: float
    thread_keyword: float


class TierCount(NamedTuple):
    """The number of memories in a tier, and the times of the oldest and the newest."""

    memories: int
    oldest: datetime
    newest: datetime


class FactOutline(NamedTuple):
    """The fields that decide whether a fact is read; one profile creates hundreds."""

    id: str
    predicate: str  # as the source states it
    category: str | None
    exact: bool  # set with set_value(), stored byte for byte
    learned: bool

    @classmethod
    def from_body(cls, *, id: str, body: Mapping[str, Any], learned: bool, **_: object) -> Self:
        predicate, exact = body.get("predicate") or "", bool(body.get("exact"))
        return cls(id, predicate, body.get("category"), exact, learned)

    @classmethod
    def from_json(cls, data: dict[str, Any] | list[Any]) -> Self:
        """Return the outline from a complete content or from a list of its five fields."""
        if isinstance(data, dict):
            return cls.from_body(**data)
        id, predicate, category, exact, learned = data
        return cls(id, predicate or "", category, bool(exact), learned)


PINNED_KINDS = frozenset(
    {
        MemoryKind.LANDMARK,
        MemoryKind.GOAL,
        MemoryKind.REVIEW,  # waits for a person's decision
        MemoryKind.DOSSIER,  # rebuilt when its sources change
    }
)


class MemoryState(NamedTuple):
    """A memory without its text: the state that may change while its content stays the same."""

    position: str  # cursor in the store's order: the next page starts after it
    id: str
    kind: MemoryKind
    at: datetime
    length: int  # in terms
    salience: float
    confidence: float
    trust: Trust
    tier: Tier
    archived: bool
    pinned: bool
    learned: bool
    usage: UsageCount = NO_USAGE  # in scopes that all readers of the memory may read

    def was_used_since(self, since: datetime) -> bool:
        """Return whether the memory was used since then, in a scope all its readers may read."""
        return self.usage.last_at is not None and self.usage.last_at >= since

    @property
    def last_active_at(self) -> datetime:
        """Time of the observation or of the last use, whichever is later."""
        used = self.usage.last_at
        return self.at if used is None or used < self.at else used


def is_pinned(memory: Memory) -> bool:
    """Return whether a memory never decays: landmarks, goals, reviews, dossiers, exact values."""
    return memory.kind in PINNED_KINDS or memory.body.get("exact") is True


def make_state(
    memory: Memory, length: int, usage: UsageCount = NO_USAGE, position: str = ""
) -> MemoryState:
    return MemoryState(
        position=position,
        id=memory.id,
        kind=memory.kind,
        at=memory.at,
        length=length,
        salience=memory.salience,
        confidence=memory.confidence,
        trust=memory.trust,
        tier=memory.tier,
        archived=memory.archived,
        pinned=is_pinned(memory),
        learned=memory.learned,
        usage=usage,
    )


def with_state(memory: Memory, *, tier: Tier, archived: bool) -> Memory:
    """Return a memory that is derived again with its stored state; tier long is never lowered."""
    higher = Tier.LONG if Tier.LONG in (tier, memory.tier) else Tier.SHORT
    if (memory.tier, memory.archived) == (higher, archived):
        return memory
    return replace(memory, tier=higher, archived=archived)
