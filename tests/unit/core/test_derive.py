"""Deriving memories: label, trust, times and names follow from the sources."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from tests.unit.making import ACME, DM, NOON, PROJECT, ROOM, event, memory, scopes

from nexusmem.core.access import Viewer
from nexusmem.core.derive import (
    derive_memory,
    is_text_searchable,
    keyword_text,
    names_in,
    normalize_name,
)
from nexusmem.core.errors import InvalidInput
from nexusmem.core.ids import AgentId, UserId
from nexusmem.core.records import Draft, MemoryKind, Trust
from nexusmem.core.scope import Scope


def draft(*sources: Any, scope: Scope = ROOM, **rest: Any) -> Draft:
    ids = tuple(source.id for source in sources)
    return Draft(scope=scope, kind=MemoryKind.EPISODE, text="They met.", sources=ids, **rest)


def derived(*sources: Any, **rest: Any) -> Any:
    return derive_memory(ACME, draft(*sources, **rest), {source.id: source for source in sources})


@pytest.mark.requirement("X1")
def test_label_contains_the_scope_and_all_source_labels() -> None:
    said_privately = event(scope=DM)
    said_in_project = memory(source_event=event(scope=PROJECT), scope=PROJECT)

    assert derived(said_privately, said_in_project).label == {ROOM, DM, PROJECT}


@pytest.mark.requirement("X1")
def test_labels_accumulate_over_derivations() -> None:
    secret = event(scope=DM)
    first = derived(secret, scope=PROJECT)
    second = derived(first, scope=Scope.user("alice"))
    third = derived(second, scope=ROOM)

    assert DM in third.label


@pytest.mark.requirement("X1")
@pytest.mark.parametrize("trust", [*Trust])
def test_trust_is_the_lowest_of_the_sources(trust: Trust) -> None:
    sources = event("a", key="a"), event("b", key="b", trust=trust), event("c", key="c")

    assert derived(*sources).trust is trust


@pytest.mark.requirement("X1")
@given(some.lists(scopes, min_size=1, max_size=4), scopes)
def test_reader_of_a_derived_memory_may_read_all_sources(where, target) -> None:
    sources = [event(scope=scope, key=str(n)) for n, scope in enumerate(where)]
    label = derived(*sources, scope=target).label
    room = Viewer(workspace=ACME, agent=AgentId("a"), room="r", participants=(UserId("u"),))

    for grant in (room.grant(), room.grant().narrow_to(where), room.grant().narrow_to([target])):
        if grant.allows(label):
            assert all(grant.allows(frozenset({scope})) for scope in where)
    assert label >= {target, *where}


def test_time_is_that_of_the_newest_source_by_default() -> None:
    early, late = event(key="1"), event(key="2", at=NOON + timedelta(days=1))

    assert derived(early, late).at == late.at
    assert derived(early, late, at=NOON).at == NOON


def test_recorded_at_is_that_of_the_newest_source() -> None:
    early = event(key="1")
    late = event(key="2", at=NOON - timedelta(days=1), recorded_at=NOON + timedelta(days=1))

    assert derived(early, late).recorded_at == late.recorded_at


@pytest.mark.requirement("X1")
def test_draft_without_sources_is_rejected() -> None:
    with pytest.raises(InvalidInput):
        derived()


def test_memory_id_ignores_the_order_of_sources() -> None:
    one, other = event(key="1"), event(key="2")

    assert draft(one, other).id == draft(other, one).id
    assert draft(one).id != draft(one, other).id != draft(one, other, slot="2").id
    assert draft(one).id != draft(one, scope=DM).id


def test_indexed_text_replaces_the_text_for_keywords() -> None:
    assert keyword_text(memory("said")) == "said"
    assert keyword_text(memory("said", indexed_text="alice: said")) == "alice: said"
    assert keyword_text(memory("said", indexed_text="")) == ""


@pytest.mark.parametrize(
    ("kind", "body", "names"),
    [
        (MemoryKind.FACT, {"subject": "user:Ada", "object": "Tea "}, {"ada", "tea"}),
        (MemoryKind.FACT, {"subject": "Ada", "object": None, "value": "tea"}, {"ada"}),
        (MemoryKind.ENTITY, {"name": "Ada", "aliases": ["Countess"]}, {"ada", "countess"}),
        (MemoryKind.EPISODE, {"entities": ["Ada", "Tea"], "label": "gin"}, {"ada", "tea"}),
        (MemoryKind.EPISODE, {"entities": [7, None, ["Ada"]]}, set()),
        (MemoryKind.LANDMARK, {"owner": "Ada", "due": "Friday"}, {"ada"}),
        (MemoryKind.LANDMARK, {"owner": None}, set()),
        (MemoryKind.REVIEW, {"what": "merge", "names": ["Ada", "ada", "A."]}, {"ada", "a."}),
        (MemoryKind.PASSAGE, {"subject": "Ada", "name": "Ada", "names": ["Ada"]}, set()),
    ],
)
def test_names_of_each_kind(kind: MemoryKind, body: dict[str, Any], names: set[str]) -> None:
    assert names_in(memory(kind=kind, body=body)) == names


@pytest.mark.parametrize(("indexed", "searched"), [(None, True), ("tea", True), ("", False)])
def test_memory_indexed_as_empty_is_not_searchable(indexed: str | None, searched: bool) -> None:
    assert is_text_searchable(memory(indexed_text=indexed)) is searched


@pytest.mark.parametrize(
    ("name", "spelling"),
    [
        ("Sarah  Chen", "sarah chen"),
        ("user:alice", "alice"),
        ("agent:My Bot", "my bot"),
        ("bot:", "bot:"),  # otherwise all of these would share the empty name
        (":", ":"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
    ],
)
def test_names_are_normalized(name: str, spelling: str) -> None:
    assert normalize_name(name) == spelling
    assert normalize_name(spelling) == spelling
