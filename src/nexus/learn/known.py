"""Facts that are known when a new message is read: what it may correct or contradict."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from ..core.access import administrator_grant
from ..core.derive import known_as
from ..core.ids import WorkspaceId
from ..core.protocols import Store
from ..core.records import Draft, Event, Fact, Memory, MemoryKind, Metadata, Trust
from ..core.scope import Scope

MOST_KNOWN = 200  # facts about one name, the newest: who contradicts older ones says it anew


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A fact that was said before, with how we know it."""

    id: str
    fact: Fact
    text: str
    at: datetime
    trust: Trust
    speaker: str | None
    sources: tuple[str, ...]
    confidence: float
    marks: Metadata  # what reconciling found; nobody else's metadata says what holds
    valid_from: datetime | None = None
    valid_to: datetime | None = None

    @classmethod
    def of(cls, memory: Memory) -> Known:
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
    def drafted(cls, event: Event, draft: Draft) -> Known:
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
    """Facts of one place."""

    def naming(self, name: str) -> Sequence[Known]:
        """Those about this subject or object, newest first; capitals do not matter."""
        ...

    def resting_on(self, events: Sequence[str]) -> Sequence[Known]:
        """Those learned from one of these events, newest first."""
        ...

    def add(self, event: Event, drafts: Iterable[Draft]) -> None:
        """What was just learned is known to the messages after it."""
        ...


class PlaceFacts:
    """The facts a store keeps of one scope, each read once, and those just learned."""

    def __init__(
        self,
        named: Callable[[str], Iterable[Memory]],
        derived: Callable[[Sequence[str]], Iterable[Memory]],
    ) -> None:
        self._named = named
        self._derived = derived
        self._read: dict[str, list[Known]] = {}
        self._added: list[tuple[Event, Draft]] = []  # not yet looked at: most never are
        self._by_name: defaultdict[str, list[Known]] = defaultdict(list)  # of those just learned
        self._by_event: defaultdict[str, list[Known]] = defaultdict(list)

    @classmethod
    def of(cls, store: Store, workspace: WorkspaceId, scope: Scope) -> PlaceFacts:
        """Facts are compared within their own scope: no place decides what holds in another."""
        grant = administrator_grant(workspace).within([scope])
        return cls(
            named=lambda name: store.memories.named(
                grant, [name], limit=MOST_KNOWN, kinds=[MemoryKind.FACT]
            ),
            derived=lambda ids: [
                memory
                for memory in store.eraser.derived(workspace, ids)
                if memory.label == frozenset({scope})
            ],
        )

    def naming(self, name: str) -> list[Known]:
        key = known_as(name)
        if key not in self._read:
            self._read[key] = _facts(self._named(key))
        self._look_at_new()
        return _newest_first([*self._read[key], *self._by_name[key]])

    def resting_on(self, events: Sequence[str]) -> list[Known]:
        if not events:
            return []
        self._look_at_new()
        new = [each for event in events for each in self._by_event[event]]
        return _newest_first([*_facts(self._derived(events)), *new])

    def add(self, event: Event, drafts: Iterable[Draft]) -> None:
        self._added += [(event, draft) for draft in drafts if draft.kind is MemoryKind.FACT]

    def _look_at_new(self) -> None:
        for event, draft in self._added:
            new = Known.drafted(event, draft)
            for name in _names(new.fact):
                self._by_name[name].append(new)
            for source in new.sources:
                self._by_event[source].append(new)
        self._added.clear()


def _facts(memories: Iterable[Memory]) -> list[Known]:
    return [Known.of(memory) for memory in memories if memory.kind is MemoryKind.FACT]


def _names(fact: Fact) -> set[str]:
    return {known_as(name) for name in (fact.subject, fact.object) if name is not None}


def _newest_first(facts: Iterable[Known]) -> list[Known]:
    each_once = {each.id: each for each in facts}
    return sorted(each_once.values(), key=lambda each: (each.at, each.id), reverse=True)
