"""What may change while a memory stays the same: its tier, and whether it is archived.

A sweep over all memories reads these light rows, and no content.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from .records import Memory, MemoryKind, Tier, Trust
from .uses import UNUSED, Use

PINNED = frozenset(
    {
        MemoryKind.LANDMARK,
        MemoryKind.GOAL,
        MemoryKind.REVIEW,  # waits for somebody's decision
        MemoryKind.DOSSIER,  # is made again when its sources change
    }
)


class State(NamedTuple):
    """A memory without its words."""

    place: str  # where it stands in its store's order: what follows is asked for after it
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
    use: Use = UNUSED  # in the places that every one of its readers may read

    def used_since(self, since: datetime) -> bool:
        """Whether it was used where every one of its readers may know of it."""
        return self.use.last_at is not None and self.use.last_at >= since

    @property
    def last_active_at(self) -> datetime:
        """When it was told, or last used."""
        used = self.use.last_at
        return self.at if used is None or used < self.at else used


def pinned(memory: Memory) -> bool:
    """Whether it never fades: decisions, goals and the like, and exact values."""
    return memory.kind in PINNED or memory.body.get("exact") is True


def state_of(memory: Memory, length: int, use: Use = UNUSED, place: str = "") -> State:
    return State(
        place=place,
        id=memory.id,
        kind=memory.kind,
        at=memory.at,
        length=length,
        salience=memory.salience,
        confidence=memory.confidence,
        trust=memory.trust,
        tier=memory.tier,
        archived=memory.archived,
        pinned=pinned(memory),
        learned=memory.learned,
        use=use,
    )


def in_state(memory: Memory, *, tier: Tier, archived: bool) -> Memory:
    """A memory that is derived again, in the state it has: it may be kept longer, never shorter."""
    longer = Tier.LONG if Tier.LONG in (tier, memory.tier) else Tier.SHORT
    if (memory.tier, memory.archived) == (longer, archived):
        return memory
    return replace(memory, tier=longer, archived=archived)
