"""Landmarks with their status: open, done, cancelled or superseded.

Landmarks and the messages that close them are separate records. The status is computed when it is
read, as `recall.views.fact_timeline` computes the current value of a fact.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import IntEnum
from itertools import zip_longest

from ...core.access import Grant
from ...core.derive import normalize_name
from ...core.filters import Condition, Op
from ...core.protocols.store import Store
from ...core.records import Memory, MemoryKind
from ...core.records.landmark_status import (
    BEHAVIOUR_KEY,
    CHANGE_KEY,
    DECISION_KEY,
    TASK_KINDS,
    UNDATED_KEY,
    Closing,
    LandmarkOutline,
    LandmarkStatus,
    closings_by_landmark,
    concerns_behaviour,
    due_week_key,
    find_closed,
    owner_key,
)
from ...core.records.landmarks import LandmarkKind, last_due_day
from ...core.records.links import (
    LinkRelation,
    drop_duplicates,
    load_links,
    select_links,
    statement_count,
)
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


# -- pinned landmarks: those that a context shows whatever the question is


MAX_READ = 100  # newest landmarks; a store with fewer needs no other query
MAX_PER_KEY, MAX_OLDEST = 60, 40  # landmarks of one key that are read from each end
OVERDUE_WEEKS, COMING_WEEKS = 13, 26  # a task is pinned from half a year before to 90 days after
MAX_OVERDUE = timedelta(days=90)
OVERDUE_SHARE = 0.4  # of the tasks, if others are due soon
PASSING_DAYS = timedelta(days=14)  # a decision for one day or meal is not pinned longer
PASSING_PENALTY, MENTION_BONUS, MAX_MENTIONS = 0.3, 0.05, 4
PASSING_PATTERN = re.compile(
    r"\b(?:today|tonight|tomorrow|this (?:morning|afternoon|evening|week|weekend)"
    r"|next (?:week|month)"
    r"|(?:on |next |this )?(?:mon|tues|wednes|thurs|fri|satur|sun)day|at \d{1,2}(?::\d\d)?"
    r"|lunch|dinner|breakfast|brunch|coffee|pizza|movie|drinks)\b",
    re.IGNORECASE,
)
LASTING_PATTERN = re.compile(
    r"\b(?:every|each|always|never|from now on|policy|rule|standard|until further notice"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedLandmarks:
    """The landmarks to pin, each group in the order in which a context shows it."""

    decisions: Sequence[LandmarkView]  # oldest first, so that a new one is added at the end
    preferences: Sequence[LandmarkView]  # about the behaviour of the agent, oldest first
    tasks: Sequence[LandmarkView]  # open, by due date; undated ones last
    links: Mapping[str, Memory]  # SAME_AS link by landmark id


def load_pinned(
    store: Store,
    grant: Grant,
    newest: Sequence[Memory],
    *,
    now: datetime,
    as_of: datetime | None = None,
    decisions: int,
    preferences: int,
    tasks: int,
) -> PinnedLandmarks:
    """Return at most so many decisions, preferences and tasks that are alive at `now`.

    `newest` are the newest landmarks, up to MAX_READ. If there may be more, the others are looked
    up by what they are, so that the cost does not grow with the number of landmarks. With `as_of`,
    only what was recorded by then counts.
    """
    found = list(newest)
    if len(newest) >= MAX_READ:
        more = {each.id: each for each in _find_pinnable(store, grant, now)}
        found = sorted({**{each.id: each for each in newest}, **more}.values(), key=_newest_first)
    known = [each for each in drop_copies(found) if as_of is None or each.recorded_at <= as_of]
    ids = [each.id for each in known]
    links = [
        each for each in load_links(store, grant, ids) if as_of is None or each.recorded_at <= as_of
    ]
    same = select_links(links, ids, LinkRelation.SAME_AS)
    alive = [
        each
        for each in build_views(drop_duplicates(known, same), links, now)
        if each.is_open and each.at <= now
    ]
    return PinnedLandmarks(
        decisions=_choose_decisions(alive, same, now, decisions),
        preferences=_choose_preferences(alive, preferences),
        tasks=_choose_tasks(alive, now, tasks),
        links=same,
    )


def _newest_first(memory: Memory) -> tuple[float, str]:
    return -memory.at.timestamp(), memory.id


def _find_pinnable(store: Store, grant: Grant, now: datetime) -> Iterator[Memory]:
    """Yield landmarks of the kinds that may be pinned, and those that may replace them."""

    def find(*keys: str, oldest_first: bool = False) -> list[Memory]:
        return store.memories.find_by_name(
            grant,
            keys,
            kinds=[MemoryKind.LANDMARK],
            limit=MAX_OLDEST if oldest_first else MAX_PER_KEY,
            oldest_first=oldest_first,
        )

    for key in (DECISION_KEY, BEHAVIOUR_KEY, UNDATED_KEY):
        yield from find(key)
        yield from find(key, oldest_first=True)
    yield from find(CHANGE_KEY)
    coming = 0
    for first, last in ((0, 1), (2, 5), (6, COMING_WEEKS)):
        found = find(*_week_keys(now, first, last))
        yield from found
        coming += len(found)
        if coming >= MAX_PER_KEY:
            break
    yield from find(*_week_keys(now, -2, -1))
    yield from find(*_week_keys(now, -OVERDUE_WEEKS, -3))


def _week_keys(now: datetime, first: int, last: int) -> list[str]:
    return [due_week_key(now + timedelta(weeks=week)) for week in range(first, last + 1)]


def _choose_decisions(
    alive: Sequence[LandmarkView], same: Mapping[str, Memory], now: datetime, limit: int
) -> list[LandmarkView]:
    """Return the decisions with the greatest weight, oldest first.

    Of equal ones, the newest, the oldest, the second newest and so on are chosen: neither the
    founding decision nor the latest one is lost.
    """
    by_weight: dict[float, list[LandmarkView]] = {}
    for each in alive:
        if each.kind == LandmarkKind.DECISION and not _is_over(each, now):
            by_weight.setdefault(_weigh_decision(each, same.get(each.id)), []).append(each)
    chosen: list[LandmarkView] = []
    for weight in sorted(by_weight, reverse=True):
        chosen += _from_both_ends(by_weight[weight])
    return sorted(chosen[:limit], key=lambda view: (view.at, view.id))


def _weigh_decision(view: LandmarkView, link: Memory | None) -> float:
    """Return the weight of a decision: its salience, how often it was stated, how long it holds."""
    times = min(MAX_MENTIONS, statement_count(link) - 1 if link else 0)
    penalty = PASSING_PENALTY if _is_passing(view) else 0.0
    return round(view.memory.salience + MENTION_BONUS * times - penalty, 3)


def _is_passing(view: LandmarkView) -> bool:
    """Return whether a decision concerns one day, hour or meal only."""
    return bool(PASSING_PATTERN.search(view.text)) and not LASTING_PATTERN.search(view.text)


def _is_over(view: LandmarkView, now: datetime) -> bool:
    """Return whether the time that a decision concerns has passed."""
    if view.due is not None and view.due <= now:
        return True
    return _is_passing(view) and view.at < now - PASSING_DAYS


def _from_both_ends(views: Sequence[LandmarkView]) -> list[LandmarkView]:
    """Return first, last, second, last but one, and so on."""
    middle = (len(views) + 1) // 2
    pairs = zip_longest(views[:middle], reversed(views[middle:]))
    return [each for pair in pairs for each in pair if each is not None]


def _choose_preferences(alive: Sequence[LandmarkView], limit: int) -> list[LandmarkView]:
    """Return preferences about what the agent does; of too many, both ends in time."""
    found = [
        each
        for each in alive
        if each.kind == LandmarkKind.PREFERENCE_STATED and concerns_behaviour(each.text)
    ]
    return sorted(_from_both_ends(found)[:limit], key=lambda view: (view.at, view.id))


def _choose_tasks(alive: Sequence[LandmarkView], now: datetime, limit: int) -> list[LandmarkView]:
    """Return open tasks: some that are overdue, those due next, then the newest undated ones."""
    tasks = [each for each in alive if each.is_task]
    late = [each for each in tasks if each.due and now - MAX_OVERDUE < each.due <= now]
    late.sort(key=_due_time, reverse=True)
    coming = sorted((each for each in tasks if each.due and each.due > now), key=_due_time)
    undated = [each for each in tasks if each.due is None]
    first = max(int(OVERDUE_SHARE * limit), limit - len(coming))
    chosen = [*late[:first], *coming, *undated][:limit]
    return sorted(chosen, key=_due_time)


def _due_time(view: LandmarkView) -> datetime:
    return view.due or NO_DUE_DATE
