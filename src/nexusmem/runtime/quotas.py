"""Quotas: limits on the storage and the request rate of a workspace.

The store counts stored records in the transaction that writes them, so the count is exact with any
number of processes. Each process counts its own requests per minute. Workspaces have independent
quotas.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from threading import Lock

from ..core.errors import QuotaExceeded
from ..core.ids import WorkspaceId
from .clock import start_of_day

MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """Limits of one workspace; None means unlimited."""

    events_per_day: int | None = None  # from midnight to midnight, UTC
    max_memories: int | None = None
    max_text_bytes: int | None = None  # of events, including their metadata
    writes_per_minute: int | None = None  # events, in each process
    reads_per_minute: int | None = None  # reads of any kind, in each process

    @property
    def has_stored_limits(self) -> bool:
        """True if the store has to check a limit."""
        return any(
            each is not None
            for each in (self.events_per_day, self.max_memories, self.max_text_bytes)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceUsage:
    """Usage of a workspace as counted by the store."""

    events_today: int = 0
    memories: int = 0
    text_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaUse:
    """A quota and its current usage."""

    name: str
    limit: int | None
    used: int
    frees_at: datetime | None = None  # None: only erasing records frees space


def check_stored_limits(quota: Quota, used: WorkspaceUsage, now: datetime) -> None:
    """Raise QuotaExceeded if the events just written exceed a limit; they are then rolled back.

    Memories are derived from acknowledged events later, regardless of the limit. So new events are
    refused once the number of memories reaches the limit.
    """
    if _is_exceeded(used.events_today, quota.events_per_day):
        raise quota_error("events_per_day", quota, now)
    if _is_exceeded(used.text_bytes, quota.max_text_bytes):
        raise quota_error("max_text_bytes", quota, now)
    if quota.max_memories is not None and used.memories >= quota.max_memories:
        raise quota_error("max_memories", quota, now)


def _is_exceeded(used: int, limit: int | None) -> bool:
    return limit is not None and used > limit


def quota_error(name: str, quota: Quota, now: datetime) -> QuotaExceeded:
    """Return the error for a quota; it names the limit but not the current usage."""
    limit = getattr(quota, name)
    what = {
        "events_per_day": f"{limit} events per day",
        "max_memories": f"{limit} memories",
        "max_text_bytes": f"{limit} bytes of event text",
        "writes_per_minute": f"{limit} events per minute",
        "reads_per_minute": f"{limit} reads per minute",
    }[name]
    frees = next_reset(name, now)
    if frees:
        advice = f"it resets at {frees:%Y-%m-%dT%H:%M}Z"
    else:
        advice = f"erase records or raise memory.quotas.{name}"
    message = f"the quota {name} is used up: this workspace may have {what}"
    if name != "reads_per_minute":
        message += ", and nothing was written"
    return QuotaExceeded(f"{message}; {advice}", quota=name, limit=limit, frees_at=frees)


def next_reset(name: str, now: datetime) -> datetime | None:
    """Return when a quota resets, the same for all workspaces; None if it never does."""
    if name.endswith("_per_day"):
        return start_of_day(now) + DAY
    if name.endswith("_per_minute"):
        return now.astimezone(UTC).replace(second=0, microsecond=0) + MINUTE
    return None


NO_QUOTA = Quota()


@dataclass(slots=True)
class Quotas:
    """The quotas of all workspaces, and the requests of each in the current minute."""

    clock: Callable[[], datetime]
    default: Quota = NO_QUOTA
    by_workspace: Mapping[str, Quota] = field(default_factory=dict)
    _minute: datetime | None = None
    _counts: dict[tuple[str, str], int] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    unlimited: bool = field(init=False)  # no workspace has a limit

    def __post_init__(self) -> None:
        limits = (getattr(self.default, each.name) for each in fields(Quota))
        self.unlimited = not self.by_workspace and all(limit is None for limit in limits)

    def for_workspace(self, workspace: WorkspaceId) -> Quota:
        """Return the workspace's own limits, completed by the default ones."""
        own = self.by_workspace.get(workspace.value)
        if own is None:
            return self.default
        limits = {each.name: getattr(own, each.name) for each in fields(Quota)}
        given = {name: limit for name, limit in limits.items() if limit is not None}
        defaults = {each.name: getattr(self.default, each.name) for each in fields(Quota)}
        return Quota(**{**defaults, **given})

    def check_observe(self, workspace: WorkspaceId, events: int) -> Quota | None:
        """Count `events` writes; return the quota that the store must check, if any.

        Raise QuotaExceeded if the rate limit is reached.
        """
        if self.unlimited:
            return None
        quota = self.for_workspace(workspace)
        self._consume_quota("writes_per_minute", workspace, quota, events)
        return quota if quota.has_stored_limits else None

    def check_recall(self, workspace: WorkspaceId) -> None:
        """Count one read; raise QuotaExceeded if the rate limit is reached."""
        if not self.unlimited:
            self._consume_quota("reads_per_minute", workspace, self.for_workspace(workspace), 1)

    def list_usage(self, workspace: WorkspaceId, stored: WorkspaceUsage) -> list[QuotaUse]:
        """Return all quotas of a workspace with their usage; for administrators."""
        quota, now = self.for_workspace(workspace), self.clock()
        counts = {
            "events_per_day": stored.events_today,
            "max_memories": stored.memories,
            "max_text_bytes": stored.text_bytes,
            **{name: self._count_used(name, workspace, now) for name in RATE_NAMES},
        }
        return [
            QuotaUse(
                name=name, limit=getattr(quota, name), used=used, frees_at=next_reset(name, now)
            )
            for name, used in counts.items()
        ]

    def _consume_quota(self, name: str, workspace: WorkspaceId, quota: Quota, n: int) -> None:
        """Count all `n` requests, or none and raise QuotaExceeded."""
        limit, now, key = getattr(quota, name), self.clock(), (name, workspace.value)
        with self._lock:
            self._reset_each_minute(now)
            count = self._counts.get(key, 0) + n
            if limit is not None and count > limit:
                raise quota_error(name, quota, now)
            self._counts[key] = count

    def _count_used(self, name: str, workspace: WorkspaceId, now: datetime) -> int:
        with self._lock:
            self._reset_each_minute(now)
            return self._counts.get((name, workspace.value), 0)

    def _reset_each_minute(self, now: datetime) -> None:
        """Clear the counts when a new minute begins."""
        minute = now.replace(second=0, microsecond=0)
        if minute != self._minute:
            self._minute = minute
            self._counts.clear()


RATE_NAMES = ("writes_per_minute", "reads_per_minute")
