"""Ids that cannot be mixed up or glued together.

A `WorkspaceId` is not a `UserId`, and neither turns into text by accident: formatting
one raises, so `f"ws_{workspace}"` is an error instead of a leak. `.value` is the text.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NoReturn, Self

from .errors import InvalidInput

LONGEST_ID = 200
DIGEST = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True, order=True)
class Id:
    """A name that was checked once and stays typed."""

    value: str

    def __post_init__(self) -> None:
        check_name(self.value, type(self).__name__)

    @classmethod
    def of(cls, value: str | Self) -> Self:
        return value if isinstance(value, cls) else cls(str_only(value, cls.__name__))

    def __str__(self) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} does not become text by itself; use .value")

    def __format__(self, spec: str) -> NoReturn:
        self.__str__()


class WorkspaceId(Id):
    """The tenant: a wall."""

    __slots__ = ()


class UserId(Id):
    """A person."""

    __slots__ = ()


class AgentId(Id):
    """A program that talks with people."""

    __slots__ = ()


def str_only(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"{what} must be text, not {type(value).__name__}")
    return value


def check_name(value: str, what: str) -> None:
    """Refuse names that would not survive storage or that nobody could tell apart."""
    str_only(value, what)
    if not value or value != value.strip():
        raise InvalidInput(f"{what} must not be empty or begin or end with a space: {value!r}")
    if len(value) > LONGEST_ID:
        raise InvalidInput(f"{what} is {len(value)} characters long; at most {LONGEST_ID} fit")
    if not value.isprintable() and any(map(_is_invisible, value)):
        raise InvalidInput(f"{what} holds an invisible character: {value!r}")


def _is_invisible(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cs", "Cf")


def is_digest(text: str) -> bool:
    """Whether this looks like an id that `digest` made: it says nothing of anybody."""
    return DIGEST.fullmatch(text) is not None


def event_digest(scope: str, key: str) -> str:
    """The id of an event, from where it happened, spelt, and from its key."""
    return digest("event", scope, key)


def digest(*parts: str) -> str:
    """A short, stable id for these parts; no two lists of parts share one.

    Ids are made from what a record is, never counted: a sequence would tell one viewer
    how much another one wrote.
    """
    told = b""
    for part in parts:
        encoded = part.encode()
        told += len(encoded).to_bytes(8, "big") + encoded
    return hashlib.blake2b(told, digest_size=16).hexdigest()


def digests(kind: str, texts: Iterable[str]) -> list[str]:
    """`digest(kind, text)` of each: what they begin with is read once for all."""
    encoded = kind.encode()
    begun = hashlib.blake2b(len(encoded).to_bytes(8, "big") + encoded, digest_size=16)
    made = []
    for text in texts:
        told = begun.copy()
        encoded = text.encode()
        told.update(len(encoded).to_bytes(8, "big") + encoded)
        made.append(told.hexdigest())
    return made
