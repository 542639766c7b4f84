"""Typed ids: no implicit conversion to text, validation and digests."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as some

from nexusmem.core.errors import InvalidInput
from nexusmem.core.ids import (
    MAX_ID_LENGTH,
    AgentId,
    Id,
    UserId,
    WorkspaceId,
    check_name,
    digest,
    digest_each,
)

TYPES = (WorkspaceId, UserId, AgentId)


@pytest.mark.requirement("D21")
@pytest.mark.parametrize(
    "spell",
    [str, "{}".format, "{:>9}".format, lambda it: f"ws_{it}", "%s".__mod__, json.dumps],
    ids=["str", "format", "format-spec", "f-string", "percent", "json"],
)
@pytest.mark.parametrize("type", TYPES)
def test_id_does_not_convert_to_text(type, spell) -> None:
    with pytest.raises(TypeError):
        spell(type("acme"))


@pytest.mark.requirement("D21")
@pytest.mark.parametrize("glue", [lambda it: "ws_" + it, lambda it: "".join(["ws_", it])])
def test_id_cannot_be_concatenated_with_text(glue) -> None:
    with pytest.raises(TypeError):
        glue(WorkspaceId("acme"))


def test_value_is_the_text_of_an_id() -> None:
    assert WorkspaceId("acme").value == "acme"
    assert repr(WorkspaceId("acme")) == "WorkspaceId('acme')"


@pytest.mark.requirement("D21")
def test_ids_of_different_types_are_not_equal() -> None:
    same_name = {type("acme") for type in TYPES}

    assert len(same_name) == 3
    assert WorkspaceId("acme") == WorkspaceId("acme")
    assert WorkspaceId("acme") != "acme"
    with pytest.raises(TypeError):
        assert WorkspaceId("acme") < UserId("b")


def test_id_is_immutable() -> None:
    with pytest.raises(FrozenInstanceError):
        UserId("alice").value = "bob"  # type: ignore[misc]


def test_of_accepts_text_or_the_same_type() -> None:
    assert UserId.of("alice") == UserId("alice") == UserId.of(UserId("alice"))
    with pytest.raises(InvalidInput):
        UserId.of(AgentId("alice"))  # type: ignore[arg-type]


@pytest.mark.parametrize("type", [*TYPES, Id])
@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        " alice",
        "alice\n",
        "al\0ice",
        "al\u202eice",
        "al\u200bice",
        "al\ud800ice",
        "\ufeffalice",
        "x" * (MAX_ID_LENGTH + 1),
        5,
        None,
        b"alice",
        ["alice"],
    ],
    ids=repr,
)
def test_ambiguous_or_unstorable_name_is_rejected(type, name) -> None:
    with pytest.raises(InvalidInput):
        type(name)


@pytest.mark.parametrize(
    "name", ["alice", "Älice Ö", "爱丽丝", "a:b", "%41", "a b", "😀", "x" * 200]
)
def test_other_names_are_accepted_unchanged(name: str) -> None:
    check_name(name, "a name")
    assert UserId(name).value == name


parts = some.lists(some.text(some.characters(exclude_categories=("Cs",)), max_size=4), max_size=4)


@given(parts, parts)
def test_different_parts_have_different_digests(one: list[str], other: list[str]) -> None:
    assert (digest(*one) == digest(*other)) == (one == other)


def test_part_boundaries_change_the_digest() -> None:
    assert digest("ab", "c") != digest("a", "bc") != digest("abc") != digest("abc", "")


@given(some.text(), some.lists(some.text()))
def test_digest_each_equals_digest(kind: str, texts: list[str]) -> None:
    assert digest_each(kind, texts) == [digest(kind, text) for text in texts]
