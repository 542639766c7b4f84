"""Timeline strategy: memories inside the time window that the question names."""

from __future__ import annotations

from datetime import datetime, timedelta

from ...core.access import Grant
from ...core.filters import matches_filter
from ...core.protocols.memories import ScoredId
from ...core.protocols.store import Store
from ..question_analysis import TimeWindow
from ..strategy_run import PreparedQuestion, Strategy

LATE_MENTION_PERIOD = timedelta(days=7)  # people mostly mention events within days
LATE_MENTION_SCORE = 0.5


def timeline_strategy(store: Store) -> Strategy:
    """Return the strategy that searches by time; it finds nothing without a time window."""

    def search(grant: Grant, question: PreparedQuestion) -> list[ScoredId]:
        window, where = question.analysis.window, question.query.where
        if window is None:
            return []
        ids = store.memories.ids_between(
            grant,
            window.since,
            window.until,
            limit=question.depth,
            learned=question.query.includes_learned,
        )
        if where is not None:
            ids = [
                each.id for each in store.memories.get(grant, ids) if matches_filter(where, each)
            ]
        return [ScoredId(id=id, score=1.0) for id in ids]

    return search


def time_window_score(window: TimeWindow | None, at: datetime) -> float:
    """Return 1 inside the window, LATE_MENTION_SCORE shortly after it, else 0."""
    if window is None or at < window.since:
        return 0.0
    if at < window.until:
        return 1.0
    return LATE_MENTION_SCORE if at - window.until < LATE_MENTION_PERIOD else 0.0
