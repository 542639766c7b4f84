"""Event context: an event with the preceding events of its conversation."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from ...core.access import Grant, administrator_grant
from ...core.flows import DEFAULT_SHARING, Sharing, memory_scopes
from ...core.ids import WorkspaceId
from ...core.protocols.store import Store
from ...core.records import Event, EventKind, Trust
from ...core.records.event import PROJECT_KEY
from ...core.scope import Scope
from ...text.terms import STOP_WORDS, extract_terms
from ..rules.coreference import PRONOUN_WINDOW
from ..rules.results import MessageContext, SourceMessage

NO_TYPES: Mapping[str, str] = {}
MAX_RECENT_EVENTS = 10  # preceding messages of a conversation
MAX_COMPARED_CHARS = 10_000  # of a message, for its terms
ONE_MICROSECOND = timedelta(microseconds=1)
WORD = re.compile(r"\w+")
IGNORED_WORDS = STOP_WORDS | {"s"}  # "alice's"
CONVERSATION_KINDS = (EventKind.MESSAGE, EventKind.NOTE)


@dataclass(frozen=True)
class EventContext:
    """An event with the preceding events of its conversation, oldest first.

    Words and terms are cached, because every name in the text needs them.
    """

    event: Event
    recent: tuple[Event, ...]

    def extraction_context(
        self, known_names: Iterable[str] = (), types: Mapping[str, str] = NO_TYPES
    ) -> MessageContext:
        """Return the context of the message for the extraction rules."""
        people = dict.fromkeys(each.speaker for each in (*self.recent, self.event))
        owner = self.event.scope.owner
        if owner and self.event.trust < Trust.DIRECT:
            people[owner] = None  # agents and tools may not describe the owner, even a silent one
        return MessageContext(
            recent=tuple(map(SourceMessage.from_event, self.recent[-PRONOUN_WINDOW:])),
            participants=tuple(people),
            project=self.event.metadata.get(PROJECT_KEY),
            known_names=tuple(known_names),
            types=types,
        )

    def find_name_sources(self, names: Iterable[str | None], sentence: str = "") -> tuple[str, ...]:
        """Return the ids of recent events from which words of these names were taken."""
        used = [word for name in names if name for word in WORD.findall(name)]
        used += [word for word in WORD.findall(sentence) if word[0].isupper()]
        borrowed = {word.casefold() for word in used} - self._words - IGNORED_WORDS
        if not borrowed:
            return ()
        before = zip(self.recent, self._recent_words, strict=True)
        return tuple(event.id for event, words in before if borrowed & words)

    @cached_property
    def terms(self) -> frozenset[str]:
        """Search terms of the event."""
        return _event_terms(self.event)

    @cached_property
    def recent_terms(self) -> tuple[frozenset[str], ...]:
        """Search terms of each preceding event."""
        return tuple(map(_event_terms, self.recent))

    @cached_property
    def _words(self) -> set[str]:
        return event_words(self.event)

    @cached_property
    def _recent_words(self) -> tuple[set[str], ...]:
        return tuple(map(event_words, self.recent))


def event_words(event: Event) -> set[str]:
    """Return the case-folded words of an event and of its speaker's name."""
    return set(WORD.findall(f"{event.speaker} {event.text}".casefold()))


def _event_terms(event: Event) -> frozenset[str]:
    return frozenset(extract_terms(f"{event.speaker} {event.text[:MAX_COMPARED_CHARS]}"))


@dataclass(frozen=True, slots=True)
class EventBatch:
    """New events of one scope in the order they happened, each with its context."""

    workspace: WorkspaceId
    scope: Scope
    events: tuple[EventContext, ...]
    sharing: Sharing = DEFAULT_SHARING  # the flows of the workspace

    @property
    def grant(self) -> Grant:
        """The grant for reading knowledge: this scope, and for a shared session what it shares."""
        known = memory_scopes(self.scope, self.sharing)
        return administrator_grant(self.workspace).narrow_to(known)


def batch_by_scope(
    store: Store,
    events: Iterable[Event],
    sharing: Callable[[WorkspaceId], Sharing] = lambda _: DEFAULT_SHARING,
) -> Iterator[EventBatch]:
    """Group events by scope and add their contexts; `sharing` returns the flows of a workspace."""
    by_scope: defaultdict[tuple[WorkspaceId, Scope], list[Event]] = defaultdict(list)
    for event in events:
        by_scope[event.workspace, event.scope].append(event)
    for (workspace, scope), group in by_scope.items():
        group.sort(key=_event_order)
        grant = administrator_grant(workspace).narrow_to([scope])
        contexts = tuple(_add_recent_events(store, grant, group))
        yield EventBatch(workspace, scope, contexts, sharing(workspace))


def _add_recent_events(
    store: Store, grant: Grant, events: Sequence[Event]
) -> Iterator[EventContext]:
    """Yield each event with its predecessors, including events learned in earlier batches."""
    interval = _load_interval(store, grant, events)
    if interval is None:
        yield from (
            EventContext(event, tuple(_load_recent(store, grant, event))) for event in events
        )
        return
    new = {event.id for event in events}
    recent: dict[str | None, list[Event]] = {}
    for event in interval:
        if event.thread not in recent:
            recent[event.thread] = _load_recent(store, grant, event)
        if event.id in new:
            yield EventContext(event, tuple(recent[event.thread]))
        if event.kind in CONVERSATION_KINDS:
            recent[event.thread] = [*recent[event.thread], event][-MAX_RECENT_EVENTS:]


def _load_interval(store: Store, grant: Grant, events: Sequence[Event]) -> list[Event] | None:
    """Return the events and all others between them in their threads; None if too many."""
    if len(events) == 1:
        return list(events)
    limit = 2 * len(events) + MAX_RECENT_EVENTS
    loaded = store.ledger.find(
        grant, since=events[0].at, until=events[-1].at + ONE_MICROSECOND, limit=limit
    )
    if len(loaded) == limit:
        return None
    threads = {event.thread for event in events}
    others = {event.id: event for event in loaded if event.thread in threads}
    return sorted((others | {event.id: event for event in events}).values(), key=_event_order)


def _load_recent(store: Store, grant: Grant, event: Event) -> list[Event]:
    """Return the last events of the conversation before this one.

    A second, larger read follows if other conversations fill the first one.
    """
    for limit in (2 * MAX_RECENT_EVENTS, 10 * MAX_RECENT_EVENTS):
        loaded = store.ledger.find(grant, until=event.at + ONE_MICROSECOND, limit=limit)
        earlier = [
            each
            for each in loaded
            if each.thread == event.thread
            and each.kind in CONVERSATION_KINDS
            and _event_order(each) < _event_order(event)
        ]
        if len(earlier) >= MAX_RECENT_EVENTS or len(loaded) < limit:
            break
    return sorted(earlier, key=_event_order)[-MAX_RECENT_EVENTS:]


def _event_order(event: Event) -> tuple[datetime, str]:
    return event.at, event.id
