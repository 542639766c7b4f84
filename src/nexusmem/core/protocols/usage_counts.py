"""Protocol of usage counts: how often memories were shown, per scope.

A use belongs to the scope in which it happened. Usage of a memory counts only scopes that the grant
may read, so a viewer learns nothing about others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from ..access import Grant
from ..ids import WorkspaceId, digest
from ..scope import Scope

MAX_CONVERSATIONS = 16  # counted per memory and scope


@dataclass(frozen=True, slots=True)
class UsageCount:
    """Number of uses and conversations of a memory, and the time of the last use."""

    count: int = 0
    conversations: int = 0
    last_at: datetime | None = None


NO_USAGE = UsageCount()


@dataclass(frozen=True, slots=True, kw_only=True)
class NewUsage:
    """Memories shown by one context or one search."""

    scope: Scope
    conversation: str  # the thread, or else the day
    ids: tuple[str, ...]  # of memories; each one counts once
    at: datetime


class UsageCounts(Protocol):
    """Usage counts by memory and scope."""

    def add(self, workspace: WorkspaceId, uses: Sequence[NewUsage]) -> int:
        """Count these uses in one small write; return the number of memories counted.

        Unknown ids are skipped. A crash may lose some uses. No epoch grows, so cached contexts stay
        valid.
        """
        ...

    def load_usage(self, grant: Grant, ids: Sequence[str]) -> dict[str, UsageCount]:
        """Return the usage of visible, used memories in readable scopes."""
        ...

    def delete_orphans(self, workspaces: Sequence[WorkspaceId], *, before: datetime) -> list[int]:
        """Delete uses from before `before` of deleted memories; return the number per workspace."""
        ...


@dataclass(frozen=True, slots=True)
class ScopeUsage:
    """Usage of one memory in one scope, as stored."""

    count: int = 0
    conversations: tuple[str, ...] = ()  # digests, oldest first
    last_at: datetime | None = None

    def add_use(self, conversation: str, at: datetime) -> ScopeUsage:
        conversations = self.conversations
        if conversation not in conversations and len(conversations) < MAX_CONVERSATIONS:
            conversations = (*conversations, conversation)
        last = max(self.last_at, at) if self.last_at else at
        return ScopeUsage(self.count + 1, conversations, last)


def sum_usage(uses: Sequence[ScopeUsage]) -> UsageCount:
    """Return the total usage in several scopes; a conversation belongs to one scope."""
    times = [use.last_at for use in uses if use.last_at]
    return UsageCount(
        sum(use.count for use in uses),
        sum(len(use.conversations) for use in uses),
        max(times, default=None),
    )


def scope_digest(scope: Scope) -> str:
    """Return the digest of a scope, which reveals no name; tombstones use the same digest."""
    return digest("scope", str(scope))


def owner_digest(scope: Scope) -> str | None:
    """Return the tombstone digest of the scope's owner; None for a shared scope."""
    return digest("user", scope.owner) if scope.owner else None


def conversation_digest(usage: NewUsage) -> str:
    return digest("conversation", str(usage.scope), usage.conversation)[:12]
