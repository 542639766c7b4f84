"""What is found by name."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from ...core.access import Grant, Viewer
from ...core.codec import memory_json
from ...core.outline import Outline
from ...core.protocols import Store
from ...core.records import Memory, MemoryKind
from ...core.scope import Scope
from ..samples import (
    ACME,
    ADMIN,
    ALICE,
    ALICE_DM,
    BOB,
    IN_ROOM,
    NOON,
    draft,
    keep,
)

MINUTE = timedelta(minutes=1)


def fact(
    store: Store,
    key: str,
    subject: str,
    object: str,
    *,
    minute: int = 0,
    scope: Scope | None = None,
) -> Memory:
    """A fact about two names, told so many minutes after noon."""
    body = {"subject": subject, "predicate": "KNOWS", "object": object, "value": None}
    more = {"kind": MemoryKind.FACT, "body": body, "at": NOON + minute * MINUTE}
    if scope is not None:
        more["scope"] = scope
    return keep(store, key, f"{subject} knows {object}", **more)  # type: ignore[arg-type]


def named(
    store: Store,
    *names: str,
    limit: int = 10,
    grant: Grant = ADMIN,
    kinds: Sequence[MemoryKind] | None = None,
    learned: bool = True,
) -> list[str]:
    found = store.memories.named(grant, names, limit=limit, kinds=kinds, learned=learned)
    return [memory.id for memory in found]


class NamesSuite:
    """Needs a fixture `store`: an empty one."""

    def test_a_fact_is_found_by_its_subject_and_by_its_object(self, store: Store) -> None:
        one = fact(store, "1", "Ada", "Charles", minute=1).id
        two = fact(store, "2", "Charles", "Mary", minute=2).id
        fact(store, "3", "Adam", "Maryland")

        assert named(store, "Ada") == [one]
        assert named(store, "Charles") == [two, one]
        assert named(store, "Mary", "Ada", "Charles") == [two, one]
        assert named(store) == named(store, "nobody", "") == []

    def test_capitals_spaces_and_widths_of_a_name_do_not_matter(self, store: Store) -> None:
        known = fact(store, "1", " Ada\u00a0  LOVELACE ", "Straße").id

        for name in ("ada lovelace", "ADA\tLovelace", "\uff21da lovelace", "STRASSE", "straße"):
            assert named(store, name) == [known]
        for name in ("ada", "lovelace", "adalovelace", "%", "ada%", "ada_lovelace"):
            assert named(store, name) == []

    def test_a_scope_is_known_by_its_last_name(self, store: Store) -> None:
        known = fact(store, "1", "user:alice", "dm:bob:scribe").id

        for name in ("alice", "Alice", "user:alice", "scribe"):
            assert named(store, name) == [known]
        assert named(store, "user") == named(store, "bob") == []

    def test_an_entity_is_found_by_its_name_and_its_aliases(self, store: Store) -> None:
        body = {"name": "Ada Lovelace", "aliases": ["Countess", "ada@example.org"]}
        known = keep(store, "1", kind=MemoryKind.ENTITY, body=body).id

        for name in ("ada lovelace", "COUNTESS", "ada@example.org"):
            assert named(store, name) == [known]

    @pytest.mark.parametrize(
        ("kind", "body"),
        [
            (MemoryKind.EPISODE, {"entities": ["Ada", "Charles Babbage"]}),
            (MemoryKind.LANDMARK, {"owner": "user:Ada"}),
            (MemoryKind.REVIEW, {"names": ["ADA", "Charles"]}),
            (MemoryKind.ENTITY, {"name": "Countess", "aliases": ["ada"]}),
            (MemoryKind.FACT, {"subject": "Charles", "object": "Ada"}),
            (MemoryKind.LINK, {"relation": "same_as", "members": ["ada", "charles"]}),
        ],
        ids=lambda value: value.value if isinstance(value, MemoryKind) else "",
    )
    def test_other_kinds_are_found_by_name_when_asked_for(
        self, store: Store, kind: MemoryKind, body: dict[str, Any]
    ) -> None:
        known = keep(store, "1", kind=kind, body=body, learned=True).id
        others = [other for other in MemoryKind if other is not kind]

        assert named(store, "ada", kinds=[kind]) == named(store, "ada", kinds=[*MemoryKind])
        assert named(store, "ada", kinds=[kind]) == [known]
        assert named(store, "ada", kinds=others) == named(store, "ada", kinds=[]) == []
        assert named(store, "nobody", kinds=[kind]) == []

    def test_kinds_that_were_not_asked_for_take_nobodys_place(self, store: Store) -> None:
        old = fact(store, "old", "Ada", "Charles").id
        body = {"entities": ["Ada"]}
        for n in range(9):
            keep(store, str(n), kind=MemoryKind.EPISODE, body=body, at=NOON + (n + 1) * MINUTE)

        assert named(store, "Ada", limit=3) == [old]
        assert len(named(store, "Ada", limit=3, kinds=[MemoryKind.EPISODE])) == 3
        assert named(store, "Ada", limit=99, kinds=[*MemoryKind])[-1] == old

    def test_what_was_learned_takes_nobodys_place_where_only_what_was_told_is_asked_for(
        self, store: Store
    ) -> None:
        told = fact(store, "told", "Ada", "Charles").id
        body = {"subject": "Ada", "predicate": "KNOWS", "object": "Mary"}
        learned = [
            keep(store, str(n), kind=MemoryKind.FACT, body=body, at=NOON + MINUTE, learned=True).id
            for n in range(3)
        ]

        assert named(store, "Ada", limit=2, learned=False) == [told]
        assert named(store, "Mary", learned=False) == []
        assert named(store, "Ada") == [*sorted(learned), told]

    def test_a_body_that_holds_no_names_has_none(self, store: Store) -> None:
        odd: list[Any] = [None, 7, "Ada", ["Ada", 7, None], {"Ada": 1}]
        for n, entities in enumerate(odd):
            keep(store, str(n), kind=MemoryKind.EPISODE, body={"entities": entities})

        assert len(named(store, "ada", kinds=[MemoryKind.EPISODE])) == 2

    def test_only_facts_and_entities_have_names_unless_others_are_asked_for(
        self, store: Store
    ) -> None:
        body = {"subject": "Ada", "object": "Ada", "name": "Ada", "aliases": ["Ada"]}
        keep(store, "1", "Ada", body=body)
        keep(store, "2", "Ada", kind=MemoryKind.EPISODE, body=body)
        keep(store, "3", "Ada", kind=MemoryKind.FACT, body={"subject": "Bob", "value": "Ada"})

        assert named(store, "Ada") == []

    def test_names_are_read_newest_first_and_each_fact_once(self, store: Store) -> None:
        ids = [fact(store, str(n), "Ada", "Ada", minute=n % 4).id for n in range(8)]
        by_id = sorted(range(8), key=lambda n: ids[n])
        expected = [ids[n] for n in sorted(by_id, key=lambda n: -(n % 4))]

        assert named(store, "Ada", "ada") == expected
        assert named(store, "Ada", limit=3) == expected[:3]

    def test_names_end_at_the_grant(self, store: Store) -> None:
        ours = fact(store, "1", "Ada", "Charles").id
        secret = fact(store, "2", "Ada", "Mary", minute=5, scope=ALICE_DM).id

        assert named(store, "Ada", grant=IN_ROOM.grant(), limit=1) == [ours]
        assert named(store, "Ada", grant=ALICE.grant()) == [secret]
        assert named(store, "Mary", grant=IN_ROOM.grant()) == []
        assert named(store, "Ada", grant=BOB.grant()) == []

    def test_outlines_are_those_of_the_facts_that_are_named(self, store: Store) -> None:
        told = {"subject": "Ada", "predicate": "likes", "object": "Tea"}
        bodies: list[dict[str, Any]] = [
            {**told, "category": "behavioural", "exact": False},
            {**told, "exact": True, "value": 7},
            {**told, "category": None},
            {"subject": "Ada", "object": "Tea"},
        ]
        for n, body in enumerate(bodies):
            at, learned = NOON + n * MINUTE, n % 2 == 0
            keep(store, str(n), kind=MemoryKind.FACT, body=body, at=at, learned=learned)
        keep(store, "who", kind=MemoryKind.ENTITY, body={"name": "Ada", "aliases": []})
        fact(store, "secret", "Ada", "Mary", minute=9, scope=ALICE_DM)

        for grant in (ADMIN, IN_ROOM.grant(), ALICE.grant(), BOB.grant()):
            facts = store.memories.named(grant, ["ADA"], limit=9, kinds=[MemoryKind.FACT])
            found = store.memories.outlines(grant, ["ADA"], limit=9)
            assert found == [Outline.of(**memory_json(each)) for each in facts]
            assert store.memories.outlines(grant, ["ada"], limit=2) == found[:2]
        assert len(store.memories.outlines(ADMIN, ["Ada"], limit=9)) == 5
        assert len(store.memories.outlines(IN_ROOM.grant(), ["Ada"], limit=9)) == 4
        assert store.memories.outlines(ADMIN, ["nobody"], limit=9) == []

    def test_of_each_key_the_newest_is_found_however_often_another_was_set(
        self, store: Store
    ) -> None:
        def told(key: str, predicate: str, minute: int, **more: Any) -> str:
            body = {"subject": "project:apollo", "predicate": predicate, "exact": True}
            at = NOON + minute * MINUTE
            return keep(store, key, kind=MemoryKind.FACT, body=body, at=at, **more).id

        told("old", "color", 0)
        counted = [told(str(n), "counter", n + 1) for n in range(30)]
        tied = sorted(told(f"tied {n}", "size", 5) for n in range(3))
        told("learned", "color", 50, learned=True)
        secret = told("secret", "color", 60, scope=ALICE_DM)
        told("other", "color", 70)
        keep(store, "no fact", body={"subject": "project:apollo", "predicate": "shape"})
        elsewhere = fact(store, "elsewhere", "project:zeus", "x", minute=80).id

        def latest(*subjects: str, viewer: Viewer = IN_ROOM, limit: int | None = None) -> list[str]:
            found = store.memories.latest(viewer.grant(), subjects, limit=limit)
            return [memory.id for memory in found]

        newest = [told("other", "color", 70), counted[-1], tied[0]]
        assert latest("project:apollo") == newest
        assert latest("project:apollo", limit=2) == newest[:2]
        assert latest("project:zeus", "project:apollo") == [elsewhere, *newest]
        assert latest("project:apollo", viewer=ALICE) == [secret]
        assert latest("PROJECT:APOLLO") == latest("apollo") == latest() == []

    def test_a_name_goes_with_the_last_fact_that_had_it(self, store: Store) -> None:
        erased, deleted = fact(store, "1", "Ada", "Charles"), fact(store, "2", "Ada", "Mary")
        changed = fact(store, "3", "Ada", "Grace")
        assert len(named(store, "Ada")) == 3

        store.memories.delete(ACME, [deleted.id])
        store.eraser.erase(ACME, events=erased.sources, memories=[], tombstones=[])
        body = {"subject": "Joan", "predicate": "KNOWS", "object": "Grace"}
        store.memories.put(ACME, [draft(*changed.sources, kind=MemoryKind.FACT, body=body)])

        assert named(store, "Ada", "Charles", "Mary") == []
        assert named(store, "Joan") == named(store, "Grace") == [changed.id]
