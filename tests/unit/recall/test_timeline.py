"""By when it was said."""

from __future__ import annotations

from datetime import timedelta

import pytest

from nexus.core.filters import parse_filter
from nexus.recall.asked import Asked
from nexus.recall.query import Query
from nexus.recall.timeline import LATER, TOLD_LATER, in_time, timeline
from nexus.recall.understand import Understood, Window
from nexus.stores.inprocess import InProcessStore
from nexus.testing.samples import ADMIN, ALICE_DM, IN_ROOM, NOON, keep

DAY = timedelta(days=1)
TICK = timedelta(microseconds=1)
WINDOW = Window(NOON, NOON + DAY)


def asked(window: Window | None = WINDOW, depth: int = 10, **where: str) -> Asked:
    understood = Understood((), frozenset(), "", asks_the_assistant=False, window=window)
    return Asked(Query(question="", where=parse_filter(where)), understood, None, depth)


@pytest.mark.requirement("D19", "E4")
@pytest.mark.parametrize(
    ("at", "worth"),
    [
        (NOON - TICK, 0.0),
        (NOON, 1.0),
        (NOON + DAY - TICK, 1.0),
        (NOON + DAY, LATER),
        (NOON + DAY + TOLD_LATER - TICK, LATER),
        (NOON + DAY + TOLD_LATER, 0.0),
    ],
)
def test_inside_counts_whole_soon_after_half_and_else_nothing(at, worth: float) -> None:
    assert in_time(WINDOW, at) == worth
    assert in_time(None, at) == 0.0


@pytest.mark.requirement("E4")
def test_what_lies_in_the_window_is_found_newest_first() -> None:
    store = InProcessStore()
    days = [-1, 0, 0.5, 1]
    _, first, second, _ = (keep(store, str(n), at=NOON + n * DAY).id for n in days)

    found = timeline(store)(ADMIN, asked())

    assert [(hit.id, hit.score) for hit in found] == [(second, 1.0), (first, 1.0)]
    assert [hit.id for hit in timeline(store)(ADMIN, asked(depth=1))] == [second]
    assert timeline(store)(ADMIN, asked(window=None)) == []


@pytest.mark.requirement("E4")
def test_a_window_shows_neither_what_is_filtered_nor_what_is_forbidden() -> None:
    store = InProcessStore()
    ours = keep(store, "1", speaker="ann").id
    keep(store, "2", speaker="bob")
    keep(store, "3", speaker="ann", scope=ALICE_DM)

    found = timeline(store)(IN_ROOM.grant(), asked(speaker="ann"))

    assert [hit.id for hit in found] == [ours]
