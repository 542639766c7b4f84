"""Landmark types: decisions, action items, commitments, stated preferences and corrections.

A new type needs an entry here, a rule in `learn/rules/landmarks.py`, and a line in
`prompts/one_pass.md` for the language model.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum

from ..errors import InvalidInput

ONE_MICROSECOND = timedelta(microseconds=1)


def last_due_day(due: datetime) -> date:
    """Return the last day on which a task is not overdue, in UTC: `due` is when the day is over."""
    return (due - ONE_MICROSECOND).date()


class LandmarkKind(StrEnum):
    DECISION = "decision"
    ACTION_ITEM = "action_item"
    COMMITMENT = "commitment"
    PREFERENCE_STATED = "preference_stated"
    CORRECTION = "correction"


@dataclass(frozen=True, slots=True, kw_only=True)
class LandmarkType:
    """How labels, summaries, episodes and contexts treat landmarks of one kind."""

    display_name: str  # in contexts
    label_prefix: str  # before the text in the label of a message
    episode_weight: float = 0.0  # added to a sentence's weight when an episode is written
    summary_list: str | None = None  # of `Summary`: "decisions" or "action_items"
    is_pledge: bool = False  # an agent may state it, too, about its own actions


LANDMARK_TYPES: dict[LandmarkKind, LandmarkType] = {
    LandmarkKind.DECISION: LandmarkType(
        display_name="decision",
        label_prefix="Decision:",
        episode_weight=0.5,
        summary_list="decisions",
    ),
    LandmarkKind.ACTION_ITEM: LandmarkType(
        display_name="action item",
        label_prefix="To do:",
        episode_weight=0.3,
        summary_list="action_items",
        is_pledge=True,
    ),
    LandmarkKind.COMMITMENT: LandmarkType(
        display_name="commitment",
        label_prefix="Promise:",
        episode_weight=0.4,
        summary_list="action_items",
        is_pledge=True,
    ),
    LandmarkKind.PREFERENCE_STATED: LandmarkType(
        display_name="preference", label_prefix="Preference:"
    ),
    LandmarkKind.CORRECTION: LandmarkType(
        display_name="correction", label_prefix="Correction:", episode_weight=0.3
    ),
}


def check_landmark_kind(kind: str) -> LandmarkKind:
    """Return the landmark kind of this name; raise InvalidInput if there is none."""
    try:
        return LandmarkKind(kind)
    except ValueError:
        accepted = ", ".join(LandmarkKind)
        raise InvalidInput(f"landmark kind must be one of {accepted}, got {kind!r:.80}") from None


def kinds_in_summary(summary_list: str) -> tuple[str, ...]:
    """Return the landmark kinds that a list of the conversation summary contains."""
    return tuple(
        kind.value for kind, type in LANDMARK_TYPES.items() if type.summary_list == summary_list
    )


def display_name(kind: str) -> str:
    """Return the name of a landmark kind for readers; unknown kinds are returned unchanged."""
    return LANDMARK_TYPES[LandmarkKind(kind)].display_name if kind in LANDMARK_TYPES else kind
