"""What no caller may decide follows from the sources."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from tests.unit.making import ACME, DM, NOON, PROJECT, ROOM, event, memory, scopes

from nexus.core.access import Viewer
from nexus.core.derive import derive, keyword_text, known_as, names_in, searched_by_text
from nexus.core.errors import InvalidInput
from nexus.core.ids import AgentId, UserId
from nexus.core.records import Draft, MemoryKind, Trust
from nexus.core.scope import Scope


def draft(*sources: Any, scope: Scope = ROOM, **rest: Any) -> Draft:
    ids = tuple(source.id for source in sources)
    return Draft(scope=scope, kind=MemoryKind.EPISODE, text="They met.", sources=ids, **rest)


def derived(*sources: Any, **rest: Any) -> Any:
    return derive(ACME, draft(*sources, **rest), {source.id: source for source in sources})


@pytest.mark.requirement("X1")
def test_the_label_is_the_scope_and_every_sources_label() -> None:
    said_privately = event(scope=DM)
    said_in_project = memory(source_event=event(scope=PROJECT), scope=PROJECT)

    assert derived(said_privately, said_in_project).label == {ROOM, DM, PROJECT}


@pytest.mark.requirement("X1")
def test_labels_grow_over_every_step_of_derivation() -> None:
    secret = event(scope=DM)
    first = derived(secret, scope=PROJECT)
    second = derived(first, scope=Scope.user("alice"))
    third = derived(second, scope=ROOM)

    assert DM in third.label


@pytest.mark.requirement("X1")
@pytest.mark.parametrize("trust", [*Trust])
def test_the_trust_is_the_least_trusted_sources(trust: Trust) -> None:
    sources = event("a", key="a"), event("b", key="b", trust=trust), event("c", key="c")

    assert derived(*sources).trust is trust


@pytest.mark.requirement("X1")
@given(some.lists(scopes, min_size=1, max_size=4), scopes)
def test_whoever_reads_what_is_derived_may_read_all_its_sources(where, target) -> None:
    sources = [event(scope=scope, key=str(n)) for n, scope in enumerate(where)]
    label = derived(*sources, scope=target).label
    room = Viewer(workspace=ACME, agent=AgentId("a"), room="r", participants=(UserId("u"),))

    for grant in (room.grant(), room.grant().within(where), room.grant().within([target])):
        if grant.allows(label):
            assert all(grant.allows(frozenset({scope})) for scope in where)
    assert label >= {target, *where}


def test_its_time_is_the_newest_sources_unless_said_otherwise() -> None:
    early, late = event(key="1"), event(key="2", at=NOON + timedelta(days=1))

    assert derived(early, late).at == late.at
    assert derived(early, late, at=NOON).at == NOON


def test_its_time_of_recording_is_its_newest_sources() -> None:
    early = event(key="1")
    late = event(key="2", at=NOON - timedelta(days=1), recorded_at=NOON + timedelta(days=1))

    assert derived(early, late).recorded_at == late.recorded_at


@pytest.mark.requirement("X1")
def test_a_derivation_without_sources_is_refused() -> None:
    with pytest.raises(InvalidInput):
        derived()


def test_the_same_draft_is_the_same_memory_in_whatever_order_its_sources_are_named() -> None:
    one, other = event(key="1"), event(key="2")

    assert draft(one, other).id == draft(other, one).id
    assert draft(one).id != draft(one, other).id != draft(one, other, slot="2").id
    assert draft(one).id != draft(one, scope=DM).id


def test_keywords_are_taken_from_the_indexed_text_if_there_is_one() -> None:
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
def test_each_kind_has_its_names(kind: MemoryKind, body: dict[str, Any], names: set[str]) -> None:
    assert names_in(memory(kind=kind, body=body)) == names


@pytest.mark.parametrize(("indexed", "searched"), [(None, True), ("tea", True), ("", False)])
def test_what_is_indexed_as_nothing_is_not_searched(indexed: str | None, searched: bool) -> None:
    assert searched_by_text(memory(indexed_text=indexed)) is searched


@pytest.mark.parametrize(
    ("name", "spelling"),
    [
        ("Sarah  Chen", "sarah chen"),
        ("user:alice", "alice"),
        ("agent:My Bot", "my bot"),
        ("bot:", "bot:"),  # nobody is known by nothing: then all of these would be one
        (":", ":"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
    ],
)
def test_a_name_has_one_spelling(name: str, spelling: str) -> None:
    assert known_as(name) == spelling
    assert known_as(spelling) == spelling
