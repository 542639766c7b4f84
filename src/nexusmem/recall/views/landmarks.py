"""Landmarks with their status: open, done, cancelled or superseded.

Landmarks and the messages that close them are separate records. The status is computed when it is
read, as `recall.views.fact_timeline` computes the current value of a fact.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import IntEnum

from ...core.access import Grant
from ...core.derive import normalize_name
from ...core.filters import Condition, Op
from ...core.protocols.store import Store
from ...core.records import Memory, MemoryKind
from ...core.records.landmark_status import (
    TASK_KINDS,
    Closing,
    LandmarkOutline,
    LandmarkStatus,
    closings_by_landmark,
    find_closed,
    owner_key,
)
from ...core.records.landmarks import LandmarkKind, last_due_day
from ...core.records.links import LinkRelation, drop_duplicates, load_links, select_links
from ...core.records.memory import drop_copies

NO_DUE_DATE = datetime.max.replace(tzinfo=UTC)


class LandmarkRank(IntEnum):
    """Groups of landmarks, most important first."""

    DECISION = 0
    OPEN_TASK = 1
    OTHER = 2
    CLOSED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class LandmarkView:
    """A landmark with its status at one time."""

    memory: Memory
    kind: str  # decision, action_item, commitment, preference_stated or correction
    text: str
    owner: str | None  # who has to act
    due: datetime | None  # the end of the due date: "by Friday" is due when Saturday begins
    status: LandmarkStatus
    closed_at: datetime | None = None
    closed_by: str | None = None  # id of the message that closed it
    is_overdue: bool = False  # open, and the due date has passed

    @property
    def id(self) -> str:
        return self.memory.id

    @property
    def at(self) -> datetime:
        return self.memory.at

    @property
    def is_open(self) -> bool:
        return self.status is LandmarkStatus.OPEN

    @property
    def is_task(self) -> bool:
        return self.kind in TASK_KINDS

    @property
    def due_day(self) -> date | None:
        """The last day on which the landmark is not overdue, in UTC."""
        return last_due_day(self.due) if self.due else None


def list_landmarks(
    store: Store, grant: Grant, *, at: datetime, as_of: datetime
) -> list[LandmarkView]:
    """Return the landmarks with their status at the time `at`, most important first.

    Only what was recorded by `as_of` counts. Of landmarks that state the same, the newest is
    returned.
    """
    where = Condition("kind", Op.EQ, MemoryKind.LANDMARK)
    found = [
        each
        for each in drop_copies(store.memories.find(grant, where=where))
        if each.recorded_at <= as_of and each.at <= at
    ]
    ids = [each.id for each in found]
    links = [each for each in load_links(store, grant, ids) if each.recorded_at <= as_of]
    return rank_landmarks(build_views(drop_same(found, links), links, at))


def drop_same(memories: Sequence[Memory], links: Iterable[Memory]) -> list[Memory]:
    """Return the memories, newest first, without those that state the same as a newer one."""
    same = select_links(links, [each.id for each in memories], LinkRelation.SAME_AS)
    return drop_duplicates(memories, same)


def build_views(
    newest_first: Sequence[Memory], links: Iterable[Memory], now: datetime
) -> list[LandmarkView]:
    """Return the views of landmarks in the same order; `links` are those that contain them."""
    outlines = [LandmarkOutline.from_memory(each) for each in newest_first]
    closed = find_closed(outlines, closings_by_landmark(links), now)
    return [
        _make_view(memory, outline, closed, now)
        for memory, outline in zip(newest_first, outlines, strict=True)
    ]


def _make_view(
    memory: Memory, outline: LandmarkOutline, closed: Mapping[str, Closing], now: datetime
) -> LandmarkView:
    closing = closed.get(outline.id)
    is_late = outline.is_task and outline.due is not None and outline.due <= now
    return LandmarkView(
        memory=memory,
        kind=outline.kind,
        text=outline.text,
        owner=outline.owner,
        due=outline.due,
        status=closing.status if closing else LandmarkStatus.OPEN,
        closed_at=closing.at if closing else None,
        closed_by=closing.by if closing else None,
        is_overdue=is_late and closing is None,
    )


def rank_landmarks(newest_first: Sequence[LandmarkView]) -> list[LandmarkView]:
    """Return the landmarks, most important first.

    Decisions that hold come first, newest first. Open tasks follow by due date, then other open
    landmarks, then closed ones.
    """
    return sorted(newest_first, key=_importance)


def _importance(view: LandmarkView) -> tuple[LandmarkRank, datetime, float]:
    rank = find_rank(view)
    due = view.due if rank is LandmarkRank.OPEN_TASK and view.due else NO_DUE_DATE
    return rank, due, -view.memory.salience


def find_rank(view: LandmarkView) -> LandmarkRank:
    """Return the group of a landmark in a list by importance."""
    if not view.is_open:
        return LandmarkRank.CLOSED
    if view.kind == LandmarkKind.DECISION:
        return LandmarkRank.DECISION
    return LandmarkRank.OPEN_TASK if view.is_task else LandmarkRank.OTHER


def is_owned_by(view: LandmarkView, owner: str) -> bool:
    """Return whether a person is the owner or one of the owners; case is ignored."""
    wanted = normalize_name(owner)
    names = owner_key(LandmarkOutline.from_memory(view.memory))
    return view.owner is not None and (normalize_name(view.owner) == wanted or wanted in names)
