"""Section "episodes": what happened at the time that a question asks about."""

from __future__ import annotations

import re

from ...core.records import Hit
from ...core.records.context import ContextItem
from ...recall.views.episodes import find_episodes
from ..question import match_text
from ..request import SectionInput
from ..section import QuestionText, Section

MAX_EPISODES = 8
TIME_PATTERN = re.compile(
    r"\b(?:when|recently|lately|last time|earlier|previously|how long ago|ago|since|until|history"
    r"|timeline|at (?:that|the) time|before that|after that|in the past|back then"
    r"|first time|so far|what happened|catch me up)\b",
    re.IGNORECASE,
)


def asks_about_time(question: QuestionText) -> str | None:
    """Return why the question is about a time, or None."""
    window = question.window
    if window:
        return f"it names a time: {window.since:%Y-%m-%d} to {window.until:%Y-%m-%d}"
    match = TIME_PATTERN.search(question.text)
    return f"it asks about a time: “{match_text(match)}”" if match else None


def episode_items(inputs: SectionInput) -> list[ContextItem]:
    """Return the episodes that match the question best, in the order they happened."""
    if inputs.is_unanswered and inputs.plan.window is None:
        return []
    hits = find_episodes(
        inputs.store,
        inputs.grant,
        inputs.plan.question,
        inputs.now,
        limit=MAX_EPISODES,
        window=inputs.plan.window,
        query_vector=inputs.question_vector,
        as_of=inputs.now if inputs.is_replay else None,
    )
    names_time = inputs.plan.window is not None  # archived episodes are shown too, then
    shown = [hit for hit in hits if names_time or inputs.filter_active([hit.memory])]
    return sorted((_make_item(inputs, hit) for hit in shown), key=lambda item: (item.at, item.id))


def _make_item(inputs: SectionInput, hit: Hit) -> ContextItem:
    reasons = {name: round(score, 3) for name, score in hit.reasons.items()}
    kind, score = str(hit.memory.body.get("span", "episode")), round(hit.score, 3)
    return inputs.make_item(
        hit.memory, hit.score, strategy="episode", kind=kind, score=score, **reasons
    )


EPISODES = Section(
    name="episodes",
    heading="Earlier conversations",
    description="For questions about a time.",
    priority=7,
    cap=600,
    when=asks_about_time,
    source=episode_items,
)
