"""Scopes: the drawers records lie in, written `kind:id`.

The five seeds spell the same drawers differently; `ALIASES` is the only place where their
spellings live.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from urllib.parse import unquote

from .errors import InvalidInput
from .ids import check_name


class Kind(StrEnum):
    """What a scope is about."""

    WORKSPACE = "workspace"
    PROJECT = "project"
    ROOM = "room"
    USER = "user"
    DM = "dm"
    AGENT = "agent"
    SESSION = "session"
    WORKER = "worker"  # what only work in the background reads: no viewer's grant holds it

    __hash__ = str.__hash__  # scopes are looked up all the time, and an enum's own is slow


class Visibility(StrEnum):
    """Who can meet a record, told by its scope alone (seed 000)."""

    PUBLIC = "public"
    SHARED = "shared"
    PRIVATE = "private"


ALIASES = {
    "channel": Kind.ROOM,
    "profile": Kind.USER,
    "global": Kind.WORKSPACE,
    "_global": Kind.USER,  # seed 004: user-wide
    "run": Kind.SESSION,
}

PARTS = {Kind.WORKSPACE: 0, Kind.WORKER: 0, Kind.DM: 2, Kind.SESSION: 2}  # every other kind has one

VISIBILITY = {
    Kind.ROOM: Visibility.PUBLIC,
    Kind.DM: Visibility.PRIVATE,
    Kind.SESSION: Visibility.PRIVATE,
    Kind.WORKER: Visibility.PRIVATE,
}


@dataclass(frozen=True, slots=True, order=True)
class Scope:
    """One drawer inside a workspace, for example `room:design` or `dm:alice:scribe`."""

    kind: Kind
    ids: tuple[str, ...] = ()
    spelt: str = field(init=False, repr=False, compare=False)  # asked for all the time

    def __post_init__(self) -> None:
        wanted = PARTS.get(self.kind, 1)
        if len(self.ids) != wanted:
            raise InvalidInput(f"a {self.kind.value} scope has {wanted} ids, not {len(self.ids)}")
        for part in self.ids:
            check_name(part, f"{self.kind.value} id")
        spelt = ":".join((self.kind.value, *map(_escape, self.ids)))
        object.__setattr__(self, "spelt", spelt)  # once, while it is made

    @classmethod
    def workspace(cls) -> Scope:
        return cls(Kind.WORKSPACE)

    @classmethod
    def project(cls, name: str) -> Scope:
        return cls(Kind.PROJECT, (name,))

    @classmethod
    def room(cls, name: str) -> Scope:
        return cls(Kind.ROOM, (name,))

    @classmethod
    def user(cls, name: str) -> Scope:
        return cls(Kind.USER, (name,))

    @classmethod
    def agent(cls, name: str) -> Scope:
        return cls(Kind.AGENT, (name,))

    @classmethod
    def dm(cls, user: str, agent: str) -> Scope:
        return cls(Kind.DM, (user, agent))

    @classmethod
    def session(cls, user: str, name: str) -> Scope:
        """A session is always somebody's, so knowing its name opens nothing."""
        return cls(Kind.SESSION, (user, name))

    @classmethod
    def worker(cls) -> Scope:
        return cls(Kind.WORKER)

    @property
    def visibility(self) -> Visibility:
        return VISIBILITY.get(self.kind, Visibility.SHARED)

    @property
    def owner(self) -> str | None:
        """The one person whose drawer this is, if it is one person's."""
        personal = self.kind in (Kind.USER, Kind.DM, Kind.SESSION)
        return self.ids[0] if personal else None

    def __str__(self) -> str:
        return self.spelt


def _escape(part: str) -> str:
    """Keep `dm:a%3Ab:c` and `dm:a:b%3Ac` apart."""
    return part.replace("%", "%25").replace(":", "%3A")


def kind_named(name: str) -> Kind:
    """The kind with this name, in our spelling or a seed's."""
    if name in ALIASES:
        return ALIASES[name]
    try:
        return Kind(name)
    except ValueError:
        known = ", ".join([*(kind.value for kind in Kind), *ALIASES])
        raise InvalidInput(f"unknown scope kind {name!r}; known are {known}") from None


@lru_cache(maxsize=10_000)
def parse_scope(text: str) -> Scope:
    """Read `kind:id`, as `str(scope)` writes it."""
    name, *ids = text.split(":")
    return Scope(kind_named(name), tuple(map(unquote, ids)))
