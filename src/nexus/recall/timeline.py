"""By when it was said: what lies in the stretch of time a question names."""

from __future__ import annotations

from datetime import datetime, timedelta

from ..core.access import Grant
from ..core.filters import matches
from ..core.protocols import Scored, Store
from .asked import Asked, Strategy
from .understand import Window

TOLD_LATER = timedelta(days=7)  # people tell what happened, mostly within days
LATER = 0.5


def timeline(store: Store) -> Strategy:
    def search(grant: Grant, asked: Asked) -> list[Scored]:
        window, where = asked.understood.window, asked.query.where
        if window is None:
            return []
        ids = store.memories.between(
            grant, window.since, window.until, limit=asked.depth, learned=asked.query.learned
        )
        if where is not None:
            ids = [each.id for each in store.memories.get(grant, ids) if matches(where, each)]
        return [Scored(id=id, score=1.0) for id in ids]

    return search


def in_time(window: Window | None, at: datetime) -> float:
    """1 inside the window, half as much soon after it, else 0."""
    if window is None or at < window.since:
        return 0.0
    if at < window.until:
        return 1.0
    return LATER if at - window.until < TOLD_LATER else 0.0
