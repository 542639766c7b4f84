"""The step after indexing: what a language model adds to what the rules have read.

Everything is there before it begins, so a model that is away, wrong or too expensive takes
nothing away; its step waits, and says why.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..core.errors import NexusError
from ..core.protocols import Store
from ..core.records import Draft, Event, MemoryKind
from .around import Around, Stretch, stretches
from .drafting import Drafter, PlaceReader
from .one_pass import OnePass, Reading, draft_of, made_by, merged

READ_TWICE = (MemoryKind.FACT, MemoryKind.LANDMARK, MemoryKind.EPISODE)


@dataclass(frozen=True, slots=True)
class Read:
    """Events that were read together; what is to be kept, and which ids that replaces."""

    events: Sequence[Event]
    drafts: Sequence[Draft] = ()
    replaced: Sequence[str] = ()
    error: NexusError | None = None


@dataclass(frozen=True, slots=True)
class SecondReading:
    """Reads turns with a model, and puts what it finds beside what the rules found."""

    store: Store
    drafter: Drafter
    one_pass: OnePass

    def read(self, events: Sequence[Event]) -> Iterator[Read]:
        """Batch by batch; a batch that cannot be read says why, and the others go on."""
        for stretch in stretches(self.store, events):
            reader = self.drafter.reader(stretch)
            left = {around.event.id: around for around in stretch.events}
            for batch in self.one_pass.batches(each.event for each in stretch.events):
                yield self._batch(stretch, reader, [left.pop(event.id) for event in batch])
            if left:  # they have nothing to teach a model
                yield Read([around.event for around in left.values()])

    def _batch(self, stretch: Stretch, reader: PlaceReader, batch: Sequence[Around]) -> Read:
        events = [around.event for around in batch]
        known = {name for event in events for name in reader.names(event)}
        try:
            reading = self.one_pass.read(events, batch[0].recent, sorted(known))
        except NexusError as error:
            return Read(events, error=error)
        drafts = [draft for around in batch for draft in self._found(reader, around, reading)]
        return self._beside_the_rules(stretch, events, drafts)

    def _found(self, reader: PlaceReader, around: Around, reading: Reading) -> list[Draft]:
        extracted = reading.extracted.get(around.event.id)
        found = [draft for draft in reading.drafts if draft.sources[0] == around.event.id]
        labels = [draft for draft in found if draft.kind is MemoryKind.EPISODE]
        said = [draft for draft in found if draft.kind is not MemoryKind.EPISODE]
        made = reader.understood(around, extracted) if extracted else []
        made[: len(said)] = map(_as_said, made, said)  # facts and landmarks come first, in order
        told = reader.reconciled(around, made_by(made, self.one_pass.maker))
        return [*told, *(labels if reader.learning.labels else ())]

    def _beside_the_rules(
        self, stretch: Stretch, events: Sequence[Event], drafts: Sequence[Draft]
    ) -> Read:
        ids = [event.id for event in events]
        rules = [
            draft_of(memory)
            for memory in self.store.eraser.derived(stretch.workspace, ids)
            if memory.learned and memory.kind in READ_TWICE and memory.scope == stretch.scope
        ]
        both = merged(rules, drafts)
        changed = [draft for draft in both if draft not in rules]
        kept = {draft.id for draft in both}
        return Read(events, changed, [draft.id for draft in rules if draft.id not in kept])


def _as_said(made: Draft, said: Draft) -> Draft:
    """Resting on every turn the model named, and as sure as it was."""
    sources = tuple(dict.fromkeys([*made.sources, *said.sources]))
    return replace(made, sources=sources, confidence=said.confidence)
