"""What the graph keeps of a memory."""

from __future__ import annotations

from ...core.canonical import time_text
from ...core.derive import looked_up_by, names_in
from ...core.ids import digest
from ...core.records import Memory

LONGEST_NAME = 1_000  # characters that are kept as they are; Neo4j indexes no more than 8 KB


def row_of(label: int, memory: Memory) -> dict[str, object]:
    """What the graph keeps of a memory: no text but its names."""
    names = {stored(name) for name in names_in(memory)}
    predicate = memory.body.get("predicate")
    return {
        "id": memory.id,
        "label": label,
        "kind": memory.kind.value,
        "at": time_text(memory.at),
        "predicate": stored(predicate) if isinstance(predicate, str) else None,
        "names": sorted(names),
        "parts": sorted({stored(name) for name in looked_up_by(memory)} - names),
        "sources": sorted(set(memory.sources)),
    }


def stored(name: str) -> str:
    """A name as the graph knows it: one too long to be indexed is known by its digest."""
    return name if len(name) <= LONGEST_NAME else digest("name", name)
