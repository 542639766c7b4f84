"""Contracts of the name index and of graph traversal."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from ...core.access import Grant, Viewer
from ...core.json_codec import memory_to_json
from ...core.protocols.graph import MAX_NAMES, MemoryGraph
from ...core.protocols.store import Store
from ...core.records import Memory, MemoryKind
from ...core.records.projections import FactOutline
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
    add_memory,
    make_draft,
)

MINUTE = timedelta(minutes=1)


def add_fact(
    store: Store,
    key: str,
    subject: str,
    object: str,
    *,
    minute: int = 0,
    scope: Scope | None = None,
) -> Memory:
    """Store a fact about two names, observed this many minutes after noon."""
    body = {"subject": subject, "predicate": "KNOWS", "object": object, "value": None}
    more = {"kind": MemoryKind.FACT, "body": body, "at": NOON + minute * MINUTE}
    if scope is not None:
        more["scope"] = scope
    return add_memory(store, key, f"{subject} knows {object}", **more)  # type: ignore[arg-type]


def find_named(
    store: Store,
    *names: str,
    limit: int = 10,
    grant: Grant = ADMIN,
    kinds: Sequence[MemoryKind] | None = None,
    learned: bool = True,
) -> list[str]:
    found = store.memories.find_by_name(grant, names, limit=limit, kinds=kinds, learned=learned)
    return [memory.id for memory in found]


class NameIndexSuite:
    """Needs a fixture `store` that yields an empty store."""

    def test_fact_is_found_by_subject_and_object(self, store: Store) -> None:
        one = add_fact(store, "1", "Ada", "Charles", minute=1).id
        two = add_fact(store, "2", "Charles", "Mary", minute=2).id
        add_fact(store, "3", "Adam", "Maryland")

        assert find_named(store, "Ada") == [one]
        assert find_named(store, "Charles") == [two, one]
        assert find_named(store, "Mary", "Ada", "Charles") == [two, one]
        assert find_named(store) == find_named(store, "nobody", "") == []

    def test_names_are_normalized(self, store: Store) -> None:
        known = add_fact(store, "1", " Ada\u00a0  LOVELACE ", "Straße").id

        for name in ("ada lovelace", "ADA\tLovelace", "\uff21da lovelace", "STRASSE", "straße"):
            assert find_named(store, name) == [known]
        for name in ("ada", "lovelace", "adalovelace", "%", "ada%", "ada_lovelace"):
            assert find_named(store, name) == []

    def test_scope_is_found_by_last_name(self, store: Store) -> None:
        known = add_fact(store, "1", "user:alice", "dm:bob:scribe").id

        for name in ("alice", "Alice", "user:alice", "scribe"):
            assert find_named(store, name) == [known]
        assert find_named(store, "user") == find_named(store, "bob") == []

    def test_entity_is_found_by_name_and_aliases(self, store: Store) -> None:
        body = {"name": "Ada Lovelace", "aliases": ["Countess", "ada@example.org"]}
        known = add_memory(store, "1", kind=MemoryKind.ENTITY, body=body).id

        for name in ("ada lovelace", "COUNTESS", "ada@example.org"):
            assert find_named(store, name) == [known]

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
    def test_other_kinds_are_found_on_request(
        self, store: Store, kind: MemoryKind, body: dict[str, Any]
    ) -> None:
        known = add_memory(store, "1", kind=kind, body=body, learned=True).id
        others = [other for other in MemoryKind if other is not kind]

        assert find_named(store, "ada", kinds=[kind]) == find_named(
            store, "ada", kinds=[*MemoryKind]
        )
        assert find_named(store, "ada", kinds=[kind]) == [known]
        assert find_named(store, "ada", kinds=others) == find_named(store, "ada", kinds=[]) == []
        assert find_named(store, "nobody", kinds=[kind]) == []

    def test_excluded_kinds_do_not_use_limit(self, store: Store) -> None:
        old = add_fact(store, "old", "Ada", "Charles").id
        body = {"entities": ["Ada"]}
        for n in range(9):
            add_memory(
                store, str(n), kind=MemoryKind.EPISODE, body=body, at=NOON + (n + 1) * MINUTE
            )

        assert find_named(store, "Ada", limit=3) == [old]
        assert len(find_named(store, "Ada", limit=3, kinds=[MemoryKind.EPISODE])) == 3
        assert find_named(store, "Ada", limit=99, kinds=[*MemoryKind])[-1] == old

    def test_excluded_learned_facts_do_not_use_limit(self, store: Store) -> None:
        told = add_fact(store, "told", "Ada", "Charles").id
        body = {"subject": "Ada", "predicate": "KNOWS", "object": "Mary"}
        learned = [
            add_memory(
                store, str(n), kind=MemoryKind.FACT, body=body, at=NOON + MINUTE, learned=True
            ).id
            for n in range(3)
        ]

        assert find_named(store, "Ada", limit=2, learned=False) == [told]
        assert find_named(store, "Mary", learned=False) == []
        assert find_named(store, "Ada") == [*sorted(learned), told]

    def test_invalid_name_lists_are_ignored(self, store: Store) -> None:
        odd: list[Any] = [None, 7, "Ada", ["Ada", 7, None], {"Ada": 1}]
        for n, entities in enumerate(odd):
            add_memory(store, str(n), kind=MemoryKind.EPISODE, body={"entities": entities})

        assert len(find_named(store, "ada", kinds=[MemoryKind.EPISODE])) == 2

    def test_only_facts_and_entities_by_default(self, store: Store) -> None:
        body = {"subject": "Ada", "object": "Ada", "name": "Ada", "aliases": ["Ada"]}
        add_memory(store, "1", "Ada", body=body)
        add_memory(store, "2", "Ada", kind=MemoryKind.EPISODE, body=body)
        add_memory(store, "3", "Ada", kind=MemoryKind.FACT, body={"subject": "Bob", "value": "Ada"})

        assert find_named(store, "Ada") == []

    def test_named_memories_are_unique_and_newest_first(self, store: Store) -> None:
        ids = [add_fact(store, str(n), "Ada", "Ada", minute=n % 4).id for n in range(8)]
        by_id = sorted(range(8), key=lambda n: ids[n])
        expected = [ids[n] for n in sorted(by_id, key=lambda n: -(n % 4))]

        assert find_named(store, "Ada", "ada") == expected
        assert find_named(store, "Ada", limit=3) == expected[:3]

    def test_oldest_named_memories_are_found_first_on_request(self, store: Store) -> None:
        ids = [add_fact(store, f"{n}", "Ada", f"Charles {n}", minute=n).id for n in range(5)]
        ids += [add_fact(store, "ada", "Ada", "Ada", minute=6).id]

        def find_oldest(limit: int, *names: str) -> list[str]:
            found = store.memories.find_by_name(ADMIN, names, limit=limit, oldest_first=True)
            return [memory.id for memory in found]

        assert find_oldest(3, "Ada") == ids[:3]
        assert find_oldest(9, "Ada", "Charles 4") == ids
        assert find_oldest(9) == find_oldest(9, "nobody") == []

    @pytest.mark.parametrize(
        ("body", "key"),
        [
            ({"kind": "decision"}, "#decision"),
            ({"kind": "action_item"}, "#undated"),
            ({"kind": "commitment", "due": "2026-03-06T00:00:00.000000Z"}, "#due 2026-w10"),
            ({"kind": "correction"}, "#change"),
            ({"kind": "preference_stated"}, "#behaviour"),
        ],
    )
    def test_landmark_is_found_by_what_it_is(
        self, store: Store, body: dict[str, Any], key: str
    ) -> None:
        text = "Please answer in bullet points."
        known = add_memory(store, "1", text, kind=MemoryKind.LANDMARK, body=body).id
        add_memory(store, "2", "I love jazz.", kind=MemoryKind.LANDMARK, body={"kind": "other"})

        assert find_named(store, key, kinds=[MemoryKind.LANDMARK]) == [known]
        assert find_named(store, key) == []

    def test_find_by_name_respects_grant(self, store: Store) -> None:
        ours = add_fact(store, "1", "Ada", "Charles").id
        secret = add_fact(store, "2", "Ada", "Mary", minute=5, scope=ALICE_DM).id

        assert find_named(store, "Ada", grant=IN_ROOM.grant(), limit=1) == [ours]
        assert find_named(store, "Ada", grant=ALICE.grant()) == [secret]
        assert find_named(store, "Mary", grant=IN_ROOM.grant()) == []
        assert find_named(store, "Ada", grant=BOB.grant()) == []

    def test_outlines_match_named_facts(self, store: Store) -> None:
        told = {"subject": "Ada", "predicate": "likes", "object": "Tea"}
        bodies: list[dict[str, Any]] = [
            {**told, "category": "behavioural", "exact": False},
            {**told, "exact": True, "value": 7},
            {**told, "category": None},
            {"subject": "Ada", "object": "Tea"},
        ]
        for n, body in enumerate(bodies):
            at, learned = NOON + n * MINUTE, n % 2 == 0
            add_memory(store, str(n), kind=MemoryKind.FACT, body=body, at=at, learned=learned)
        add_memory(store, "who", kind=MemoryKind.ENTITY, body={"name": "Ada", "aliases": []})
        add_fact(store, "secret", "Ada", "Mary", minute=9, scope=ALICE_DM)

        for grant in (ADMIN, IN_ROOM.grant(), ALICE.grant(), BOB.grant()):
            facts = store.memories.find_by_name(grant, ["ADA"], limit=9, kinds=[MemoryKind.FACT])
            found = store.memories.fact_outlines(grant, ["ADA"], limit=9)
            assert found == [FactOutline.from_body(**memory_to_json(each)) for each in facts]
            assert store.memories.fact_outlines(grant, ["ada"], limit=2) == found[:2]
        assert len(store.memories.fact_outlines(ADMIN, ["Ada"], limit=9)) == 5
        assert len(store.memories.fact_outlines(IN_ROOM.grant(), ["Ada"], limit=9)) == 4
        assert store.memories.fact_outlines(ADMIN, ["nobody"], limit=9) == []

    def test_memories_are_found_by_their_direct_sources(self, store: Store) -> None:
        older, newer = (add_fact(store, str(n), "Ada", f"Tea {n}", minute=n) for n in (1, 2))
        secret = add_fact(store, "secret", "Ada", "Mary", minute=3, scope=ALICE_DM)
        note = add_memory(store, "4", kind=MemoryKind.ENTITY, body={"name": "Ada", "aliases": []})
        sources = [id for each in (older, newer, secret, note) for id in each.sources]

        def find(grant: Grant, wanted: Sequence[str], *kinds: MemoryKind) -> list[str]:
            return [each.id for each in store.memories.find_by_source(grant, wanted, kinds=kinds)]

        facts = [secret.id, newer.id, older.id]
        assert find(ADMIN, sources, MemoryKind.FACT) == facts
        assert find(IN_ROOM.grant(), sources, MemoryKind.FACT) == facts[1:]
        assert find(ADMIN, older.sources, MemoryKind.FACT) == [older.id]
        assert find(ADMIN, note.sources, MemoryKind.FACT) == []
        assert find(ADMIN, sources, MemoryKind.ENTITY) == [note.id]
        assert find(ADMIN, [], MemoryKind.FACT) == find(ADMIN, ["x"], MemoryKind.FACT) == []
        assert find(ADMIN, sources) == []

    def test_latest_facts_returns_newest_per_key(self, store: Store) -> None:
        def set_value(key: str, predicate: str, minute: int, **more: Any) -> str:
            body = {"subject": "project:apollo", "predicate": predicate, "exact": True}
            at = NOON + minute * MINUTE
            return add_memory(store, key, kind=MemoryKind.FACT, body=body, at=at, **more).id

        set_value("old", "color", 0)
        counted = [set_value(str(n), "counter", n + 1) for n in range(30)]
        tied = sorted(set_value(f"tied {n}", "size", 5) for n in range(3))
        set_value("learned", "color", 50, learned=True)
        secret = set_value("secret", "color", 60, scope=ALICE_DM)
        set_value("other", "color", 70)
        add_memory(store, "no fact", body={"subject": "project:apollo", "predicate": "shape"})
        elsewhere = add_fact(store, "elsewhere", "project:zeus", "x", minute=80).id

        def find_latest(
            *subjects: str, viewer: Viewer = IN_ROOM, limit: int | None = None
        ) -> list[str]:
            found = store.memories.latest_facts(viewer.grant(), subjects, limit=limit)
            return [memory.id for memory in found]

        newest = [set_value("other", "color", 70), counted[-1], tied[0]]
        assert find_latest("project:apollo") == newest
        assert find_latest("project:apollo", limit=2) == newest[:2]
        assert find_latest("project:zeus", "project:apollo") == [elsewhere, *newest]
        assert find_latest("project:apollo", viewer=ALICE) == [secret]
        assert find_latest("PROJECT:APOLLO") == find_latest("apollo") == find_latest() == []

    def test_name_is_removed_with_its_last_fact(self, store: Store) -> None:
        erased, deleted = (
            add_fact(store, "1", "Ada", "Charles"),
            add_fact(store, "2", "Ada", "Mary"),
        )
        changed = add_fact(store, "3", "Ada", "Grace")
        assert len(find_named(store, "Ada")) == 3

        store.memories.delete(ACME, [deleted.id])
        store.eraser.erase(ACME, events=erased.sources, memories=[], tombstones=[])
        body = {"subject": "Joan", "predicate": "KNOWS", "object": "Grace"}
        store.memories.put(ACME, [make_draft(*changed.sources, kind=MemoryKind.FACT, body=body)])

        assert find_named(store, "Ada", "Charles", "Mary") == []
        assert find_named(store, "Joan") == find_named(store, "Grace") == [changed.id]


ROOM_GRANT = IN_ROOM.grant()


def walk_texts(
    store: Store,
    *names: str,
    depth: int = 2,
    limit: int = 10,
    grant: Grant = ROOM_GRANT,
    **more: Any,
) -> list[list[str]]:
    """Return the texts found at each depth."""
    walk = store.graph.traverse(grant, names, depth=depth, limit=limit, **more)
    return [[memory.text for memory in step] for step in walk]


def add_entity(store: Store, key: str, name: str, *aliases: str, **more: Any) -> Memory:
    body = {"name": name, "aliases": list(aliases)}
    return add_memory(store, key, f"{name} is known", kind=MemoryKind.ENTITY, body=body, **more)


class GraphSuite:
    """Needs a fixture `store` that yields an empty store."""

    def test_walk_follows_facts_both_ways(self, store: Store) -> None:
        add_fact(store, "1", "Ada", "Charles")
        add_fact(store, "2", "Mary", "Charles", minute=1)
        add_fact(store, "3", "Mary", "Percy", minute=2)

        assert walk_texts(store, "Ada", depth=3) == [
            ["Ada knows Charles"],
            ["Mary knows Charles", "Ada knows Charles"],
            ["Mary knows Percy", "Mary knows Charles"],
        ]
        assert walk_texts(store, "PERCY", depth=2) == [
            ["Mary knows Percy"],
            ["Mary knows Percy", "Mary knows Charles"],
        ]

    def test_walk_stops_at_depth_or_dead_end(self, store: Store) -> None:
        for n in range(6):
            add_fact(store, str(n), f"n{n}", f"n{n + 1}", minute=n)

        assert [len(walk_texts(store, "n0", depth=depth)) for depth in (0, 1, 3, 99)] == [
            0,
            1,
            3,
            7,
        ]
        assert walk_texts(store, "n3", depth=1) == [["n3 knows n4", "n2 knows n3"]]
        assert walk_texts(store) == walk_texts(store, "nobody", "", "%", "n_") == []

    def test_cycle_is_walked_once(self, store: Store) -> None:
        add_fact(store, "1", "Ada", "Charles")
        add_fact(store, "2", "Charles", "Ada", minute=1)

        assert walk_texts(store, "Ada", depth=9) == [["Charles knows Ada", "Ada knows Charles"]] * 2

    def test_walk_follows_aliases(self, store: Store) -> None:
        add_entity(store, "1", "Ada Lovelace", "Countess")
        add_fact(store, "2", "ADA  lovelace", "Charles", minute=1)

        assert walk_texts(store, "countess") == [
            ["Ada Lovelace is known"],
            ["ADA  lovelace knows Charles", "Ada Lovelace is known"],
        ]

    def test_partial_name_is_matched_but_not_followed(self, store: Store) -> None:
        add_entity(store, "1", "Ada Lovelace", at=NOON + MINUTE)
        add_entity(store, "2", "Ada Byron")

        assert walk_texts(store, "~ada", depth=1) == [
            ["Ada Lovelace is known", "Ada Byron is known"]
        ]
        assert walk_texts(store, "ada byron", depth=3) == [["Ada Byron is known"]]

    @pytest.mark.parametrize("limit", [1, 3, 7])
    def test_step_limit_keeps_newest_then_lowest_id(self, store: Store, limit: int) -> None:
        add_fact(store, "start", "Ada", "Hub", minute=99)
        many = [add_fact(store, str(n), "Hub", f"n{n}", minute=n % 3) for n in range(9)]
        by_id = sorted(many, key=lambda each: each.id)
        newest = sorted(by_id, key=lambda each: each.at, reverse=True)

        walk = store.graph.traverse(ROOM_GRANT, ["ada"], depth=2, limit=limit)

        assert len(walk[1]) == limit
        assert [each.id for each in walk[1][1:]] == [each.id for each in newest[: limit - 1]]

    def test_walk_limits_followed_names(self, store: Store) -> None:
        names = [f"n{n:03}" for n in range(MAX_NAMES + 2)] + ["\uff5a", "\U0001f980"]
        for n, name in enumerate(reversed(names)):
            add_fact(store, f"1{n}", "Ada", name, minute=n)
            add_fact(store, f"2{n}", name, f"after {name}", minute=n)

        _, second = walk_texts(store, "Ada", limit=200)

        assert {text for text in second if "after" in text} == {
            f"{name} knows after {name}" for name in names[:MAX_NAMES]
        }

    def test_filters_apply_to_every_step(self, store: Store) -> None:
        add_entity(store, "1", "Ada", "Countess")
        add_fact(store, "2", "Countess", "Charles", minute=1)
        body = {"subject": "Ada", "predicate": "KNOWS", "object": "Mary"}
        learned: dict[str, Any] = {
            "kind": MemoryKind.FACT,
            "body": body,
            "at": NOON + 2 * MINUTE,
            "learned": True,
        }
        add_memory(store, "3", "learned", **learned)
        add_fact(store, "4", "Mary", "Percy", minute=3)

        assert walk_texts(store, "Ada", kinds=[MemoryKind.ENTITY]) == [["Ada is known"]] * 2
        assert walk_texts(store, "Ada", kinds=[MemoryKind.FACT]) == [
            ["learned"],
            ["Mary knows Percy", "learned"],
        ]
        assert walk_texts(store, "Ada", learned=False) == [
            ["Ada is known"],
            ["Countess knows Charles", "Ada is known"],
        ]
        assert walk_texts(store, "Ada", kinds=[]) == []
        episode: dict[str, Any] = {"kind": MemoryKind.EPISODE, "body": {"entities": ["Ada"]}}
        add_memory(store, "5", "an episode", **episode)
        assert walk_texts(store, "Ada", kinds=[MemoryKind.EPISODE]) == [["an episode"]]

    def test_unreadable_fact_is_not_followed_or_counted(self, store: Store) -> None:
        add_fact(store, "1", "Ada", "Charles")
        add_fact(store, "2", "Mary", "Percy", minute=1)
        before = [walk_texts(store, "Ada", depth=4, limit=limit) for limit in (1, 2, 9)]

        add_fact(store, "3", "Charles", "Mary", minute=2, scope=ALICE_DM)
        for n in range(9):
            add_fact(store, f"h{n}", "Ada", f"hidden {n}", minute=9, scope=BOB_DM)

        assert [walk_texts(store, "Ada", depth=4, limit=limit) for limit in (1, 2, 9)] == before
        assert walk_texts(store, "Mary", grant=ALICE.grant()) == [["Charles knows Mary"]] * 2
        assert len(walk_texts(store, "Ada", depth=1, grant=BOB.grant())[0]) == 9
        assert walk_texts(store, "Ada", grant=ADMIN.narrow_to([])) == []

    def test_walk_needs_all_scopes_of_label(self, store: Store) -> None:
        one = add_fact(store, "1", "Ada", "Charles", scope=ALICE_DM)
        two = add_fact(store, "2", "Charles", "Mary", scope=PROJECT)
        body = {"subject": "Ada", "predicate": "KNOWS", "object": "Mary"}
        both = make_draft(*one.sources, *two.sources, text="both", scope=PROJECT, body=body)
        store.memories.put(ACME, [replace(both, kind=MemoryKind.FACT)])

        (seen,) = walk_texts(store, "Mary", depth=1, grant=ALICE.grant())
        assert sorted(seen) == ["Charles knows Mary", "both"]
        assert walk_texts(store, "Mary", depth=1) == [["Charles knows Mary"]]

    def test_deleted_fact_removes_path(self, store: Store) -> None:
        erased, deleted = (
            add_fact(store, "1", "Ada", "Charles"),
            add_fact(store, "2", "Ada", "Mary"),
        )
        changed = add_fact(store, "3", "Ada", "Grace", minute=1)
        add_fact(store, "4", "Grace", "Joan", minute=2)
        assert len(walk_texts(store, "Ada")[0]) == 3

        store.memories.delete(ACME, [deleted.id])
        store.eraser.erase(ACME, events=erased.sources, memories=[], tombstones=[])
        assert walk_texts(store, "Ada", depth=1) == [["Ada knows Grace"]]
        assert walk_texts(store, "Charles") == walk_texts(store, "Mary") == []

        body = {"subject": "Joan", "predicate": "KNOWS", "object": "Betty"}
        new = make_draft(*changed.sources, kind=MemoryKind.FACT, body=body, text="changed")
        store.memories.put(ACME, [new])
        assert walk_texts(store, "Ada") == []
        assert walk_texts(store, "Betty", limit=9)[0] == ["changed"]

    def test_special_characters_in_names_are_literal(self, store: Store) -> None:
        odd = ["'; DROP", "`n`", "{x: 1}", "$name", "a\\b", "\U0001f980", "ﬁn"]
        for n, name in enumerate(odd):
            add_fact(store, str(n), name, f"friend {n}")

        for n, name in enumerate(odd):
            assert walk_texts(store, name, depth=1) == [[f"{name} knows friend {n}"]]
            assert walk_texts(store, f"friend {n}", depth=1) == [[f"{name} knows friend {n}"]]

    @pytest.mark.parametrize("seed", range(3))
    def test_graph_matches_reference_after_random_writes(self, store: Store, seed: int) -> None:
        chance = random.Random(seed)  # a world, not a secret  # noqa: S311
        kept: list[Memory] = []
        for n in range(60):
            kept.append(_add_random_memory(store, chance, n))
            if chance.random() < 0.2:
                store.memories.delete(ACME, [chance.choice(kept).id])
            if chance.random() < 0.2:
                _compare_with_reference(store, chance)
        _compare_with_reference(store, chance)


GRAPH_SCOPES = (ROOM, PROJECT, ALICE_PROFILE, ALICE_DM, BOB_DM)


def _add_random_memory(store: Store, rng: random.Random, n: int) -> Memory:
    one, two = (f"n{rng.randrange(12)}" for _ in range(2))
    scope: Scope = rng.choice(GRAPH_SCOPES)
    if rng.random() < 0.3:
        at = NOON + rng.randrange(5) * MINUTE
        learned = rng.random() < 0.5
        return add_entity(store, str(n), one, two, "Long Name", scope=scope, at=at, learned=learned)
    return add_fact(store, str(n), one, two, minute=rng.randrange(5), scope=scope)


def _compare_with_reference(store: Store, rng: random.Random) -> None:
    plain = MemoryGraph(store.memories)
    for grant in (ROOM_GRANT, ALICE.grant(), BOB.grant(), ADMIN):
        asked: dict[str, Any] = {
            "names": [f"n{rng.randrange(12)}" for _ in range(2)],
            "depth": rng.randrange(1, 4),
            "limit": rng.choice([1, 2, 5, 30]),
            "learned": rng.random() < 0.5,
        }
        assert store.graph.traverse(grant, **asked) == plain.traverse(grant, **asked)
