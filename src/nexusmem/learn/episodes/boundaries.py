"""Episode boundaries: split the events of one scope into threads and sessions.

The result depends only on the events and the current time, so it is repeatable. The unit is a week
(UTC, from Monday) of one scope: no segment crosses a week. So weeks are processed one at a time,
and a late message changes only its own week.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from ...core.records import Event, EventKind
from ...runtime.clock import start_of_day

CONVERSATION_KINDS = (EventKind.MESSAGE, EventKind.NOTE, EventKind.TOOL)
SESSION_IDLE = timedelta(hours=1)  # of silence that ends a session
THREAD_IDLE = timedelta(days=1)  # of silence that ends a thread in any case
THREAD_MESSAGES = 50  # in one episode, even if the thread is still open
SESSION_EVENTS = 200  # in one episode; a longer session has several
WEEK = timedelta(weeks=1)
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Segment:
    """The events of one episode, oldest first; closed segments are summarized."""

    span: str  # "thread" or "session"
    thread: str | None
    events: tuple[Event, ...]
    closes_at: datetime | None = None  # None: closed

    @property
    def id(self) -> str:
        """The id of the first event, which is in no other segment."""
        return self.events[0].id

    @property
    def start(self) -> datetime:
        return self.events[0].at

    @property
    def end(self) -> datetime:
        return self.events[-1].at


def week_start(at: datetime) -> datetime:
    """Return the Monday (UTC midnight) of the week."""
    return start_of_day(at) - timedelta(days=at.astimezone(UTC).weekday())


def split_segments(events: Sequence[Event], now: datetime) -> list[Segment]:
    """Split one week of one scope into segments, ordered by their start."""
    conversation = sorted(
        (e for e in events if e.kind in CONVERSATION_KINDS), key=lambda event: (event.at, event.id)
    )
    by_thread: defaultdict[str | None, list[Event]] = defaultdict(list)
    for event in conversation:
        by_thread[event.thread].append(event)
    segments: list[Segment] = []
    for thread, own in by_thread.items():
        if thread is None:
            segments += _session_segments(own, now)
        else:
            segments += _thread_segments(thread, own, conversation, now)
    return sorted(segments, key=lambda each: (each.start, each.thread or "", each.events[0].id))


def _session_segments(events: Sequence[Event], now: datetime) -> Iterator[Segment]:
    """Yield sessions: SESSION_IDLE of silence ends one."""
    for run in _split_runs(events, [event.at + SESSION_IDLE for event in events]):
        end = run[-1].at + SESSION_IDLE
        for part, closes_at in _split_parts(run, SESSION_EVENTS, end, now):
            yield Segment("session", None, part, closes_at)


def _thread_segments(
    thread: str, events: Sequence[Event], conversation: Sequence[Event], now: datetime
) -> Iterator[Segment]:
    """Yield parts of a thread; it closes when it is silent while others continue, or for a day."""
    others = [event.at for event in conversation if event.thread != thread]
    for run in _split_runs(events, [_thread_end(event.at, others) for event in events]):
        end = _thread_end(run[-1].at, others)
        for part, closes_at in _split_parts(run, THREAD_MESSAGES, end, now):
            yield Segment("thread", thread, part, closes_at)


def _thread_end(last: datetime, other_times: Sequence[datetime]) -> datetime:
    """Return the time at which a thread closes if it has no further events."""
    following = bisect_right(other_times, last)
    if following == len(other_times):
        return last + THREAD_IDLE
    return min(max(other_times[following], last + SESSION_IDLE), last + THREAD_IDLE)


def _split_runs(events: Sequence[Event], ends: Sequence[datetime]) -> Iterator[list[Event]]:
    """Split where an event comes after the end of its predecessor."""
    run: list[Event] = []
    for event, before in zip(events, [None, *ends], strict=False):
        if run and before is not None and event.at > before:
            yield run
            run = []
        run.append(event)
    if run:
        yield run


def _split_parts(
    run: Sequence[Event], max_events: int, end: datetime, now: datetime
) -> Iterator[tuple[tuple[Event, ...], datetime | None]]:
    """Yield parts with their closing time; None for full parts and after `end`."""
    for first in range(0, len(run), max_events):
        part = tuple(run[first : first + max_events])
        yield part, None if len(part) == max_events or now > end else end
