"""Typed ids: each kind of id has its own class, and none converts to text implicitly.

A `WorkspaceId` is not a `UserId`. Formatting an id raises TypeError, so `f"ws_{workspace}"` is an
error instead of a leak. `.value` is the text.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NoReturn, Self

from .errors import InvalidInput

MAX_ID_LENGTH = 200
DIGEST = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True, order=True)
class Id:
    """A validated name with its own type."""

    value: str

    def __post_init__(self) -> None:
        check_name(self.value, type(self).__name__)

    @classmethod
    def of(cls, value: str | Self) -> Self:
        return value if isinstance(value, cls) else cls(require_str(value, cls.__name__))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.value!r})"

    def __str__(self) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} does not convert to text; use .value")

    def __format__(self, spec: str) -> NoReturn:
        self.__str__()


class WorkspaceId(Id):
    """Id of a workspace, the tenant boundary."""

    __slots__ = ()


class UserId(Id):
    """Id of a person."""

    __slots__ = ()


class AgentId(Id):
    """Id of a program that talks with people."""

    __slots__ = ()


def require_str(value: object, what: str) -> str:
    """Return `value`; raise InvalidInput if it is not a str."""
    if not isinstance(value, str):
        raise InvalidInput(f"{what} must be text, not {type(value).__name__}")
    return value


def check_name(value: str, what: str) -> None:
    """Raise InvalidInput for names that a store cannot save or that look like other names."""
    require_str(value, what)
    if not value or value != value.strip():
        raise InvalidInput(f"{what} must not be empty or start or end with a space, got {value!r}")
    if len(value) > MAX_ID_LENGTH:
        raise InvalidInput(f"{what} must have at most {MAX_ID_LENGTH} characters, got {len(value)}")
    if not value.isprintable() and any(map(_is_invisible, value)):
        raise InvalidInput(f"{what} must not contain invisible characters, got {value!r}")


def _is_invisible(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cs", "Cf")


def is_digest(text: str) -> bool:
    """Return whether `text` has the form of an id made by `digest`, which reveals no name."""
    return DIGEST.fullmatch(text) is not None


def event_digest(scope: str, key: str) -> str:
    """Return the id of an event, computed from its scope text and its key."""
    return digest("event", scope, key)


def digest(*parts: str) -> str:
    """Return a stable 32-digit hex id of `parts`; different lists of parts give different ids.

    Ids are computed from content and never counted. A sequence would reveal to one viewer how much
    another viewer wrote.
    """
    data = b""
    for part in parts:
        encoded = part.encode()
        data += len(encoded).to_bytes(8, "big") + encoded
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def digest_each(kind: str, texts: Iterable[str]) -> list[str]:
    """Return `digest(kind, text)` of each text; hashes the common prefix only once."""
    encoded = kind.encode()
    prefix = hashlib.blake2b(len(encoded).to_bytes(8, "big") + encoded, digest_size=16)
    digests = []
    for text in texts:
        hashed = prefix.copy()
        encoded = text.encode()
        hashed.update(len(encoded).to_bytes(8, "big") + encoded)
        digests.append(hashed.hexdigest())
    return digests
