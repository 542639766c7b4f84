"""Scopes: partitions of a workspace that records belong to, written `kind:id`.

The projects that Nexus grew from name the same scopes differently. `KIND_ALIASES` holds all of
their spellings.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from urllib.parse import unquote

from .errors import InvalidInput
from .ids import check_name


class ScopeKind(StrEnum):
    """Kind of a scope."""

    WORKSPACE = "workspace"
    PROJECT = "project"
    ROOM = "room"
    USER = "user"
    DM = "dm"
    AGENT = "agent"
    SESSION = "session"  # of one user with one agent; its memories are shared with the DM
    PRIVATE_SESSION = "private_session"  # a session that keeps its memories inside
    PRIVATE = "private"  # a user's private profile, read in private places of that user only
    WORKER = "worker"  # read only by background work: no viewer's grant contains it
    FLOW = "flow"  # marks records that a rule of `core/flows.py` has widened; holds no records

    __hash__ = str.__hash__  # hot path: the hash of an enum is slow


class Visibility(StrEnum):
    """Audience of a record, determined by its scope alone (specification 000)."""

    PUBLIC = "public"
    SHARED = "shared"
    PRIVATE = "private"


KIND_ALIASES = {
    "channel": ScopeKind.ROOM,
    "profile": ScopeKind.USER,
    "global": ScopeKind.WORKSPACE,
    "_global": ScopeKind.USER,  # specification 004: user-wide
    "run": ScopeKind.SESSION,
}

ID_COUNTS = {
    ScopeKind.WORKSPACE: 0,
    ScopeKind.WORKER: 0,
    ScopeKind.DM: 2,
    ScopeKind.SESSION: 3,
    ScopeKind.PRIVATE_SESSION: 3,
}  # all other kinds have one id
LEGACY_SESSION_IDS = 2  # user and name, as in session:alice:monday

VISIBILITY = {
    ScopeKind.ROOM: Visibility.PUBLIC,
    ScopeKind.DM: Visibility.PRIVATE,
    ScopeKind.SESSION: Visibility.PRIVATE,
    ScopeKind.PRIVATE_SESSION: Visibility.PRIVATE,
    ScopeKind.PRIVATE: Visibility.PRIVATE,
    ScopeKind.WORKER: Visibility.PRIVATE,
}


PERSONAL_KINDS = frozenset(
    {
        ScopeKind.USER,
        ScopeKind.DM,
        ScopeKind.SESSION,
        ScopeKind.PRIVATE_SESSION,
        ScopeKind.PRIVATE,
    }
)
SESSION_KINDS = frozenset({ScopeKind.SESSION, ScopeKind.PRIVATE_SESSION})
INTERNAL_KINDS = frozenset({ScopeKind.WORKER, ScopeKind.FLOW})  # no caller can name them


@dataclass(frozen=True, slots=True, order=True)
class Scope:
    """A partition of a workspace, for example `room:design` or `dm:alice:scribe`."""

    kind: ScopeKind
    ids: tuple[str, ...] = ()
    text: str = field(init=False, repr=False, compare=False)  # computed once: hot path

    def __post_init__(self) -> None:
        wanted = ID_COUNTS.get(self.kind, 1)
        if len(self.ids) != wanted and not self.is_legacy_session:
            raise InvalidInput(f"a {self.kind.value} scope needs {wanted} ids, got {len(self.ids)}")
        for part in self.ids:
            check_name(part, f"{self.kind.value} id")
        text = ":".join((self.kind.value, *map(_escape_id, self.ids)))
        object.__setattr__(self, "text", text)

    @classmethod
    def workspace(cls) -> Scope:
        return cls(ScopeKind.WORKSPACE)

    @classmethod
    def project(cls, name: str) -> Scope:
        return cls(ScopeKind.PROJECT, (name,))

    @classmethod
    def room(cls, name: str) -> Scope:
        return cls(ScopeKind.ROOM, (name,))

    @classmethod
    def user(cls, name: str) -> Scope:
        return cls(ScopeKind.USER, (name,))

    @classmethod
    def agent(cls, name: str) -> Scope:
        return cls(ScopeKind.AGENT, (name,))

    @classmethod
    def dm(cls, user: str, agent: str) -> Scope:
        return cls(ScopeKind.DM, (user, agent))

    @classmethod
    def session(cls, user: str, agent: str, name: str, *, private: bool = False) -> Scope:
        """Return the scope of a user's session with an agent; its name alone gives no access."""
        kind = ScopeKind.PRIVATE_SESSION if private else ScopeKind.SESSION
        return cls(kind, (user, agent, name))

    @classmethod
    def private(cls, user: str) -> Scope:
        """Return the scope of a user's private profile."""
        return cls(ScopeKind.PRIVATE, (user,))

    @classmethod
    def worker(cls) -> Scope:
        return cls(ScopeKind.WORKER)

    @property
    def visibility(self) -> Visibility:
        return VISIBILITY.get(self.kind, Visibility.SHARED)

    @property
    def owner(self) -> str | None:
        """The person who owns this scope, or None if it belongs to several people."""
        return self.ids[0] if self.kind in PERSONAL_KINDS else None

    @property
    def is_legacy_session(self) -> bool:
        """Whether this is a session of an earlier version, which did not record its agent."""
        return self.kind is ScopeKind.SESSION and len(self.ids) == LEGACY_SESSION_IDS

    def __str__(self) -> str:
        return self.text


def _escape_id(part: str) -> str:
    """Escape `%` and `:`, so that `dm:a%3Ab:c` and `dm:a:b%3Ac` stay distinct."""
    return part.replace("%", "%25").replace(":", "%3A")


def parse_kind(name: str) -> ScopeKind:
    """Return the scope kind of this name or alias; raise InvalidInput if it is unknown."""
    if name in KIND_ALIASES:
        return KIND_ALIASES[name]
    try:
        return ScopeKind(name)
    except ValueError:
        accepted = ", ".join(kind.value for kind in ScopeKind if kind not in INTERNAL_KINDS)
        raise InvalidInput(
            f"unknown scope kind {name!r}; expected one of {accepted},"
            " for example 'user' or 'room:design'"
        ) from None


@lru_cache(maxsize=10_000)
def parse_scope(text: str) -> Scope:
    """Parse `kind:id`, the format of `str(scope)`."""
    name, *ids = text.split(":")
    return Scope(parse_kind(name), tuple(map(unquote, ids)))
