"""What happened at the time a question asks about."""

from __future__ import annotations

from ...core.context import Item
from ...core.records import Hit
from ...recall.episodes import episodes_for
from ..asking import Asking

MOST = 8


def episodes(asking: Asking) -> list[Item]:
    """Stretches of time told in a few sentences: the best, in the order they happened."""
    hits = episodes_for(
        asking.store,
        asking.grant,
        asking.plan.question,
        asking.now,
        limit=MOST,
        window=asking.plan.window,
        pointed=asking.pointed,
        as_of=asking.now if asking.replayed else None,
    )
    asked_for = asking.plan.window is not None  # a time was named: archived or not
    shown = [hit for hit in hits if asked_for or asking.brought_up([hit.memory])]
    return sorted((_item(asking, hit) for hit in shown), key=lambda item: (item.at, item.id))


def _item(asking: Asking, hit: Hit) -> Item:
    reasons = {name: round(score, 3) for name, score in hit.reasons.items()}
    kind, score = str(hit.memory.body.get("span", "episode")), round(hit.score, 3)
    return asking.item(hit.memory, hit.score, strategy="episode", kind=kind, score=score, **reasons)
