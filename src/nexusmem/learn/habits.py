"""Habits: the usual hours, channel and frequency of a person's messages, as inferred facts.

A habit is derived from the messages of one scope and has them as sources, so only viewers of that
scope can read it. Each refresh computes all habits again and replaces the old ones.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from itertools import groupby
from math import sqrt
from typing import NamedTuple

from ..core.access import Grant, administrator_grant
from ..core.derive import normalize_name
from ..core.filters import And, Condition, Op
from ..core.ids import WorkspaceId
from ..core.protocols.store import Store
from ..core.records import Draft, Event, EventKind, Fact, Memory, MemoryKind
from ..core.records.facts import HABIT_SOURCE
from ..core.scope import Scope

READ_INTERVAL = timedelta(weeks=4)
READ_INTERVAL_COUNT = 13  # about a year; the habits of people without messages since then stay
SCOPES_PER_STEP = 20
MAX_SOURCES = 200  # the newest messages of a person in a scope
MAX_STORED_HABITS = 10_000
MIN_DAYS = 5  # with messages; fewer days show no habit
MIN_WEEKS = 2
MAX_CONFIDENCE = 0.70  # below that of stated facts
USUAL_SHARE = 0.75  # of a person's messages that must be inside the usual hours
MAX_HOURS = 8  # the longest span of usual hours
MADE_BY = "patterns@1"

HOURS_PREDICATE = "TYPICALLY_CONTACTS_AT"
CHANNEL_PREDICATE = "PREFERS_CHANNEL"
FREQUENCY_PREDICATE = "COMMUNICATION_FREQUENCY"


@dataclass(frozen=True, slots=True, kw_only=True)
class Habit:
    """A habit of one person."""

    predicate: str
    value: str
    sentence: str
    confidence: float
    observations: int


def refresh_habits(store: Store, workspace: WorkspaceId, now: datetime) -> int:
    """Compute the habits of all people; return the number of new or changed habits.

    Idempotent: unchanged habits are not written.
    """
    changed, after = refresh_habits_after(store, workspace, now, 0)
    while after is not None:
        more, after = refresh_habits_after(store, workspace, now, after)
        changed += more
    return changed


class HabitStep(NamedTuple):
    """Result of one step."""

    changed: int  # new or different habits
    last: int | None  # cursor of the next step; None: complete


def refresh_habits_after(
    store: Store, workspace: WorkspaceId, now: datetime, after: int
) -> HabitStep:
    """Refresh the habits of the next SCOPES_PER_STEP scopes after a cursor."""
    everything = administrator_grant(workspace)
    scopes = store.ledger.list_scopes(everything, after=after, limit=SCOPES_PER_STEP)
    changed = _refresh_scopes(store, everything.narrow_to(scope for _, scope in scopes), now)
    return HabitStep(changed, scopes[-1][0] if len(scopes) == SCOPES_PER_STEP else None)


def _refresh_scopes(store: Store, grant: Grant, now: datetime) -> int:
    changed, workspace = 0, grant.workspace
    for scope, people in _messages_by_scope(store, grant, now).items():
        stored = _load_habits(store, grant.narrow_to([scope]), people)
        drafts = [draft for events in people.values() for draft in _habit_drafts(scope, events)]
        new = [draft for draft in drafts if not _is_unchanged(draft, stored)]
        written = store.memories.put(workspace, new) if new else []
        current = {draft.id for draft in drafts}
        obsolete = [memory.id for memory in stored if memory.id not in current]
        if obsolete:
            store.memories.delete(workspace, obsolete)
        changed += len(written)
    return changed


def _messages_by_scope(
    store: Store, grant: Grant, now: datetime
) -> dict[Scope, dict[str, list[Event]]]:
    """Return up to MAX_SOURCES messages of each person in each scope, newest first."""
    by_scope: defaultdict[Scope, dict[str, list[Event]]] = defaultdict(dict)
    for event in _user_messages(store, grant, now):
        messages = by_scope[event.scope].setdefault(normalize_name(event.speaker), [])
        if len(messages) < MAX_SOURCES:
            messages.append(event)
    return by_scope


def _user_messages(store: Store, grant: Grant, now: datetime) -> Iterator[Event]:
    """Yield messages by people, newest first, read in intervals of four weeks.

    A limit by time instead of number: a busy room must not hide the messages of a quiet one.
    """
    people = And((Condition("kind", Op.EQ, EventKind.MESSAGE), Condition("role", Op.EQ, "user")))
    until = now + timedelta(microseconds=1)
    for _ in range(READ_INTERVAL_COUNT):
        since = until - READ_INTERVAL
        yield from store.ledger.find(grant, where=people, since=since, until=until)
        until = since


def _load_habits(store: Store, grant: Grant, people: Iterable[str]) -> list[Memory]:
    """Return the stored habits of these people in a scope."""
    names, kinds = sorted(people), [MemoryKind.FACT]
    facts = store.memories.find_by_name(grant, names, limit=MAX_STORED_HABITS, kinds=kinds)
    return [memory for memory in facts if memory.source == HABIT_SOURCE]


def _is_unchanged(draft: Draft, stored: Sequence[Memory]) -> bool:
    return any(memory.id == draft.id and memory.body == draft.body for memory in stored)


def _habit_drafts(scope: Scope, events: Sequence[Event]) -> Iterator[Draft]:
    if not events:
        return
    person = events[0].speaker
    for habit in find_habits(person, events):
        fact = Fact(
            subject=person,
            predicate=habit.predicate,
            value=habit.value,
            stated=False,
            category="behavioural",
        )
        yield Draft(
            scope=scope,
            kind=MemoryKind.FACT,
            text=habit.sentence,
            sources=tuple(event.id for event in events),
            slot=f"pattern:{habit.predicate}:{normalize_name(person)}",
            indexed_text="",  # looked up by the person's name only
            confidence=habit.confidence,
            source=HABIT_SOURCE,
            learned=True,
            metadata={
                "made_by": [MADE_BY],
                "observations": habit.observations,
                "held_back": True,  # a person's own statement takes precedence
            },
            body=asdict(fact),
        )


# -- statistics


def find_habits(person: str, events: Sequence[Event]) -> list[Habit]:
    """Return the habits that a person's messages (newest first) show."""
    if len({event.at.date() for event in events}) < MIN_DAYS:
        return []
    readers: list[Callable[[str, Sequence[Event]], Habit | None]] = [
        _usual_hours,
        _usual_channel,
        _usual_frequency,
    ]
    return [habit for read in readers if (habit := read(person, events))]


def _usual_hours(person: str, events: Sequence[Event]) -> Habit | None:
    """Return the shortest span of hours with USUAL_SHARE of the messages.

    All messages in one hour of one day count as one observation.
    """
    hours = Counter(hour for _, hour in {(event.at.date(), event.at.hour) for event in events})
    total = hours.total()
    for width in range(1, MAX_HOURS + 1):
        counts = {
            start: sum(hours[(start + step) % 24] for step in range(width)) for start in range(24)
        }
        start = max(counts, key=lambda hour: (counts[hour], hours[hour], -hour))
        confidence = _wilson_lower_bound(counts[start], total)
        if counts[start] >= USUAL_SHARE * total and confidence > width / 24:
            opens, closes = f"{start:02}:00", f"{(start + width) % 24:02}:00"
            return Habit(
                predicate=HOURS_PREDICATE,
                value=f"{opens}-{closes} UTC",
                sentence=f"{person} usually writes between {opens} and {closes} UTC.",
                confidence=min(MAX_CONFIDENCE, confidence),
                observations=total,
            )
    return None


def _usual_channel(person: str, events: Sequence[Event]) -> Habit | None:
    """Return the channel of most messages that name one; each channel counts once a day."""
    days = {(channel, event.at.date()) for event in events if (channel := _event_channel(event))}
    channels = Counter(channel for channel, _ in days)
    if not channels:
        return None
    best = max(channels, key=lambda channel: (channels[channel], channel))
    confidence = _wilson_lower_bound(channels[best], channels.total())
    if channels[best] < MIN_DAYS or channels[best] * 2 <= channels.total():
        return None
    return Habit(
        predicate=CHANNEL_PREDICATE,
        value=best,
        sentence=f"{person} mostly writes by {best}.",
        confidence=min(MAX_CONFIDENCE, confidence),
        observations=channels.total(),
    )


def _event_channel(event: Event) -> str | None:
    channel = event.metadata.get("channel") or event.metadata.get("source")
    return channel if isinstance(channel, str) else None


def _usual_frequency(person: str, events: Sequence[Event]) -> Habit | None:
    """Return the days per week with messages; the confidence grows with consistent weeks."""
    days = sorted({event.at.date() for event in events})
    span = (days[-1] - days[0]).days + 1
    weeks = span / 7
    if weeks < MIN_WEEKS:
        return None
    frequency = _describe_frequency(len(days) / weeks)
    by_week = {
        week: len(list(group)) for week, group in groupby(days, lambda d: d.toordinal() // 7)
    }
    complete_weeks = range(days[0].toordinal() // 7 + 1, days[-1].toordinal() // 7)
    mean = len(days) / weeks
    consistent = sum(abs(by_week.get(week, 0) - mean) <= 1 for week in complete_weeks)
    return Habit(
        predicate=FREQUENCY_PREDICATE,
        value=frequency,
        sentence=f"{person} writes {frequency}.",
        confidence=min(
            MAX_CONFIDENCE, max(0.3, _wilson_lower_bound(consistent, len(complete_weeks)))
        ),
        observations=len(days),
    )


def _describe_frequency(days_a_week: float) -> str:
    days = round(days_a_week)
    if days >= 7:
        return "every day"
    if days >= 1:
        return f"on about {days} day{'s' if days > 1 else ''} a week"
    return "less than once a week"


def _wilson_lower_bound(successes: int, trials: int) -> float:
    """Return the lower bound of the Wilson score interval: 4 of 4 is less certain than 40 of 40."""
    if not trials:
        return 0.0
    z = 1.28  # one-sided 90 % confidence
    share = successes / trials
    middle = share + z * z / (2 * trials)
    spread = z * sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    return round((middle - spread) / (1 + z * z / trials), 4)
