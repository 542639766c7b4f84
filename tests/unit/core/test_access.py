"""Seed 000's two tables, and a permission nobody can make, copy, change or widen."""

from __future__ import annotations

import copy
import pickle
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as some
from tests.unit.making import ACME, names, scopes

from nexus.core.access import Grant, Viewer, administrator_grant, check_grant
from nexus.core.errors import InvalidInput, NexusError, NotFound
from nexus.core.ids import AgentId, UserId, WorkspaceId
from nexus.core.scope import Kind, Scope, Visibility

SCRIBE = AgentId("scribe")
ALICE, BOB, CAROL = UserId("alice"), UserId("bob"), UserId("carol")

IN_ROOM = Viewer(
    workspace=ACME, agent=SCRIBE, room="design", participants=(ALICE, BOB), project="apollo"
)
IN_DM = Viewer(workspace=ACME, agent=SCRIBE, user=ALICE, project="apollo")
IN_SESSION = Viewer(workspace=ACME, agent=SCRIBE, user=ALICE, session="s1", project="apollo")

NOBODYS = {Scope.workspace(), Scope.agent("scribe")}


@pytest.mark.requirement("A10")
def test_a_room_sees_itself_its_participants_profiles_and_its_project() -> None:
    seen = IN_ROOM.grant().scopes - NOBODYS

    assert seen == {
        Scope.room("design"),
        Scope.user("alice"),
        Scope.user("bob"),
        Scope.project("apollo"),
    }


@pytest.mark.requirement("A11")
def test_a_dm_sees_itself_its_users_profile_and_the_project() -> None:
    seen = IN_DM.grant().scopes - NOBODYS

    assert seen == {Scope.dm("alice", "scribe"), Scope.user("alice"), Scope.project("apollo")}


def test_a_session_sees_itself_its_users_profile_and_the_project() -> None:
    seen = IN_SESSION.grant().scopes - NOBODYS

    assert seen == {Scope.session("alice", "s1"), Scope.user("alice"), Scope.project("apollo")}


@pytest.mark.requirement("A10", "A11")
@pytest.mark.parametrize("viewer", [IN_ROOM, IN_DM, IN_SESSION], ids=["room", "dm", "session"])
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
        Scope.session("bob", "s1"),
        Scope.session("alice", "s2"),
        Scope.agent("other-agent"),
    ],
    ids=str,
)
def test_nobody_sees_anything_else(viewer: Viewer, hidden: Scope) -> None:
    assert not viewer.grant().allows(frozenset({hidden}))


viewers_in_rooms = some.builds(
    Viewer,
    workspace=some.builds(WorkspaceId, names),
    agent=some.builds(AgentId, names),
    room=names,
    user=some.none() | some.builds(UserId, names),
    session=some.none() | names,
    participants=some.lists(some.builds(UserId, names), max_size=4).map(tuple),
    project=some.none() | names,
)
viewers_alone = some.builds(
    Viewer,
    workspace=some.builds(WorkspaceId, names),
    agent=some.builds(AgentId, names),
    user=some.builds(UserId, names),
    session=some.none() | names,
    participants=some.lists(some.builds(UserId, names), max_size=4).map(tuple),
    project=some.none() | names,
)


@pytest.mark.requirement("A10", "A12")
@given(viewers_in_rooms)
def test_no_room_ever_sees_anything_private(viewer: Viewer) -> None:
    scopes = viewer.grant().scopes

    assert all(scope.visibility is not Visibility.PRIVATE for scope in scopes)
    assert [scope for scope in scopes if scope.kind is Kind.ROOM] == [Scope.room(viewer.room or "")]


@pytest.mark.requirement("A11", "A12")
@given(viewers_alone)
def test_whoever_is_alone_sees_only_what_is_theirs_and_no_room(viewer: Viewer) -> None:
    scopes = viewer.grant().scopes

    assert viewer.user
    assert {scope.owner for scope in scopes if scope.owner} == {viewer.user.value}
    assert all(scope.kind is not Kind.ROOM for scope in scopes)


@pytest.mark.requirement("X1")
def test_a_label_of_several_scopes_needs_all_of_them() -> None:
    grant = IN_ROOM.grant()
    room, profile, dm = Scope.room("design"), Scope.user("alice"), Scope.dm("alice", "scribe")

    assert grant.allows(frozenset({room, profile}))
    assert not grant.allows(frozenset({room, dm}))
    assert not grant.allows(frozenset({dm}))


def test_the_administrator_sees_everything_of_one_workspace() -> None:
    grant = administrator_grant(ACME)

    assert grant.allows(frozenset({Scope.dm("alice", "scribe")}))
    assert grant.workspace == ACME


@pytest.mark.requirement("A12")
@given(some.frozensets(scopes, max_size=5), scopes)
def test_narrowing_only_shrinks(wanted: frozenset[Scope], other: Scope) -> None:
    whole = IN_ROOM.grant()

    narrowed = whole.within(wanted)

    assert narrowed.scopes == whole.scopes & wanted
    assert not narrowed.everything
    assert narrowed.within([*wanted, other]).scopes == narrowed.scopes
    check_grant(narrowed)


def test_narrowing_the_administrator_leaves_only_what_was_named() -> None:
    narrowed = administrator_grant(ACME).within([Scope.room("design")])

    assert narrowed.scopes == {Scope.room("design")}
    assert not narrowed.everything


def test_an_empty_grant_allows_nothing() -> None:
    nothing = IN_ROOM.grant().within([])

    assert not nothing.allows(frozenset({Scope.workspace()}))


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
def test_a_grant_cannot_be_made_or_copied(attempt) -> None:
    with pytest.raises(TypeError):
        attempt()


@pytest.mark.parametrize("name", ["scopes", "everything", "workspace", "_seal", "more"])
def test_a_grant_does_not_change(name: str) -> None:
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
def test_a_forged_grant_is_refused(grant) -> None:
    with pytest.raises(TypeError):
        check_grant(grant)


@pytest.mark.requirement("A12")
@pytest.mark.parametrize("everything", [True, False])
def test_narrowing_a_forged_grant_does_not_make_it_real(everything: bool) -> None:
    forgery = forged(workspace=ACME, scopes=WIDER, everything=everything, _seal=REAL._seal)

    with pytest.raises(TypeError):
        forgery.within(WIDER)


def test_a_grant_widened_by_force_is_refused() -> None:
    grant = IN_DM.grant()
    check_grant(grant)

    object.__setattr__(grant, "scopes", WIDER)

    with pytest.raises(TypeError):
        check_grant(grant)


# Naming a scope from where one is


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
        (IN_SESSION, "session", Scope.session("alice", "s1")),
    ],
)
@pytest.mark.requirement("C5")
def test_a_scope_is_named_by_its_kind_or_in_full(viewer: Viewer, name: str, meant: Scope) -> None:
    assert viewer.scope(name) == meant


@pytest.mark.requirement("A12")
@pytest.mark.parametrize(
    ("viewer", "name"),
    [
        (IN_ROOM, "dm"),
        (IN_ROOM, "dm:alice:scribe"),
        (IN_ROOM, "session"),
        (IN_ROOM, "user:carol"),
        (IN_ROOM, "room:other"),
        (IN_ROOM, "user"),  # two participants: which one?
        (IN_DM, "room"),
        (IN_DM, "room:design"),
        (IN_DM, "dm:bob:scribe"),
        (IN_DM, "user:bob"),
    ],
)
def test_a_scope_out_of_reach_is_not_found_whether_it_exists_or_not(viewer, name) -> None:
    with pytest.raises(NotFound):
        viewer.scope(name)


@pytest.mark.parametrize("name", ["", "rooms", "room:", "dm:a", "%"])
def test_a_scope_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput):
        IN_ROOM.scope(name)


def test_a_viewer_is_somewhere() -> None:
    with pytest.raises(NexusError):
        Viewer(workspace=ACME, agent=SCRIBE)


@pytest.mark.parametrize(
    ("viewer", "home"),
    [
        (IN_ROOM, Scope.room("design")),
        (IN_DM, Scope.dm("alice", "scribe")),
        (IN_SESSION, Scope.session("alice", "s1")),
    ],
    ids=["room", "dm", "session"],
)
def test_what_is_said_is_kept_where_it_was_said(viewer: Viewer, home: Scope) -> None:
    assert viewer.home == home
    assert home in viewer.grant().scopes
