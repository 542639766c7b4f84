"""Flows: the table of rules by which information may leave the place where it was said.

The principle: information flows from a place to a reader exactly if everybody who will see the
answer was entitled to the source. `FLOWS` is the table. Each rule that is switched on adds its
`flow:` scope to a grant. A record that a rule has widened carries the same scope in its label, so
switching a rule off hides its records immediately.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from .errors import InvalidInput
from .scope import Scope, ScopeKind, parse_scope


class FlowRule(StrEnum):
    """Rules that widen records."""

    SESSIONS = "sessions"
    AGENTS = "agents"
    EVERYTHING = "everything"  # the setting `agents: everything`
    PROFILE = "profile"
    PROJECT = "project"
    ROOMS = "rooms"


AGENT_MODES = ("none", "profile", "everything")
PRIVATE_KINDS = frozenset({ScopeKind.DM, ScopeKind.SESSION})


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharing:
    """The flows of one workspace: the section `memory.sharing`."""

    sessions: bool = True
    agents: str = "profile"  # none | profile | everything
    profile: bool = True
    project: bool = True
    rooms: bool = False

    def __post_init__(self) -> None:
        if self.agents not in AGENT_MODES:
            raise InvalidInput(
                f"memory.sharing.agents must be one of {', '.join(AGENT_MODES)},"
                f" got {self.agents!r:.80}"
            )
        for name in ("sessions", "profile", "project", "rooms"):
            if not isinstance(getattr(self, name), bool):
                raise InvalidInput(
                    f"memory.sharing.{name} must be true or false, got {getattr(self, name)!r:.80}"
                )

    @property
    def rules(self) -> Iterator[FlowRule]:
        """The rules that are switched on."""
        if self.sessions:
            yield FlowRule.SESSIONS
        if self.agents != "none":
            yield FlowRule.AGENTS
        if self.agents == "everything":
            yield FlowRule.EVERYTHING
        if self.profile:
            yield FlowRule.PROFILE
        if self.project:
            yield FlowRule.PROJECT
        if self.rooms:
            yield FlowRule.ROOMS


DEFAULT_SHARING = Sharing()
NO_SHARING = Sharing(sessions=False, agents="none", profile=False, project=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """One row of the table, for documentation, `nexus flows` and `why_visible`."""

    rule: FlowRule | None  # None: no setting allows it
    source: str
    target: str
    what: str
    setting: str | None  # key below `memory.sharing`
    values: tuple[str, ...] = ("true", "false")
    default: str = ""
    reason: str = ""  # what `why_visible` says


FLOWS = (
    Flow(
        rule=FlowRule.SESSIONS,
        source="session of a user with an agent",
        target="the user's other sessions and DM with the same agent, and back",
        what="everything; a session is a thread, not a wall. Recent messages, the rolling summary,"
        " notes and the active goal stay with the session, and private sessions keep everything",
        setting="sessions",
        default="true",
        reason="you told the same agent in another session",
    ),
    Flow(
        rule=FlowRule.AGENTS,
        source="private places of a user with one agent",
        target="private places of the same user with other agents",
        what="`profile`: what the user says about themselves (preferences, identity, work, places,"
        " people, schedule). `everything`: all messages and notes. `none`: nothing",
        setting="agents",
        values=AGENT_MODES,
        default="profile",
        reason="you told another agent in private; it is part of your private profile",
    ),
    Flow(
        rule=FlowRule.PROFILE,
        source="room",
        target="the speaker's shared profile (`user:…`), read wherever that user takes part",
        what="what the speaker says about themselves: preferences, role, expertise, contact,"
        " working hours, style",
        setting="profile",
        default="true",
        reason="a participant said it about themselves in a room",
    ),
    Flow(
        rule=FlowRule.PROJECT,
        source="room of a project",
        target="the project (`project:…`), read in its rooms and in private places with it",
        what="decisions, action items, commitments and corrections, and facts about the project"
        " and its things",
        setting="project",
        default="true",
        reason="it was said in a room of this project",
    ),
    Flow(
        rule=FlowRule.ROOMS,
        source="room",
        target="private places of everybody who was a participant at that time",
        what="everything that was said while the user was a participant",
        setting="rooms",
        default="false",
        reason="it was said in a room while you were a participant",
    ),
    Flow(
        rule=None,
        source="DM or session",
        target="any room, any other person",
        what="nothing, except by an explicit `share`",
        setting=None,
        values=(),
        default="never",
    ),
    Flow(
        rule=None,
        source="anything confidential or sensitive",
        target="anywhere outside its place",
        what="nothing, except by an explicit `share`",
        setting=None,
        values=(),
        default="never",
    ),
)
TARGET_KINDS = {
    FlowRule.AGENTS: ScopeKind.PRIVATE,
    FlowRule.EVERYTHING: ScopeKind.PRIVATE,
    FlowRule.PROFILE: ScopeKind.USER,
    FlowRule.PROJECT: ScopeKind.PROJECT,
    FlowRule.ROOMS: ScopeKind.PRIVATE,
}
COPY_SCOPES = frozenset(TARGET_KINDS.values())
FLOWS_BY_RULE = {flow.rule: flow for flow in FLOWS if flow.rule}
FLOW_SCOPES = {rule: parse_scope(f"flow:{rule.value}") for rule in FlowRule}
ALL_FLOW_SCOPES = frozenset(FLOW_SCOPES.values())
ROOM_FLOW_SCOPES = frozenset(
    FLOW_SCOPES[rule] for rule in (FlowRule.PROFILE, FlowRule.PROJECT, FlowRule.ROOMS)
)


def shared_scope(session: Scope) -> Scope:
    """Return the scope that all sessions of one user with one agent share: their DM."""
    user, agent, _ = session.ids
    return parse_scope(str(Scope.dm(user, agent)))


def memory_scopes(scope: Scope, sharing: Sharing = DEFAULT_SHARING) -> list[Scope]:
    """Return the scopes of memories that are known in `scope`, for learning and for lookups.

    A session and its DM know what all sessions of the user with this agent share. `sharing` are
    the flows of the workspace: without shared sessions, each session and the DM know only
    themselves.
    """
    if not sharing.sessions:
        return [scope]
    shared = FLOW_SCOPES[FlowRule.SESSIONS]
    if scope.kind is ScopeKind.DM:
        return [scope, shared]
    is_session = scope.kind is ScopeKind.SESSION and not scope.is_legacy_session
    return [scope, shared_scope(scope), shared] if is_session else [scope]


def label_rule(label: Iterable[Scope]) -> FlowRule | None:
    """Return the rule that widened a record with this label, or None."""
    rules = [FlowRule(scope.ids[0]) for scope in label if scope.kind is ScopeKind.FLOW]
    return min(rules) if rules else None


def is_covered(rule: FlowRule, source: Scope, target: Scope) -> bool:
    """Return whether the table lets a record of `source` be read in `target` by this rule.

    The store asks this for every scope of a record's sources. A scope that is not covered stays in
    the label, so a mistake of a caller never widens a record beyond the table.
    """
    if rule is FlowRule.SESSIONS:
        return _is_session_of(source, target)
    if target.kind is not TARGET_KINDS[rule]:
        return False
    if rule in (FlowRule.AGENTS, FlowRule.EVERYTHING):
        private = source.kind in PRIVATE_KINDS and source.owner == target.owner
        return private or source == FLOW_SCOPES[FlowRule.SESSIONS]
    return source.kind is ScopeKind.ROOM


def _is_session_of(source: Scope, dm: Scope) -> bool:
    if source.kind is not ScopeKind.SESSION:
        return False
    return source.owner == dm.owner if source.is_legacy_session else shared_scope(source) == dm


def feeds(source: Scope, reader: frozenset[Scope]) -> bool:
    """Return whether events of `source` may give new memories to a reader of these scopes."""
    if source in reader:
        return False
    if FLOW_SCOPES[FlowRule.SESSIONS] in reader and any(
        each.kind is ScopeKind.DM and _is_session_of(source, each) for each in reader
    ):  # also for a reader of the DM alone, without the private profile
        return True
    if source.kind in PRIVATE_KINDS:
        return any(each.kind is ScopeKind.PRIVATE and each.owner == source.owner for each in reader)
    return source.kind is ScopeKind.ROOM and any(scope in reader for scope in ROOM_FLOW_SCOPES)


def widen_label(rule: FlowRule, target: Scope, source_scopes: Iterable[Scope]) -> frozenset[Scope]:
    """Return the label of a record that a rule copies to `target`."""
    uncovered = (scope for scope in source_scopes if not is_covered(rule, scope, target))
    return frozenset({target, FLOW_SCOPES[rule], *uncovered})
