"""Habits, read from the ledger: when somebody usually writes, by what channel, and how often.

A habit is an inferred fact that rests on the messages it was read from, so it is seen only
where they are: each scope has its own, worked out from that scope's messages alone. It is
worked out anew each time, and takes the place of the one before.
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
from ..core.derive import known_as
from ..core.filters import Condition, Every, Op
from ..core.ids import WorkspaceId
from ..core.protocols import Store
from ..core.records import Draft, Event, EventKind, Fact, Memory, MemoryKind
from ..core.scope import Scope

STRETCH = timedelta(weeks=4)
STRETCHES = 13  # that are looked at; whoever was silent all the time keeps what is known
SCOPES_AT_ONCE = 20
MOST_SOURCES = 200  # the newest of a person in a scope
MOST_KNOWN = 10_000
FEWEST_DAYS = 5  # on fewer days nothing is a habit
FEWEST_WEEKS = 2
MOST_CERTAIN = 0.70  # what is inferred is never as good as what was said
USUAL = 0.75  # the share of somebody's messages that makes hours usual
WIDEST = 8  # hours
MADE_BY = "patterns@1"
SOURCE = "pattern"

HOURS = "TYPICALLY_CONTACTS_AT"
CHANNEL = "PREFERS_CHANNEL"
FREQUENCY = "COMMUNICATION_FREQUENCY"


@dataclass(frozen=True, slots=True, kw_only=True)
class Habit:
    """One thing somebody usually does."""

    predicate: str
    value: str
    sentence: str
    confidence: float
    observations: int


def learn_patterns(store: Store, workspace: WorkspaceId, now: datetime) -> int:
    """Work out everybody's habits again; returns how many are new or different.

    Harmless to repeat: what did not change is left as it is.
    """
    changed, after = patterns_after(store, workspace, now, 0)
    while after is not None:
        more, after = patterns_after(store, workspace, now, after)
        changed += more
    return changed


class Found(NamedTuple):
    """What one step came to."""

    changed: int  # habits that are new or different
    last: int | None  # where the next one goes on; None: that was all


def patterns_after(store: Store, workspace: WorkspaceId, now: datetime, after: int) -> Found:
    """The habits in the next few scopes."""
    everything = administrator_grant(workspace)
    scopes = store.ledger.scopes(everything, after=after, limit=SCOPES_AT_ONCE)
    changed = _learned_in(store, everything.within(scope for _, scope in scopes), now)
    return Found(changed, scopes[-1][0] if len(scopes) == SCOPES_AT_ONCE else None)


def _learned_in(store: Store, here: Grant, now: datetime) -> int:
    changed, workspace = 0, here.workspace
    for scope, people in _by_scope(store, here, now).items():
        known = _known(store, here.within([scope]), people)
        drafts = [draft for events in people.values() for draft in _drafts(scope, events)]
        fresh = [draft for draft in drafts if not _is_known(draft, known)]
        kept = store.memories.put(workspace, fresh) if fresh else []
        staying = {draft.id for draft in drafts}
        gone = [memory.id for memory in known if memory.id not in staying]
        if gone:
            store.memories.delete(workspace, gone)
        changed += len(kept)
    return changed


def _by_scope(store: Store, here: Grant, now: datetime) -> dict[Scope, dict[str, list[Event]]]:
    """The newest messages of every person in every scope, newest first."""
    found: defaultdict[Scope, dict[str, list[Event]]] = defaultdict(dict)
    for event in _said(store, here, now):
        theirs = found[event.scope].setdefault(known_as(event.speaker), [])
        if len(theirs) < MOST_SOURCES:
            theirs.append(event)
    return found


def _said(store: Store, here: Grant, now: datetime) -> Iterator[Event]:
    """What people wrote, newest first, a stretch at a time.

    A bound on the number of messages would let a busy room end the view of a quiet one.
    """
    people = Every((Condition("kind", Op.EQ, EventKind.MESSAGE), Condition("role", Op.EQ, "user")))
    until = now + timedelta(microseconds=1)
    for _ in range(STRETCHES):
        since = until - STRETCH
        yield from store.ledger.find(here, where=people, since=since, until=until)
        until = since


def _known(store: Store, here: Grant, people: Iterable[str]) -> list[Memory]:
    """The habits of these people that are kept in a scope already."""
    names, kinds = sorted(people), [MemoryKind.FACT]
    found = store.memories.named(here, names, limit=MOST_KNOWN, kinds=kinds)
    return [memory for memory in found if memory.source == SOURCE]


def _is_known(draft: Draft, known: Sequence[Memory]) -> bool:
    return any(memory.id == draft.id and memory.body == draft.body for memory in known)


def _drafts(scope: Scope, events: Sequence[Event]) -> Iterator[Draft]:
    if not events:
        return
    person = events[0].speaker
    for habit in habits(person, events):
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
            slot=f"pattern:{habit.predicate}:{known_as(person)}",
            indexed_text="",  # found by whom it is about
            confidence=habit.confidence,
            source=SOURCE,
            learned=True,
            metadata={
                "made_by": [MADE_BY],
                "observations": habit.observations,
                "held_back": True,  # what somebody said about themselves holds instead
            },
            body=asdict(fact),
        )


# -- reading habits


def habits(person: str, events: Sequence[Event]) -> list[Habit]:
    """What this person's messages, newest first, show to be usual."""
    if len({event.at.date() for event in events}) < FEWEST_DAYS:
        return []
    readers: list[Callable[[str, Sequence[Event]], Habit | None]] = [_hours, _channel, _frequency]
    return [habit for read in readers if (habit := read(person, events))]


def _hours(person: str, events: Sequence[Event]) -> Habit | None:
    """The shortest stretch of the day in which most messages are written.

    Many messages in one hour of one day are one observation.
    """
    hours = Counter(hour for _, hour in {(event.at.date(), event.at.hour) for event in events})
    total = hours.total()
    for width in range(1, WIDEST + 1):
        counts = {
            start: sum(hours[(start + step) % 24] for step in range(width)) for start in range(24)
        }
        start = max(counts, key=lambda hour: (counts[hour], hours[hour], -hour))
        confidence = _lower_bound(counts[start], total)
        if counts[start] >= USUAL * total and confidence > width / 24:
            opens, closes = f"{start:02}:00", f"{(start + width) % 24:02}:00"
            return Habit(
                predicate=HOURS,
                value=f"{opens}-{closes} UTC",
                sentence=f"{person} usually writes between {opens} and {closes} UTC.",
                confidence=min(MOST_CERTAIN, confidence),
                observations=total,
            )
    return None


def _channel(person: str, events: Sequence[Event]) -> Habit | None:
    """The channel most messages come by, where messages say theirs; a day counts once for each."""
    days = {(channel, event.at.date()) for event in events if (channel := _channel_of(event))}
    channels = Counter(channel for channel, _ in days)
    if not channels:
        return None
    best = max(channels, key=lambda channel: (channels[channel], channel))
    confidence = _lower_bound(channels[best], channels.total())
    if channels[best] < FEWEST_DAYS or channels[best] * 2 <= channels.total():
        return None
    return Habit(
        predicate=CHANNEL,
        value=best,
        sentence=f"{person} mostly writes by {best}.",
        confidence=min(MOST_CERTAIN, confidence),
        observations=channels.total(),
    )


def _channel_of(event: Event) -> str | None:
    told = event.metadata.get("channel") or event.metadata.get("source")
    return told if isinstance(told, str) else None


def _frequency(person: str, events: Sequence[Event]) -> Habit | None:
    """On how many days of a week somebody writes; the more weeks agree, the surer."""
    days = sorted({event.at.date() for event in events})
    span = (days[-1] - days[0]).days + 1
    weeks = span / 7
    if weeks < FEWEST_WEEKS:
        return None
    often = _how_often(len(days) / weeks)
    by_week = {
        week: len(list(group)) for week, group in groupby(days, lambda d: d.toordinal() // 7)
    }
    whole = range(days[0].toordinal() // 7 + 1, days[-1].toordinal() // 7)
    alike = sum(abs(by_week.get(week, 0) - len(days) / weeks) <= 1 for week in whole)
    return Habit(
        predicate=FREQUENCY,
        value=often,
        sentence=f"{person} writes {often}.",
        confidence=min(MOST_CERTAIN, max(0.3, _lower_bound(alike, len(whole)))),
        observations=len(days),
    )


def _how_often(days_a_week: float) -> str:
    whole = round(days_a_week)
    if whole >= 7:
        return "every day"
    if whole >= 1:
        return f"on about {whole} day{'s' if whole > 1 else ''} a week"
    return "less than once a week"


def _lower_bound(successes: int, trials: int) -> float:
    """Wilson's lower bound: of four out of four one is less sure than of forty out of forty."""
    if not trials:
        return 0.0
    z = 1.28  # nine times out of ten it is more than this
    share = successes / trials
    middle = share + z * z / (2 * trials)
    spread = z * sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    return round((middle - spread) / (1 + z * z / trials), 4)
