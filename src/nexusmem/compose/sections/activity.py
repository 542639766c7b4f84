"""Section "activity": today's conversations and their results."""

from __future__ import annotations

import re
from dataclasses import replace

from ...core.records import Memory, MemoryKind
from ...core.records.context import ContextItem
from ..question import match_text
from ..request import SectionInput, rank_worth
from ..section import QuestionText, Section

MAX_MEMORIES = 200  # memories of today that are read
MAX_SHOWN = 40
KINDS = (MemoryKind.EPISODE, MemoryKind.LANDMARK)
TODAY_PATTERN = re.compile(
    r"\b(?:today|this (?:morning|afternoon|evening)|tonight|so far|stand-?up|catch me up"
    r"|what(?:'s| is| has been) (?:new|happening|going on)|what happened|what did (?:i|we) miss"
    r"|status|progress|update me|news)\b",
    re.IGNORECASE,
)


def asks_about_today(question: QuestionText) -> str | None:
    """Return why the question is about today, or None."""
    match = TODAY_PATTERN.search(question.text)
    return f"it asks about now: “{match_text(match)}”" if match else None


def activity_items(inputs: SectionInput) -> list[ContextItem]:
    """Return today's episode titles and landmarks, oldest first; the newest are worth most."""
    midnight = inputs.now.replace(hour=0, minute=0, second=0, microsecond=0)
    ids = inputs.store.memories.ids_between(
        inputs.grant, midnight, inputs.now, limit=MAX_MEMORIES, learned=True
    )
    memories = inputs.filter_active(inputs.store.memories.get(inputs.grant, ids))
    newest = [each for each in memories if each.kind in KINDS][:MAX_SHOWN]
    return [_make_item(inputs, memory, rank) for rank, memory in enumerate(newest)][::-1]


def _make_item(inputs: SectionInput, memory: Memory, rank: int) -> ContextItem:
    kind = str(memory.body.get("kind") or memory.body.get("span") or memory.kind.value)
    item = inputs.make_item(memory, 0.6 * rank_worth(rank, 0.97), strategy="today", kind=kind)
    label = memory.body.get("label")
    return replace(item, text=label) if isinstance(label, str) and label else item


ACTIVITY = Section(
    name="activity",
    heading="Today",
    description="What happened today, if the question asks about it.",
    priority=10,
    cap=400,
    when=asks_about_today,
    shows_time=True,
    source=activity_items,
)
