"""Section "recall": the hits of the question ([RECALL] of specification 000)."""

from __future__ import annotations

from dataclasses import replace

from ...core.records import Explanation, Hit
from ...core.records.context import ContextItem
from ..question import needs_no_memory
from ..request import EXACT_KIND, SectionInput, rank_worth
from ..section import QuestionText, Section

MAX_FULL_CHARS = 900  # of a longer text only the sentences that answer are shown


def asks_for_something(question: QuestionText) -> str | None:
    """Return why the question needs a search, or None for small talk and plain commands."""
    return None if needs_no_memory(question.text) else "it asks for something"


def recall_items(inputs: SectionInput) -> list[ContextItem]:
    """Return the hits, best first."""
    hits = inputs.search_results.hits if inputs.search_results else ()
    return [_make_item(inputs, hit, rank) for rank, hit in enumerate(hits)]


def _make_item(inputs: SectionInput, hit: Hit, rank: int) -> ContextItem:
    reasons = hit.reasons
    best = max(reasons, key=reasons.__getitem__, default="conversation")
    why: dict[str, float | str] = {"strategy": best, "score": round(hit.score, 3)}
    for name, score in reasons.items():
        why[name] = round(score, 3)
    if hit.explanation:
        why |= _signal_parts(hit.explanation)
    if hit.memory.role == "tool":
        why["kind"] = "tool result"
    if hit.validity:
        why["status"], why["kind"] = hit.validity.status.value, hit.validity.mark
        why["superseded_by"] = hit.validity.by
    item = inputs.make_item(hit.memory, rank_worth(rank) * (0.5 + hit.score / 2), **why)
    is_long = len(item.text) > MAX_FULL_CHARS and item.why.get("kind") != EXACT_KIND
    return _use_highlights(item, hit) if is_long else item


def _signal_parts(explanation: Explanation) -> dict[str, float]:
    """Return what each ranking signal added to the score of the hit."""
    return {f"+{name}": round(part, 3) for name, part in explanation.parts.items() if part}


def _use_highlights(item: ContextItem, hit: Hit) -> ContextItem:
    excerpt = " … ".join(hit.highlights)
    if not 0 < len(excerpt) < len(item.text):
        return item
    return replace(item, text=excerpt, why={**item.why, "excerpt": "the sentences that answer"})


RECALL = Section(
    name="recall",
    heading="[RECALL] Relevant to this question",
    description="Search results for the question.",
    priority=6,
    cap=800,
    when=asks_for_something,
    source=recall_items,
)
