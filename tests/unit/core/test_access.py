"""Access control: the two tables of seed 000, and grants that cannot be forged or widened."""

from __future__ import annotations

import copy
import pickle
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as some
from tests.unit.making import ACME, names, scopes

from nexusmem.core.access import Grant, Viewer, administrator_grant, check_grant
from nexusmem.core.errors import InvalidInput, NexusError, NotFound
from nexusmem.core.ids import AgentId, UserId, WorkspaceId
from nexusmem.core.scope import Scope, ScopeKind, Visibility

SCRIBE = AgentId("scribe")
ALICE, BOB, CAROL = UserId("alice"), UserId("bob"), UserId("carol")

IN_ROOM = Viewer(
    workspace=ACME, agent=SCRIBE, room="design", participants=(ALICE, BOB), project="apollo"
)
IN_DM = Viewer(workspace=ACME, agent=SCRIBE, user=ALICE, project="apollo")
IN_SESSION = Viewer(workspace=ACME, agent=SCRIBE, user=ALICE, session="s1", project="apollo")

NOBODYS = {Scope.workspace(), Scope.agent("scribe")}


@pytest.mark.requirement("A10")
def test_room_sees_itself_its_participants_and_its_project() -> None:
    seen = IN_ROOM.grant().scopes - NOBODYS

    assert seen == {
        Scope.room("design"),
        Scope.user("alice"),
        Scope.user("bob"),
        Scope.project("apollo"),
    }


@pytest.mark.requirement("A11")
def test_dm_sees_itself_its_user_and_the_project() -> None:
    seen = IN_DM.grant().scopes - NOBODYS

    assert seen == {Scope.dm("alice", "scribe"), Scope.user("alice"), Scope.project("apollo")}


def test_session_sees_itself_its_user_and_the_project() -> None:
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
def test_no_other_scope_is_visible(viewer: Viewer, hidden: Scope) -> None:
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

    assert narrowed.scopes == whole.scopes & wanted
    assert not narrowed.everything
    assert narrowed.narrow_to([*wanted, other]).scopes == narrowed.scopes
    check_grant(narrowed)


def test_narrowed_administrator_grant_has_only_named_scopes() -> None:
    narrowed = administrator_grant(ACME).narrow_to([Scope.room("design")])

    assert narrowed.scopes == {Scope.room("design")}
    assert not narrowed.everything


def test_empty_grant_allows_nothing() -> None:
    nothing = IN_ROOM.grant().narrow_to([])

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
        (IN_SESSION, "session", Scope.session("alice", "s1")),
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
        (IN_SESSION, Scope.session("alice", "s1")),
    ],
    ids=["room", "dm", "session"],
)
def test_home_is_the_scope_of_the_conversation(viewer: Viewer, home: Scope) -> None:
    assert viewer.home == home
    assert home in viewer.grant().scopes
