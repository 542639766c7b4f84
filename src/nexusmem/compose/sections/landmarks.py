"""Section "landmarks": what is alive of decisions, tasks and wishes, pinned.

Pinned are open commitments and action items by due date, standing decisions by weight, and
preferences that concern the agent's behaviour. Done, cancelled and replaced ones are not shown.
"""

from __future__ import annotations

from ...core.records import Memory
from ...core.records.context import ContextItem
from ...core.records.landmark_status import LandmarkStatus
from ...core.records.landmarks import LandmarkKind, display_name
from ...recall.views.currency import find_validities
from ...recall.views.landmarks import LandmarkView, load_pinned
from ..request import SectionInput, mention_reason, rank_worth
from ..section import Section, always

DECISION_WORTH, PREFERENCE_WORTH, TASK_WORTH = 1.0, 0.9, 0.8
STATUS_MARKS = {  # after the kind of a landmark
    LandmarkStatus.OPEN: "",
    LandmarkStatus.DONE: ", done",
    LandmarkStatus.CANCELLED: ", cancelled",
    LandmarkStatus.SUPERSEDED: ", replaced",
}


def landmark_items(inputs: SectionInput) -> list[ContextItem]:
    """Return decisions and preferences, oldest first, then open tasks by due date.

    What changes seldom comes first, so that the text before a new task stays the same.
    """
    limits = inputs.settings
    pinned = load_pinned(
        inputs.store,
        inputs.grant,
        inputs.landmarks,
        now=inputs.now,
        as_of=inputs.now if inputs.is_replay else None,
        decisions=limits.pinned_decisions,
        preferences=limits.pinned_preferences,
        tasks=limits.pinned_tasks,
    )
    groups = (
        (pinned.decisions, DECISION_WORTH),
        (pinned.preferences, PREFERENCE_WORTH),
        (pinned.tasks, TASK_WORTH),
    )
    memories = [view.memory for views, _ in groups for view in views]
    over = find_validities(inputs.store, inputs.grant, memories, inputs.now)  # by facts said later
    return [
        _make_item(inputs, view, worth * rank_worth(rank, 0.97), pinned.links.get(view.id))
        for views, worth in groups
        for rank, view in enumerate(views)
        if view.id not in over
    ]


def is_preference(item: ContextItem) -> bool:
    """Return whether a pinned item is a wish about how the agent behaves."""
    kind = display_name(LandmarkKind.PREFERENCE_STATED)
    return str(item.why.get("kind", "")).startswith(kind)


def _make_item(
    inputs: SectionInput, view: LandmarkView, worth: float, link: Memory | None
) -> ContextItem:
    return inputs.make_item(
        view.memory,
        worth,
        kind=display_name(view.kind or "landmark") + _due_mark(view),
        strategy="pinned",
        salience=view.memory.salience,
        **mention_reason(link),
    )


def _due_mark(view: LandmarkView) -> str:
    if view.is_overdue:
        return f", overdue since {view.due_day}"
    return f", due {view.due_day}" if view.is_task and view.due_day else ""


LANDMARKS = Section(
    name="landmarks",
    heading="Decisions, commitments and requests (pinned)",
    description="Open tasks, standing decisions, and preferences about the agent's behaviour.",
    priority=1,
    cap=500,
    floor=250,
    when=always("what was decided is pinned"),
    stable=True,
    grows_with_budget=True,
    source=landmark_items,
)
