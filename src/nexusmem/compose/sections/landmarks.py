"""Section "landmarks": decisions, commitments, action items and stated preferences, pinned."""

from __future__ import annotations

from collections import Counter

from ...core.records import Memory, MemoryKind
from ...core.records.context import ContextItem
from ...core.records.landmark_status import LandmarkStatus
from ...core.records.landmarks import LandmarkKind, display_name
from ...core.records.links import LinkRelation, select_links
from ...recall.views.currency import find_validities
from ...recall.views.landmarks import (
    LandmarkRank,
    LandmarkView,
    build_views,
    drop_same,
    find_rank,
    rank_landmarks,
)
from ..request import MAX_LANDMARKS, SectionInput, mention_reason, rank_worth
from ..section import Section, always

GROUP_WORTH = {  # far apart: items compete by worth per token, and some are ten times as long
    LandmarkRank.DECISION: 1.0,
    LandmarkRank.OPEN_TASK: 0.1,
    LandmarkRank.OTHER: 0.03,
    LandmarkRank.CLOSED: 0.003,
}
MAX_SEARCHED = 300  # landmarks that are searched for decisions
STATUS_MARKS = {  # after the kind of a landmark
    LandmarkStatus.OPEN: "",
    LandmarkStatus.DONE: ", done",
    LandmarkStatus.CANCELLED: ", cancelled",
    LandmarkStatus.SUPERSEDED: ", replaced",
}


def landmark_items(inputs: SectionInput) -> list[ContextItem]:
    """Return landmarks oldest first, so that a new one leaves the lines before it in place.

    Decisions are worth most, then open tasks by due date; closed landmarks are worth least.
    """
    every = _pinned_landmarks(inputs)
    links = inputs.load_links(every)
    same = select_links(links, [each.id for each in every], LinkRelation.SAME_AS)
    views = build_views(drop_same(every, links), links, inputs.now)
    over = find_validities(inputs.store, inputs.grant, every, inputs.now)  # by facts said later
    ranked = rank_landmarks([each for each in views if not (each.is_open and each.id in over)])
    counts: Counter[LandmarkRank] = Counter()
    items: list[ContextItem] = []
    for view in ranked:
        group = find_rank(view)
        worth = GROUP_WORTH[group] * rank_worth(counts[group], 0.97)
        counts[group] += 1
        items.append(_make_item(inputs, view, worth, same.get(view.id)))
    return sorted(items, key=lambda item: (item.at, item.id))


def _pinned_landmarks(inputs: SectionInput) -> list[Memory]:
    """Return the newest landmarks, and older decisions: many tasks must not displace them."""
    newest = inputs.landmarks
    if len(newest) < MAX_LANDMARKS:
        return newest
    older = inputs.memories_of_kind(MemoryKind.LANDMARK, limit=MAX_SEARCHED)
    known = {each.id for each in newest}
    decisions = (each for each in older if each.body.get("kind") == LandmarkKind.DECISION)
    return [*newest, *(each for each in decisions if each.id not in known)]


def _make_item(
    inputs: SectionInput, view: LandmarkView, worth: float, link: Memory | None
) -> ContextItem:
    return inputs.make_item(
        view.memory,
        worth,
        kind=display_name(view.kind or "landmark") + _status_mark(view),
        strategy="pinned",
        salience=view.memory.salience,
        **mention_reason(link),
    )


def _status_mark(view: LandmarkView) -> str:
    if view.is_overdue:
        return f", overdue since {view.due_day}"
    if view.is_open and view.is_task and view.due_day:
        return f", due {view.due_day}"
    return STATUS_MARKS[view.status]


LANDMARKS = Section(
    name="landmarks",
    heading="Decisions, commitments and requests (pinned)",
    description="Decisions, commitments, action items and stated preferences; always.",
    priority=1,
    cap=500,
    floor=250,
    when=always("what was decided is pinned"),
    stable=True,
    grows_with_budget=True,
    source=landmark_items,
)
