"""How much a workspace may keep and do.

What is kept is counted by the store, in the transaction that writes it: it is right however many
processes there are. How often something is asked is counted by each process for itself, minute by
minute. A quota of one workspace depends on no other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from threading import Lock

from .clock import day_of
from .errors import QuotaExceeded
from .ids import WorkspaceId

MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """Of one workspace. None: as much as it likes."""

    events_per_day: int | None = None  # from midnight to midnight, UTC
    memories: int | None = None
    text_bytes: int | None = None  # of what was told, with all that was said about it
    observes_per_minute: int | None = None  # events, in each process
    recalls_per_minute: int | None = None  # questions: whatever is read, in each process

    @property
    def kept(self) -> bool:
        """Whether something of it is counted by the store."""
        return any(
            each is not None for each in (self.events_per_day, self.memories, self.text_bytes)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """What a store has counted of a workspace."""

    events_today: int = 0
    memories: int = 0
    text_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaUse:
    """One quota, and how much of it is used."""

    name: str
    limit: int | None
    used: int
    frees_at: datetime | None = None  # None: when something is forgotten


def check_kept(quota: Quota, used: Used, now: datetime) -> None:
    """Whether there is room for events that were just written; else they are not committed.

    Memories are made of events later, and what was acknowledged is learned in any case. So
    nothing more is taken in once there are as many as allowed.
    """
    if _beyond(used.events_today, quota.events_per_day):
        raise exceeded("events_per_day", quota, now)
    if _beyond(used.text_bytes, quota.text_bytes):
        raise exceeded("text_bytes", quota, now)
    if quota.memories is not None and used.memories >= quota.memories:
        raise exceeded("memories", quota, now)


def _beyond(used: int, limit: int | None) -> bool:
    return limit is not None and used > limit


def exceeded(name: str, quota: Quota, now: datetime) -> QuotaExceeded:
    """It tells the limit and not how much is used: that is also what others do."""
    limit = getattr(quota, name)
    what = {
        "events_per_day": f"{limit} events a day",
        "memories": f"{limit} memories",
        "text_bytes": f"{limit} bytes of what is told",
        "observes_per_minute": f"{limit} events a minute",
        "recalls_per_minute": f"{limit} questions a minute",
    }[name]
    frees = frees_at(name, now)
    if frees:
        advice = f"there is room again at {frees:%Y-%m-%dT%H:%M}Z"
    else:
        advice = f"forget something, or raise memory.quotas.{name}"
    told = f"the quota {name} is used up: this workspace may have {what}, and nothing was written"
    if name == "recalls_per_minute":
        told = f"the quota {name} is used up: this workspace may have {what}"
    return QuotaExceeded(f"{told}; {advice}", quota=name, limit=limit, frees_at=frees)


def frees_at(name: str, now: datetime) -> datetime | None:
    """When it starts anew, if it does: the same for everybody, whoever used it up."""
    if name.endswith("_per_day"):
        return day_of(now) + DAY
    if name.endswith("_per_minute"):
        return now.astimezone(UTC).replace(second=0, microsecond=0) + MINUTE
    return None


NOTHING = Quota()


@dataclass(slots=True)
class Quotas:
    """The quotas of every workspace, and how often each asked in this minute."""

    clock: Callable[[], datetime]
    everybody: Quota = NOTHING
    named: Mapping[str, Quota] = field(default_factory=dict)
    _minute: datetime | None = None
    _asked: dict[tuple[str, str], int] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    unlimited: bool = field(init=False)  # nothing is limited, for anybody

    def __post_init__(self) -> None:
        limits = (getattr(self.everybody, each.name) for each in fields(Quota))
        self.unlimited = not self.named and all(limit is None for limit in limits)

    def of(self, workspace: WorkspaceId) -> Quota:
        """What is said of this workspace, and else what is said of all."""
        own = self.named.get(workspace.value)
        if own is None:
            return self.everybody
        said = {each.name: getattr(own, each.name) for each in fields(Quota)}
        given = {name: limit for name, limit in said.items() if limit is not None}
        rest = {each.name: getattr(self.everybody, each.name) for each in fields(Quota)}
        return Quota(**{**rest, **given})

    def observing(self, workspace: WorkspaceId, events: int) -> Quota | None:
        """So many events are about to be written: what the store has to keep to, if anything."""
        if self.unlimited:
            return None
        quota = self.of(workspace)
        self._take("observes_per_minute", workspace, quota, events)
        return quota if quota.kept else None

    def asking(self, workspace: WorkspaceId) -> None:
        """A question is about to be answered."""
        if not self.unlimited:
            self._take("recalls_per_minute", workspace, self.of(workspace), 1)

    def used(self, workspace: WorkspaceId, kept: Used) -> list[QuotaUse]:
        """Every quota of a workspace, for its administrator."""
        quota, now = self.of(workspace), self.clock()
        counts = {
            "events_per_day": kept.events_today,
            "memories": kept.memories,
            "text_bytes": kept.text_bytes,
            **{name: self._asked_by(name, workspace, now) for name in RATES},
        }
        return [
            QuotaUse(name=name, limit=getattr(quota, name), used=used, frees_at=frees_at(name, now))
            for name, used in counts.items()
        ]

    def _take(self, name: str, workspace: WorkspaceId, quota: Quota, n: int) -> None:
        """All or none of them."""
        limit, now, key = getattr(quota, name), self.clock(), (name, workspace.value)
        with self._lock:
            self._begin(now)
            asked = self._asked.get(key, 0) + n
            if limit is not None and asked > limit:
                raise exceeded(name, quota, now)
            self._asked[key] = asked

    def _asked_by(self, name: str, workspace: WorkspaceId, now: datetime) -> int:
        with self._lock:
            self._begin(now)
            return self._asked.get((name, workspace.value), 0)

    def _begin(self, now: datetime) -> None:
        """Every minute starts with nothing."""
        minute = now.replace(second=0, microsecond=0)
        if minute != self._minute:
            self._minute = minute
            self._asked.clear()


RATES = ("observes_per_minute", "recalls_per_minute")
