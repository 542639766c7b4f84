"""What was found for the question: seed 000's [RECALL]."""

from __future__ import annotations

from dataclasses import replace

from ...core.context import Item
from ...core.records import Explanation, Hit
from ..asking import Asking, falling

LONG = 900  # characters: of what is longer, the sentences that answer are shown


def recalled(asking: Asking) -> list[Item]:
    """The hits, best first."""
    hits = asking.found.hits if asking.found else ()
    return [_item(asking, hit, place) for place, hit in enumerate(hits)]


def _item(asking: Asking, hit: Hit, place: int) -> Item:
    reasons = hit.reasons
    best = max(reasons, key=reasons.__getitem__, default="conversation")
    why: dict[str, float | str] = {"strategy": best, "score": round(hit.score, 3)}
    for name, score in reasons.items():
        why[name] = round(score, 3)
    if hit.explanation:
        why |= _added(hit.explanation)
    made = asking.item(hit.memory, falling(place) * (0.5 + hit.score / 2), **why)
    return _telling(made, hit) if len(made.text) > LONG else made


def _added(explanation: Explanation) -> dict[str, float]:
    """What each signal added to its place, where that was asked for."""
    return {f"+{name}": round(part, 3) for name, part in explanation.parts.items() if part}


def _telling(item: Item, hit: Hit) -> Item:
    told = " … ".join(hit.highlights)
    if not 0 < len(told) < len(item.text):
        return item
    return replace(item, text=told, why={**item.why, "excerpt": "the sentences that answer"})
