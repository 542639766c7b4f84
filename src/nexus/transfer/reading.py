"""Reading an archive: every record is checked before the first one is written."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TextIO

from ..core.canonical import clean_json, clean_text, clean_time, text_time
from ..core.codec import event_from_json, memory_from_json
from ..core.errors import InvalidInput
from ..core.goals import check_deed
from ..core.ids import WorkspaceId, check_name, digest, str_only
from ..core.notebook import DOCUMENT, check_version, is_version
from ..core.procedures import OUTCOME, TOOL, check_outcome, check_use
from ..core.protocols import Floats
from ..core.questions import QUESTION
from ..core.reach import check_dossier
from ..core.records import EmbeddingProfile, Event, EventKind, Fact, Memory, MemoryKind, Tombstone
from ..core.sharing import LANDMARK, SHARE, check_act, check_landmark, is_copy
from ..learn.explicit import check_fact, explicit

FORMAT = "nexus-archive"
VERSION = 1
LONGEST_LINE = 50_000_000
TOMBSTONES = ("event", "memory", "user", "scope")
HEX = re.compile("[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class VectorRecord:
    memory: str
    profile: EmbeddingProfile
    data: Floats


Record = Event | Memory | VectorRecord | Tombstone


def read_records(source: Path | str | TextIO, workspace: WorkspaceId) -> Iterator[Record]:
    if isinstance(source, Path | str):
        try:
            with checked_path(source).open(encoding="utf-8") as file:
                yield from read_records(file, workspace)
        except OSError as error:
            raise InvalidInput(f"cannot read {source}: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise InvalidInput(f"{source} is not UTF-8 text: {error.reason}") from error
        return
    first = source.readline(LONGEST_LINE)
    if first.lstrip().startswith("["):
        yield from _entries(first + source.read(), workspace)
    else:
        yield from _lines(first, source, workspace)


def checked_path(name: Path | str) -> Path:
    if "\0" in str(name):
        raise InvalidInput(f"not a file name: {str(name)!r:.80}")
    return Path(name)


@contextmanager
def _named(where: str) -> Iterator[None]:
    """Whatever is wrong in there is the file's fault, and said to be."""
    try:
        yield
    except InvalidInput as error:
        raise InvalidInput(f"{where}: {error}") from error
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise InvalidInput(f"{where} is not a whole record: {error!r:.200}") from error
    except RecursionError:
        raise InvalidInput(f"{where} is nested too deep") from None


def _lines(first: str, rest: TextIO, workspace: WorkspaceId) -> Iterator[Record]:
    header = _parsed(first, 1)
    if header.get("type") != FORMAT:
        raise InvalidInput('not a Nexus archive: the first line is not {"type":"nexus-archive",…}')
    if header.get("version") != VERSION:
        raise InvalidInput(f"archive version {header.get('version')!r}; this Nexus reads {VERSION}")
    for number, line in enumerate(rest, start=2):
        if line.strip():
            record = _parsed(line, number)
            with _named(f"line {number}"):
                made = _record(record, workspace)
            yield made


def _parsed(line: str, number: int) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"line {number} is not JSON: {error}") from None
    if not isinstance(record, dict):
        raise InvalidInput(f"line {number} is not an object")
    return record


def _record(record: Mapping[str, Any], workspace: WorkspaceId) -> Record:
    match record["type"]:
        case "event":
            return _whole_event(event_from_json(record, workspace))
        case "memory":
            return _whole_memory(memory_from_json(record, workspace))
        case "vector":
            return _whole_vector(record)
        case "tombstone":
            return _whole_tombstone(record)
        case other:
            raise InvalidInput(f"unknown type {other!r:.80}")


def _whole_event(event: Event) -> Event:
    """The event as `observe` would have written it."""
    check_name(event.speaker, "the speaker")
    check_name(event.role, "the role")
    if event.thread is not None:
        check_name(event.thread, "the thread")
    whole = replace(
        event,
        text=clean_text(event.text),
        key=clean_text(event.key, "the key"),
        at=clean_time(event.at),
        recorded_at=clean_time(event.recorded_at, "recorded_at"),
        metadata=_mapping(event.metadata, "metadata"),
    )
    if not whole.text.strip() or not whole.key:
        raise InvalidInput("an event has a text and a key")
    clean_json([asdict(attachment) for attachment in whole.attachments], "attachments")
    _check_kind(whole)
    for draft in explicit(whole):  # a fact that cannot be read would stay stuck for ever
        if draft.kind is MemoryKind.FACT:
            check_fact(Fact(**draft.body), draft.confidence)
        if draft.kind is MemoryKind.GOAL:
            check_deed(draft.body)
    return whole


def _check_kind(event: Event) -> None:
    """Whether it says what an event of its kind says."""
    if is_version(event):
        check_version(event.metadata[DOCUMENT])
    if event.kind is EventKind.QUESTION:
        _mapping(event.metadata.get(QUESTION, {}), QUESTION)
    if event.kind is EventKind.OUTCOME:
        check_outcome(_mapping(event.metadata.get(OUTCOME, {}), OUTCOME))
    if event.kind is EventKind.TOOL and TOOL in event.metadata:
        check_use(_mapping(event.metadata[TOOL], TOOL))
    if event.kind is EventKind.SHARE:
        check_act(event.metadata.get(SHARE))
    if event.kind is EventKind.NOTE and is_copy(event) and LANDMARK in event.metadata:
        check_landmark(event.metadata[LANDMARK])


def _whole_tombstone(record: Mapping[str, Any]) -> Tombstone:
    kind, what = str_only(record["kind"], "kind"), str_only(record["digest"], "digest")
    if kind not in TOMBSTONES or not HEX.fullmatch(what):
        raise InvalidInput(f"not a tombstone: {kind!r:.40} {what!r:.80}")
    at = text_time(str_only(record["at"], "at"))
    return Tombstone(kind=kind, digest=what, at=clean_time(at))


def _whole_memory(memory: Memory) -> Memory:
    start, end = memory.valid_from, memory.valid_to
    whole = replace(
        memory,
        at=clean_time(memory.at),
        recorded_at=clean_time(memory.recorded_at, "recorded_at"),
        metadata=_mapping(memory.metadata, "metadata"),
        body=_mapping(memory.body, "body"),
        valid_from=None if start is None else clean_time(start, "valid_from"),
        valid_to=None if end is None else clean_time(end, "valid_to"),
    )
    told = (whole.text, whole.slot, whole.source, *whole.sources, *whole.tags)
    known = (whole.indexed_text, whole.speaker, whole.role, whole.thread)
    for text in (*told, *(text for text in known if text is not None)):
        _check_text(text)
    shares = (whole.confidence, whole.salience)
    if not all(isinstance(share, int | float) and 0 <= share <= 1 for share in shares):
        raise InvalidInput("confidence and salience lie between 0 and 1")
    if not isinstance(whole.learned, bool) or not isinstance(whole.archived, bool):
        raise InvalidInput("a memory is learned or not, and archived or not: true or false")
    if whole.kind is MemoryKind.FACT:
        check_fact(whole.fact, whole.confidence)
    if whole.kind is MemoryKind.DOSSIER:
        check_dossier(whole.body)
    return whole


def _whole_vector(record: Mapping[str, Any]) -> VectorRecord:
    import numpy as np  # noqa: PLC0415  # importing nexus stays fast

    profile = EmbeddingProfile(**record["profile"])
    names = (record["memory"], profile.provider, profile.model, profile.revision)
    data = np.frombuffer(b64decode(record["data"], validate=True), dtype="<f4")
    length = float(np.linalg.norm(data.astype(np.float64)))
    for name in names:
        _check_text(name)
    if data.shape != (profile.dimension,):
        raise InvalidInput("a vector has as many numbers as its profile says")
    if not 0.99 < length < 1.01:
        raise InvalidInput(f"a vector has length 1, this one {length:.3g}")
    return VectorRecord(record["memory"], profile, data)


def _check_text(text: Any) -> None:
    """Text a store can keep; how long it may be was decided when it was first written."""
    if "\0" in str_only(text, "a text"):
        raise InvalidInput("a text holds a NUL character")
    text.encode()


def _mapping(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{what} is a mapping, not {type(value).__name__}")
    cleaned: dict[str, Any] = clean_json(dict(value), what)
    return cleaned


def _entries(text: str, workspace: WorkspaceId) -> Iterator[Record]:
    """Seed 002's export: a list of entries with content and metadata."""
    try:
        entries = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"not JSON: {error}") from None
    for number, entry in enumerate(entries, start=1):
        with _named(f"entry {number}"):
            made = _record(_entry_event(entry), workspace)
        yield made


def _entry_event(entry: Any) -> dict[str, Any]:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("content"), str):
        raise InvalidInput("it has no content")
    metadata = entry.get("metadata") or {}
    at = entry.get("created_at") or "1970-01-01T00:00:00Z"
    key = entry.get("id") or digest("entry", entry["content"], at)
    return {
        "type": "event",
        "scope": "workspace",
        "kind": EventKind.NOTE.value,
        "speaker": entry.get("agent_id") or metadata.get("role") or "import",
        "role": metadata.get("role") or "user",
        "text": entry["content"],
        "at": at,
        "recorded_at": at,
        "key": f"import:{key}",
        "thread": entry.get("session_id"),
        "trust": "external",
        "attachments": [],
        "metadata": metadata,
    }
