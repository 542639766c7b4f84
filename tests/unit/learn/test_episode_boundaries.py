"""Episode boundaries: threads and sessions of a week."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from tests.unit.making import event

from nexusmem.core.records import Event, EventKind
from nexusmem.learn.episodes.boundaries import (
    SESSION_EVENTS,
    THREAD_MESSAGES,
    split_segments,
    start_of_day,
    week_start,
)

MONDAY = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
LATER = MONDAY + 30 * DAY


def said(minutes: float, thread: str | None = None, **more) -> Event:
    at = MONDAY + minutes * MINUTE
    return event(f"at {minutes}", key=f"{thread}-{minutes}", at=at, thread=thread, **more)


def shape(events: list[Event], now: datetime = LATER) -> list[tuple[str, str | None, int, bool]]:
    return [
        (p.span, p.thread, len(p.events), p.closes_at is None) for p in split_segments(events, now)
    ]


def run(count: int, thread: str | None = None, *, start: float = 0, step: float = 1) -> list[Event]:
    return [said(start + step * n, thread) for n in range(count)]


A_DAY = 24 * 60
TABLE = {
    "nothing": ([], []),
    "one message": ([said(0)], [("session", None, 1, True)]),
    "an hour of silence is not yet one too long": (
        [said(0), said(60)],
        [("session", None, 2, True)],
    ),
    "more than an hour is": (
        [said(0), said(60.1)],
        [("session", None, 1, True), ("session", None, 1, True)],
    ),
    "a long session in parts": (
        run(SESSION_EVENTS + 3, step=0.1),
        [("session", None, SESSION_EVENTS, True), ("session", None, 3, True)],
    ),
    "a thread beside a session": (
        [said(0), said(1, "x"), said(2), said(3, "x")],
        [("session", None, 2, True), ("thread", "x", 2, True)],
    ),
    "a thread of more than fifty": (
        run(2 * THREAD_MESSAGES + 1, "x"),
        [
            ("thread", "x", THREAD_MESSAGES, True),
            ("thread", "x", THREAD_MESSAGES, True),
            ("thread", "x", 1, True),
        ],
    ),
    "a thread that is quiet for hours while nothing else is said": (
        [said(0, "x"), said(5 * 60, "x")],
        [("thread", "x", 2, True)],
    ),
    "a thread that is quiet while something else is said": (
        [said(0, "x"), said(10, "y"), said(5 * 60, "x")],
        [("thread", "x", 1, True), ("thread", "y", 1, True), ("thread", "x", 1, True)],
    ),
    "something else is said, and it goes on within the hour": (
        [said(0, "x"), said(10, "y"), said(50, "x")],
        [("thread", "x", 2, True), ("thread", "y", 1, True)],
    ),
    "a thread that is quiet for more than a day": (
        [said(0, "x"), said(A_DAY + 1, "x")],
        [("thread", "x", 1, True), ("thread", "x", 1, True)],
    ),
    "facts, documents and decisions about reviews are no talk": (
        [said(0, kind=EventKind.FACT), said(1, kind=EventKind.DOCUMENT), said(2)],
        [("session", None, 1, True)],
    ),
}


@pytest.mark.requirement("A3")
@pytest.mark.parametrize(("events", "expected"), TABLE.values(), ids=TABLE)
def test_closed_segments_end_at_silence(events, expected) -> None:
    assert shape(events) == expected


OPEN = {
    "a session within the hour": (run(3), 62 * MINUTE, [("session", None, 3, False)]),
    "a session after the hour": (run(3), 62.1 * MINUTE, [("session", None, 3, True)]),
    "a thread alone after an hour": (run(3, "x"), 5 * HOUR, [("thread", "x", 3, False)]),
    "a thread alone after a day": (run(3, "x"), DAY + 3 * MINUTE, [("thread", "x", 3, True)]),
    "a thread after which another began": (
        [*run(3, "x"), said(10, "y")],
        63 * MINUTE,
        [("thread", "x", 3, True), ("thread", "y", 1, False)],
    ),
    "the rest of a long thread": (
        run(THREAD_MESSAGES + 2, "x"),
        52 * MINUTE,
        [("thread", "x", THREAD_MESSAGES, True), ("thread", "x", 2, False)],
    ),
    "what is dated in the future": (run(1), -DAY, [("session", None, 1, False)]),
}


@pytest.mark.requirement("A3")
@pytest.mark.parametrize(("events", "after", "expected"), OPEN.values(), ids=OPEN)
def test_segments_that_may_continue_stay_open(events, after, expected) -> None:
    assert shape(events, MONDAY + after) == expected


@pytest.mark.requirement("A3")
def test_segment_closes_at_its_closing_time() -> None:
    talk = [*run(3), *run(2, "x", start=5), *run(1, "y", start=20)]
    for piece in split_segments(talk, MONDAY + 20 * MINUTE):
        assert piece.closes_at is not None
        closed = {
            p.id for p in split_segments(talk, piece.closes_at + MINUTE) if p.closes_at is None
        }
        open_still = {
            p.id for p in split_segments(talk, piece.closes_at) if p.closes_at is not None
        }
        assert piece.id in closed
        assert piece.id in open_still


def test_order_of_events_does_not_matter() -> None:
    talk = [*run(70, "x", step=3), *run(30, step=9), *run(12, "y", start=40, step=30)]
    expected = split_segments(talk, LATER)
    Random(3).shuffle(talk)

    assert split_segments(talk, LATER) == expected
    everything = [each.id for piece in expected for each in piece.events]
    assert sorted(everything) == sorted(each.id for each in talk)


@pytest.mark.parametrize(
    ("at", "day", "week"),
    [
        (datetime(2026, 3, 2, tzinfo=UTC), (3, 2), (3, 2)),
        (datetime(2026, 3, 8, 23, 59, tzinfo=UTC), (3, 8), (3, 2)),
        (datetime(2026, 3, 9, 0, 0, tzinfo=UTC), (3, 9), (3, 9)),
        (datetime(2026, 3, 9, 1, 0, tzinfo=UTC).astimezone(), (3, 9), (3, 9)),
    ],
)
def test_days_and_weeks_are_in_utc(at, day, week) -> None:
    assert start_of_day(at) == datetime(2026, *day, tzinfo=UTC)
    assert week_start(at) == datetime(2026, *week, tzinfo=UTC)
