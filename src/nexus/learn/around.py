"""What stands around an event: who spoke before, about what, in which project."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from ..core.access import Grant, administrator_grant
from ..core.ids import WorkspaceId
from ..core.protocols import Store
from ..core.records import Event, EventKind, Trust
from ..core.scope import Scope
from ..core.text import STOP_WORDS
from .learning import PROJECT
from .rules.extracted import Context, Message

RECENT = 10  # messages before an event that tell who is there
WORD = re.compile(r"\w+")
SMALL = STOP_WORDS | {"s"}  # "alice's"
TALK = (EventKind.MESSAGE, EventKind.NOTE)


@dataclass(frozen=True, slots=True)
class Around:
    """An event with those of its conversation before it, oldest first."""

    event: Event
    recent: tuple[Event, ...]

    def context(self, known: Iterable[str] = ()) -> Context:
        people = dict.fromkeys(each.speaker for each in (*self.recent, self.event))
        owner = self.event.scope.owner
        if owner and self.event.trust < Trust.DIRECT:
            people[owner] = None  # also one who is silent is not described by machines
        return Context(
            recent=tuple(map(Message.of, self.recent)),
            participants=tuple(people),
            project=self.event.metadata.get(PROJECT),
            known=tuple(known),
        )

    def grounds(self, names: Iterable[str | None], sentence: str = "") -> tuple[str, ...]:
        """The recent events that these names, or a name in the sentence, were taken from."""
        used = [word for name in names if name for word in WORD.findall(name)]
        used += [word for word in WORD.findall(sentence) if word[0].isupper()]
        borrowed = {word.casefold() for word in used} - words_of(self.event) - SMALL
        if not borrowed:
            return ()
        return tuple(each.id for each in self.recent if borrowed & words_of(each))


def words_of(event: Event) -> set[str]:
    """Every word of an event and of its speaker's name."""
    return set(WORD.findall(f"{event.speaker} {event.text}".casefold()))


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
        told.sort(key=lambda event: (event.at, event.id))
        grant = administrator_grant(workspace).within([scope])
        yield Stretch(workspace, scope, tuple(_each_with_recent(store, grant, told)))


def _each_with_recent(store: Store, grant: Grant, told: Sequence[Event]) -> Iterator[Around]:
    recent: dict[str | None, list[Event]] = {}
    for event in told:
        if event.thread not in recent:
            recent[event.thread] = _before(store, grant, event.thread, event.at)
        yield Around(event, tuple(recent[event.thread]))
        if event.kind in TALK:
            recent[event.thread] = [*recent[event.thread], event][-RECENT:]


def _before(store: Store, grant: Grant, thread: str | None, at: datetime) -> list[Event]:
    found = store.ledger.find(grant, until=at, limit=RECENT)
    return [event for event in reversed(found) if event.thread == thread and event.kind in TALK]
