"""Memory records of a place: list, get, correct, forget, version history, landmarks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, NoReturn

from ..core.access import Grant, Viewer, VisibilityReason, administrator_grant, explain_visibility
from ..core.canonical import clean_text, clean_time, format_time, parse_time
from ..core.errors import Conflict, InvalidInput, NotFound
from ..core.filters import And, Condition, Filter, Not, Op, Or, combine_filters, parse_filter
from ..core.flows import ALL_FLOW_SCOPES, memory_scopes
from ..core.ids import WorkspaceId, require_str
from ..core.records import (
    Event,
    EventKind,
    Hits,
    Memory,
    MemoryKind,
    NewEvent,
    Receipt,
    event_id,
    memory_id,
)
from ..core.records.entities import ENTITY
from ..core.records.event import (
    CONFIDENTIAL_KEY,
    PARTICIPANTS_KEY,
    PROJECT_KEY,
    REPLACES_KEY,
)
from ..core.records.landmarks import check_landmark_kind
from ..core.records.links import (
    LANDMARK,
    SHARE,
    SHARED_FROM,
    is_shared_copy,
    share_seal,
)
from ..core.records.memory import drop_copies, is_copy, statement_key
from ..core.scope import Scope, ScopeKind
from ..maintain.forget import ForgetReport, ForgetTarget, forget
from ..observe.events import EventOptions, confidential_event, note_event
from ..recall.query import check_limit, kind_conditions
from .base import PlaceBase, audit_read

if TYPE_CHECKING:
    from ..core.strength import Strength
    from ..maintain.forget import ForgetTarget
    from ..recall.views.landmarks import LandmarkView
    from ..wiring.parts import Parts


MAX_LISTED = 100_000
CORRECTABLE_KINDS = (MemoryKind.PASSAGE, MemoryKind.FACT, MemoryKind.LANDMARK)
COPIED_WITH_SHARE = (SHARED_FROM, LANDMARK)  # set by share(), never by a caller
PLACE_KEYS = (PROJECT_KEY, PARTICIPANTS_KEY)  # set by the place, never by a caller


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPage:
    """One page of a listing, and the cursor of the next page."""

    items: tuple[Memory, ...]
    cursor: str | None  # None: this is the last page

    def __iter__(self) -> Iterator[Memory]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryVersion:
    """One version of a memory or of a fact's value."""

    id: str  # of the memory; a replaced version can no longer be read by its id
    text: str
    at: datetime  # when this version was said
    until: datetime | None  # when a later version replaced it; None: no end is known
    by: str | None  # the speaker
    current: bool


class MemoryMethods(PlaceBase):
    """The methods of a place that work on single memories."""

    @audit_read
    def memories(
        self,
        kind: str | MemoryKind | Sequence[str | MemoryKind] | None = None,
        *,
        where: Mapping[str, Any] | Filter | None = None,
        scope: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> MemoryPage:
        """List memories, newest first, one page at a time.

        `kind` is "passage", "fact", "landmark", "episode" …, or several of them; None lists every
        kind but links. `where` is a filter such as {"speaker": "alice"}. `scope` narrows the
        listing to one scope. Pass `page.cursor` as `cursor` to get the next page; it is None on
        the last page.
        """
        most = check_limit(limit, MAX_LISTED)
        grant, only = self._narrow(scope)
        filters = [_kind_filter(kind), parse_filter(where), _cursor_filter(cursor), only]
        self._parts.learner.catch_up(grant)
        found = self._parts.store.memories.find(
            grant, where=combine_filters(filters), limit=most + 1
        )
        more = len(found) > most
        return MemoryPage(
            items=tuple(drop_copies(found[:most])),
            cursor=_make_cursor(found[most - 1]) if more else None,
        )

    def _source_grant(self, memories: Iterable[Memory]) -> Grant:
        """Return the grant for the source events of memories, also from other sessions."""
        if not self.viewer.sharing.sessions or not self.viewer.user or self.viewer.room:
            return self.grant
        shared = {each.scope.ids[-1] for each in memories if each.scope.kind is ScopeKind.SESSION}
        return self.viewer.source_grant(shared) if shared else self.grant

    def _with_event_keys(self, found: Hits) -> Hits:
        """Return the hits with the keys of source events from other sessions."""
        lacking = [hit.memory for hit in found if not hit.event_keys]
        if not lacking:
            return found
        ids = [id for each in lacking for id in each.sources]
        keys = self._parts.store.ledger.load_keys(self._source_grant(lacking), ids)
        hits = tuple(
            hit
            if hit.event_keys
            else replace(hit, event_keys=tuple(keys[id] for id in hit.memory.sources if id in keys))
            for hit in found
        )
        return replace(found, hits=hits)

    @audit_read
    def why_visible(self, id: str) -> VisibilityReason:
        """Return which rule lets the viewer read a memory; raise NotFound if none does."""
        memory = self._find_memory(require_str(id, "an id"))
        return explain_visibility(self.viewer, memory.scope, memory.label)

    def mark_confidential(self, message: str | Receipt) -> Receipt:
        """Mark a message of this place as confidential: no flow copies it from now on.

        `message` is its receipt or event id. Copies that flows made are erased; copies made by
        `share` stay. Sessions and the DM of one user with one agent are one place: all of them
        still know it. Raises NotFound if the viewer cannot read the message here.
        """
        wanted = message.event_id if isinstance(message, Receipt) else require_str(message, "an id")
        home = self.viewer.home
        found = self._parts.store.ledger.get(self.grant.narrow_to([home]), [wanted])
        if not found:
            raise NotFound(f"no event {wanted!r} in {home}")
        event = confidential_event(self.viewer, wanted, now=self._parts.now())
        receipt = self._append_events([event])[0]
        self._parts.learner.flush(self.grant.narrow_to([home]))
        self._parts.evict_caches(self.viewer.workspace)
        return receipt

    @audit_read
    def get(self, id: str) -> Memory:
        """Return one memory by its id; raise NotFound if the viewer cannot see it."""
        wanted = require_str(id, "an id")
        with self._parts.telemetry.operation("get", workspace=self.viewer.workspace, record=wanted):
            return self._find_memory(wanted)

    @audit_read
    def strength(self, id: str) -> Strength:
        """Return how strong a memory is now: its importance, its age and its uses seen from here.

        Weak memories are archived: recall still finds them, compose no longer shows them.
        """
        from ..maintain.jobs.decay import strength_for_viewer  # loaded on first use

        memory, parts = self._find_memory(id), self._parts
        parts.usage_counter.flush()
        curve = parts.settings.maintain.strength.decay_curve
        return strength_for_viewer(
            parts.store,
            self.grant,
            memory,
            now=parts.now(),
            curve=curve,
            sharing=self.viewer.sharing,
        )

    @audit_read
    def source_events(self, id: str) -> list[Event]:
        """Return the events a memory was derived from, as far as the viewer can read them."""
        memory = self._find_memory(id)
        return self._parts.store.ledger.get(self._source_grant([memory]), memory.sources)

    @audit_read
    def landmarks(
        self,
        kind: str | None = None,
        *,
        owner: str | None = None,
        due_before: datetime | None = None,
        open: bool | None = None,
        at: datetime | None = None,
        as_of: datetime | None = None,
        limit: int = 100,
    ) -> list[LandmarkView]:
        """List decisions, action items, commitments, preferences and corrections with a status.

        Decisions that hold come first, then open action items and commitments by due date, then
        the rest; closed landmarks come last. `kind` is "decision", "action_item", "commitment",
        "preference_stated" or "correction". `owner` is the person who has to act. `due_before`
        keeps landmarks with an earlier due date. `open=True` keeps open landmarks, `open=False`
        those that are done, cancelled or superseded. `at` returns the status at that time, as
        known today. `as_of` uses only what was recorded until then.
        """
        from ..recall.views.landmarks import is_owned_by, list_landmarks  # loaded on first use

        most = check_limit(limit, MAX_LISTED)
        if kind is not None:
            check_landmark_kind(kind)
        wanted = None if owner is None else clean_text(owner, "the owner")
        before = None if due_before is None else clean_time(due_before, "due_before")
        recorded_until = self._parts.now() if as_of is None else clean_time(as_of, "as_of")
        time = recorded_until if at is None else clean_time(at, "at")
        self._parts.learner.catch_up(self.grant)
        store = self._parts.store
        with store.snapshot():
            found = list_landmarks(store, self.grant, at=time, as_of=recorded_until)
        return [
            each
            for each in found
            if kind in (None, each.kind)
            and (wanted is None or is_owned_by(each, wanted))
            and (before is None or (each.due is not None and each.due <= before))
            and (open is None or open == each.is_open)
        ][:most]

    @audit_read
    def history(self, id: str) -> list[MemoryVersion]:
        """Return every version of a memory, oldest first, each with its time.

        For a fact these are all values stated for the same subject and predicate, for a record of
        `upsert_entity` all statements about the same name. For a memory that
        was corrected these are the replaced texts and the current one; the id of a replaced
        version works as well. Versions whose events were forgotten are left out.
        """
        wanted = require_str(id, "an id")
        self._parts.learner.catch_up(self.grant)
        memory = self._find_corrected(wanted)
        if memory.kind is MemoryKind.FACT:
            return [*self._replaced_versions(memory), *self._fact_versions(memory)]
        if memory.kind is MemoryKind.ENTITY:
            return self._entity_versions(memory)
        current = MemoryVersion(
            id=memory.id,
            text=memory.text,
            at=memory.at,
            until=None,
            by=memory.speaker,
            current=True,
        )
        return [*self._replaced_versions(memory), current]

    def correct(self, id: str, text: str) -> Memory:
        """Replace a memory by a new text, and return the new memory.

        `history(new.id)` still shows the old text. Memories derived only from the old message or
        note are removed, and so are shared copies of the old version. Nexus learns from the new
        text instead. The original message stays in the conversation.

        Only the author may correct a memory, or the user whose private place it belongs to;
        otherwise InvalidInput. Correcting what a flow copied here from another private place of
        the user replaces the original, too. Exact values and documents have their own calls:
        `set_value`, `notebook.write`.
        """
        self._parts.learner.catch_up(self.grant)
        wanted = require_str(id, "an id")
        if earlier := self._find_correction(wanted):
            return self._repeat_correction(wanted, earlier, text)
        memory = self._find_memory(wanted)
        original = self._find_original(memory)
        if original.id != wanted and self.grant.allows(original.label):
            return self.correct(original.id, text)
        events = self._require_corrector(memory, original)
        _check_correctable(memory, events)
        event = self._correction_event(memory, original, events, text)
        self._append_events([event], event.at)
        self._erase_replaced(memory, original, event.id)
        return self._find_memory(_correction_memory_id(event))

    def _correction_event(
        self, memory: Memory, original: Memory, events: Sequence[Event], text: str
    ) -> NewEvent:
        """Return the note that replaces a memory, with the same readers.

        A correction of a copy is written here: the viewer cannot read the place of the original.
        """
        is_here = original.id == memory.id
        options: EventOptions = {
            "key": _correction_key(memory.id),
            "thread": memory.thread,
            "tags": memory.tags,
            "metadata": {
                **_caller_metadata(memory),
                REPLACES_KEY: {"memory": memory.id, "events": list(memory.sources)},
            },
        }
        if any(event.metadata.get(CONFIDENTIAL_KEY) is True for event in events):
            options["confidential"] = True
        scope = memory.scope if is_here else self.viewer.home
        now = self._parts.now()
        event = note_event(self.viewer, scope, text, now=now, options=options)
        place = _place_metadata(events) if is_here else {}
        return replace(event, metadata={**event.metadata, **place})

    def forget(self, id: str | Receipt) -> None:
        """Erase a memory with everything derived from it, or a message by its receipt.

        With a memory's id, the message it was learned from stays; a note made by `remember` is
        erased, too. With a passage, what was learned from the same message is erased as well. With
        the receipt of `observe` (or an event's id), the message and everything learned from it are
        erased. With the receipt of `share`, the shared copy is erased.

        Only the author may erase, or the user whose private place it is; otherwise InvalidInput.
        The copy of what somebody else said is erased only in the user's own profile.
        `Workspace.forget` is the administrator's call, and reports what was erased.
        """
        wanted = id.event_id if isinstance(id, Receipt) else require_str(id, "an id")
        self._parts.learner.catch_up(self.grant)
        erase_target(
            self._parts,
            self.viewer.workspace,
            lambda: self._choose_target(wanted),
            by=self.viewer,
        )

    def _choose_target(self, id: str) -> ForgetTarget:
        """Return what to erase: an event or a memory; raise unless the viewer may erase it."""
        from ..maintain.forget import copy_target, event_target, memory_target

        store, workspace = self._parts.store, self.viewer.workspace
        if events := store.ledger.get(self.grant, [id]):
            self._check_author([each.scope for each in events], events, id)
            return event_target(store, workspace, id)
        if self._has_shared(id):
            return event_target(store, workspace, id)
        original = self._find_original(self._find_memory(id))
        if is_copy(original) and self._has_said(original):
            return memory_target(store, workspace, original.id)
        self._require_author(original)
        if is_copy(original):  # of what somebody else said: the copies of others stay
            return copy_target(store, workspace, original)
        return memory_target(store, workspace, original.id)

    def _has_shared(self, id: str) -> bool:
        """Return whether an event is a copy that this viewer's user, or this place, has shared.

        The viewer need not be able to read the place that it was shared with.
        """
        store, everything = self._parts.store, administrator_grant(self.viewer.workspace)
        copies = store.ledger.get(everything, [id])
        sharer = self.viewer.user.value if self.viewer.user else self.viewer.agent.value
        if not copies or not is_shared_copy(copies[0]) or copies[0].speaker != sharer:
            return False
        where = And(
            (
                Condition("kind", Op.EQ, EventKind.SHARE),
                Condition(f"metadata.{SHARE}.copy", Op.EQ, id),
            )
        )
        seal = copies[0].metadata[SHARED_FROM]
        return any(
            share_seal(str(act.metadata[SHARE]["secret"])) == seal
            and act.speaker == sharer
            and (self.viewer.user is not None or self.grant.allows(frozenset({act.scope})))
            for act in store.ledger.find(everything, where=where)
        )

    def _find_memory(self, id: str) -> Memory:
        found = self._parts.store.memories.get(self.grant, [require_str(id, "an id")])
        if not found:
            raise NotFound(f"no memory {id!r} here")
        return found[0]

    def _find_original(self, memory: Memory) -> Memory:
        """Return the memory that a flow copied, if the viewer may read or owns it; else `memory`.

        A user owns the originals in all their private places, also in those of other agents.
        """
        if not is_copy(memory):
            return memory
        sources = memory.sources[:1]
        derived = self._parts.store.eraser.list_derived(self.viewer.workspace, sources)
        wanted = statement_key(memory)
        found = [
            each
            for each in derived
            if not is_copy(each)
            and statement_key(each) == wanted
            and (self.grant.allows(each.label) or self._owns(each.label))
        ]
        return max(found, key=lambda each: memory.text in each.text, default=memory)

    def _owns(self, label: Iterable[Scope]) -> bool:
        """Return whether the viewer is in private, and all scopes belong to its user."""
        user = self.viewer.user
        owners = {scope.owner for scope in label if scope.kind is not ScopeKind.FLOW}
        return user is not None and not self.viewer.room and owners == {user.value}

    def _has_said(self, copy: Memory) -> bool:
        """Return whether the viewer's user said everything that was copied, also elsewhere."""
        everything = administrator_grant(self.viewer.workspace)
        events = self._parts.store.ledger.get(everything, copy.sources)
        user = self.viewer.user
        return user is not None and bool(events) and all(e.speaker == user.value for e in events)

    def _require_corrector(self, memory: Memory, original: Memory) -> list[Event]:
        """Return the memory's events; raise InvalidInput unless the viewer may correct it."""
        if not is_copy(memory):
            return self._require_author(memory)
        if is_copy(original):  # the original is in a place of several people
            self._refuse_copy(memory)
        if memory.kind is MemoryKind.PASSAGE and memory.text.split() != original.text.split():
            raise InvalidInput(
                f"memory {memory.id} is a part of a message to another agent; correct it in the"
                " private place where you said it, so that the rest of the message is kept"
            )
        everything = administrator_grant(self.viewer.workspace)
        return self._parts.store.ledger.get(everything, memory.sources)

    def _refuse_copy(self, copy: Memory) -> NoReturn:
        if self._has_said(copy):
            raise InvalidInput(
                f"memory {copy.id} is a copy of what you said in a room; say the correction in that"
                " room. forget() erases the copies"
            )
        author = copy.speaker or "somebody else"
        raise InvalidInput(
            f"memory {copy.id} is a copy of what {author} said in a room; only {author} may correct"
            " it, by a new message in that room"
        )

    def _find_corrected(self, id: str) -> Memory:
        """Return the memory, or the newest correction if the memory was replaced."""
        memories, wanted, seen = self._parts.store.memories, id, set[str]()
        while wanted not in seen:
            if found := memories.get(self.grant, [wanted]):
                return found[0]
            seen.add(wanted)
            if correction := self._find_correction(wanted):
                wanted = _correction_memory_id(correction)
        raise NotFound(f"no memory {id!r} here")

    def _find_correction(self, id: str) -> Event | None:
        """Return the event that corrected this memory, if the viewer can see one."""
        ids = [event_id(scope, _correction_key(id)) for scope in sorted(self.grant.scopes)]
        found = self._parts.store.ledger.get(self.grant, ids)
        return found[0] if found else None

    def _repeat_correction(self, id: str, correction: Event, text: str) -> Memory:
        """Complete a correction that was interrupted, and return its memory.

        Raises Conflict if the memory was corrected to another text.
        """
        if old := self._parts.store.memories.get(self.grant, [id]):
            original = self._find_original(old[0])
            self._require_corrector(old[0], original)
            self._erase_replaced(old[0], original, correction.id)
        memory = self._find_memory(_correction_memory_id(correction))
        if clean_text(text) != correction.text:
            raise Conflict(f"memory {id!r} was corrected before; correct {memory.id!r} instead")
        return memory

    def _erase_replaced(self, memory: Memory, original: Memory, correction_id: str) -> None:
        """Erase the original of a memory, its copies, and what its text alone taught."""
        from ..maintain.forget import erase_replaced  # loaded on first use

        parts, workspace = self._parts, self.viewer.workspace
        events = parts.store.ledger.get(administrator_grant(workspace), original.sources)
        replaced = self._replaced_with(original, events)
        with parts.audit.record_write(
            workspace, "correct", by=self.viewer, memory=memory.id, event=correction_id
        ):
            erase_replaced(parts.store, workspace, replaced, now=parts.now())
        parts.evict_caches(workspace)
        parts.learner.flush(self.grant)

    def _require_author(self, memory: Memory) -> list[Event]:
        """Return the memory's events; raise InvalidInput unless the viewer may change it."""
        grant = self._source_grant([memory])
        events = self._parts.store.ledger.get(grant, self._source_event_ids(memory))
        self._check_author(memory.label, events, memory.id)
        return events

    def _check_author(self, scopes: Iterable[Scope], events: Sequence[Event], id: str) -> None:
        user = self.viewer.user
        owners = {scope.owner for scope in scopes if scope.kind is not ScopeKind.FLOW}
        private = user is not None and owners == {user.value}
        author = user.value if user else self.viewer.agent.value
        written = bool(events) and all(event.speaker == author for event in events)
        if not private and not written:
            raise InvalidInput(
                f"memory {id} was not written by {author}; only its author, the owner of the"
                " private place, or an administrator (Workspace.forget) may change it"
            )

    def _source_event_ids(self, memory: Memory) -> list[str]:
        """Return the ids of all source events of a memory, also through other memories."""
        store, found, looked = self._parts.store, set[str](), set[str]()
        wanted, grant = set(memory.sources), self._source_grant([memory])
        while wanted:
            events = set(store.ledger.load_keys(grant, sorted(wanted)))
            found |= events
            looked |= wanted
            between = store.memories.get(self.grant, sorted(wanted - events))
            wanted = {id for each in between for id in each.sources} - looked
        return sorted(found)

    def _replaced_with(self, memory: Memory, events: Sequence[Event]) -> list[Memory]:
        """Return what a correction erases: the memory, its copies, and what a text alone taught."""
        ids = {event.id for event in events}
        derived = self._parts.store.eraser.list_derived(self.viewer.workspace, sorted(ids))
        if memory.kind is not MemoryKind.PASSAGE:
            same = statement_key(memory)
            copies = (each for each in derived if is_copy(each) and statement_key(each) == same)
            return [memory, *(each for each in copies if each.id != memory.id)]
        alone = [each for each in derived if set(each.sources) <= ids and each.id != memory.id]
        own = (each for each in alone if each.scope == memory.scope or is_copy(each))
        return [memory, *own]

    def _replaced_versions(self, memory: Memory) -> list[MemoryVersion]:
        """Return the versions a memory replaced, oldest first, with the texts of their events."""
        versions: list[MemoryVersion] = []
        sources = self._parts.store.ledger.get(self.grant, memory.sources[:1])
        until, replaced = memory.at, sources[0].metadata.get(REPLACES_KEY) if sources else None
        seen = set[str]()
        while isinstance(replaced, Mapping) and str(replaced.get("memory")) not in seen:
            old = str(replaced.get("memory"))
            seen.add(old)
            ids = [str(each) for each in replaced.get("events", ())]
            events = self._parts.store.ledger.get(self.grant, ids[:1])
            if not events:
                break
            event = events[0]
            versions.append(
                MemoryVersion(
                    id=old,
                    text=event.text,
                    at=event.at,
                    until=until,
                    by=event.speaker,
                    current=False,
                )
            )
            until, replaced = event.at, event.metadata.get(REPLACES_KEY)
        return versions[::-1]

    def _entity_versions(self, memory: Memory) -> list[MemoryVersion]:
        """Return every statement of `upsert_entity` about the name, oldest first."""
        from ..recall.views.entities import get_entity  # loaded on first use

        view = get_entity(self._parts.store, self.grant, str(memory.body["name"]), limit=1)
        records = view.records if view else (memory,)
        stated = [each for each in records if each.source == ENTITY or each.id == memory.id]
        ends = [None, *(each.at for each in stated)]
        return [
            MemoryVersion(
                id=each.id,
                text=each.text,
                at=each.at,
                until=end,
                by=each.speaker,
                current=end is None,
            )
            for each, end in zip(reversed(stated), reversed(ends[:-1]), strict=True)
        ]

    def _fact_versions(self, memory: Memory) -> list[MemoryVersion]:
        from ..recall.views.fact_timeline import build_timeline  # loaded on first use

        fact = memory.fact
        same = And(
            (
                Condition("kind", Op.EQ, MemoryKind.FACT),
                Condition("subject", Op.EQ, fact.subject),
                Condition("predicate", Op.EQ, fact.predicate),
            )
        )
        found = drop_copies(self._parts.store.memories.find(self.grant, where=same))
        if fact.exact:
            return _exact_versions([each for each in found if each.fact.exact])
        facts = [each for each in found if not each.fact.exact and each.fact.aspect == fact.aspect]
        timeline = build_timeline(facts, self._parts.now(), fact.predicate)
        ended = {each.memory.id: each.ended_at for each in timeline.past}
        current = {each.id for each in timeline.current}
        return [
            MemoryVersion(
                id=each.id,
                text=each.text,
                at=each.at,
                until=ended.get(each.id, each.valid_to),
                by=each.speaker,
                current=each.id in current,
            )
            for each in reversed(timeline.observations)
        ]


def _correction_key(id: str) -> str:
    return f"correct/{id}"


def _correction_memory_id(correction: Event | NewEvent) -> str:
    return memory_id(MemoryKind.PASSAGE, correction.scope, "", [correction.id])


def _exact_versions(newest_first: Sequence[Memory]) -> list[MemoryVersion]:
    """Return the values a key had, oldest first; each one ends where the next one begins."""
    until: datetime | None = None
    versions: list[MemoryVersion] = []
    for each in newest_first:
        versions.append(
            MemoryVersion(
                id=each.id,
                text=each.text,
                at=each.at,
                until=until,
                by=each.speaker,
                current=until is None,
            )
        )
        until = each.at
    return versions[::-1]


def _kind_filter(kind: str | MemoryKind | Sequence[str | MemoryKind] | None) -> Filter:
    if kind is None:
        return Not(Condition("kind", Op.EQ, MemoryKind.LINK))
    (filter,) = kind_conditions(kind)
    return filter


def _make_cursor(memory: Memory) -> str:
    return f"{format_time(memory.at)} {memory.id}"


def _cursor_filter(cursor: str | None) -> Filter | None:
    """Return the filter for everything after the cursor in the order newest first, then id."""
    if cursor is None:
        return None
    at, space, id = require_str(cursor, "the cursor").partition(" ")
    try:
        time = parse_time(at)
    except ValueError:
        space = ""
    if not space:
        raise InvalidInput(f"cursor must be the `cursor` of an earlier page, got {cursor!r:.80}")
    same_time = And((Condition("at", Op.EQ, time), Condition("id", Op.GT, id)))
    return Or((Condition("at", Op.LT, time), same_time))


def _check_correctable(memory: Memory, events: Sequence[Event]) -> None:
    """Raise InvalidInput unless one text in one scope can take the memory's place."""
    if memory.kind not in CORRECTABLE_KINDS:
        kinds = ", ".join(kind.value for kind in CORRECTABLE_KINDS)
        raise InvalidInput(f"only {kinds} can be corrected, not {memory.kind.value}")
    if memory.kind is MemoryKind.FACT and memory.fact.exact:
        raise InvalidInput("an exact value is replaced with set_value()")
    if any(event.kind is EventKind.DOCUMENT for event in events):
        raise InvalidInput("a document is replaced with notebook.write() or add_document()")
    own = {*memory_scopes(memory.scope), *ALL_FLOW_SCOPES}
    if not memory.label <= own:
        raise InvalidInput("this memory combines several scopes; correct the messages behind it")


def _caller_metadata(memory: Memory) -> dict[str, Any]:
    """Return the caller's metadata; learned memories have only metadata of the rules."""
    if memory.learned:
        return {}
    dropped = {*COPIED_WITH_SHARE, *PLACE_KEYS, CONFIDENTIAL_KEY, REPLACES_KEY, "tags"}
    return {name: value for name, value in memory.metadata.items() if name not in dropped}


def _place_metadata(events: Sequence[Event]) -> dict[str, Any]:
    """Return what the place added to a message, so that a correction has the same readers."""
    return {
        key: event.metadata[key] for event in events for key in PLACE_KEYS if key in event.metadata
    }


def check_erasable(place: MemoryMethods, id: str) -> None:
    """Raise NotFound or InvalidInput unless the viewer may erase this memory or event."""
    place._parts.learner.catch_up(place.grant)  # noqa: SLF001
    place._choose_target(id)  # noqa: SLF001


def erase_target(
    parts: Parts,
    workspace: WorkspaceId,
    choose: Callable[[], ForgetTarget],
    *,
    by: Viewer | None = None,
) -> ForgetReport:
    """Erase what `choose` returns, first in the store, then in the caches; return the counts.

    `by` is recorded in the audit log as the actor; None is the administrator.
    """
    parts.worker.drain()  # receipts of recent contexts are written, so that they are searched, too
    parts.audit.flush()
    with parts.telemetry.operation("forget", workspace=workspace) as operation:
        report = forget(parts.store, workspace, choose(), now=parts.now(), by=by)
        operation.set_attributes(forgotten=report)
    parts.evict_caches(workspace)
    flush_workspace(parts, workspace)
    return report


def flush_workspace(parts: Parts, workspace: WorkspaceId) -> int:
    """Learn all pending events and update all replicas; return the number of stuck events."""
    stuck = parts.learner.flush(administrator_grant(workspace))
    while parts.store.catch_up_replicas():
        pass
    return stuck
