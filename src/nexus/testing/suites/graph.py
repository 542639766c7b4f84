"""What names lead to, step by step."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from ...core.access import Grant
from ...core.graph import MOST_NAMES, RecordsGraph
from ...core.protocols import Store
from ...core.records import Memory, MemoryKind
from ...core.scope import Scope
from ..samples import (
    ACME,
    ADMIN,
    ALICE,
    ALICE_DM,
    ALICE_PROFILE,
    BOB,
    BOB_DM,
    IN_ROOM,
    NOON,
    PROJECT,
    ROOM,
    draft,
    keep,
)
from .names import MINUTE, fact

HERE = IN_ROOM.grant()


def walked(
    store: Store, *names: str, depth: int = 2, limit: int = 10, grant: Grant = HERE, **more: Any
) -> list[list[str]]:
    """The texts of each step."""
    walk = store.graph.around(grant, names, depth=depth, limit=limit, **more)
    return [[memory.text for memory in step] for step in walk]


def entity(store: Store, key: str, name: str, *aliases: str, **more: Any) -> Memory:
    body = {"name": name, "aliases": list(aliases)}
    return keep(store, key, f"{name} is known", kind=MemoryKind.ENTITY, body=body, **more)


class GraphSuite:
    """Needs a fixture `store`: an empty one."""

    def test_a_walk_goes_through_facts_in_both_directions(self, store: Store) -> None:
        fact(store, "1", "Ada", "Charles")
        fact(store, "2", "Mary", "Charles", minute=1)
        fact(store, "3", "Mary", "Percy", minute=2)

        assert walked(store, "Ada", depth=3) == [
            ["Ada knows Charles"],
            ["Mary knows Charles", "Ada knows Charles"],
            ["Mary knows Percy", "Mary knows Charles"],
        ]
        assert walked(store, "PERCY", depth=2) == [
            ["Mary knows Percy"],
            ["Mary knows Percy", "Mary knows Charles"],
        ]

    def test_depth_ends_a_walk_and_so_does_a_dead_end(self, store: Store) -> None:
        for n in range(6):
            fact(store, str(n), f"n{n}", f"n{n + 1}", minute=n)

        assert [len(walked(store, "n0", depth=depth)) for depth in (0, 1, 3, 99)] == [0, 1, 3, 7]
        assert walked(store, "n3", depth=1) == [["n3 knows n4", "n2 knows n3"]]
        assert walked(store) == walked(store, "nobody", "", "%", "n_") == []

    def test_a_circle_is_walked_once(self, store: Store) -> None:
        fact(store, "1", "Ada", "Charles")
        fact(store, "2", "Charles", "Ada", minute=1)

        assert walked(store, "Ada", depth=9) == [["Charles knows Ada", "Ada knows Charles"]] * 2

    def test_an_alias_leads_to_what_the_name_leads_to(self, store: Store) -> None:
        entity(store, "1", "Ada Lovelace", "Countess")
        fact(store, "2", "ADA  lovelace", "Charles", minute=1)

        assert walked(store, "countess") == [
            ["Ada Lovelace is known"],
            ["ADA  lovelace knows Charles", "Ada Lovelace is known"],
        ]

    def test_a_part_of_a_name_is_looked_up_and_never_followed(self, store: Store) -> None:
        entity(store, "1", "Ada Lovelace", at=NOON + MINUTE)
        entity(store, "2", "Ada Byron")

        assert walked(store, "~ada", depth=1) == [["Ada Lovelace is known", "Ada Byron is known"]]
        assert walked(store, "ada byron", depth=3) == [["Ada Byron is known"]]

    @pytest.mark.parametrize("limit", [1, 3, 7])
    def test_a_step_holds_the_newest_and_of_those_the_first_by_id(
        self, store: Store, limit: int
    ) -> None:
        fact(store, "start", "Ada", "Hub", minute=99)
        many = [fact(store, str(n), "Hub", f"n{n}", minute=n % 3) for n in range(9)]
        by_id = sorted(many, key=lambda each: each.id)
        newest = sorted(by_id, key=lambda each: each.at, reverse=True)

        walk = store.graph.around(HERE, ["ada"], depth=2, limit=limit)

        assert len(walk[1]) == limit
        assert [each.id for each in walk[1][1:]] == [each.id for each in newest[: limit - 1]]

    def test_so_many_names_are_followed_and_no_more(self, store: Store) -> None:
        names = [f"n{n:03}" for n in range(MOST_NAMES + 2)] + ["\uff5a", "\U0001f980"]
        for n, name in enumerate(reversed(names)):
            fact(store, f"1{n}", "Ada", name, minute=n)
            fact(store, f"2{n}", name, f"after {name}", minute=n)

        _, second = walked(store, "Ada", limit=200)

        assert {text for text in second if "after" in text} == {
            f"{name} knows after {name}" for name in names[:MOST_NAMES]
        }

    def test_kinds_and_shelves_hold_for_every_step(self, store: Store) -> None:
        entity(store, "1", "Ada", "Countess")
        fact(store, "2", "Countess", "Charles", minute=1)
        body = {"subject": "Ada", "predicate": "KNOWS", "object": "Mary"}
        learned: dict[str, Any] = {
            "kind": MemoryKind.FACT,
            "body": body,
            "at": NOON + 2 * MINUTE,
            "learned": True,
        }
        keep(store, "3", "learned", **learned)
        fact(store, "4", "Mary", "Percy", minute=3)

        assert walked(store, "Ada", kinds=[MemoryKind.ENTITY]) == [["Ada is known"]] * 2
        assert walked(store, "Ada", kinds=[MemoryKind.FACT]) == [
            ["learned"],
            ["Mary knows Percy", "learned"],
        ]
        assert walked(store, "Ada", learned=False) == [
            ["Ada is known"],
            ["Countess knows Charles", "Ada is known"],
        ]
        assert walked(store, "Ada", kinds=[]) == []
        episode: dict[str, Any] = {"kind": MemoryKind.EPISODE, "body": {"entities": ["Ada"]}}
        keep(store, "5", "an episode", **episode)
        assert walked(store, "Ada", kinds=[MemoryKind.EPISODE]) == [["an episode"]]

    def test_a_hidden_fact_is_no_path_and_takes_nobodys_place(self, store: Store) -> None:
        fact(store, "1", "Ada", "Charles")
        fact(store, "2", "Mary", "Percy", minute=1)
        before = [walked(store, "Ada", depth=4, limit=limit) for limit in (1, 2, 9)]

        fact(store, "3", "Charles", "Mary", minute=2, scope=ALICE_DM)
        for n in range(9):
            fact(store, f"h{n}", "Ada", f"hidden {n}", minute=9, scope=BOB_DM)

        assert [walked(store, "Ada", depth=4, limit=limit) for limit in (1, 2, 9)] == before
        assert walked(store, "Mary", grant=ALICE.grant()) == [["Charles knows Mary"]] * 2
        assert len(walked(store, "Ada", depth=1, grant=BOB.grant())[0]) == 9
        assert walked(store, "Ada", grant=ADMIN.within([])) == []

    def test_what_rests_on_two_places_needs_both(self, store: Store) -> None:
        one = fact(store, "1", "Ada", "Charles", scope=ALICE_DM)
        two = fact(store, "2", "Charles", "Mary", scope=PROJECT)
        body = {"subject": "Ada", "predicate": "KNOWS", "object": "Mary"}
        both = draft(*one.sources, *two.sources, text="both", scope=PROJECT, body=body)
        store.memories.put(ACME, [replace(both, kind=MemoryKind.FACT)])

        (seen,) = walked(store, "Mary", depth=1, grant=ALICE.grant())
        assert sorted(seen) == ["Charles knows Mary", "both"]
        assert walked(store, "Mary", depth=1) == [["Charles knows Mary"]]

    def test_what_goes_takes_its_paths_along(self, store: Store) -> None:
        erased, deleted = fact(store, "1", "Ada", "Charles"), fact(store, "2", "Ada", "Mary")
        changed = fact(store, "3", "Ada", "Grace", minute=1)
        fact(store, "4", "Grace", "Joan", minute=2)
        assert len(walked(store, "Ada")[0]) == 3

        store.memories.delete(ACME, [deleted.id])
        store.eraser.erase(ACME, events=erased.sources, memories=[], tombstones=[])
        assert walked(store, "Ada", depth=1) == [["Ada knows Grace"]]
        assert walked(store, "Charles") == walked(store, "Mary") == []

        body = {"subject": "Joan", "predicate": "KNOWS", "object": "Betty"}
        new = draft(*changed.sources, kind=MemoryKind.FACT, body=body, text="changed")
        store.memories.put(ACME, [new])
        assert walked(store, "Ada") == []
        assert walked(store, "Betty", limit=9)[0] == ["changed"]

    def test_names_of_any_letters_are_only_names(self, store: Store) -> None:
        odd = ["'; DROP", "`n`", "{x: 1}", "$name", "a\\b", "\U0001f980", "ﬁn"]
        for n, name in enumerate(odd):
            fact(store, str(n), name, f"friend {n}")

        for n, name in enumerate(odd):
            assert walked(store, name, depth=1) == [[f"{name} knows friend {n}"]]
            assert walked(store, f"friend {n}", depth=1) == [[f"{name} knows friend {n}"]]

    @pytest.mark.parametrize("seed", range(3))
    def test_whatever_is_written_it_is_the_records_graph(self, store: Store, seed: int) -> None:
        chance = random.Random(seed)  # noqa: S311  # a world, not a secret
        kept: list[Memory] = []
        for n in range(60):
            kept.append(_anything(store, chance, n))
            if chance.random() < 0.2:
                store.memories.delete(ACME, [chance.choice(kept).id])
            if chance.random() < 0.2:
                _same(store, chance)
        _same(store, chance)


PLACES = (ROOM, PROJECT, ALICE_PROFILE, ALICE_DM, BOB_DM)


def _anything(store: Store, chance: random.Random, n: int) -> Memory:
    one, two = (f"n{chance.randrange(12)}" for _ in range(2))
    scope: Scope = chance.choice(PLACES)
    if chance.random() < 0.3:
        at = NOON + chance.randrange(5) * MINUTE
        learned = chance.random() < 0.5
        return entity(store, str(n), one, two, "Long Name", scope=scope, at=at, learned=learned)
    return fact(store, str(n), one, two, minute=chance.randrange(5), scope=scope)


def _same(store: Store, chance: random.Random) -> None:
    plain = RecordsGraph(store.memories)
    for grant in (HERE, ALICE.grant(), BOB.grant(), ADMIN):
        asked: dict[str, Any] = {
            "names": [f"n{chance.randrange(12)}" for _ in range(2)],
            "depth": chance.randrange(1, 4),
            "limit": chance.choice([1, 2, 5, 30]),
            "learned": chance.random() < 0.5,
        }
        assert store.graph.around(grant, **asked) == plain.around(grant, **asked)
