"""How often memories were shown, and where.

A use belongs to the place it happened in. Whoever may not read that place learns nothing of it:
what is told of a memory's uses counts those in places the grant holds, and no others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from .access import Grant
from .ids import WorkspaceId, digest
from .scope import Scope

MOST_CONVERSATIONS = 16  # that are told apart of one memory in one place; more count as these


@dataclass(frozen=True, slots=True)
class Use:
    """How often a memory was shown, in how many conversations, and when last."""

    count: int = 0
    conversations: int = 0
    last_at: datetime | None = None


UNUSED = Use()


@dataclass(frozen=True, slots=True, kw_only=True)
class NewUse:
    """What one context or one recall has shown."""

    place: Scope
    conversation: str  # the thread, or else the day
    ids: tuple[str, ...]  # of memories; each counts once
    at: datetime


class Uses(Protocol):
    """The uses, by memory and by place."""

    def add(self, workspace: WorkspaceId, uses: Sequence[NewUse]) -> int:
        """Count these in one small write; how many memories they were of.

        Ids of which there is no memory are left out. Losing some in a crash is no harm. What
        was composed before stays as it is: no epoch grows.
        """
        ...

    def of(self, grant: Grant, ids: Sequence[str]) -> dict[str, Use]:
        """Of those that may be seen and were used, the uses in places that may be read."""
        ...

    def tidy(self, workspaces: Sequence[WorkspaceId], *, before: datetime) -> list[int]:
        """Let go of uses from before then of memories that are no longer there; how many each."""
        ...


@dataclass(frozen=True, slots=True)
class UseThere:
    """The uses of one memory in one place, as a store keeps them."""

    count: int = 0
    conversations: tuple[str, ...] = ()  # digests, in the order they came
    last_at: datetime | None = None

    def and_one(self, conversation: str, at: datetime) -> UseThere:
        known = self.conversations
        if conversation not in known and len(known) < MOST_CONVERSATIONS:
            known = (*known, conversation)
        last = max(self.last_at, at) if self.last_at else at
        return UseThere(self.count + 1, known, last)


def added_up(uses: Sequence[UseThere]) -> Use:
    """What uses in several places come to: a conversation is always of one place."""
    times = [use.last_at for use in uses if use.last_at]
    return Use(
        sum(use.count for use in uses),
        sum(len(use.conversations) for use in uses),
        max(times, default=None),
    )


def place_digest(place: Scope) -> str:
    """A place where nobody's name may stay; labels and tombstones know it by the same."""
    return digest("scope", str(place))


def owner_digest(place: Scope) -> str | None:
    """Whose place it is, as tombstones of people have it; a room is nobody's."""
    return digest("user", place.owner) if place.owner else None


def conversation_digest(use: NewUse) -> str:
    return digest("conversation", str(use.place), use.conversation)[:12]
