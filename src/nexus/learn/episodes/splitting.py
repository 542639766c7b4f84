"""Which events one episode tells of.

Only the events and the moment decide, so that doing it again gives the same pieces. The unit is a
week (UTC, from Monday) of one place: no piece reaches across its edge, so weeks can be worked out
one at a time, and a late message changes its own week only.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from ...core.clock import day_of
from ...core.records import Event, EventKind

TALK = (EventKind.MESSAGE, EventKind.NOTE, EventKind.TOOL)  # what a conversation is made of
IDLE = timedelta(hours=1)  # so long a silence ends a session
QUIET = timedelta(days=1)  # and this ends a thread, also where nobody spoke of anything else
THREAD = 50  # messages of a thread that make an episode before it is closed
SESSION = 200  # events of a session in one episode; a longer one is told in parts
WEEK = timedelta(weeks=1)
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Piece:
    """The events of one episode, oldest first; it is told when it is closed."""

    span: str  # "thread" or "session"
    thread: str | None
    events: tuple[Event, ...]
    closes_at: datetime | None = None  # None: it is closed

    @property
    def id(self) -> str:
        """Of its first event, which is in no other piece."""
        return self.events[0].id

    @property
    def start(self) -> datetime:
        return self.events[0].at

    @property
    def end(self) -> datetime:
        return self.events[-1].at


def week_of(at: datetime) -> datetime:
    """The Monday a week begins with."""
    return day_of(at) - timedelta(days=at.astimezone(UTC).weekday())


def pieces(events: Sequence[Event], now: datetime) -> list[Piece]:
    """A week of one place, piece by piece, in the order in which they begin."""
    talk = sorted((e for e in events if e.kind in TALK), key=lambda event: (event.at, event.id))
    by_thread: defaultdict[str | None, list[Event]] = defaultdict(list)
    for event in talk:
        by_thread[event.thread].append(event)
    made: list[Piece] = []
    for thread, said in by_thread.items():
        if thread is None:
            made += _session_pieces(said, now)
        else:
            made += _thread_pieces(thread, said, talk, now)
    return sorted(made, key=lambda piece: (piece.start, piece.thread or "", piece.events[0].id))


def _session_pieces(said: Sequence[Event], now: datetime) -> Iterator[Piece]:
    """A session ends with an hour of silence."""
    for run in _runs(said, [event.at + IDLE for event in said]):
        end = run[-1].at + IDLE
        for part, closes_at in _parts(run, SESSION, end, now):
            yield Piece("session", None, part, closes_at)


def _thread_pieces(
    thread: str, said: Sequence[Event], talk: Sequence[Event], now: datetime
) -> Iterator[Piece]:
    """A thread is closed when it is quiet while something else is spoken of, or for a day."""
    others = [event.at for event in talk if event.thread != thread]
    for run in _runs(said, [_closes_at(event.at, others) for event in said]):
        end = _closes_at(run[-1].at, others)
        for part, closes_at in _parts(run, THREAD, end, now):
            yield Piece("thread", thread, part, closes_at)


def _closes_at(last: datetime, others: Sequence[datetime]) -> datetime:
    """When a thread counts as closed, if nothing more is said in it."""
    following = bisect_right(others, last)
    if following == len(others):
        return last + QUIET
    return min(max(others[following], last + IDLE), last + QUIET)


def _runs(said: Sequence[Event], ends: Sequence[datetime]) -> Iterator[list[Event]]:
    """Cut where the next one comes after the end."""
    run: list[Event] = []
    for event, before in zip(said, [None, *ends], strict=False):
        if run and before is not None and event.at > before:
            yield run
            run = []
        run.append(event)
    if run:
        yield run


def _parts(
    run: Sequence[Event], most: int, end: datetime, now: datetime
) -> Iterator[tuple[tuple[Event, ...], datetime | None]]:
    """Full parts are closed whatever follows; the rest when its time has come."""
    for first in range(0, len(run), most):
        part = tuple(run[first : first + most])
        yield part, None if len(part) == most or now > end else end
