"""Access control: the two tables of seed 000, and grants that cannot be forged or widened."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from tests.unit.making import ACME, names, scopes

from nexusmem.core.access import (
    Grant,
    Viewer,
    administrator_grant,
    check_grant,
    explain_visibility,
)
from nexusmem.core.errors import InvalidInput, NexusError, NotFound
from nexusmem.core.flows import (
    AGENT_MODES,
    DEFAULT_SHARING,
    FLOW_SCOPES,
    NO_SHARING,
    FlowRule,
    Sharing,
)
from nexusmem.core.ids import AgentId, UserId, WorkspaceId
from nexusmem.core.scope import Scope, ScopeKind, Visibility

SCRIBE = AgentId("scribe")
ALICE, BOB, CAROL = UserId("alice"), UserId("bob"), UserId("carol")

IN_ROOM = Viewer(
    workspace=ACME, agent=SCRIBE, room="design", participants=(ALICE, BOB), project="apollo"
)
IN_DM = Viewer(workspace=ACME, agent=SCRIBE, user=ALICE, project="apollo")
IN_SESSION = Viewer(workspace=ACME, agent=SCRIBE, user=ALICE, session="s1", project="apollo")
IN_PRIVATE_SESSION = replace(IN_SESSION, private=True)
FLOWS_ON = {
    FLOW_SCOPES[rule]
    for rule in (FlowRule.SESSIONS, FlowRule.AGENTS, FlowRule.PROFILE, FlowRule.PROJECT)
}

NOBODYS = {Scope.workspace(), Scope.agent("scribe")}


@pytest.mark.requirement("A10")
def test_room_sees_itself_its_participants_and_its_project() -> None:
    seen = set(IN_ROOM.grant().places) - NOBODYS

    assert seen == {
        Scope.room("design"),
        Scope.user("alice"),
        Scope.user("bob"),
        Scope.project("apollo"),
    }


@pytest.mark.requirement("A11")
def test_dm_sees_itself_both_profiles_of_its_user_and_the_project() -> None:
    seen = set(IN_DM.grant().places) - NOBODYS

    assert seen == {
        Scope.dm("alice", "scribe"),
        Scope.user("alice"),
        Scope.private("alice"),
        Scope.project("apollo"),
    }


@pytest.mark.parametrize("viewer", [IN_SESSION, IN_PRIVATE_SESSION], ids=["shared", "private"])
def test_session_sees_itself_and_what_the_dm_with_its_agent_sees(viewer: Viewer) -> None:
    seen = viewer.grant().scopes

    assert seen == IN_DM.grant().scopes | {viewer.home}


def test_session_does_not_see_the_dm_if_sessions_are_not_shared() -> None:
    alone = replace(IN_SESSION, sharing=NO_SHARING).grant().scopes

    assert alone - NOBODYS == {
        Scope.session("alice", "scribe", "s1"),
        Scope.user("alice"),
        Scope.private("alice"),
        Scope.project("apollo"),
    }


@pytest.mark.parametrize(
    ("sharing", "rules"),
    [
        (DEFAULT_SHARING, "sessions agents profile project"),
        (NO_SHARING, ""),
        (Sharing(agents="everything"), "sessions agents everything profile project"),
        (Sharing(rooms=True), "sessions agents profile project rooms"),
        (Sharing(sessions=False, agents="none"), "profile project"),
    ],
    ids=["default", "none", "everything", "rooms", "some"],
)
@pytest.mark.parametrize("viewer", [IN_ROOM, IN_DM, IN_SESSION], ids=["room", "dm", "session"])
def test_grant_has_the_flows_that_are_on(viewer: Viewer, sharing: Sharing, rules: str) -> None:
    scopes = replace(viewer, sharing=sharing).grant().scopes

    flows = {scope.ids[0] for scope in scopes if scope.kind is ScopeKind.FLOW}
    assert flows == set(rules.split())


@pytest.mark.parametrize("viewer", [IN_ROOM, IN_DM, IN_SESSION], ids=["room", "dm", "session"])
def test_places_of_a_grant_are_its_scopes_without_the_flows(viewer: Viewer) -> None:
    grant = viewer.grant()

    assert set(grant.places) == grant.scopes - FLOWS_ON
    assert grant.places == sorted(grant.places)


@pytest.mark.parametrize("values", [{"agents": "some"}, {"agents": True}, {"sessions": "yes"}])
def test_unknown_value_of_sharing_is_rejected(values: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=r"memory\.sharing\."):
        Sharing(**values)


@pytest.mark.requirement("A10", "A11")
@pytest.mark.parametrize(
    "viewer",
    [IN_ROOM, IN_DM, IN_SESSION, IN_PRIVATE_SESSION],
    ids=["room", "dm", "session", "private session"],
)
@pytest.mark.parametrize(
    "hidden",
    [
        Scope.dm("bob", "scribe"),
        Scope.dm("alice", "other-agent"),
        Scope.dm("alice2", "scribe"),
        Scope.room("design2"),
        Scope.room("desig"),
        Scope.user("carol"),
        Scope.project("apollo2"),
        Scope.session("bob", "scribe", "s1"),
        Scope.session("alice", "scribe", "s2"),
        Scope.session("alice", "other-agent", "s1"),
        Scope.session("alice", "scribe", "s2", private=True),
        Scope.session("bob", "scribe", "s1", private=True),
        Scope(ScopeKind.SESSION, ("alice", "s1")),
        Scope.private("bob"),
        Scope.agent("other-agent"),
    ],
    ids=str,
)
def test_no_other_scope_is_visible(viewer: Viewer, hidden: Scope) -> None:
    assert not viewer.grant().allows(frozenset({hidden}))


sharings = some.builds(
    Sharing,
    sessions=some.booleans(),
    agents=some.sampled_from(AGENT_MODES),
    profile=some.booleans(),
    project=some.booleans(),
    rooms=some.booleans(),
)
viewers_in_rooms = some.builds(
    Viewer,
    workspace=some.builds(WorkspaceId, names),
    agent=some.builds(AgentId, names),
    room=names,
    user=some.none() | some.builds(UserId, names),
    session=some.none() | names,
    private=some.booleans(),
    sharing=sharings,
    participants=some.lists(some.builds(UserId, names), max_size=4).map(tuple),
    project=some.none() | names,
)
viewers_alone = some.builds(
    Viewer,
    workspace=some.builds(WorkspaceId, names),
    agent=some.builds(AgentId, names),
    user=some.builds(UserId, names),
    session=some.none() | names,
    private=some.booleans(),
    sharing=sharings,
    participants=some.lists(some.builds(UserId, names), max_size=4).map(tuple),
    project=some.none() | names,
)


@pytest.mark.requirement("A10", "A12")
@given(viewers_in_rooms)
def test_room_never_sees_private_scopes(viewer: Viewer) -> None:
    scopes = viewer.grant().scopes

    assert all(scope.visibility is not Visibility.PRIVATE for scope in scopes)
    assert [scope for scope in scopes if scope.kind is ScopeKind.ROOM] == [
        Scope.room(viewer.room or "")
    ]


@pytest.mark.requirement("A11", "A12")
@given(viewers_alone)
def test_single_user_sees_own_scopes_and_no_room(viewer: Viewer) -> None:
    scopes = viewer.grant().scopes

    assert viewer.user
    assert {scope.owner for scope in scopes if scope.owner} == {viewer.user.value}
    assert all(scope.kind is not ScopeKind.ROOM for scope in scopes)


@pytest.mark.requirement("X1")
def test_label_with_several_scopes_requires_all_of_them() -> None:
    grant = IN_ROOM.grant()
    room, profile, dm = Scope.room("design"), Scope.user("alice"), Scope.dm("alice", "scribe")

    assert grant.allows(frozenset({room, profile}))
    assert not grant.allows(frozenset({room, dm}))
    assert not grant.allows(frozenset({dm}))


def test_administrator_sees_everything_in_one_workspace() -> None:
    grant = administrator_grant(ACME)

    assert grant.allows(frozenset({Scope.dm("alice", "scribe")}))
    assert grant.workspace == ACME


@pytest.mark.requirement("A12")
@given(some.frozensets(scopes, max_size=5), scopes)
def test_narrowing_never_widens_a_grant(wanted: frozenset[Scope], other: Scope) -> None:
    whole = IN_ROOM.grant()

    narrowed = whole.narrow_to(wanted)

    assert narrowed.scopes == whole.scopes & (wanted | FLOWS_ON)
    assert set(narrowed.places) == set(whole.places) & wanted
    assert not narrowed.everything
    assert narrowed.narrow_to([*wanted, other]).scopes == narrowed.scopes
    check_grant(narrowed)


def test_narrowed_administrator_grant_has_only_named_scopes() -> None:
    narrowed = administrator_grant(ACME).narrow_to([Scope.room("design")])

    assert narrowed.scopes == {Scope.room("design")}
    assert not narrowed.everything


def test_narrowing_does_not_add_flows_that_are_off() -> None:
    alone = replace(IN_DM, sharing=NO_SHARING).grant()

    narrowed = alone.narrow_to([IN_DM.home, *FLOW_SCOPES.values()])

    assert narrowed.scopes == {IN_DM.home}


def test_empty_grant_allows_nothing() -> None:
    nothing = IN_ROOM.grant().narrow_to([])

    assert not nothing.allows(frozenset({Scope.workspace()}))
    assert nothing.places == []


# Forging


@pytest.mark.requirement("A12")
@pytest.mark.parametrize(
    "attempt",
    [
        Grant,
        lambda: type("Wider", (Grant,), {}),
        lambda: copy.copy(IN_DM.grant()),
        lambda: copy.deepcopy(IN_DM.grant()),
        lambda: pickle.dumps(IN_DM.grant()),
        lambda: pickle.dumps(IN_DM.grant(), protocol=0),
    ],
    ids=["call", "subclass", "copy", "deepcopy", "pickle", "pickle-0"],
)
def test_grant_cannot_be_constructed_or_copied(attempt) -> None:
    with pytest.raises(TypeError):
        attempt()


@pytest.mark.parametrize("name", ["scopes", "everything", "workspace", "_seal", "more"])
def test_grant_is_immutable(name: str) -> None:
    with pytest.raises(AttributeError):
        setattr(IN_DM.grant(), name, True)


def forged(**fields: object) -> Grant:
    grant = object.__new__(Grant)
    for name, value in fields.items():
        object.__setattr__(grant, name, value)
    return grant


REAL = IN_DM.grant()
WIDER = REAL.scopes | {Scope.dm("bob", "scribe")}


@pytest.mark.requirement("A12")
@pytest.mark.parametrize(
    "grant",
    [
        None,
        "everything",
        True,
        {"everything": True},
        IN_DM,
        SimpleNamespace(workspace=ACME, scopes=WIDER, everything=True, check=lambda: None),
        forged(),
        forged(workspace=ACME, scopes=WIDER, everything=False),
        forged(workspace=ACME, scopes=WIDER, everything=False, _seal=REAL._seal),
        forged(workspace=ACME, scopes=REAL.scopes, everything=True, _seal=REAL._seal),
        forged(workspace=WorkspaceId("b"), scopes=REAL.scopes, everything=False, _seal=REAL._seal),
        forged(workspace=ACME, scopes=WIDER, everything=False, _seal=bytes(16)),
    ],
    ids=lambda grant: type(grant).__name__,
)
def test_forged_grant_is_rejected(grant) -> None:
    with pytest.raises(TypeError):
        check_grant(grant)


@pytest.mark.requirement("A12")
@pytest.mark.parametrize("everything", [True, False])
def test_narrowing_a_forged_grant_is_rejected(everything: bool) -> None:
    forgery = forged(workspace=ACME, scopes=WIDER, everything=everything, _seal=REAL._seal)

    with pytest.raises(TypeError):
        forgery.narrow_to(WIDER)


def test_grant_widened_by_setattr_is_rejected() -> None:
    grant = IN_DM.grant()
    check_grant(grant)

    object.__setattr__(grant, "scopes", WIDER)

    with pytest.raises(TypeError):
        check_grant(grant)


# Resolving scope names


@pytest.mark.parametrize(
    ("viewer", "name", "meant"),
    [
        (IN_ROOM, "room", Scope.room("design")),
        (IN_ROOM, "channel", Scope.room("design")),
        (IN_ROOM, "project", Scope.project("apollo")),
        (IN_ROOM, "agent", Scope.agent("scribe")),
        (IN_ROOM, "global", Scope.workspace()),
        (IN_ROOM, "workspace", Scope.workspace()),
        (IN_ROOM, "user:bob", Scope.user("bob")),
        (IN_ROOM, "profile:bob", Scope.user("bob")),
        (IN_DM, "user", Scope.user("alice")),
        (IN_DM, "profile", Scope.user("alice")),
        (IN_DM, "_global", Scope.user("alice")),
        (IN_DM, "dm", Scope.dm("alice", "scribe")),
        (IN_SESSION, "session", Scope.session("alice", "scribe", "s1")),
        (IN_SESSION, "session:alice:scribe:s1", Scope.session("alice", "scribe", "s1")),
        (IN_SESSION, "session:alice:s1", Scope.session("alice", "scribe", "s1")),
        (IN_SESSION, "run:alice:s1", Scope.session("alice", "scribe", "s1")),
        (IN_SESSION, "dm", Scope.dm("alice", "scribe")),
        (IN_SESSION, "private", Scope.private("alice")),
        (IN_PRIVATE_SESSION, "session", IN_PRIVATE_SESSION.home),
        (IN_PRIVATE_SESSION, "private_session", IN_PRIVATE_SESSION.home),
        (IN_DM, "private", Scope.private("alice")),
        (IN_DM, "private:alice", Scope.private("alice")),
    ],
)
@pytest.mark.requirement("C5")
def test_scope_is_resolved_by_kind_or_full_name(viewer: Viewer, name: str, meant: Scope) -> None:
    assert viewer.resolve_scope(name) == meant


@pytest.mark.requirement("A12")
@pytest.mark.parametrize(
    ("viewer", "name"),
    [
        (IN_ROOM, "dm"),
        (IN_ROOM, "dm:alice:scribe"),
        (IN_ROOM, "session"),
        (IN_ROOM, "user:carol"),
        (IN_ROOM, "room:other"),
        (IN_ROOM, "user"),  # ambiguous: two participants
        (IN_DM, "room"),
        (IN_DM, "room:design"),
        (IN_DM, "dm:bob:scribe"),
        (IN_DM, "user:bob"),
        (IN_ROOM, "private"),
        (IN_ROOM, "private:alice"),
        (IN_DM, "private:bob"),
        (IN_DM, "session:alice:s1"),
        (IN_DM, "flow:sessions"),
        (IN_DM, "worker"),
        (IN_SESSION, "session:alice:s2"),
        (IN_SESSION, "session:alice:other-agent:s1"),
        (IN_SESSION, "session:bob:s1"),
        (IN_SESSION, "private_session:alice:scribe:s1"),
        (IN_PRIVATE_SESSION, "session:alice:s1"),
        (replace(IN_SESSION, sharing=NO_SHARING), "dm"),
    ],
)
def test_unreachable_scope_raises_not_found(viewer, name) -> None:
    with pytest.raises(NotFound):
        viewer.resolve_scope(name)


@pytest.mark.parametrize("name", ["", "rooms", "room:", "dm:a", "%"])
def test_malformed_scope_is_rejected(name: str) -> None:
    with pytest.raises(InvalidInput):
        IN_ROOM.resolve_scope(name)


def test_viewer_needs_a_room_or_a_user() -> None:
    with pytest.raises(NexusError):
        Viewer(workspace=ACME, agent=SCRIBE)


@pytest.mark.parametrize(
    ("viewer", "home"),
    [
        (IN_ROOM, Scope.room("design")),
        (IN_DM, Scope.dm("alice", "scribe")),
        (IN_SESSION, Scope.session("alice", "scribe", "s1")),
        (IN_PRIVATE_SESSION, Scope.session("alice", "scribe", "s1", private=True)),
    ],
    ids=["room", "dm", "session", "private session"],
)
def test_home_is_the_scope_of_the_conversation(viewer: Viewer, home: Scope) -> None:
    assert viewer.home == home
    assert home in viewer.grant().scopes


@pytest.mark.parametrize("viewer", [IN_DM, IN_SESSION], ids=["dm", "session"])
def test_source_grant_adds_the_named_sessions_only(viewer: Viewer) -> None:
    grant = viewer.source_grant(["s7"])

    assert grant.scopes == viewer.grant().scopes | {Scope.session("alice", "scribe", "s7")}


@pytest.mark.parametrize(
    "viewer", [IN_ROOM, replace(IN_DM, sharing=NO_SHARING)], ids=["room", "not shared"]
)
def test_source_grant_is_for_shared_sessions_only(viewer: Viewer) -> None:
    with pytest.raises(NotFound):
        viewer.source_grant(["s7"])


@pytest.mark.parametrize(
    ("viewer", "label", "rule", "words"),
    [
        (IN_DM, {IN_DM.home}, "dm", "said here"),
        (IN_DM, {IN_DM.home, FLOW_SCOPES[FlowRule.SESSIONS]}, "sessions", "another session"),
        (
            IN_DM,
            {Scope.private("alice"), FLOW_SCOPES[FlowRule.AGENTS]},
            "agents",
            "another agent",
        ),
        (
            IN_DM,
            {Scope.private("alice"), FLOW_SCOPES[FlowRule.EVERYTHING]},
            "agents",
            "share everything",
        ),
        (
            IN_ROOM,
            {Scope.user("bob"), FLOW_SCOPES[FlowRule.PROFILE]},
            "profile",
            "about themselves in a room",
        ),
        (IN_ROOM, {Scope.user("bob")}, "user", "shared profile"),
        (IN_SESSION, {Scope.dm("alice", "scribe")}, "dm", "in the DM"),
        (IN_DM, {Scope.workspace()}, "workspace", "whole workspace"),
        (IN_DM, {IN_DM.home, Scope.project("apollo")}, "dm", "said here; it is stored for the"),
    ],
)
def test_visibility_is_explained_by_rule_and_label(
    viewer: Viewer, label: set[Scope], rule: str, words: str
) -> None:
    stored_in = Scope.agent("other")  # any scope but the place of the viewer

    reason = explain_visibility(viewer, stored_in, frozenset(label))

    assert reason.rule == rule
    assert words in reason.text
    assert set(reason.scopes) == set(map(str, label))


def test_record_of_the_place_itself_is_explained_as_said_here() -> None:
    label = frozenset({Scope.dm("alice", "scribe"), FLOW_SCOPES[FlowRule.SESSIONS]})

    reason = explain_visibility(IN_SESSION, IN_SESSION.home, label)

    assert (reason.rule, reason.text) == ("place", "it was said here")
