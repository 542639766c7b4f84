"""Documents with a path, kept version by version.

Each version is an event whose key is the path and the number of the version: of two who write the
same version at once, the ledger takes one. Nothing is overwritten; the newest version holds.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any

from .access import Grant
from .errors import InvalidInput
from .protocols import Store
from .records import Event, EventKind, event_id
from .scope import Scope

DOCUMENT = "document"  # where a version stands in an event's metadata
LONGEST_PATH = 240
DEEPEST = 16
RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")  # no file on some systems
FORBIDDEN = re.compile(r'[\x00-\x1f\x7f<>:"|?*\\]')
HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One version of a document."""

    path: str
    text: str
    version: int  # counted from 1
    hash: str
    at: datetime
    by: str
    event: str
    deleted: bool = False


def content_hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def check_path(path: object) -> str:
    """The path, if it is one that any folder can hold and that stays inside it."""
    if not isinstance(path, str):
        raise InvalidInput(f"a path is a text, not {type(path).__name__}")
    parts = path.split("/")
    if not path or len(path) > LONGEST_PATH or len(parts) > DEEPEST:
        raise InvalidInput(f"a path has 1 to {LONGEST_PATH} characters in at most {DEEPEST} parts")
    if path != unicodedata.normalize("NFC", path):
        raise InvalidInput(f"write the path in its composed form (NFC): {path!r:.80}")
    for part in parts:
        dotted = part.startswith((".", " ")) or part.endswith((".", " "))
        if not part or dotted or FORBIDDEN.search(part) or RESERVED.fullmatch(part):
            raise InvalidInput(f"{part!r:.80} cannot be a part of a path: {path!r:.80}")
        if not part.isprintable():
            raise InvalidInput(f"a path holds an invisible character: {path!r:.80}")
    return path


def version_key(path: str, version: int) -> str:
    """The key of a version's event."""
    return f"notebook/{path}#{version}"


def history_of(store: Store, grant: Grant, scope: Scope, path: str) -> list[Event]:
    """Every version of a document as it was written, found by the keys they must have."""
    found: list[Event] = []
    start, size = 1, 8
    while True:
        ids = [event_id(scope, version_key(path, start + step)) for step in range(size)]
        there = store.ledger.get(grant, ids)
        found += there
        if len(there) < size and not store.eraser.gone(grant.workspace, ids):
            return found
        start, size = start + size, 2 * size


def versions_of(events: Iterable[Event]) -> list[Document]:
    """The versions among these events, oldest first."""
    found = [_document(event) for event in events if is_version(event)]
    return sorted(found, key=lambda each: (each.version, each.at, each.event))


def is_version(event: Event) -> bool:
    return event.kind is EventKind.DOCUMENT and isinstance(event.metadata.get(DOCUMENT), Mapping)


def check_version(told: Mapping[str, Any]) -> None:
    """Whether this can be read as a version of a document; said in an archive, for example."""
    check_path(told.get("path"))
    version, known = told.get("version"), told.get("hash")
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise InvalidInput(f"a version is a number from 1 on, not {version!r:.80}")
    if not isinstance(known, str) or not HASH.fullmatch(known):
        raise InvalidInput(f"not the hash of a document: {known!r:.80}")
    if not all(isinstance(told.get(flag, False), bool) for flag in ("empty", "deleted")):
        raise InvalidInput("a document is empty or not, deleted or not: true or false")


def _document(event: Event) -> Document:
    told = event.metadata[DOCUMENT]
    deleted = bool(told.get("deleted"))
    return Document(
        path=told["path"],
        text="" if deleted or told.get("empty") else event.text,
        version=told["version"],
        hash=told["hash"],
        at=event.at,
        by=event.speaker,
        event=event.id,
        deleted=deleted,
    )
