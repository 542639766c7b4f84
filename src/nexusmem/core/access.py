"""Access control: viewers, and the grants that every read requires.

A `Viewer` describes who reads from where. A `Grant` is the permission computed from it, and only
this module creates grants. Every read of every store takes a Grant and checks its seal, so a read
without access control cannot be written.

The label of a record is the set of scopes it was derived from. A grant may read the record if it
contains all of these scopes. A record derived from two scopes is readable only where both are.
The rules of `core/flows.py` are scopes, too: a grant contains those that are switched on.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NoReturn, final

from .errors import NotFound
from .flows import (
    ALL_FLOW_SCOPES,
    DEFAULT_SHARING,
    FLOW_SCOPES,
    FLOWS_BY_RULE,
    FlowRule,
    Sharing,
    label_rule,
)
from .ids import AgentId, UserId, WorkspaceId, require_str
from .scope import INTERNAL_KINDS, Scope, ScopeKind, parse_kind, parse_scope

Label = frozenset[Scope]

_SECRET = os.urandom(32)  # per process: a grant is invalid in any other process


@final
class Grant:
    """Permission to read the given scopes of one workspace."""

    __slots__ = ("_seal", "everything", "scopes", "workspace")

    workspace: WorkspaceId
    scopes: frozenset[Scope]
    everything: bool
    _seal: int

    def __init__(self) -> None:
        raise TypeError("create a Grant with Viewer.grant() or administrator_grant()")

    def allows(self, label: Label) -> bool:
        """Return whether a record with this label may be read."""
        return self.everything or label <= self.scopes

    def narrow_to(self, scopes: Iterable[Scope]) -> Grant:
        """Return a grant for the intersection with `scopes`; a grant cannot be widened.

        The `flow:` scopes of a viewer's grant stay: they only qualify other scopes.
        """
        self.check()  # otherwise a forged grant would get a valid seal
        wanted = frozenset(scopes)
        allowed = wanted if self.everything else self.scopes & (wanted | ALL_FLOW_SCOPES)
        return _mint_grant(self.workspace, allowed, everything=False)

    @property
    def places(self) -> list[Scope]:
        """The scopes of this grant that can hold records, sorted."""
        return sorted(scope for scope in self.scopes if scope.kind not in INTERNAL_KINDS)

    def check(self) -> None:
        """Raise TypeError unless this module created the grant and it is unchanged."""
        try:
            minted = self._seal == _compute_seal(self.workspace, self.scopes, self.everything)
        except AttributeError:  # created by other code, with fields missing
            minted = False
        if not minted:
            raise TypeError("this Grant was not created by nexusmem.core.access")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("a Grant is immutable")

    def __init_subclass__(cls) -> NoReturn:
        raise TypeError("a Grant cannot be subclassed")

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Grant cannot be pickled: it is valid in one process only")

    def __repr__(self) -> str:
        what = "everything" if self.everything else ", ".join(map(str, sorted(self.scopes)))
        return f"<Grant {self.workspace.value!r}: {what}>"


def _compute_seal(workspace: WorkspaceId, scopes: frozenset[Scope], everything: bool) -> int:
    """Return a keyed hash, cheap enough for every read.

    It protects against mistakes, not against an attacker inside the process.
    """
    return hash((_SECRET, workspace.value, scopes, everything))


def _mint_grant(workspace: WorkspaceId, scopes: frozenset[Scope], *, everything: bool) -> Grant:
    grant = object.__new__(Grant)
    for name, value in (
        ("workspace", workspace),
        ("scopes", scopes),
        ("everything", everything),
        ("_seal", _compute_seal(workspace, scopes, everything)),
    ):
        object.__setattr__(grant, name, value)
    return grant


def check_grant(grant: Grant) -> Grant:
    """Return `grant`; raise TypeError if it is not a valid Grant. Every read calls this first."""
    if type(grant) is not Grant:
        raise TypeError(f"the first argument of a read must be a Grant, got {type(grant).__name__}")
    grant.check()
    return grant


def administrator_grant(workspace: WorkspaceId) -> Grant:
    """Return a grant for a complete workspace, used by export, erasure and background work."""
    return _mint_grant(workspace, frozenset(), everything=True)


@lru_cache(maxsize=10_000)  # hot path: called for every message
def _home_scope(
    room: str | None, user: str, session: str | None, agent: str, private: bool
) -> Scope:
    if room or not user:
        home = Scope.room(room or "")
    elif session:
        home = Scope.session(user, agent, session, private=private)
    else:
        home = Scope.dm(user, agent)
    return parse_scope(str(home))  # the instance that records share: comparing it is fast


WORKSPACE_SCOPE = parse_scope(str(Scope.workspace()))


@lru_cache(maxsize=10_000)  # hot path, too
def _scope_for(kind: ScopeKind, *names: str) -> Scope:
    return parse_scope(str(Scope(kind, names)))


@lru_cache(maxsize=100)
def _flow_scopes(sharing: Sharing) -> tuple[Scope, ...]:
    return tuple(FLOW_SCOPES[rule] for rule in sharing.rules)


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewer:
    """The reader and where it reads from: a room, a DM with one user, or a user's session.

    A `private` session keeps what is learned in it inside. `sharing` are the flows of the
    workspace; the settings set them.
    """

    workspace: WorkspaceId
    agent: AgentId
    user: UserId | None = None
    room: str | None = None
    session: str | None = None
    participants: tuple[UserId, ...] = ()
    project: str | None = None
    private: bool = False
    sharing: Sharing = DEFAULT_SHARING

    def __post_init__(self) -> None:
        for name, value in {"the room": self.room, "the session": self.session}.items():
            if value is not None:
                require_str(value, name)
        if not self.room and not self.user:
            raise NotFound("a viewer needs a room or a user, got neither")

    @property
    def home(self) -> Scope:
        """The scope that events of this viewer are written to."""
        user = self.user.value if self.user else ""
        return _home_scope(self.room, user, self.session, self.agent.value, self.private)

    @property
    def is_shared_session(self) -> bool:
        """Whether this is a session whose memories are shared with the DM of its agent."""
        return self.home.kind is ScopeKind.SESSION and self.sharing.sessions

    @property
    def shared_viewer(self) -> Viewer:
        """The viewer for records that all sessions of the user with this agent share: the DM."""
        return replace(self, session=None) if self.is_shared_session else self

    @property
    def people(self) -> tuple[UserId, ...]:
        """The participants of the room, or the user of the DM or session."""
        return self.participants if self.room else tuple(filter(None, [self.user]))

    def grant(self) -> Grant:
        """Return the grant of this viewer: what its place shows, and the flows that are on.

        A room shows itself, the user scopes of its participants and its project, but never a DM. A
        DM or session shows itself, the user's private and shared profile and the project, but never
        a room or another user's DM. All show the scopes without a person: the agent's and the
        workspace's. If sessions are shared, a session also shows the DM with its agent.
        """
        return _mint_grant(self.workspace, frozenset(self._visible_scopes()), everything=False)

    def _visible_scopes(self) -> Iterable[Scope]:
        yield self.home
        yield WORKSPACE_SCOPE
        yield _scope_for(ScopeKind.AGENT, self.agent.value)
        if self.project:
            yield _scope_for(ScopeKind.PROJECT, self.project)
        yield from (_scope_for(ScopeKind.USER, person.value) for person in self.people)
        if self.user and not self.room:
            yield _scope_for(ScopeKind.PRIVATE, self.user.value)
            if self.session and self.sharing.sessions:
                yield _scope_for(ScopeKind.DM, self.user.value, self.agent.value)
        yield from _flow_scopes(self.sharing)

    def session_scope(self, name: str) -> Scope:
        """Return the scope of another shared session of this user with this agent.

        Raise NotFound if this viewer cannot read sessions.
        """
        if self.room or not self.user or not self.sharing.sessions:
            raise NotFound(f"session {name!r} is not visible here")
        return _scope_for(ScopeKind.SESSION, self.user.value, self.agent.value, name)

    def source_grant(self, sessions: Iterable[str]) -> Grant:
        """Return the grant with the events of these sessions, which the sessions flow allows."""
        more = (self.session_scope(name) for name in sessions)
        return _mint_grant(
            self.workspace, frozenset((*self._visible_scopes(), *more)), everything=False
        )

    def resolve_scope(self, name: str) -> Scope:
        """Return the visible scope that `name` means: a kind (`project`) or `kind:id`.

        Raise NotFound if the viewer cannot reach the scope, whether it exists or not.
        """
        if ":" in require_str(name, "scope"):
            scope = parse_scope(name)
            if scope.is_legacy_session:  # session:alice:monday, with this viewer's agent
                scope = Scope.session(scope.ids[0], self.agent.value, scope.ids[1])
            return scope if scope in self.grant().places else self._raise_unreachable(name)
        kind = parse_kind(name)
        if kind is ScopeKind.WORKSPACE:
            return WORKSPACE_SCOPE
        if kind is ScopeKind.SESSION and self.home.kind is ScopeKind.PRIVATE_SESSION:
            return self.home
        reachable = [scope for scope in self.grant().places if scope.kind is kind]
        own = self.user and Scope.user(self.user.value)
        if own in reachable:
            return own
        return reachable[0] if len(reachable) == 1 else self._raise_unreachable(name)

    def _raise_unreachable(self, name: str) -> NoReturn:
        reachable = ", ".join(map(str, self.grant().places))
        raise NotFound(f"scope {name!r} is not visible here; visible scopes: {reachable}")


@dataclass(frozen=True, slots=True)
class VisibilityReason:
    """Why a viewer can read a record: the scopes of its label, and the rule that widened it."""

    rule: str  # a setting of the table of flows, "place", or a scope: "user", "dm" …
    text: str
    scopes: tuple[str, ...]  # the label: the viewer can read all of these


SCOPE_REASONS = {
    ScopeKind.WORKSPACE: "it is stored for the whole workspace",
    ScopeKind.PROJECT: "it is stored for the project of this place",
    ScopeKind.USER: "it is part of a shared profile, and that person takes part here",
    ScopeKind.AGENT: "it is stored for this agent",
    ScopeKind.PRIVATE: "it is part of your private profile",
    ScopeKind.DM: "it was said in the DM with this agent",
}


def explain_visibility(viewer: Viewer, scope: Scope, label: Label) -> VisibilityReason:
    """Return which rule lets the viewer read a record of this scope with this label."""
    scopes = tuple(map(str, sorted(label)))
    if scope == viewer.home:
        return VisibilityReason("place", "it was said here", scopes)
    if rule := label_rule(label):
        named = FlowRule.AGENTS if rule is FlowRule.EVERYTHING else rule  # as in the settings
        everything = "you told another agent in private, and your agents share everything"
        reason = everything if rule is FlowRule.EVERYTHING else FLOWS_BY_RULE[named].reason
        return VisibilityReason(named.value, reason, scopes)
    places = sorted(each for each in label if each.kind not in INTERNAL_KINDS)
    texts = dict.fromkeys(
        "it was said here" if each == viewer.home else SCOPE_REASONS.get(each.kind, str(each))
        for each in places
    )
    return VisibilityReason(places[0].kind.value, "; ".join(texts), scopes)
