from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.unit.making import ACME, NOON, ROOM, event

from nexus.core.access import Viewer, administrator_grant
from nexus.core.ids import AgentId, UserId
from nexus.core.protocols import Store
from nexus.core.records import Draft, MemoryKind
from nexus.core.scope import Scope
from nexus.recall.entities import entities, entity, names_of
from nexus.stores.inprocess import InProcessStore
from nexus.stores.sqlite.store import SqliteStore

EVERYTHING = administrator_grant(ACME)
ALICES = Scope.dm("alice", "scribe")


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Any) -> Iterator[Store]:
    made = InProcessStore() if request.param == "memory" else SqliteStore(tmp_path / "memory.db")
    yield made
    made.close()


def keep(store: Store, name: str, *aliases: str, scope: Scope = ROOM, **told: Any) -> None:
    body = {"name": name, "type": "person", "aliases": list(aliases), **told}
    _put(store, scope, MemoryKind.ENTITY, f"{name} {aliases} {told}", body)


def merge(store: Store, name: str, other: str, scope: Scope = ROOM) -> None:
    body = {"name": name, "aliases": [other], "same_as": True}
    _put(store, scope, MemoryKind.ENTITY, f"{other} is {name}", body)


def fact(store: Store, subject: str, predicate: str, object: str, scope: Scope = ROOM) -> None:
    body = {"subject": subject, "predicate": predicate, "object": object}
    _put(store, scope, MemoryKind.FACT, f"{subject} {predicate} {object}", body)


def _put(store: Store, scope: Scope, kind: MemoryKind, text: str, body: dict[str, Any]) -> None:
    told = event(text, scope=scope, key=f"{kind}/{text}")
    store.ledger.append(ACME, [told], recorded_at=NOON)
    draft = Draft(scope=scope, kind=kind, text=text, sources=(told.id,), body=body, learned=True)
    assert store.memories.put(ACME, [draft])


def email(value: str, *, proven: bool) -> dict[str, Any]:
    return {"identifier": {"kind": "email", "value": value, "proven": proven}}


def test_an_entity_is_the_union_of_its_records(store: Store) -> None:
    keep(store, "Sarah Chen")
    keep(store, "sarah chen", "Saz")
    keep(store, "Sarah Chen", "sc@x.io", **email("sc@x.io", proven=True))
    fact(store, "SARAH CHEN", "LIKES", "tea")
    fact(store, "Saz", "LIKES", "rum")
    fact(store, "bob", "KNOWS", "Sarah Chen")
    fact(store, "bob", "LIKES", "tea")

    for name in ("Sarah Chen", "SAZ", "SC@X.io"):
        view = entity(store, EVERYTHING, name)
        assert view is not None
        assert known(view.name) == "sarah chen"
        assert view.aliases == ("Saz",)
        assert [(each.value, each.proven) for each in view.identifiers] == [("sc@x.io", True)]
        assert len(view.facts) == 3
    assert names_of(store, EVERYTHING, "saz") == {"sarah chen", "saz", "sc@x.io"}


def known(name: str) -> str:
    return name.casefold()


def test_who_is_not_known_is_nobody(store: Store) -> None:
    keep(store, "Sarah Chen")

    assert entity(store, EVERYTHING, "Nobody") is None
    assert names_of(store, EVERYTHING, "Nobody") == {"nobody"}


def test_facts_alone_make_somebody_known(store: Store) -> None:
    fact(store, "Tyler", "LIKES", "tea")

    view = entity(store, EVERYTHING, "tyler")

    assert view is not None
    assert (view.name, view.types, len(view.facts)) == ("tyler", (), 1)


def test_a_merge_makes_two_one_and_a_third(store: Store) -> None:
    keep(store, "Sarah")
    keep(store, "Sarah Chen")
    keep(store, "schen", "Saz")
    merge(store, "Sarah Chen", "Sarah")
    merge(store, "Sarah Chen", "schen")

    view = entity(store, EVERYTHING, "Saz")

    assert view is not None
    assert (view.name, view.same_as) == ("Sarah Chen", ("Sarah", "schen"))
    assert names_of(store, EVERYTHING, "sarah") == {"sarah", "sarah chen", "schen", "saz"}
    assert [each.name for each in entities(store, EVERYTHING)] == ["Sarah Chen"]


def test_an_alias_that_is_somebodys_own_name_joins_nobody(store: Store) -> None:
    keep(store, "Sarah Chen")
    keep(store, "mallory", "Sarah Chen")

    assert names_of(store, EVERYTHING, "Sarah Chen") == {"sarah chen"}
    assert names_of(store, EVERYTHING, "mallory") == {"mallory"}
    assert len(entities(store, EVERYTHING)) == 2


def test_an_alias_of_two_means_neither_for_certain(store: Store) -> None:
    keep(store, "Samuel Ray", "Sam")
    keep(store, "Samantha Lee", "Sam")

    view = entity(store, EVERYTHING, "Sam")

    assert view is not None
    assert (view.name, view.could_be) == ("Sam", ("Samantha Lee", "Samuel Ray"))
    assert names_of(store, EVERYTHING, "Sam") == {"sam"}
    assert names_of(store, EVERYTHING, "Samuel Ray") == {"samuel ray"}


def test_an_address_belongs_to_who_has_proven_it(store: Store) -> None:
    keep(store, "sarah", "s@x.io", **email("s@x.io", proven=True))
    keep(store, "mallory", "s@x.io", **email("s@x.io", proven=False))

    view = entity(store, EVERYTHING, "s@x.io")

    assert view is not None
    assert view.name == "sarah"
    assert "s@x.io" not in names_of(store, EVERYTHING, "mallory")


@pytest.mark.requirement("X1", "B22")
def test_the_same_name_is_one_entity_and_each_viewer_sees_their_part(store: Store) -> None:
    keep(store, "Sarah Chen")
    keep(store, "Sarah Chen", "Boss", scope=ALICES)
    merge(store, "Sarah Chen", "schen", scope=ALICES)
    fact(store, "Sarah Chen", "LIKES", "tea")
    fact(store, "schen", "EARNS", "much", scope=ALICES)
    room = Viewer(workspace=ACME, agent=AgentId("scribe"), room="design").grant()
    dm = Viewer(workspace=ACME, agent=AgentId("scribe"), user=UserId("alice")).grant()

    seen = entity(store, room, "Sarah Chen")
    private = entity(store, dm, "Boss")
    both = entity(store, EVERYTHING, "schen")

    assert seen is not None
    assert private is not None
    assert both is not None
    assert (seen.aliases, seen.same_as, len(seen.facts)) == ((), (), 1)
    assert (private.aliases, len(private.facts)) == (("Boss",), 1)
    assert len(both.facts) == 2
    assert entity(store, room, "Boss") is None
    assert entity(store, room, "schen") is None


def test_entities_are_listed_by_type(store: Store) -> None:
    keep(store, "Sarah Chen")
    keep(store, "Globex", type="company")
    keep(store, "Zorblax", type="thing")
    keep(store, "Zorblax", "Zor")

    assert [each.name for each in entities(store, EVERYTHING, type="person")] == [
        "Sarah Chen",
        "Zorblax",
    ]
    assert [each.name for each in entities(store, EVERYTHING, limit=1)] == ["Globex"]
    assert [each.types for each in entities(store, EVERYTHING)][-1] == ("person",)


def test_a_ring_of_merges_ends(store: Store) -> None:
    for one, other in (("a", "b"), ("b", "c"), ("c", "a")):
        keep(store, one)
        merge(store, one, other)

    assert names_of(store, EVERYTHING, "a") == {"a", "b", "c"}
