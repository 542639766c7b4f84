"""Learning again what was said in a place, as the rules read it today.

What the rules make of a message depends on what was known when it was read. So everything that was
said in the place is read again from the first message on, in an empty store beside the memory,
and what comes out is compared with what is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..core.access import administrator_grant
from ..core.derive import tells_of_time
from ..core.ids import WorkspaceId
from ..core.protocols import Store
from ..core.records import Draft, Event, EventKind, Memory, MemoryKind
from ..core.scope import Scope
from .drafting import Drafter
from .immune import is_person
from .knowledge import RULES
from .sharing import shared

AT_ONCE = 64  # events read together
# What the rules make of what one message says: what they do not make again is left over.
OF_ONE_EVENT = (MemoryKind.FACT, MemoryKind.LANDMARK, MemoryKind.ENTITY, MemoryKind.EPISODE)


@dataclass(frozen=True, slots=True)
class Relearned:
    """What became of a place."""

    events: int
    put: Sequence[Memory] = ()  # what was missing, or other than it is
    dropped: int = 0


@dataclass(frozen=True, slots=True)
class Relearner:
    """Reads places again."""

    store: Store
    make_scratch: Callable[[], Store]  # an empty one, whose window is that of the store
    make_drafter: Callable[[Store], Drafter]

    def learn(self, workspace: WorkspaceId, scope: Scope) -> Relearned:
        here = administrator_grant(workspace).within([scope])
        events = self.store.ledger.find(here)
        known = {memory.id: memory for memory in self.store.memories.find(here)}
        made, read = self._made(workspace, events)
        place = _Place({event.id: event for event in events}, known, read)
        drafts = [draft for draft in made.values() if place.wants(draft)]
        put = self.store.memories.put(workspace, drafts) if drafts else []
        links = [link for link in self._links(events) if link.id not in known]
        put += self.store.memories.put(workspace, links) if links else []
        left = [memory.id for memory in known.values() if place.is_left_over(memory, made)]
        gone = self.store.memories.delete(workspace, left) if left else 0
        new = [memory for memory in put if known.get(memory.id) != memory]
        return Relearned(len(events), new, gone)

    def _links(self, events: Sequence[Event]) -> list[Draft]:
        """From what was shared to its copies: they lie elsewhere, so the real store is asked."""
        acts = [event for event in events if event.kind is EventKind.SHARE]
        return [link for act in acts for link in shared(self.store, act)]

    def _made(
        self, workspace: WorkspaceId, events: Sequence[Event]
    ) -> tuple[dict[str, Draft], set[str]]:
        """The last draft of each memory, and the events that could be read."""
        scratch = self.make_scratch()
        drafter = self.make_drafter(scratch)
        told = sorted(events, key=lambda event: (event.recorded_at, event.at, event.id))
        made: dict[str, Draft] = {}
        read: set[str] = set()
        for part in _parts(told):
            scratch.ledger.append(workspace, part, recorded_at=part[-1].recorded_at)
            for event, drafts in drafter.read(part):
                if not isinstance(drafts, Exception):
                    read.add(event.id)
                    made |= {draft.id: draft for draft in drafts}
                    scratch.memories.put(workspace, drafts)
        everything = administrator_grant(workspace)
        there = {memory.id for memory in scratch.memories.get(everything, list(made))}
        return {id: draft for id, draft in made.items() if id in there}, read


def _parts(events: Sequence[Event]) -> Iterator[Sequence[Event]]:
    for start in range(0, len(events), AT_ONCE):
        yield events[start : start + AT_ONCE]


@dataclass(frozen=True, slots=True)
class _Place:
    """What may be changed of what is known there."""

    events: Mapping[str, Event]
    known: Mapping[str, Memory]
    read: set[str]
    _with_memories: set[str] = field(init=False)
    _model: bool = field(init=False)

    def __post_init__(self) -> None:
        sources = {id for memory in self.known.values() for id in memory.sources}
        object.__setattr__(self, "_with_memories", sources)
        by_a_model = any(map(_of_a_model, self.known.values()))
        object.__setattr__(self, "_model", by_a_model)

    def wants(self, draft: Draft) -> bool:
        """Not where a model had a part, which was paid for; nor what an agent may only repeat.

        What an agent was given to read is known for some days only, and its words are learned
        without that. So what is there of them stays as it is.
        """
        if draft.kind is MemoryKind.LINK or (draft.id in self.known and self._model):
            return False
        event = self.events.get(draft.sources[0])
        if event is None or is_person(event) or event.id not in self._with_memories:
            return True
        return not draft.learned and draft.id not in self.known

    def is_left_over(self, memory: Memory, made: Mapping[str, Draft]) -> bool:
        event = self.events.get(memory.sources[0])
        return (
            memory.id not in made
            and memory.learned
            and memory.kind in OF_ONE_EVENT
            and memory.metadata.get("made_by") == [RULES]
            and not tells_of_time(memory)
            and not self._model
            and event is not None
            and event.id in self.read
            and is_person(event)
        )


def _of_a_model(memory: Memory) -> bool:
    """Whether somebody else than the rules read it in what was said."""
    makers = memory.metadata.get("made_by", [RULES])
    read = memory.kind in OF_ONE_EVENT and memory.learned and not tells_of_time(memory)
    return read and makers != [RULES]
