from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.unit.making import ACME, NOON, ROOM, event

from nexusmem.core.access import Viewer, administrator_grant
from nexusmem.core.ids import AgentId, UserId
from nexusmem.core.protocols.store import Store
from nexusmem.core.records import Draft, MemoryKind
from nexusmem.core.scope import Scope
from nexusmem.recall.views.entities import find_spellings, get_entity, list_entities
from nexusmem.stores.sqlite.store import SqliteStore
from nexusmem.testing.reference_store.store import ReferenceStore

EVERYTHING = administrator_grant(ACME)
ALICES = Scope.dm("alice", "scribe")


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Any) -> Iterator[Store]:
    made = ReferenceStore() if request.param == "memory" else SqliteStore(tmp_path / "memory.db")
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


def test_entity_combines_its_records(store: Store) -> None:
    keep(store, "Sarah Chen")
    keep(store, "sarah chen", "Saz")
    keep(store, "Sarah Chen", "sc@x.io", **email("sc@x.io", proven=True))
    fact(store, "SARAH CHEN", "LIKES", "tea")
    fact(store, "Saz", "LIKES", "rum")
    fact(store, "bob", "KNOWS", "Sarah Chen")
    fact(store, "bob", "LIKES", "tea")

    for name in ("Sarah Chen", "SAZ", "SC@X.io"):
        view = get_entity(store, EVERYTHING, name)
        assert view is not None
        assert known(view.name) == "sarah chen"
        assert view.aliases == ("Saz",)
        assert [(each.value, each.proven) for each in view.identifiers] == [("sc@x.io", True)]
        assert len(view.facts) == 3
    assert find_spellings(store, EVERYTHING, "saz") == {"sarah chen", "saz", "sc@x.io"}


def known(name: str) -> str:
    return name.casefold()


def test_unknown_name_is_none(store: Store) -> None:
    keep(store, "Sarah Chen")

    assert get_entity(store, EVERYTHING, "Nobody") is None
    assert find_spellings(store, EVERYTHING, "Nobody") == {"nobody"}


def test_facts_without_entity_records_make_an_entity(store: Store) -> None:
    fact(store, "Tyler", "LIKES", "tea")

    view = get_entity(store, EVERYTHING, "tyler")

    assert view is not None
    assert (view.name, view.types, len(view.facts)) == ("tyler", (), 1)


def test_merges_join_all_their_names(store: Store) -> None:
    keep(store, "Sarah")
    keep(store, "Sarah Chen")
    keep(store, "schen", "Saz")
    merge(store, "Sarah Chen", "Sarah")
    merge(store, "Sarah Chen", "schen")

    view = get_entity(store, EVERYTHING, "Saz")

    assert view is not None
    assert (view.name, view.same_as) == ("Sarah Chen", ("Sarah", "schen"))
    assert find_spellings(store, EVERYTHING, "sarah") == {"sarah", "sarah chen", "schen", "saz"}
    assert [each.name for each in list_entities(store, EVERYTHING)] == ["Sarah Chen"]


def test_alias_that_is_another_name_does_not_join(store: Store) -> None:
    keep(store, "Sarah Chen")
    keep(store, "mallory", "Sarah Chen")

    assert find_spellings(store, EVERYTHING, "Sarah Chen") == {"sarah chen"}
    assert find_spellings(store, EVERYTHING, "mallory") == {"mallory"}
    assert len(list_entities(store, EVERYTHING)) == 2


def test_shared_alias_is_ambiguous(store: Store) -> None:
    keep(store, "Samuel Ray", "Sam")
    keep(store, "Samantha Lee", "Sam")

    view = get_entity(store, EVERYTHING, "Sam")

    assert view is not None
    assert (view.name, view.could_be) == ("Sam", ("Samantha Lee", "Samuel Ray"))
    assert find_spellings(store, EVERYTHING, "Sam") == {"sam"}
    assert find_spellings(store, EVERYTHING, "Samuel Ray") == {"samuel ray"}


def test_proven_address_wins_over_claimed(store: Store) -> None:
    keep(store, "sarah", "s@x.io", **email("s@x.io", proven=True))
    keep(store, "mallory", "s@x.io", **email("s@x.io", proven=False))

    view = get_entity(store, EVERYTHING, "s@x.io")

    assert view is not None
    assert view.name == "sarah"
    assert "s@x.io" not in find_spellings(store, EVERYTHING, "mallory")


@pytest.mark.requirement("X1", "B22")
def test_viewers_see_only_their_records_of_an_entity(store: Store) -> None:
    keep(store, "Sarah Chen")
    keep(store, "Sarah Chen", "Boss", scope=ALICES)
    merge(store, "Sarah Chen", "schen", scope=ALICES)
    fact(store, "Sarah Chen", "LIKES", "tea")
    fact(store, "schen", "EARNS", "much", scope=ALICES)
    room = Viewer(workspace=ACME, agent=AgentId("scribe"), room="design").grant()
    dm = Viewer(workspace=ACME, agent=AgentId("scribe"), user=UserId("alice")).grant()

    seen = get_entity(store, room, "Sarah Chen")
    private = get_entity(store, dm, "Boss")
    both = get_entity(store, EVERYTHING, "schen")

    assert seen is not None
    assert private is not None
    assert both is not None
    assert (seen.aliases, seen.same_as, len(seen.facts)) == ((), (), 1)
    assert (private.aliases, len(private.facts)) == (("Boss",), 1)
    assert len(both.facts) == 2
    assert get_entity(store, room, "Boss") is None
    assert get_entity(store, room, "schen") is None


def test_entities_are_listed_by_type(store: Store) -> None:
    keep(store, "Sarah Chen")
    keep(store, "Globex", type="company")
    keep(store, "Zorblax", type="thing")
    keep(store, "Zorblax", "Zor")

    assert [each.name for each in list_entities(store, EVERYTHING, type="person")] == [
        "Sarah Chen",
        "Zorblax",
    ]
    assert [each.name for each in list_entities(store, EVERYTHING, limit=1)] == ["Globex"]
    assert [each.types for each in list_entities(store, EVERYTHING)][-1] == ("person",)


def test_cyclic_merges_terminate(store: Store) -> None:
    for one, other in (("a", "b"), ("b", "c"), ("c", "a")):
        keep(store, one)
        merge(store, one, other)

    assert find_spellings(store, EVERYTHING, "a") == {"a", "b", "c"}
