"""What stands around an event: who spoke before, about what, in which project."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from ..core.access import Grant, administrator_grant
from ..core.ids import WorkspaceId
from ..core.protocols import Store
from ..core.records import Event, EventKind, Trust
from ..core.scope import Scope
from ..core.text import STOP_WORDS, terms
from .learning import PROJECT
from .rules.cast import WINDOW
from .rules.extracted import Context, Message

NO_TYPES: Mapping[str, str] = {}
RECENT = 10  # messages before an event that tell who is there
LONGEST_COMPARED = 10_000  # characters of a message that tell what is talked about
MOMENT = timedelta(microseconds=1)
WORD = re.compile(r"\w+")
SMALL = STOP_WORDS | {"s"}  # "alice's"
TALK = (EventKind.MESSAGE, EventKind.NOTE)


@dataclass(frozen=True)
class Around:
    """An event with those of its conversation before it, oldest first.

    Many names of a long message ask for its words, so they are looked up once.
    """

    event: Event
    recent: tuple[Event, ...]

    def context(self, known: Iterable[str] = (), types: Mapping[str, str] = NO_TYPES) -> Context:
        people = dict.fromkeys(each.speaker for each in (*self.recent, self.event))
        owner = self.event.scope.owner
        if owner and self.event.trust < Trust.DIRECT:
            people[owner] = None  # also one who is silent is not described by machines
        return Context(
            recent=tuple(map(Message.of, self.recent[-WINDOW:])),
            participants=tuple(people),
            project=self.event.metadata.get(PROJECT),
            known=tuple(known),
            types=types,
        )

    def grounds(self, names: Iterable[str | None], sentence: str = "") -> tuple[str, ...]:
        """The recent events that these names, or a name in the sentence, were taken from."""
        used = [word for name in names if name for word in WORD.findall(name)]
        used += [word for word in WORD.findall(sentence) if word[0].isupper()]
        borrowed = {word.casefold() for word in used} - self._words - SMALL
        if not borrowed:
            return ()
        before = zip(self.recent, self._words_before, strict=True)
        return tuple(event.id for event, words in before if borrowed & words)

    @cached_property
    def terms(self) -> frozenset[str]:
        """What the event speaks of, as a search would compare it."""
        return _terms(self.event)

    @cached_property
    def terms_before(self) -> tuple[frozenset[str], ...]:
        """The same of each of those before it."""
        return tuple(map(_terms, self.recent))

    @cached_property
    def _words(self) -> set[str]:
        return words_of(self.event)

    @cached_property
    def _words_before(self) -> tuple[set[str], ...]:
        return tuple(map(words_of, self.recent))


def words_of(event: Event) -> set[str]:
    """Every word of an event and of its speaker's name."""
    return set(WORD.findall(f"{event.speaker} {event.text}".casefold()))


def _terms(event: Event) -> frozenset[str]:
    return frozenset(terms(f"{event.speaker} {event.text[:LONGEST_COMPARED]}"))


@dataclass(frozen=True, slots=True)
class Stretch:
    """New events of one place in the order they happened, each with what was said before it."""

    workspace: WorkspaceId
    scope: Scope
    events: tuple[Around, ...]

    @property
    def grant(self) -> Grant:
        """What may be looked at to understand them: this place, and nothing else."""
        return administrator_grant(self.workspace).within([self.scope])


def stretches(store: Store, events: Iterable[Event]) -> Iterator[Stretch]:
    """These events, place by place."""
    by_place: defaultdict[tuple[WorkspaceId, Scope], list[Event]] = defaultdict(list)
    for event in events:
        by_place[event.workspace, event.scope].append(event)
    for (workspace, scope), told in by_place.items():
        told.sort(key=_order)
        grant = administrator_grant(workspace).within([scope])
        yield Stretch(workspace, scope, tuple(_each_with_recent(store, grant, told)))


def _each_with_recent(store: Store, grant: Grant, told: Sequence[Event]) -> Iterator[Around]:
    """Also what was learned earlier, between two of these, is what was said before the second."""
    meanwhile = _meanwhile(store, grant, told)
    if meanwhile is None:
        yield from (Around(event, tuple(_before(store, grant, event))) for event in told)
        return
    new = {event.id for event in told}
    recent: dict[str | None, list[Event]] = {}
    for event in meanwhile:
        if event.thread not in recent:
            recent[event.thread] = _before(store, grant, event)
        if event.id in new:
            yield Around(event, tuple(recent[event.thread]))
        if event.kind in TALK:
            recent[event.thread] = [*recent[event.thread], event][-RECENT:]


def _meanwhile(store: Store, grant: Grant, told: Sequence[Event]) -> list[Event] | None:
    """These, and everything between them in their threads; None if that would be far too much."""
    if len(told) == 1:
        return list(told)
    most = 2 * len(told) + RECENT
    found = store.ledger.find(grant, since=told[0].at, until=told[-1].at + MOMENT, limit=most)
    if len(found) == most:
        return None
    threads = {event.thread for event in told}
    beside = {event.id: event for event in found if event.thread in threads}
    return sorted((beside | {event.id: event for event in told}).values(), key=_order)


def _before(store: Store, grant: Grant, event: Event) -> list[Event]:
    """The last of its conversation before it. Where many talk at once, they are looked for."""
    for most in (2 * RECENT, 10 * RECENT):
        found = store.ledger.find(grant, until=event.at + MOMENT, limit=most)
        earlier = [
            each
            for each in found
            if each.thread == event.thread and each.kind in TALK and _order(each) < _order(event)
        ]
        if len(earlier) >= RECENT or len(found) < most:
            break
    return sorted(earlier, key=_order)[-RECENT:]


def _order(event: Event) -> tuple[datetime, str]:
    return event.at, event.id
