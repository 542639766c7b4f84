"""Ids stay typed and do not become text by accident."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as some

from nexus.core.errors import InvalidInput
from nexus.core.ids import LONGEST_ID, AgentId, Id, UserId, WorkspaceId, check_name, digest, digests

TYPES = (WorkspaceId, UserId, AgentId)


@pytest.mark.requirement("D21")
@pytest.mark.parametrize(
    "spell",
    [str, "{}".format, "{:>9}".format, lambda it: f"ws_{it}", "%s".__mod__, json.dumps],
    ids=["str", "format", "format-spec", "f-string", "percent", "json"],
)
@pytest.mark.parametrize("type", TYPES)
def test_an_id_does_not_become_text_by_itself(type, spell) -> None:
    with pytest.raises(TypeError):
        spell(type("acme"))


@pytest.mark.requirement("D21")
@pytest.mark.parametrize("glue", [lambda it: "ws_" + it, lambda it: "".join(["ws_", it])])
def test_an_id_cannot_be_glued_to_text(glue) -> None:
    with pytest.raises(TypeError):
        glue(WorkspaceId("acme"))


def test_the_text_of_an_id_is_its_value() -> None:
    assert WorkspaceId("acme").value == "acme"
    assert repr(WorkspaceId("acme")) == "WorkspaceId(value='acme')"


@pytest.mark.requirement("D21")
def test_ids_of_two_types_are_never_equal() -> None:
    same_name = {type("acme") for type in TYPES}

    assert len(same_name) == 3
    assert WorkspaceId("acme") == WorkspaceId("acme")
    assert WorkspaceId("acme") != "acme"
    with pytest.raises(TypeError):
        assert WorkspaceId("acme") < UserId("b")


def test_an_id_does_not_change() -> None:
    with pytest.raises(FrozenInstanceError):
        UserId("alice").value = "bob"  # type: ignore[misc]


def test_of_takes_a_text_or_an_id_of_its_own_type() -> None:
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
        "x" * (LONGEST_ID + 1),
        5,
        None,
        b"alice",
        ["alice"],
    ],
    ids=repr,
)
def test_a_name_nobody_could_tell_apart_or_store_is_refused(type, name) -> None:
    with pytest.raises(InvalidInput):
        type(name)


@pytest.mark.parametrize(
    "name", ["alice", "Älice Ö", "爱丽丝", "a:b", "%41", "a b", "😀", "x" * 200]
)
def test_any_other_name_is_taken_as_it_is(name: str) -> None:
    check_name(name, "a name")
    assert UserId(name).value == name


parts = some.lists(some.text(some.characters(exclude_categories=("Cs",)), max_size=4), max_size=4)


@given(parts, parts)
def test_no_two_lists_of_parts_share_a_digest(one: list[str], other: list[str]) -> None:
    assert (digest(*one) == digest(*other)) == (one == other)


def test_parts_do_not_run_into_each_other() -> None:
    assert digest("ab", "c") != digest("a", "bc") != digest("abc") != digest("abc", "")


@given(some.text(), some.lists(some.text()))
def test_digests_of_many_texts_are_those_of_each(kind: str, texts: list[str]) -> None:
    assert digests(kind, texts) == [digest(kind, text) for text in texts]
