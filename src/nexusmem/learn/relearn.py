"""Relearning: derive all memories of a scope again with the current rules.

The result of the rules depends on the memories that existed when a message was learned. So all
events of the scope are learned again in order, in an empty scratch store. Then the result is
compared with the stored memories.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TypeVar

from ..core.access import administrator_grant
from ..core.derive import is_span_episode
from ..core.flows import FlowRule, Sharing, memory_scopes
from ..core.ids import WorkspaceId
from ..core.protocols.store import Store
from ..core.records import Draft, Event, EventKind, Memory, MemoryKind
from ..core.records.facts import HABIT_SOURCE
from ..core.records.links import MISREADING
from ..core.records.memory import is_copy
from ..core.scope import Scope, ScopeKind
from .closings.scope_landmarks import is_closing, put_with_closings
from .extract.echo_filter import is_from_person
from .extract.explicit_events import share_link_drafts
from .extract.fact_drafts import RULES
from .extract.tool_sequences import is_tool_sequence
from .flows import FlowStep, drop_erased_copies, flow_audit_entry
from .learner import withdraw_late_copies
from .model_pass.merge import draft_from_memory
from .pipeline import EventPipeline

BATCH_SIZE = 64  # events
FLOW_NAMES = frozenset(rule.value for rule in FlowRule)
Item = TypeVar("Item")
# Kinds that the rules derive from one message: obsolete if the rules no longer derive them.
SINGLE_EVENT_KINDS = (MemoryKind.FACT, MemoryKind.LANDMARK, MemoryKind.ENTITY, MemoryKind.EPISODE)
COMBINED_KINDS = (MemoryKind.LINK, MemoryKind.DOSSIER)  # their label has scopes of other memories


@dataclass(frozen=True, slots=True)
class RelearnReport:
    """Result of relearning one scope."""

    events: int
    changed: Sequence[Memory] = ()  # memories that were missing or different
    deleted: int = 0


@dataclass(frozen=True, slots=True)
class Relearner:
    """Relearns scopes of one store."""

    store: Store
    make_scratch: Callable[[], Store]  # makes an empty store with the window of `store`
    make_pipeline: Callable[[Store], EventPipeline]
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    def relearn_scope(self, workspace: WorkspaceId, scope: Scope) -> RelearnReport:
        """Derive all memories of a scope again; write differences and delete obsolete ones."""
        here = administrator_grant(workspace).narrow_to([scope])
        events = self.store.ledger.find(here)
        stored = {memory.id: memory for memory in self._stored_memories(workspace, scope, events)}
        derived, read_ids = self._derive_all(workspace, events)
        existing = _ExistingMemories({event.id: event for event in events}, stored, read_ids)
        allowed = drop_erased_copies(self.store, workspace, list(derived.values()))
        drafts = [draft for draft in allowed if existing.should_put(draft)]
        has_moved = scope.is_legacy_session and any(each.scope != scope for each in drafts)
        obsolete = [
            memory.id
            for memory in stored.values()
            if existing.is_obsolete(memory, derived) or (has_moved and memory.scope == scope)
        ]
        changed_ids = {*obsolete, *(draft.id for draft in drafts)}
        kept = [memory for memory in stored.values() if memory.id not in changed_ids]
        pipeline = self.make_pipeline(self.store)
        drafts += _relabelled_drafts(pipeline, scope, existing.events, kept)
        put = self._put_drafts(workspace, drafts, stored, pipeline.flows)
        links = [link for link in self._share_links(events) if link.id not in stored]
        put += self.store.memories.put(workspace, links) if links else []
        deleted = self.store.memories.delete(workspace, obsolete) if obsolete else 0
        changed = [memory for memory in put if stored.get(memory.id) != memory]
        return RelearnReport(len(events), changed, deleted)

    def _put_drafts(
        self,
        workspace: WorkspaceId,
        drafts: Sequence[Draft],
        stored: Mapping[str, Memory],
        flows: FlowStep | None,
    ) -> list[Memory]:
        """Write the drafts with an audit entry of new copies; return the memories that stay."""
        if not drafts:
            return []
        now = self.clock()
        entry = flow_audit_entry(self.store, workspace, drafts, now)
        with self.store.with_audit_entry(workspace, entry) if entry else nullcontext():
            put = put_with_closings(self.store.memories, workspace, drafts)
        new = [memory for memory in put if is_copy(memory) and memory.id not in stored]
        if flows is None or not new:
            return put
        copied = {id for memory in new for id in memory.sources}
        withdrawn = withdraw_late_copies(flows, workspace, copied, now)  # since events were read
        return [each for each in put if not is_copy(each) or withdrawn.isdisjoint(each.sources)]

    def _stored_memories(
        self, workspace: WorkspaceId, scope: Scope, events: Sequence[Event]
    ) -> Iterator[Memory]:
        """Yield the memories of a scope, and the copies of them that flows made elsewhere."""
        # Also labels of shared sessions, which they have until this call if sessions are off now.
        known = memory_scopes(scope, Sharing(sessions=True))
        here = administrator_grant(workspace).narrow_to(known)
        yield from (each for each in self.store.memories.find(here) if each.scope == scope)
        for part in _split_batches([event.id for event in events]):
            derived = self.store.eraser.list_derived(workspace, part)
            yield from (each for each in derived if is_copy(each))

    def _share_links(self, events: Sequence[Event]) -> list[Draft]:
        """Return links to shared copies; these are in other scopes, so the real store is read."""
        shares = [event for event in events if event.kind is EventKind.SHARE]
        return [link for share in shares for link in share_link_drafts(self.store, share)]

    def _derive_all(
        self, workspace: WorkspaceId, events: Sequence[Event]
    ) -> tuple[dict[str, Draft], set[str]]:
        """Return the last draft of each memory by id, and the ids of readable events."""
        with closing(self.make_scratch()) as scratch:
            pipeline = self.make_pipeline(scratch)
            ordered = sorted(events, key=lambda event: (event.recorded_at, event.at, event.id))
            derived: dict[str, Draft] = {}
            read_ids: set[str] = set()
            for part in _split_batches(ordered):
                scratch.ledger.append(workspace, part, recorded_at=part[-1].recorded_at)
                for event, drafts in pipeline.derive_drafts(part):
                    if not isinstance(drafts, Exception):
                        read_ids.add(event.id)
                        derived |= {draft.id: draft for draft in drafts}
                        put_with_closings(scratch.memories, workspace, drafts)
            everything = administrator_grant(workspace)
            stored = {memory.id for memory in scratch.memories.get(everything, list(derived))}
            return {id: draft for id, draft in derived.items() if id in stored}, read_ids


def _relabelled_drafts(
    pipeline: EventPipeline,
    scope: Scope,
    events: Mapping[str, Event],
    memories: Sequence[Memory],
) -> Iterator[Draft]:
    """Yield drafts of memories that stay as they are, except for who can read them.

    Memories of a model and of an agent's words are not derived again. If sessions are now shared
    or separate, their label changes, too.
    """
    if scope.kind is not ScopeKind.SESSION or scope.is_legacy_session:
        return
    for memory in memories:
        event = events.get(memory.sources[0])
        if event is None or memory.scope != scope or memory.kind in COMBINED_KINDS:
            continue
        draft = draft_from_memory(memory)
        (marked,) = pipeline.mark_session(event, [replace(draft, flow=None)])
        hides = marked.flow is None and draft.flow is FlowRule.SESSIONS
        shows = marked.flow is FlowRule.SESSIONS and draft.flow is None
        if hides or (shows and _is_shareable(memory)):
            yield marked


def _is_shareable(memory: Memory) -> bool:
    """Return whether a shared session shares this memory: habits are per place."""
    is_known_kind = memory.kind is MemoryKind.PASSAGE or memory.kind in SINGLE_EVENT_KINDS
    return is_known_kind and memory.source != HABIT_SOURCE


def _split_batches(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), BATCH_SIZE):
        yield items[start : start + BATCH_SIZE]


@dataclass(frozen=True, slots=True)
class _ExistingMemories:
    """The stored memories of a scope, and which of them may be changed."""

    events: Mapping[str, Event]
    memories: Mapping[str, Memory]
    read_ids: set[str]
    _source_ids: set[str] = field(init=False)
    _has_model_memories: bool = field(init=False)
    _retracted: set[str] = field(init=False)  # facts that a model rejected

    def __post_init__(self) -> None:
        sources = {id for memory in self.memories.values() for id in memory.sources}
        object.__setattr__(self, "_source_ids", sources)
        by_a_model = any(map(_is_model_made, self.memories.values()))
        object.__setattr__(self, "_has_model_memories", by_a_model)
        reviews = [each.body for each in self.memories.values() if each.kind is MemoryKind.REVIEW]
        misread = [body["retracted"] for body in reviews if body.get("what") == MISREADING]
        object.__setattr__(self, "_retracted", {id for ids in misread for id in ids})

    def should_put(self, draft: Draft) -> bool:
        """Return whether a draft may be written.

        Memories of a model stay, because they cost money. Memories of an agent's words stay, too:
        the contexts that it may repeat are stored only for some days, so the echo filter would
        now miss repetitions.
        """
        is_link = draft.kind is MemoryKind.LINK and not is_closing(draft)
        if is_link or draft.id in self._retracted:
            return False
        if draft.id in self.memories and self._has_model_memories:
            return False
        event = self.events.get(draft.sources[0])
        if event is None or is_from_person(event) or event.id not in self._source_ids:
            return True
        return not draft.learned and draft.id not in self.memories

    def is_obsolete(self, memory: Memory, drafts: Mapping[str, Draft]) -> bool:
        """Return whether the rules derived this memory once and do not derive it now."""
        event = self.events.get(memory.sources[0])
        return (
            memory.id not in drafts
            and (memory.learned or is_copy(memory))
            and (
                memory.kind in SINGLE_EVENT_KINDS
                or is_closing(memory)
                or is_copy(memory)
                or is_tool_sequence(memory)
            )
            and (_is_flow_copy(memory) or memory.metadata.get("made_by") == [RULES])
            and not is_span_episode(memory)
            and not self._has_model_memories
            and event is not None
            and event.id in self.read_ids
            and is_from_person(event)
        )


def _is_flow_copy(memory: Memory) -> bool:
    """Return whether the last step of learning made this copy: its slot names the rule.

    Promotion makes copies, too. Learning does not make them, so it does not take them back.
    """
    return is_copy(memory) and memory.slot.partition(":")[0] in FLOW_NAMES


def _is_model_made(memory: Memory) -> bool:
    """Return whether a model or a plug-in extractor derived the memory from a message.

    Copies and habits do not count: jobs make some of them, which are no models.
    """
    if is_copy(memory) or memory.source == HABIT_SOURCE:
        return False
    makers = memory.metadata.get("made_by", [RULES])
    derived = memory.kind in SINGLE_EVENT_KINDS and memory.learned and not is_span_episode(memory)
    return derived and makers != [RULES]
