"""Flows of one event: which of its memories are known outside the place where it was said.

`FlowStep.apply` is the last step of the learning pipeline. It marks the memories of a shared
session, and adds copies in the scopes that the table of flows (`core/flows.py`) allows. A copy has
the same source event, so erasing or correcting the event takes the copy along.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from ...audit.records import WORKER, AuditEntry
from ...core.access import Grant, administrator_grant
from ...core.derive import normalize_name
from ...core.filters import Condition, Op
from ...core.flows import DEFAULT_SHARING, PRIVATE_KINDS, FlowRule, Sharing
from ...core.ids import WorkspaceId
from ...core.protocols.store import Store
from ...core.records import Draft, Event, EventKind, Json, MemoryKind, Tombstone, Trust, event_id
from ...core.records.event import (
    CONFIDENTIAL_KEY,
    PARTICIPANTS_KEY,
    PROJECT_KEY,
    REPLACES_KEY,
    confidential_mark_key,
    participants_of,
)
from ...core.records.facts import SURE_CONFIDENCE
from ...core.records.landmarks import LandmarkKind
from ...core.records.links import is_shared_copy
from ...core.records.memory import is_copy
from ...core.scope import Scope, ScopeKind
from ...text.terms import normalize_words
from ...text.utc_offset import local_time
from ..extract.event_context import EventContext
from .decide import MessageTopics, SentenceClassifier, asks_for_discretion, decide_topics
from .discretion import MAX_CHARS, refers_back

COPIED_KINDS = (MemoryKind.PASSAGE, MemoryKind.FACT, MemoryKind.LANDMARK, MemoryKind.ENTITY)
COPIED_EVENTS = (EventKind.MESSAGE, EventKind.NOTE)
PROJECT_LANDMARKS = frozenset(
    {
        LandmarkKind.DECISION,
        LandmarkKind.ACTION_ITEM,
        LandmarkKind.COMMITMENT,
        LandmarkKind.CORRECTION,
    }
)
CALL_BACK_TIME = timedelta(hours=1)  # "keep that between us" is about a message of this time
LATER_INTERVALS = (timedelta(minutes=1), timedelta(minutes=10), CALL_BACK_TIME)
ONE_MICROSECOND = timedelta(microseconds=1)
MIN_CONTENT_CHARS = 3  # of a word that tells what a sentence is about
MIN_STATED_SHARE = 0.7  # of the words of a landmark that the copied sentences have


@dataclass(frozen=True, slots=True)
class FlowStep:
    """Adds to the drafts of an event what the flows of its workspace allow."""

    store: Store
    sharing: Callable[[WorkspaceId], Sharing] = lambda _: DEFAULT_SHARING
    classifier: SentenceClassifier | None = None  # None: patterns alone decide

    def apply(
        self, context: EventContext, drafts: Sequence[Draft], text: str, people: Iterable[str] = ()
    ) -> list[Draft]:
        """Return the drafts of an event with those that flows add.

        `text` is the part of the event that may be read: without secrets and injected context.
        `people` are the names of persons in it.
        """
        event = context.event
        sharing = self.sharing(event.workspace)
        drafts = self.mark_session(event, drafts)
        flows = _EventFlows(context, drafts, sharing, self.classifier, text, people)
        copies = list(flows.all_copies())
        if copies and is_withdrawn(self.store, event, self.classifier):
            copies = []
        if event.kind is EventKind.MESSAGE and calls_back(event, self.classifier):
            self._withdraw_previous(context)
        return drop_erased_copies(self.store, event.workspace, [*drafts, *copies])

    def mark_session(self, event: Event, drafts: Sequence[Draft]) -> list[Draft]:
        """Return the drafts; those of a shared session are known in all sessions of its agent."""
        home = event.scope
        if home.kind is not ScopeKind.SESSION or not self.sharing(event.workspace).sessions:
            return list(drafts)
        session = self._with_agent(event) if home.is_legacy_session else home
        if session is None:
            return list(drafts)
        return [
            replace(draft, scope=session, flow=FlowRule.SESSIONS) if draft.scope == home else draft
            for draft in drafts
        ]

    def _with_agent(self, event: Event) -> Scope | None:
        """Return the session of an earlier version with its agent, if only one agent spoke."""
        here = administrator_grant(event.workspace).narrow_to([event.scope])
        spoke = Condition("role", Op.EQ, "assistant")
        agents = {each.speaker for each in self.store.ledger.find(here, where=spoke)}
        user, name = event.scope.ids
        return Scope.session(user, agents.pop(), name) if len(agents) == 1 else None

    def _withdraw_previous(self, context: EventContext) -> None:
        event = context.event
        recent = [each for each in context.recent if each.speaker == event.speaker]
        messages = _messages_of_speaker(self.store, event, event.at - CALL_BACK_TIME, event.at)
        earlier = [each for each in messages if each.at < event.at][::-1]
        called = [*recent[-1:], *_next_messages(event, earlier), *_same_time(event, messages)]
        ids = sorted({each.id for each in called})
        withdraw_copies(self.store, event.workspace, ids, event.recorded_at)


def flow_audit_entry(
    store: Store, workspace: WorkspaceId, drafts: Sequence[Draft], now: datetime
) -> AuditEntry | None:
    """Return the audit entry of new copies: each with the rule that allows it; None without any.

    Memories of shared sessions are not listed: their readers are those of the session.
    """
    copies = {draft.id: draft for draft in drafts if draft.flow not in (None, FlowRule.SESSIONS)}
    if not copies:
        return None
    known = {each.id for each in store.memories.get(administrator_grant(workspace), list(copies))}
    unknown = {id: draft for id, draft in copies.items() if id not in known}
    if store.eraser.any_erased(workspace, list(unknown)):  # tombstones keep those from being stored
        unknown = {
            id: draft
            for id, draft in unknown.items()
            if not store.eraser.any_erased(workspace, [id])
        }
    if not unknown:
        return None
    new: list[Json] = [
        {"memory": id, "rule": str(draft.flow), "to": str(draft.scope)}
        for id, draft in unknown.items()
    ]
    owners = {draft.scope.owner for draft in unknown.values()}
    people = tuple(sorted(owner for owner in owners if owner))
    return AuditEntry(at=now, action="flow", actor=WORKER, people=people, detail={"copies": new})


# -- withdrawing copies


def withdraw_marked(store: Store, mark: Event) -> list[Draft]:
    """Withdraw the copies of an event that a caller marked as confidential."""
    marked = mark.metadata.get(CONFIDENTIAL_KEY)
    here = administrator_grant(mark.workspace).narrow_to([mark.scope])
    if isinstance(marked, str) and store.ledger.get(here, [marked]):
        events = [marked, *_corrections_of(store, here, marked)]
        withdraw_copies(store, mark.workspace, events, mark.recorded_at)
    return []


def _corrections_of(store: Store, here: Grant, event: str) -> list[str]:
    """Return the ids of the events that correct an event, also by several steps."""
    found = [event]
    for known in found:
        replaces = Condition(f"metadata.{REPLACES_KEY}.events", Op.CONTAINS, known)
        found += [
            each.id for each in store.ledger.find(here, where=replaces) if each.id not in found
        ]
    return found[1:]


def withdraw_copies(
    store: Store, workspace: WorkspaceId, events: Sequence[str], at: datetime
) -> int:
    """Erase the copies of these events in other scopes; return their number.

    Tombstones keep the copies from being derived again. What was made of the copies, such as a
    dossier in another place, is erased without one, so that it can be made again.
    """
    derived = store.eraser.list_derived(workspace, list(events)) if events else []
    copies = {memory.id: memory for memory in derived if is_copy(memory)}
    if not copies:
        return 0
    made = [each.id for each in derived if not copies.keys().isdisjoint(each.sources)]
    stones = [Tombstone(kind="memory", digest=id, at=at) for id in copies]
    owners = {each.scope.owner for each in copies.values()}
    entry = AuditEntry(
        at=at,
        action="withdraw",
        actor=WORKER,
        people=tuple(sorted(owner for owner in owners if owner)),
        detail={"copies": [{"memory": id, "to": str(copies[id].scope)} for id in copies]},
    )
    with store.with_audit_entry(workspace, entry):
        store.eraser.erase(workspace, events=[], memories=[*copies, *made], tombstones=stones)
    return len(copies)


def drop_erased_copies(
    store: Store, workspace: WorkspaceId, drafts: Sequence[Draft]
) -> list[Draft]:
    """Return the drafts without copies of events of which a memory was forgotten or corrected.

    A rule that is switched on later must not bring back the old text.
    """
    drafts = _drop_copies_to_erased(store, workspace, drafts)
    copied = {each.sources[0] for each in drafts if _is_copy_draft(each)}
    own = [each for each in drafts if not _is_copy_draft(each) and each.sources[0] in copied]
    if not own or not store.eraser.any_erased(workspace, [each.id for each in own]):
        return list(drafts)
    erased = {each.sources[0] for each in own if store.eraser.any_erased(workspace, [each.id])}
    return [each for each in drafts if not _is_copy_draft(each) or erased.isdisjoint(each.sources)]


def _drop_copies_to_erased(
    store: Store, workspace: WorkspaceId, drafts: Sequence[Draft]
) -> list[Draft]:
    """Return the drafts without copies to an erased scope of what was recorded before."""
    scopes = {each.scope for each in drafts if _is_copy_draft(each)}
    if not scopes or not store.eraser.scope_tombstones(workspace, list(scopes)):
        return list(drafts)
    stones = {scope: store.eraser.scope_tombstones(workspace, [scope]) for scope in scopes}
    erased_at = {scope: max(each.at for each in found) for scope, found in stones.items() if found}
    ids = {id for each in drafts if each.scope in erased_at for id in each.sources}
    events = store.ledger.get(administrator_grant(workspace), sorted(ids))
    recorded_at = {event.id: event.recorded_at for event in events}

    def is_erased(draft: Draft) -> bool:
        at = erased_at.get(draft.scope) if _is_copy_draft(draft) else None
        return at is not None and any(recorded_at.get(id, at) <= at for id in draft.sources)

    return [each for each in drafts if not is_erased(each)]


def _is_copy_draft(draft: Draft) -> bool:
    return draft.flow not in (None, FlowRule.SESSIONS)


def is_withdrawn(store: Store, event: Event, classifier: SentenceClassifier | None = None) -> bool:
    """Return whether another event keeps this one in its place.

    It is marked as confidential, the speaker's next message asks for discretion, or it corrects a
    message that must stay in its place.
    """
    if _is_asked_back(store, event, classifier):
        return True
    seen, replaced = {event.id}, _replaced_events(store, event)
    while replaced:
        if any(
            must_stay(each, classifier) or _is_asked_back(store, each, classifier)
            for each in replaced
        ):
            return True
        seen |= {each.id for each in replaced}
        before = (older for each in replaced for older in _replaced_events(store, each))
        replaced = [each for each in before if each.id not in seen]
    return False


def _is_asked_back(store: Store, event: Event, classifier: SentenceClassifier | None) -> bool:
    """Return whether a mark or the speaker's next message asks for discretion about this one."""
    here = administrator_grant(event.workspace).narrow_to([event.scope])
    mark = event_id(event.scope, confidential_mark_key(event.id))
    if store.ledger.get(here, [mark]):
        return True
    for wait in LATER_INTERVALS:
        messages = _messages_of_speaker(store, event, event.at, event.at + wait)
        later = [each for each in messages if each.at > event.at]
        found = [*_next_messages(event, later), *_same_time(event, messages)]
        if any(calls_back(each, classifier) for each in found):
            return True
        if any(each.thread == event.thread for each in found if each.at > event.at):
            return False
    return False


def _messages_of_speaker(
    store: Store, event: Event, since: datetime, until: datetime
) -> list[Event]:
    """Return the messages and notes of the same speaker in the same place, oldest first."""
    here = administrator_grant(event.workspace).narrow_to([event.scope])
    where = Condition("speaker", Op.EQ, event.speaker)
    found = store.ledger.find(here, where=where, since=since, until=until + ONE_MICROSECOND)
    return [each for each in found[::-1] if each.kind in COPIED_EVENTS]


def _next_messages(event: Event, others: Sequence[Event]) -> list[Event]:
    """Return the first of these messages, and the first one of the event's thread."""
    in_thread = [each for each in others if each.thread == event.thread]
    return [*others[:1], *in_thread[:1]]


def _same_time(event: Event, messages: Sequence[Event]) -> list[Event]:
    """Return the other messages of the same time: which of them came first is unknown."""
    return [each for each in messages if each.at == event.at and each.id != event.id]


def _replaced_events(store: Store, event: Event) -> list[Event]:
    """Return the events that a correction replaces."""
    ids = _replaced_ids(event)
    here = administrator_grant(event.workspace).narrow_to([event.scope])
    return store.ledger.get(here, ids) if ids else []


def _replaced_ids(event: Event) -> list[str]:
    replaced = event.metadata.get(REPLACES_KEY)
    ids = replaced.get("events") if isinstance(replaced, dict) else None
    return [id for id in ids if isinstance(id, str)] if isinstance(ids, list) else []


def must_stay(event: Event, classifier: SentenceClassifier | None = None) -> bool:
    """Return whether the caller or the words of an event keep it in its place."""
    if event.metadata.get(CONFIDENTIAL_KEY) is True or len(event.text) > MAX_CHARS:
        return True
    in_room = event.scope.kind is ScopeKind.ROOM
    return decide_topics(classifier, event.text, in_room=in_room, project=False).stays


def calls_back(event: Event, classifier: SentenceClassifier | None = None) -> bool:
    """Return whether an event only asks for discretion about the message before it."""
    return refers_back(event.text) and asks_for_discretion(classifier, event.text)


# -- copies


@dataclass(slots=True)
class _EventFlows:
    """Copies of one event's memories in other scopes."""

    context: EventContext
    drafts: Sequence[Draft]
    sharing: Sharing
    classifier: SentenceClassifier | None
    text: str
    people: Iterable[str] = ()
    _topics: dict[str, MessageTopics] = field(default_factory=dict)  # by event id

    def all_copies(self) -> Iterator[Draft]:
        """Yield the copies that the flows allow; none if the event must stay in its place."""
        event, sharing = self.context.event, self.sharing
        kind, owner = event.scope.kind, event.scope.owner
        if kind in PRIVATE_KINDS and owner and sharing.agents != "none":
            if self._may_flow(event):
                private = Scope.private(owner)
                if self._is_by_person(owner):
                    yield from self._self_copies(private, FlowRule.AGENTS)
                if sharing.agents == "everything":
                    yield from self._full_copies(private, FlowRule.EVERYTHING)
        elif kind is ScopeKind.ROOM and self._may_flow(event):
            if self._is_by_person(event.speaker):
                yield from self._room_copies(event)
            if sharing.rooms:
                for person in participants_of(event):
                    yield from self._full_copies(Scope.private(person), FlowRule.ROOMS, person)

    def _room_copies(self, event: Event) -> Iterator[Draft]:
        if self.sharing.profile:
            yield from self._self_copies(Scope.user(event.speaker), FlowRule.PROFILE)
        project = event.metadata.get(PROJECT_KEY)
        if self.sharing.project and isinstance(project, str):
            yield from self._project_copies(Scope.project(project))

    def _may_flow(self, event: Event) -> bool:
        """Return whether an event may leave its place: nothing confidential or sensitive may."""
        if event.kind not in COPIED_EVENTS or is_shared_copy(event) or len(event.text) > MAX_CHARS:
            return False
        if event.metadata.get(CONFIDENTIAL_KEY) is True or self._must_stay(event):
            return False
        return not self._is_called_back(event)

    def _is_called_back(self, event: Event) -> bool:
        """Return whether the speaker's next message asks for discretion about this one."""
        known = (*self.context.recent, self.context.event)
        later = [each for each in known if each.at >= event.at and each.id != event.id]
        following = next((each for each in later if each.speaker == event.speaker), None)
        return following is not None and calls_back(following, self.classifier)

    def _must_stay(self, event: Event) -> bool:
        """Return whether an event is confidential or sensitive, also in what is not read of it."""
        if self._topics_of(event).stays:
            return True
        if event is not self.context.event or self.text == event.text:
            return False
        return must_stay(event, self.classifier)

    def _topics_of(self, event: Event) -> MessageTopics:
        if event.id not in self._topics:
            text = self.text if event is self.context.event else event.text
            self._topics[event.id] = decide_topics(
                self.classifier,
                text,
                in_room=event.scope.kind is ScopeKind.ROOM,
                project=PROJECT_KEY in event.metadata,
            )
        return self._topics[event.id]

    def _is_by_person(self, name: str) -> bool:
        event = self.context.event
        return event.role == "user" and event.trust is Trust.DIRECT and event.speaker == name

    def _self_copies(self, target: Scope, rule: FlowRule) -> Iterator[Draft]:
        """Yield what the speaker says about themselves: the sentences, and sure facts of them."""
        about = self._topics_of(self.context.event).self_text
        if not about:
            return
        yield self._passage(about, target, rule)
        speaker = normalize_name(self.context.event.speaker)
        for draft in self.drafts:
            is_own_fact = _is_sure_fact(draft) and _subject(draft) == speaker
            is_wish = draft.body.get("kind") == LandmarkKind.PREFERENCE_STATED
            if (is_own_fact or is_wish) and self._is_stated_in(about, draft):
                yield from self._copy([draft], target, rule)

    def _project_copies(self, target: Scope) -> Iterator[Draft]:
        """Yield decisions, action items, commitments, corrections and facts about the project."""
        about = self._topics_of(self.context.event).project_text
        if not about:
            return
        marks = [
            each
            for each in self.drafts
            if each.body.get("kind") in PROJECT_LANDMARKS and self._is_stated_in(about, each)
        ]
        yield self._passage(about, target, FlowRule.PROJECT)
        people = {normalize_name(name) for name in (self.context.event.speaker, *self.people)}
        facts = [
            draft
            for draft in self.drafts
            if _is_sure_fact(draft)
            and _subject(draft) not in people
            and self._is_stated_in(about, draft)
        ]
        yield from self._copy([*marks, *facts], target, FlowRule.PROJECT)

    def _is_stated_in(self, text: str, draft: Draft) -> bool:
        """Return whether the copied sentences state a fact or landmark.

        Its own sentence has names instead of "I" and "we", so not every word is in the text.
        """
        names = f"{self.context.event.speaker} {self.context.event.metadata.get(PROJECT_KEY, '')}"
        words = _stems(draft.text) - _stems(names)
        content = {word for word in words if len(word) >= MIN_CONTENT_CHARS} or words
        value = draft.body.get("object") or draft.body.get("value") or ""
        is_value_said = normalize_words(str(value)) in normalize_words(text)
        return is_value_said and len(content & _stems(text)) >= MIN_STATED_SHARE * len(content)

    def _full_copies(
        self, target: Scope, rule: FlowRule, person: str | None = None
    ) -> Iterator[Draft]:
        """Yield copies of everything; with `person`, only what that participant could read."""
        kinds = [draft for draft in self.drafts if draft.kind in COPIED_KINDS]
        yield from self._copy(kinds, target, rule, person)

    def _copy(
        self, drafts: Iterable[Draft], target: Scope, rule: FlowRule, person: str | None = None
    ) -> Iterator[Draft]:
        for draft in drafts:
            if self._sources_may_flow(draft, person):
                slot = f"{rule.value}:{draft.slot}"
                metadata = {k: v for k, v in draft.metadata.items() if k != PARTICIPANTS_KEY}
                copy = replace(draft, scope=target, flow=rule, slot=slot, metadata=metadata)
                yield replace(copy, thread=None)

    def _sources_may_flow(self, draft: Draft, person: str | None) -> bool:
        """Return whether all sources of a draft may flow; an unknown source may not."""
        known = {each.id: each for each in (*self.context.recent, self.context.event)}
        sources = [known.get(id) for id in draft.sources]
        return all(
            source is not None
            and self._may_flow(source)
            and (person is None or person in participants_of(source))
            for source in sources
        )

    def _passage(self, text: str, target: Scope, rule: FlowRule) -> Draft:
        event = self.context.event
        return Draft(
            scope=target,
            kind=MemoryKind.PASSAGE,
            text=text,
            sources=(event.id,),
            slot=f"{rule.value}:",
            indexed_text=f"{event.speaker}: {text} ({local_time(event):%A %d %B %Y})",
            speaker=event.speaker,
            role=event.role,
            source="message",
            flow=rule,
        )


def _stems(text: str) -> set[str]:
    """Return the words of a text without a final "s": "she works" states "I work"."""
    return {word.removesuffix("s") for word in normalize_words(text).split()}


def _is_sure_fact(draft: Draft) -> bool:
    return draft.kind is MemoryKind.FACT and draft.confidence >= SURE_CONFIDENCE


def _subject(draft: Draft) -> str:
    return normalize_name(str(draft.body.get("subject", "")))
