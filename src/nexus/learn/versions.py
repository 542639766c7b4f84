"""Of a document with a path only the newest version is found; the ledger keeps them all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..core.access import administrator_grant
from ..core.notebook import DOCUMENT, history_of, is_version, versions_of
from ..core.protocols import Store
from ..core.records import Event, MemoryKind, memory_id
from .chunks import chunks


def is_newest(store: Store, event: Event) -> bool:
    """Whether this version is to be found. What was found of earlier ones is removed."""
    if not is_version(event):
        return True
    path = event.metadata[DOCUMENT]["path"]
    here = administrator_grant(event.workspace).within([event.scope])
    events = [*history_of(store, here, event.scope, path), event]  # one from an archive, too
    newest = versions_of(events)[-1]
    old = [each for each in events if each.id != newest.event]
    store.memories.delete(event.workspace, sorted(_pieces(old)))
    return event.id == newest.event and not newest.deleted and bool(newest.text)


def _pieces(events: Iterable[Event]) -> Iterator[str]:
    """The ids that the passages of these documents have."""
    for event in events:
        for number, _ in enumerate(chunks(event.text)):
            yield memory_id(MemoryKind.PASSAGE, event.scope, f"{number:06}", [event.id])
