"""The hash chain of a workspace's ledger.

Each link covers the one before it and a salted commitment to its event. Erasing an event
removes text and salt and keeps the commitment: the chain stays whole, and nothing about the
text can be guessed from it.
"""

from __future__ import annotations

import hashlib
from datetime import datetime
from os import urandom

from .canonical import canonical_json
from .codec import event_json
from .records import NewEvent

GENESIS = bytes(32)
EMPTY = hashlib.sha256()  # to look it up takes longer than to copy it and hash so little


def new_salt() -> bytes:
    return urandom(16)


def content_of(event: NewEvent, recorded_at: datetime | None = None) -> str:
    """The event as the ledger keeps it and commits to it."""
    return canonical_json(event_json(event, recorded_at))


def commitment(salt: bytes, content: str) -> bytes:
    hashed = EMPTY.copy()
    hashed.update(salt + content.encode())
    return hashed.digest()


def link(previous: bytes, commitment: bytes) -> bytes:
    hashed = EMPTY.copy()
    hashed.update(previous + commitment)
    return hashed.digest()


def same_content(one: NewEvent, other: NewEvent) -> bool:
    """Whether a redelivered event says what the first one said, whenever it was told again."""
    return _content(one) == _content(other)


def _content(event: NewEvent) -> dict[str, object]:
    told = event_json(event)
    for name in ("project", "utc_offset"):  # where it was may be said later than what was said
        told["metadata"].pop(name, None)
    return {name: told[name] for name in told.keys() - {"at", "recorded_at"}}
