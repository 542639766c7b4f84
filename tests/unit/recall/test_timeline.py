"""Timeline strategy."""

from __future__ import annotations

from datetime import timedelta

import pytest

from nexusmem.core.filters import parse_filter
from nexusmem.recall.query import Query
from nexusmem.recall.question_analysis import QuestionAnalysis, TimeWindow
from nexusmem.recall.strategies.timeline import (
    LATE_MENTION_PERIOD,
    LATE_MENTION_SCORE,
    time_window_score,
    timeline_strategy,
)
from nexusmem.recall.strategy_run import PreparedQuestion
from nexusmem.testing.reference_store.store import ReferenceStore
from nexusmem.testing.samples import ADMIN, ALICE_DM, IN_ROOM, NOON, add_memory

DAY = timedelta(days=1)
TICK = timedelta(microseconds=1)
WINDOW = TimeWindow(NOON, NOON + DAY)


def asked(window: TimeWindow | None = WINDOW, depth: int = 10, **where: str) -> PreparedQuestion:
    understood = QuestionAnalysis((), frozenset(), "", asks_assistant=False, window=window)
    return PreparedQuestion(Query(question="", where=parse_filter(where)), understood, None, depth)


@pytest.mark.requirement("D19", "E4")
@pytest.mark.parametrize(
    ("at", "worth"),
    [
        (NOON - TICK, 0.0),
        (NOON, 1.0),
        (NOON + DAY - TICK, 1.0),
        (NOON + DAY, LATE_MENTION_SCORE),
        (NOON + DAY + LATE_MENTION_PERIOD - TICK, LATE_MENTION_SCORE),
        (NOON + DAY + LATE_MENTION_PERIOD, 0.0),
    ],
)
def test_time_window_score(at, worth: float) -> None:
    assert time_window_score(WINDOW, at) == worth
    assert time_window_score(None, at) == 0.0


@pytest.mark.requirement("E4")
def test_memories_in_the_window_are_found_newest_first() -> None:
    store = ReferenceStore()
    days = [-1, 0, 0.5, 1]
    _, first, second, _ = (add_memory(store, str(n), at=NOON + n * DAY).id for n in days)

    found = timeline_strategy(store)(ADMIN, asked())

    assert [(hit.id, hit.score) for hit in found] == [(second, 1.0), (first, 1.0)]
    assert [hit.id for hit in timeline_strategy(store)(ADMIN, asked(depth=1))] == [second]
    assert timeline_strategy(store)(ADMIN, asked(window=None)) == []


@pytest.mark.requirement("E4")
def test_timeline_respects_filter_and_grant() -> None:
    store = ReferenceStore()
    ours = add_memory(store, "1", speaker="ann").id
    add_memory(store, "2", speaker="bob")
    add_memory(store, "3", speaker="ann", scope=ALICE_DM)

    found = timeline_strategy(store)(IN_ROOM.grant(), asked(speaker="ann"))

    assert [hit.id for hit in found] == [ours]
