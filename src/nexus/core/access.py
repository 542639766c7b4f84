"""Who asks, from where, and what they may therefore read.

A `Viewer` is a plain description. A `Grant` is the permission made from it, and only this
module makes one: every read in every store takes a Grant and checks its seal, so a read
that forgot to ask "for whom?" cannot be written.

A record's label is the set of scopes it rests on. It may be read when the grant holds all
of them: whatever is derived from two places is readable only where both are.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import NoReturn, final

from .errors import NotFound
from .ids import AgentId, UserId, WorkspaceId, str_only
from .scope import Kind, Scope, kind_named, parse_scope

Label = frozenset[Scope]

_SECRET = os.urandom(32)  # of this process: a grant means nothing elsewhere


@final
class Grant:
    """What may be read: these scopes of this workspace, and nothing else."""

    __slots__ = ("_seal", "everything", "scopes", "workspace")

    workspace: WorkspaceId
    scopes: frozenset[Scope]
    everything: bool
    _seal: int

    def __init__(self) -> None:
        raise TypeError("a Grant comes from Viewer.grant() or administrator_grant()")

    def allows(self, label: Label) -> bool:
        return self.everything or label <= self.scopes

    def within(self, scopes: Iterable[Scope]) -> Grant:
        """The same grant, narrowed; it cannot be widened."""
        self.check()  # or a forged one would come out sealed
        wanted = frozenset(scopes)
        kept = wanted if self.everything else self.scopes & wanted
        return _mint(self.workspace, kept, everything=False)

    def check(self) -> None:
        """Raise unless this module minted the grant and nobody changed it since."""
        try:
            minted = self._seal == _seal(self.workspace, self.scopes, self.everything)
        except AttributeError:  # it was made without us, and is not whole
            minted = False
        if not minted:
            raise TypeError("this Grant was not minted here")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("a Grant does not change")

    def __init_subclass__(cls) -> NoReturn:
        raise TypeError("a Grant has no subclasses")

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Grant does not leave its process")

    def __repr__(self) -> str:
        what = "everything" if self.everything else ", ".join(sorted(map(str, self.scopes)))
        return f"<Grant {self.workspace.value!r}: {what}>"


def _seal(workspace: WorkspaceId, scopes: frozenset[Scope], everything: bool) -> int:
    """Keyed and cheap: every read checks it. It guards against mistakes, not against a debugger."""
    return hash((_SECRET, workspace.value, scopes, everything))


def _mint(workspace: WorkspaceId, scopes: frozenset[Scope], *, everything: bool) -> Grant:
    grant = object.__new__(Grant)
    for name, value in (
        ("workspace", workspace),
        ("scopes", scopes),
        ("everything", everything),
        ("_seal", _seal(workspace, scopes, everything)),
    ):
        object.__setattr__(grant, name, value)
    return grant


def check_grant(grant: Grant) -> Grant:
    """What every read does first."""
    if type(grant) is not Grant:
        raise TypeError(f"a read takes a Grant first, not {type(grant).__name__}")
    grant.check()
    return grant


def administrator_grant(workspace: WorkspaceId) -> Grant:
    """Everything in one workspace: for export, erasure and the program's own background work."""
    return _mint(workspace, frozenset(), everything=True)


@lru_cache(maxsize=10_000)  # asked for with every message
def _home(room: str | None, user: str, session: str | None, agent: str) -> Scope:
    if room or not user:
        home = Scope.room(room or "")
    else:
        home = Scope.session(user, session) if session else Scope.dm(user, agent)
    return parse_scope(str(home))  # the one that records have, which is soon seen to be the same


WORKSPACE = parse_scope(str(Scope.workspace()))  # the same for everybody


@lru_cache(maxsize=10_000)  # so are these
def _drawer(kind: Kind, name: str) -> Scope:
    return Scope(kind, (name,))


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewer:
    """Who is asking, and from where: a room, a DM with one user, or a user's session."""

    workspace: WorkspaceId
    agent: AgentId
    user: UserId | None = None
    room: str | None = None
    session: str | None = None
    participants: tuple[UserId, ...] = ()
    project: str | None = None

    def __post_init__(self) -> None:
        for name, value in {"the room": self.room, "the session": self.session}.items():
            if value is not None:
                str_only(value, name)
        if not self.room and not self.user:
            raise NotFound("a viewer is in a room or is a user")

    @property
    def home(self) -> Scope:
        """Where what is said here is kept."""
        user = self.user.value if self.user else ""
        return _home(self.room, user, self.session, self.agent.value)

    @property
    def people(self) -> tuple[UserId, ...]:
        """Who is here."""
        return self.participants if self.room else tuple(filter(None, [self.user]))

    def grant(self) -> Grant:
        """Seed 000's two filters: one for rooms, one for a single user's places.

        A room shows itself, its participants' profiles and its project, never a DM. A DM shows
        itself, this user's profile and the project, never a room or another user's DM. Both
        show the drawers that belong to nobody: the agent's own and the workspace's.
        """
        return _mint(self.workspace, frozenset(self._scopes()), everything=False)

    def _scopes(self) -> Iterable[Scope]:
        yield self.home
        yield WORKSPACE
        yield _drawer(Kind.AGENT, self.agent.value)
        if self.project:
            yield _drawer(Kind.PROJECT, self.project)
        yield from (_drawer(Kind.USER, person.value) for person in self.people)

    def scope(self, name: str) -> Scope:
        """The scope of this viewer that `name` means: a kind (`project`) or `kind:id`.

        A scope out of reach is NotFound, whether it exists or not.
        """
        if ":" in str_only(name, "a scope"):
            scope = parse_scope(name)
            return scope if scope in self.grant().scopes else self._unreachable(name)
        kind = kind_named(name)
        if kind is Kind.WORKSPACE:
            return WORKSPACE
        reachable = [scope for scope in self.grant().scopes if scope.kind is kind]
        own = self.user and Scope.user(self.user.value)
        if own in reachable:
            return own
        return reachable[0] if len(reachable) == 1 else self._unreachable(name)

    def _unreachable(self, name: str) -> NoReturn:
        known = ", ".join(sorted(map(str, self.grant().scopes)))
        raise NotFound(f"no scope {name!r} here; from here one reaches {known}")
