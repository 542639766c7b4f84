"""Scopes: parsing, aliases, visibility and owners."""

from __future__ import annotations

import pytest
from hypothesis import given
from tests.unit.making import scopes

from nexusmem.core.errors import InvalidInput
from nexusmem.core.scope import (
    INTERNAL_KINDS,
    KIND_ALIASES,
    Scope,
    ScopeKind,
    Visibility,
    parse_kind,
    parse_scope,
)


@pytest.mark.requirement("A8")
@given(scopes)
def test_scope_round_trips_as_text(scope: Scope) -> None:
    assert parse_scope(str(scope)) == scope


@given(scopes, scopes)
def test_different_scopes_have_different_texts(one: Scope, other: Scope) -> None:
    assert (str(one) == str(other)) == (one == other)


def test_colon_in_an_id_is_escaped() -> None:
    assert str(Scope.dm("a:b", "c")) == "dm:a%3Ab:c"
    assert str(Scope.dm("a", "b:c")) == "dm:a:b%3Ac"
    assert parse_scope("dm:a%3Ab:c") != parse_scope("dm:a:b%3Ac")


@pytest.mark.requirement("A8", "C5")
@pytest.mark.parametrize(
    ("seed", "ours"),
    [
        ("room:design", Scope.room("design")),
        ("dm:alice:scribe", Scope.dm("alice", "scribe")),
        ("profile:alice", Scope.user("alice")),
        ("project:apollo", Scope.project("apollo")),
        ("channel:design", Scope.room("design")),
        ("agent:scribe", Scope.agent("scribe")),
        ("session:alice:scribe:s1", Scope.session("alice", "scribe", "s1")),
        ("run:alice:scribe:s1", Scope.session("alice", "scribe", "s1")),
        ("session:alice:s1", Scope(ScopeKind.SESSION, ("alice", "s1"))),  # without its agent
        ("run:alice:s1", Scope(ScopeKind.SESSION, ("alice", "s1"))),
        (
            "private_session:alice:scribe:s1",
            Scope.session("alice", "scribe", "s1", private=True),
        ),
        ("private:alice", Scope.private("alice")),
        ("global", Scope.workspace()),
        ("_global:alice", Scope.user("alice")),
    ],
)
def test_seed_aliases_are_parsed(seed: str, ours: Scope) -> None:
    assert parse_scope(seed) == ours


@pytest.mark.parametrize(
    "text",
    [
        "",
        ":",
        "rooms:design",
        "Room:design",
        " room:design",
        "room",
        "room:",
        "room:a:b",
        "dm:alice",
        "dm:a:b:c",
        "workspace:acme",
        "session:s1",
        "session:a:b:c:d",
        "private_session:alice:s1",
        "private",
        "private:alice:scribe",
        "room: design",
        "room:%00",
        "room:%E2%80%AE",
        "room:a\ud800",
        "*",
        "1=1",
        "room:design' OR '1'='1\n",
    ],
    ids=repr,
)
def test_invalid_scope_is_rejected(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_scope(text)


def test_unknown_kind_error_lists_all_kinds() -> None:
    with pytest.raises(InvalidInput, match=r"unknown scope kind 'rom'.*room.*session.*for example"):
        parse_kind("rom")


def test_unknown_kind_error_names_no_internal_kind() -> None:
    with pytest.raises(InvalidInput) as raised:
        parse_kind("rom")

    assert not any(kind.value in str(raised.value) for kind in INTERNAL_KINDS)


@pytest.mark.parametrize(
    ("scope", "legacy"),
    [
        (Scope(ScopeKind.SESSION, ("alice", "s1")), True),
        (Scope.session("alice", "scribe", "s1"), False),
        (Scope.session("alice", "scribe", "s1", private=True), False),
        (Scope.dm("alice", "scribe"), False),
    ],
    ids=str,
)
def test_session_without_an_agent_is_of_an_earlier_version(scope: Scope, legacy: bool) -> None:
    assert scope.is_legacy_session is legacy


def test_aliases_are_not_kinds() -> None:
    assert not set(KIND_ALIASES) & {kind.value for kind in ScopeKind}


@pytest.mark.requirement("A9")
@pytest.mark.parametrize(
    ("scope", "visibility", "owner"),
    [
        (Scope.room("design"), Visibility.PUBLIC, None),
        (Scope.dm("alice", "scribe"), Visibility.PRIVATE, "alice"),
        (Scope.session("alice", "scribe", "s1"), Visibility.PRIVATE, "alice"),
        (Scope(ScopeKind.SESSION, ("alice", "s1")), Visibility.PRIVATE, "alice"),
        (Scope.session("alice", "scribe", "s1", private=True), Visibility.PRIVATE, "alice"),
        (Scope.private("alice"), Visibility.PRIVATE, "alice"),
        (Scope.user("alice"), Visibility.SHARED, "alice"),
        (Scope.project("apollo"), Visibility.SHARED, None),
        (Scope.agent("scribe"), Visibility.SHARED, None),
        (Scope.workspace(), Visibility.SHARED, None),
    ],
    ids=str,
)
def test_visibility_and_owner_of_scopes(scope, visibility, owner) -> None:
    assert scope.visibility is visibility
    assert scope.owner == owner
