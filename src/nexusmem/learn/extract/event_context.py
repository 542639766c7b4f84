"""Event context: an event with the preceding events of its conversation."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property

from ...core.access import Grant, administrator_grant
from ...core.flows import DEFAULT_SHARING, Sharing, memory_scopes
from ...core.ids import WorkspaceId
from ...core.protocols.store import Store
from ...core.records import Event, EventKind, Trust
from ...core.records.event import PROJECT_KEY
from ...core.records.procedures import is_tool_result
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
    closes_tools: bool = False  # the last message of its batch after the tools of one request

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
        group.sort(key=event_order)
        grant = administrator_grant(workspace).narrow_to([scope])
        contexts = _mark_closing(list(_add_recent_events(store, grant, group)))
        yield EventBatch(workspace, scope, tuple(contexts), sharing(workspace))


@dataclass(slots=True)
class _Thread:
    """The last messages of a thread while its events are read in order."""

    recent: list[Event]
    has_tools: bool  # since the last message of a person

    def add(self, event: Event) -> None:
        if event.kind in CONVERSATION_KINDS:
            self.recent = [*self.recent, event][-MAX_RECENT_EVENTS:]
        self.has_tools = _follows_tools(self.has_tools, event)


def _add_recent_events(
    store: Store, grant: Grant, events: Sequence[Event]
) -> Iterator[tuple[EventContext, bool]]:
    """Yield each event with its predecessors, and whether tools were used since the last request.

    The predecessors include events learned in earlier batches.
    """
    interval = _load_interval(store, grant, events)
    if interval is None:
        for event in events:
            thread = _load_recent(store, grant, event)
            yield EventContext(event, tuple(thread.recent)), thread.has_tools
        return
    new = {event.id for event in events}
    threads: dict[str | None, _Thread] = {}
    for event in interval:
        if event.thread not in threads:
            threads[event.thread] = _load_recent(store, grant, event)
        thread = threads[event.thread]
        if event.id in new:
            yield EventContext(event, tuple(thread.recent)), thread.has_tools
        thread.add(event)


def _mark_closing(contexts: Sequence[tuple[EventContext, bool]]) -> Iterator[EventContext]:
    """Yield the contexts; mark the last message after the tools of each request.

    That is the next message of a person, or else the last answer of the agent.
    """
    closing: dict[tuple[str | None, int], str] = {}
    requests: Counter[str | None] = Counter()  # messages of people so far, by thread
    for context, follows_tools in contexts:
        event = context.event
        if event.kind is EventKind.MESSAGE and event.role in ("user", "assistant"):
            if follows_tools:
                closing[event.thread, requests[event.thread]] = event.id
            requests[event.thread] += event.role == "user"
    ids = set(closing.values())
    for context, _ in contexts:
        is_closing = context.event.id in ids
        yield replace(context, closes_tools=True) if is_closing else context


def _follows_tools(has_tools: bool, event: Event) -> bool:
    if event.kind is EventKind.MESSAGE and event.role == "user":
        return False
    return has_tools or is_tool_result(event)


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
    return sorted((others | {event.id: event for event in events}).values(), key=event_order)


def _load_recent(store: Store, grant: Grant, event: Event) -> _Thread:
    """Return the last events of the conversation before this one.

    A second, larger read follows if other conversations fill the first one.
    """
    for limit in (2 * MAX_RECENT_EVENTS, 10 * MAX_RECENT_EVENTS):
        loaded = store.ledger.find(grant, until=event.at + ONE_MICROSECOND, limit=limit)
        before = [
            each
            for each in loaded
            if each.thread == event.thread and event_order(each) < event_order(event)
        ]
        earlier = [each for each in before if each.kind in CONVERSATION_KINDS]
        if len(earlier) >= MAX_RECENT_EVENTS or len(loaded) < limit:
            break
    thread = _Thread([], has_tools=False)
    for each in sorted(before, key=event_order):
        thread.add(each)
    return thread


def event_order(event: Event) -> tuple[datetime, str]:
    """Return the sort key of events in the order they happened."""
    return event.at, event.id
