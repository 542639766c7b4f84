"""Of a document with a path only the newest version is found; the ledger keeps them all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..core.access import administrator_grant
from ..core.filters import Condition, Every, Op
from ..core.notebook import DOCUMENT, is_version, versions_of
from ..core.protocols import Store
from ..core.records import Event, EventKind, MemoryKind, memory_id
from .chunks import chunks


def is_newest(store: Store, event: Event) -> bool:
    """Whether this version is to be found. What was found of earlier ones is removed."""
    if not is_version(event):
        return True
    path = event.metadata[DOCUMENT]["path"]
    here = administrator_grant(event.workspace).within([event.scope])
    same = Condition(f"metadata.{DOCUMENT}.path", Op.EQ, path)
    kind = Condition("kind", Op.EQ, EventKind.DOCUMENT)
    events = {each.id: each for each in store.ledger.find(here, where=Every((kind, same)))}
    newest = versions_of(events.values())[-1]
    old = [each for id, each in events.items() if id != newest.event]
    store.memories.delete(event.workspace, sorted(_pieces(old)))
    return event.id == newest.event and not newest.deleted and bool(newest.text)


def _pieces(events: Iterable[Event]) -> Iterator[str]:
    """The ids that the passages of these documents have."""
    for event in events:
        for number, _ in enumerate(chunks(event.text)):
            yield memory_id(MemoryKind.PASSAGE, event.scope, f"{number:06}", [event.id])
