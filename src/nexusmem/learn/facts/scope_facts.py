"""Known facts: facts of a scope that a new message may correct or contradict."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from ...core.access import administrator_grant
from ...core.derive import normalize_name
from ...core.flows import DEFAULT_SHARING, Sharing, memory_scopes
from ...core.ids import WorkspaceId
from ...core.protocols.store import Store
from ...core.records import Draft, Event, Fact, Memory, MemoryKind, Metadata, Trust
from ...core.scope import Scope

MAX_FACTS_PER_NAME = 200  # newest first; an older fact cannot be contradicted


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFact:
    """An earlier fact with its provenance."""

    id: str
    fact: Fact
    text: str
    at: datetime
    trust: Trust
    speaker: str | None
    sources: tuple[str, ...]
    confidence: float
    marks: Metadata  # metadata written by `reconcile`; that of explicit facts is ignored
    valid_from: datetime | None = None
    valid_to: datetime | None = None

    @classmethod
    def from_memory(cls, memory: Memory) -> KnownFact:
        return cls(
            id=memory.id,
            fact=memory.fact,
            text=memory.text,
            at=memory.at,
            trust=memory.trust,
            speaker=memory.speaker,
            sources=memory.sources,
            confidence=memory.confidence,
            marks=memory.metadata if memory.learned else {},
            valid_from=memory.valid_from,
            valid_to=memory.valid_to,
        )

    @classmethod
    def from_draft(cls, event: Event, draft: Draft) -> KnownFact:
        return cls(
            id=draft.id,
            fact=Fact(**draft.body),
            text=draft.text,
            at=draft.at or event.at,
            trust=event.trust,
            speaker=draft.speaker,
            sources=draft.sources,
            confidence=draft.confidence,
            marks=draft.metadata if draft.learned else {},
            valid_from=draft.valid_from,
            valid_to=draft.valid_to,
        )


class KnownFacts(Protocol):
    """Facts of one scope."""

    def find_by_name(self, name: str) -> Sequence[KnownFact]:
        """Return facts with this subject or object, newest first; case is ignored."""
        ...

    def find_by_source(self, event_ids: Sequence[str]) -> Sequence[KnownFact]:
        """Return facts derived from one of these events, newest first."""
        ...

    def add(self, event: Event, drafts: Iterable[Draft]) -> None:
        """Add new facts, so that later messages can refer to them."""
        ...


class ScopeFacts:
    """Stored facts of one scope, read once per name, and facts of the current batch."""

    def __init__(
        self,
        find_named: Callable[[str], Iterable[Memory]],
        find_derived: Callable[[Sequence[str]], Iterable[Memory]],
    ) -> None:
        self._find_named = find_named
        self._find_derived = find_derived
        self._stored: dict[str, list[KnownFact]] = {}
        self._added: list[tuple[Event, Draft]] = []  # indexed on first use
        # The indexes below contain only facts of the current batch.
        self._by_name: defaultdict[str, list[KnownFact]] = defaultdict(list)
        self._by_event: defaultdict[str, list[KnownFact]] = defaultdict(list)

    @classmethod
    def from_store(
        cls,
        store: Store,
        workspace: WorkspaceId,
        scope: Scope,
        sharing: Sharing = DEFAULT_SHARING,
    ) -> ScopeFacts:
        """Return the facts of one scope: a scope never overrides facts of another one.

        `sharing` are the flows of the workspace: sessions of one agent may know each other's facts.
        """
        grant = administrator_grant(workspace).narrow_to(memory_scopes(scope, sharing))
        return cls(
            find_named=lambda name: store.memories.find_by_name(
                grant, [name], limit=MAX_FACTS_PER_NAME, kinds=[MemoryKind.FACT]
            ),
            find_derived=lambda ids: [
                memory
                for memory in store.eraser.list_derived(workspace, ids)
                if grant.allows(memory.label)
            ],
        )

    def find_by_name(self, name: str) -> list[KnownFact]:
        key = normalize_name(name)
        if key not in self._stored:
            self._stored[key] = _to_known_facts(self._find_named(key))
        self._index_added()
        return _newest_first([*self._stored[key], *self._by_name[key]])

    def find_by_source(self, event_ids: Sequence[str]) -> list[KnownFact]:
        if not event_ids:
            return []
        self._index_added()
        new = [each for event in event_ids for each in self._by_event[event]]
        return _newest_first([*_to_known_facts(self._find_derived(event_ids)), *new])

    def add(self, event: Event, drafts: Iterable[Draft]) -> None:
        self._added += [(event, draft) for draft in drafts if draft.kind is MemoryKind.FACT]

    def _index_added(self) -> None:
        for event, draft in self._added:
            new = KnownFact.from_draft(event, draft)
            for name in _fact_names(new.fact):
                self._by_name[name].append(new)
            for source in new.sources:
                self._by_event[source].append(new)
        self._added.clear()


def _to_known_facts(memories: Iterable[Memory]) -> list[KnownFact]:
    return [KnownFact.from_memory(memory) for memory in memories if memory.kind is MemoryKind.FACT]


def _fact_names(fact: Fact) -> set[str]:
    return {normalize_name(name) for name in (fact.subject, fact.object) if name is not None}


def _newest_first(facts: Iterable[KnownFact]) -> list[KnownFact]:
    unique = {each.id: each for each in facts}
    return sorted(unique.values(), key=lambda each: (each.at, each.id), reverse=True)
