"""Notebook documents: versioned texts with a path.

Each version is an event whose key contains the path and the version number. If two writers write
the same version, the ledger accepts one of them. Versions are never overwritten; the newest one is
current.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any

from ..access import Grant
from ..errors import InvalidInput
from ..protocols.store import Store
from ..scope import Scope
from . import Event, EventKind, event_id

DOCUMENT = "document"  # metadata key of a version
MAX_PATH_LENGTH = 240
MAX_PATH_PARTS = 16
MAX_PART_LENGTH = 120  # of a part that is made from a name
RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")  # device names on Windows
FORBIDDEN = re.compile(r'[\x00-\x1f\x7f<>:"|?*\\]')
HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One version of a document."""

    path: str
    text: str
    version: int  # starts at 1
    hash: str
    at: datetime
    by: str
    event: str
    deleted: bool = False


def content_hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def check_path(path: object) -> str:
    """Return `path`; raise InvalidInput unless it is a portable relative path without `..`."""
    if not isinstance(path, str):
        raise InvalidInput(f"a path must be text, got {type(path).__name__}")
    parts = path.split("/")
    if not path or len(path) > MAX_PATH_LENGTH or len(parts) > MAX_PATH_PARTS:
        raise InvalidInput(
            f"a path must have 1 to {MAX_PATH_LENGTH} characters and at most {MAX_PATH_PARTS} parts"
        )
    if path != unicodedata.normalize("NFC", path):
        raise InvalidInput(f"a path must be in Unicode normal form C (NFC), got {path!r:.80}")
    for part in parts:
        dotted = part.startswith((".", " ")) or part.endswith((".", " "))
        if not part or dotted or FORBIDDEN.search(part) or RESERVED.fullmatch(part):
            raise InvalidInput(f"{part!r:.80} is not allowed as part of a path, got {path!r:.80}")
        if not part.isprintable():
            raise InvalidInput(f"a path must not contain invisible characters, got {path!r:.80}")
    return path


def path_part(name: str) -> str:
    """Return a name as one part of a path: characters that no path may contain become "-"."""
    printable = "".join(each if each.isprintable() else "-" for each in name)
    part = FORBIDDEN.sub("-", unicodedata.normalize("NFC", printable).replace("/", "-"))
    part = part[:MAX_PART_LENGTH].strip(" .-")
    return f"_{part}" if not part or RESERVED.fullmatch(part) else part


def version_key(path: str, version: int) -> str:
    """Return the idempotency key of a version's event."""
    return f"notebook/{path}#{version}"


def load_history(store: Store, grant: Grant, scope: Scope, path: str) -> list[Event]:
    """Return the events of all versions of a document, found by their predictable keys."""
    found: list[Event] = []
    start, size = 1, 8
    while True:
        ids = [event_id(scope, version_key(path, start + step)) for step in range(size)]
        page = store.ledger.get(grant, ids)
        found += page
        if len(page) < size and not store.eraser.any_erased(grant.workspace, ids):
            return found
        start, size = start + size, 2 * size


def parse_versions(events: Iterable[Event]) -> list[Document]:
    """Return the document versions among these events, oldest first."""
    found = [_parse_document(event) for event in events if is_version(event)]
    return sorted(found, key=lambda each: (each.version, each.at, each.event))


def is_version(event: Event) -> bool:
    return event.kind is EventKind.DOCUMENT and isinstance(event.metadata.get(DOCUMENT), Mapping)


def check_version(data: Mapping[str, Any]) -> None:
    """Raise InvalidInput unless `data` is a valid document version, for example from an archive."""
    check_path(data.get("path"))
    version, hash = data.get("version"), data.get("hash")
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise InvalidInput(f"a version must be an integer of at least 1, got {version!r:.80}")
    if not isinstance(hash, str) or not HASH.fullmatch(hash):
        raise InvalidInput(f"a document hash must be 64 hex digits, got {hash!r:.80}")
    if not all(isinstance(data.get(flag, False), bool) for flag in ("empty", "deleted")):
        raise InvalidInput("empty and deleted of a document must be true or false")


def _parse_document(event: Event) -> Document:
    data = event.metadata[DOCUMENT]
    deleted = bool(data.get("deleted"))
    return Document(
        path=data["path"],
        text="" if deleted or data.get("empty") else event.text,
        version=data["version"],
        hash=data["hash"],
        at=event.at,
        by=event.speaker,
        event=event.id,
        deleted=deleted,
    )
