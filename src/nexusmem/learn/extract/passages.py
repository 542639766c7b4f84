"""Passages: verbatim chunks of messages and documents for search."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ...core.access import administrator_grant
from ...core.canonical import canonical_json
from ...core.protocols.store import Store
from ...core.records import Draft, Event, EventKind, Json, MemoryKind, memory_id
from ...core.records.annotations import ATTACHED, file_names, format_file_names
from ...core.records.notebook import DOCUMENT, is_version, load_history, parse_versions
from ...core.records.procedures import ARGUMENTS, TOOL, is_tool_result
from ...text.utc_offset import local_time

MAX_CHUNK_CHARS = 1_200  # a few paragraphs, within the limit of every embedder

MAX_TOOL_CHARS = 10 * MAX_CHUNK_CHARS  # of a tool result that are indexed
MAX_ARGUMENT_CHARS = 300
EMPTY_RESULTS = frozenset(
    {"(no text)", "ok", "okay", "done", "success", "true", "null", "none", "{}", "[]"}
)
TOOL_NAME_SEPARATORS = re.compile(r"[_.\-/]+|(?<=[a-z])(?=[A-Z])")

HEADING_SEPARATOR = " › "
HEADING = re.compile(r"^(#{1,6})\s+(.+?)\s*#*$")
PARAGRAPH = re.compile(r"\n\s*\n")
SENTENCE = re.compile(r"(?<=[.!?…。！？])\s+")


@dataclass(frozen=True, slots=True)
class Chunk:
    text: str
    heading: str  # headings above the chunk: "Guide › Install"


def split_chunks(text: str) -> Iterator[Chunk]:
    """Yield chunks split at headings, paragraphs and sentences; no text is left out."""
    sections = list(_split_sections(text))
    for (heading, section), (following, _) in zip(sections, [*sections[1:], ("", "")], strict=True):
        pieces = list(_join_fragments(_split_fragments(section)))
        if heading and not pieces and not following.startswith(heading + HEADING_SEPARATOR):
            pieces = [heading]  # a heading without text
        yield from (Chunk(piece, heading) for piece in pieces)


def _split_sections(text: str) -> Iterator[tuple[str, str]]:
    """Yield the text under each Markdown heading, with its path of headings."""
    above: dict[int, str] = {}
    lines: list[str] = []
    fenced = False
    for line in text.splitlines():
        fenced ^= line.lstrip().startswith("```")
        match = None if fenced else HEADING.match(line)
        if match:
            yield _join_headings(above), "\n".join(lines)
            lines = []
            level = len(match[1])
            above = {depth: name for depth, name in above.items() if depth < level}
            above[level] = match[2]
        else:
            lines.append(line)
    yield _join_headings(above), "\n".join(lines)


def _join_headings(headings: dict[int, str]) -> str:
    return HEADING_SEPARATOR.join(headings[level] for level in sorted(headings))


def _split_fragments(section: str) -> Iterator[str]:
    for paragraph in PARAGRAPH.split(section):
        stripped = paragraph.strip()
        if len(stripped) <= MAX_CHUNK_CHARS:
            yield stripped
            continue
        for sentence in SENTENCE.split(stripped):
            cuts = range(0, len(sentence), MAX_CHUNK_CHARS)
            yield from (sentence[cut : cut + MAX_CHUNK_CHARS] for cut in cuts)


def _join_fragments(fragments: Iterator[str]) -> Iterator[str]:
    """Join adjacent fragments up to MAX_CHUNK_CHARS."""
    pack = ""
    for fragment in filter(None, fragments):
        joined = f"{pack}\n\n{fragment}" if pack else fragment
        if len(joined) > MAX_CHUNK_CHARS and pack:
            yield pack
            joined = fragment
        pack = joined
    if pack:
        yield pack


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexingSettings:
    """Which messages are indexed as passages (specification 002); the ledger stores all."""

    auto_index_messages: bool = True
    min_content_length: int = 10
    max_content_length: int = 0  # 0: no limit
    batch_size: int = 100
    allowed_roles: tuple[str, ...] = ("user", "assistant")  # of messages
    index_tool_results: bool = True


def passage_drafts(event: Event, settings: IndexingSettings) -> Iterator[Draft]:
    if event.kind is EventKind.DOCUMENT:
        yield from _document_drafts(event)
    elif event.kind is EventKind.MESSAGE and _is_indexable(event, settings):
        yield from _message_drafts(event)
    elif is_tool_result(event) and settings.auto_index_messages and settings.index_tool_results:
        yield from _tool_drafts(event)


def _is_indexable(event: Event, settings: IndexingSettings) -> bool:
    length = len(event.text)
    return (
        settings.auto_index_messages
        and event.role in settings.allowed_roles
        and length >= settings.min_content_length
        and (settings.max_content_length == 0 or length <= settings.max_content_length)
    )


def _message_drafts(event: Event) -> Iterator[Draft]:
    """Yield one passage, or several for a long message."""
    pieces = [event.text]
    if len(event.text) > MAX_CHUNK_CHARS:
        pieces = [chunk.text for chunk in split_chunks(event.text)]
    files = file_names(event.attachments)
    for number, piece in enumerate(pieces):
        names = files if number == len(pieces) - 1 else []
        yield Draft(
            scope=event.scope,
            kind=MemoryKind.PASSAGE,
            text=piece,
            sources=(event.id,),
            body={ATTACHED: names} if names else {},
            slot=f"{number:06}" if len(pieces) > 1 else "",
            indexed_text=f"{event.speaker}: {piece}{format_file_names(names)}"
            f" ({local_time(event):%A %d %B %Y})",
            speaker=event.speaker,
            role=event.role,
            source=str(event.metadata.get("source", "message")),
            thread=event.thread,
            tags=event_tags(event),
            metadata=event.metadata,
        )


def _has_content(result: str) -> bool:
    """Return whether the result of a tool says more than that the call was made."""
    words = result.strip().strip("\"'.!").casefold()
    return words not in EMPTY_RESULTS and any(map(str.isalnum, words))


def _tool_drafts(event: Event) -> Iterator[Draft]:
    """Yield passages of a tool result, each with the arguments of the call in front.

    A result such as "idle since 6 am" does not say what it is about.
    """
    if not _has_content(event.text):
        return
    arguments = describe_arguments(event.metadata.get(ARGUMENTS))
    prefix = f"({arguments}) " if arguments else ""
    name = TOOL_NAME_SEPARATORS.sub(" ", event.speaker)  # "get_weather" is found by "weather"
    pieces = [chunk.text for chunk in split_chunks(event.text[:MAX_TOOL_CHARS])]
    metadata = {key: value for key, value in event.metadata.items() if key != ARGUMENTS}
    for number, piece in enumerate(pieces):
        yield Draft(
            scope=event.scope,
            kind=MemoryKind.PASSAGE,
            text=prefix + piece,
            sources=(event.id,),
            slot=f"{number:06}" if len(pieces) > 1 else "",
            indexed_text=f"{name} {event.speaker}: {prefix}{piece}"
            f" ({local_time(event):%A %d %B %Y})",
            speaker=event.speaker,
            role=event.role,
            source=TOOL,
            thread=event.thread,
            tags=event_tags(event),
            metadata={**metadata, ARGUMENTS: arguments} if arguments else metadata,
        )


def describe_arguments(arguments: Json) -> str:
    """Return the arguments of a tool call in one short line, without secrets."""
    from ...text.secrets import redact_secrets  # its patterns load with the first text

    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return _shorten(redact_secrets(str(arguments)))
    if not isinstance(arguments, Mapping):
        return _shorten(redact_secrets(canonical_json(arguments))) if arguments else ""
    parts = (
        f"{name}: {value if isinstance(value, str) else canonical_json(value)}"
        for name, value in arguments.items()
    )
    return _shorten(", ".join(redact_secrets(part) for part in parts))


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_ARGUMENT_CHARS else line[: MAX_ARGUMENT_CHARS - 1] + "…"


def _document_drafts(event: Event) -> Iterator[Draft]:
    for number, chunk in enumerate(split_chunks(event.text)):
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
            tags=event_tags(event),
            metadata={**event.metadata, **where},
        )


def event_tags(event: Event) -> tuple[str, ...]:
    tags = event.metadata.get("tags", ())
    return tuple(map(str, tags)) if isinstance(tags, list | tuple) else ()


def keep_newest_version(store: Store, event: Event) -> bool:
    """Return whether the event is the newest version of its document; delete older passages.

    Events that are no document versions return True.
    """
    if not is_version(event):
        return True
    path = event.metadata[DOCUMENT]["path"]
    here = administrator_grant(event.workspace).narrow_to([event.scope])
    events = [
        *load_history(store, here, event.scope, path),
        event,
    ]  # an imported event may not be in the ledger's history yet
    newest = parse_versions(events)[-1]
    old = [each for each in events if each.id != newest.event]
    store.memories.delete(event.workspace, sorted(_passage_ids(old)))
    return event.id == newest.event and not newest.deleted and bool(newest.text)


def _passage_ids(events: Iterable[Event]) -> Iterator[str]:
    """Yield the memory ids of all passages of these documents."""
    for event in events:
        for number, _ in enumerate(split_chunks(event.text)):
            yield memory_id(MemoryKind.PASSAGE, event.scope, f"{number:06}", [event.id])
