"""Hash chain of a workspace's ledger.

Each link covers the previous link and a salted commitment to its event. Erasing an event removes
text and salt but keeps the commitment. So the chain stays verifiable, and the text cannot be
guessed from it.
"""

from __future__ import annotations

import hashlib
from datetime import datetime
from os import urandom

from .canonical import canonical_json
from .json_codec import event_to_json
from .records import NewEvent

GENESIS = bytes(32)
EMPTY_SHA256 = hashlib.sha256()  # copying it is faster than a new lookup of the algorithm


def new_salt() -> bytes:
    return urandom(16)


def event_content(event: NewEvent, recorded_at: datetime | None = None) -> str:
    """Return the canonical JSON that the ledger stores and commits to."""
    return canonical_json(event_to_json(event, recorded_at))


def make_commitment(salt: bytes, content: str) -> bytes:
    hashed = EMPTY_SHA256.copy()
    hashed.update(salt + content.encode())
    return hashed.digest()


def chain_hash(previous: bytes, commitment: bytes) -> bytes:
    hashed = EMPTY_SHA256.copy()
    hashed.update(previous + commitment)
    return hashed.digest()


def has_same_content(one: NewEvent, other: NewEvent) -> bool:
    """Return whether a redelivered event equals the first one, regardless of its time."""
    return _comparable_content(one) == _comparable_content(other)


def _comparable_content(event: NewEvent) -> dict[str, object]:
    data = event_to_json(event)
    for name in ("project", "utc_offset"):  # may be added when the event is delivered again
        data["metadata"].pop(name, None)
    return {name: data[name] for name in data.keys() - {"at", "recorded_at"}}
