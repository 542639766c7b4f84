"""From what was said to passages: verbatim pieces one can find again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..core.records import Draft, Event, EventKind, MemoryKind
from ..core.zones import said_at
from .chunks import LONGEST_CHUNK, chunks


@dataclass(frozen=True, slots=True, kw_only=True)
class Indexing:
    """Which messages become passages by themselves (seed 002). The ledger keeps all of them."""

    auto_index_messages: bool = True
    min_content_length: int = 10
    max_content_length: int = 0  # 0: no limit
    batch_size: int = 100
    allowed_roles: tuple[str, ...] = ("user", "assistant")


def passages(event: Event, rules: Indexing) -> Iterator[Draft]:
    if event.kind is EventKind.DOCUMENT:
        yield from _document(event)
    elif event.kind is EventKind.MESSAGE and _worth_indexing(event, rules):
        yield from _message(event)


def _worth_indexing(event: Event, rules: Indexing) -> bool:
    length = len(event.text)
    return (
        rules.auto_index_messages
        and event.role in rules.allowed_roles
        and length >= rules.min_content_length
        and (rules.max_content_length == 0 or length <= rules.max_content_length)
    )


def _message(event: Event) -> Iterator[Draft]:
    """One passage, or several of a message that is as long as a document."""
    pieces = [event.text]
    if len(event.text) > LONGEST_CHUNK:
        pieces = [chunk.text for chunk in chunks(event.text)]
    for number, piece in enumerate(pieces):
        yield Draft(
            scope=event.scope,
            kind=MemoryKind.PASSAGE,
            text=piece,
            sources=(event.id,),
            slot=f"{number:06}" if len(pieces) > 1 else "",
            indexed_text=f"{event.speaker}: {piece} ({said_at(event):%A %d %B %Y})",
            speaker=event.speaker,
            role=event.role,
            source=str(event.metadata.get("source", "message")),
            thread=event.thread,
            tags=tags_of(event),
            metadata=event.metadata,
        )


def _document(event: Event) -> Iterator[Draft]:
    for number, chunk in enumerate(chunks(event.text)):
        where = {"heading": chunk.heading} if chunk.heading else {}
        yield Draft(
            scope=event.scope,
            kind=MemoryKind.PASSAGE,
            text=chunk.text,
            sources=(event.id,),
            slot=f"{number:06}",
            indexed_text=f"{chunk.heading}\n{chunk.text}" if chunk.heading else None,
            speaker=event.speaker,
            role=event.role,
            source="document",
            thread=event.thread,
            tags=tags_of(event),
            metadata={**event.metadata, **where},
        )


def tags_of(event: Event) -> tuple[str, ...]:
    tags = event.metadata.get("tags", ())
    return tuple(map(str, tags)) if isinstance(tags, list | tuple) else ()
