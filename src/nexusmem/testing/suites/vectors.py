"""Contract of the vector index."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ...core.access import Grant, administrator_grant
from ...core.errors import InvalidInput
from ...core.filters import parse_filter
from ...core.protocols.embedder import Floats
from ...core.protocols.memories import ScoredId
from ...core.protocols.store import Store
from ...core.records import EmbeddingProfile
from ...core.scope import Scope
from ..samples import (
    ACME,
    ADMIN,
    OTHER,
    TEST_PROFILE,
    add_memory,
    append_events,
    make_draft,
    make_event,
    put_vectors,
    unit_vector,
)

WIDE_PROFILE = EmbeddingProfile(provider="test", model="wide", dimension=96)


def add_memories(store: Store, count: int) -> list[str]:
    """Store this many memories and return their ids."""
    sources = append_events(store, *(make_event(str(number)) for number in range(count)))
    drafts = [make_draft(id, text=f"number {n}") for n, id in enumerate(sources)]
    return [memory.id for memory in store.memories.put(ACME, drafts)]


def vector_clusters(count: int, dimension: int) -> Floats:
    """Return reproducible unit vectors, many of them close to each other."""
    numbers = np.random.default_rng(7)
    middles = numbers.normal(size=(8, dimension))
    rows = middles[np.arange(count) % 8] + 0.02 * numbers.normal(size=(count, dimension))
    unit: Floats = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit


def exact_scores(table: dict[str, Floats], query: Floats) -> list[ScoredId]:
    scores = {id: float(row.astype(np.float64) @ query) for id, row in table.items()}
    rounded = {id: round(max(0.0, score), 9) for id, score in scores.items()}
    order = sorted(rounded, key=lambda each: (-rounded[each], each))
    return [ScoredId(id=id, score=rounded[id]) for id in order]


class VectorsSuite:
    """Needs a fixture `store` that yields an empty store."""

    def find_nearest(self, store: Store, *direction: float, limit: int = 9) -> list[ScoredId]:
        return store.vectors.find_nearest(ADMIN, TEST_PROFILE, unit_vector(*direction), limit=limit)

    def test_nearest_come_first(self, store: Store) -> None:
        near, far, away = add_memories(store, 3)
        put_vectors(store, {near: unit_vector(3, 4), far: unit_vector(0, 1), away: unit_vector(-1)})

        hits = self.find_nearest(store, 1)

        assert [hit.id for hit in hits] == [near, *sorted([far, away])]
        assert [hit.score for hit in hits] == pytest.approx([0.6, 0, 0], abs=1e-6)

    def test_scores_follow_grant_query_and_updates(self, store: Store) -> None:
        """Results of an earlier search must not influence a later one."""
        near, far = add_memories(store, 2)
        put_vectors(store, {near: unit_vector(3, 4), far: unit_vector(0, 1)})

        def read_scores(grant: Grant, *direction: float) -> dict[str, float]:
            return store.vectors.score_ids(
                grant, TEST_PROFILE, unit_vector(*direction), [near, far]
            )

        with store.snapshot():
            self.find_nearest(store, 1)
            assert read_scores(ADMIN, 1) == pytest.approx({near: 0.6, far: 0.0}, abs=1e-6)
            assert read_scores(ADMIN, 0, 1) == pytest.approx({near: 0.8, far: 1.0}, abs=1e-6)
            assert read_scores(ADMIN.narrow_to([Scope.room("elsewhere")]), 1) == {}
        put_vectors(store, {far: unit_vector(1)})
        assert read_scores(ADMIN, 1) == pytest.approx({near: 0.6, far: 1.0}, abs=1e-6)

    @pytest.mark.parametrize("limit", [1, 10, 100, 400])
    def test_nearest_is_exact(self, store: Store, limit: int) -> None:
        rows = vector_clusters(400, WIDE_PROFILE.dimension)
        table = dict(zip(add_memories(store, 400), rows, strict=True))
        store.vectors.put(ACME, WIDE_PROFILE, table)

        for asked in (*rows[:3], *vector_clusters(50, WIDE_PROFILE.dimension)[-2:]):
            hits = store.vectors.find_nearest(ADMIN, WIDE_PROFILE, asked, limit=limit)

            expected = exact_scores(table, asked)[:limit]
            assert [hit.id for hit in hits] == [hit.id for hit in expected]
            assert [h.score for h in hits] == pytest.approx([h.score for h in expected], abs=1e-6)

    def test_equal_vector_scores_order_by_id(self, store: Store) -> None:
        ids = add_memories(store, 30)
        put_vectors(store, dict.fromkeys(ids, unit_vector(1, 1)))

        assert [hit.id for hit in self.find_nearest(store, 1, limit=30)] == sorted(ids)
        assert [hit.id for hit in self.find_nearest(store, 1, limit=7)] == sorted(ids)[:7]

    @pytest.mark.parametrize("where", [None, {"kind": "passage"}])
    @pytest.mark.parametrize("count", [60, 1_500])
    def test_negative_similarity_scores_zero(
        self, store: Store, count: int, where: dict[str, str] | None
    ) -> None:
        ids = add_memories(store, count)
        near, *others = ids
        away = {id: unit_vector(-1 - n % 11, n % 7) for n, id in enumerate(others)}
        put_vectors(store, {near: unit_vector(1), **away})

        hits = store.vectors.find_nearest(
            ADMIN, TEST_PROFILE, unit_vector(1), where=parse_filter(where), limit=5
        )

        assert [hit.id for hit in hits] == [near, *sorted(others)[:4]]
        assert [hit.score for hit in hits] == [1, 0, 0, 0, 0]

    def test_vector_filter_finds_farthest(self, store: Store) -> None:
        ids = add_memories(store, 500)
        put_vectors(store, {id: unit_vector(500 - n, n) for n, id in enumerate(ids)})

        where = parse_filter({"text": "number 499"})
        hits = store.vectors.find_nearest(ADMIN, TEST_PROFILE, unit_vector(1), where=where, limit=3)

        assert [hit.id for hit in hits] == [ids[-1]]

    @pytest.mark.parametrize(
        "bad",
        [
            np.zeros(4),
            np.full(4, np.nan),
            np.array([np.inf, 0, 0, 0]),
            np.array([2.0, 0, 0, 0]),
            np.array([1.0, 0, 0]),
            np.eye(4),
        ],
        ids="zeros nan infinity long short table".split(),
    )
    def test_invalid_vector_is_rejected(self, store: Store, bad: Floats) -> None:
        one, two = add_memories(store, 2)

        with pytest.raises(InvalidInput):
            put_vectors(store, {one: unit_vector(1), two: bad})
        with pytest.raises(InvalidInput):
            store.vectors.find_nearest(ADMIN, TEST_PROFILE, bad, limit=9)

        assert store.count_records(ADMIN)["vectors"] == 0

    def test_missing_memory_gets_no_vector(self, store: Store) -> None:
        stays, gone = add_memories(store, 2)
        store.memories.delete(ACME, [gone])

        assert (
            put_vectors(
                store, {stays: unit_vector(1), gone: unit_vector(1), "nobody": unit_vector(1)}
            )
            == 1
        )
        assert put_vectors(store, {stays: unit_vector(1)}, workspace=OTHER) == 0
        assert [hit.id for hit in self.find_nearest(store, 1)] == [stays]

    def test_put_replaces_vector(self, store: Store) -> None:
        (id,) = add_memories(store, 1)
        put_vectors(store, {id: unit_vector(1)})
        self.find_nearest(store, 1)

        put_vectors(store, {id: unit_vector(0, 1)})

        assert self.find_nearest(store, 1) == [ScoredId(id=id, score=0.0)]
        assert self.find_nearest(store, 0, 1) == [ScoredId(id=id, score=1.0)]
        assert store.count_records(ADMIN)["vectors"] == 1

    def test_vectors_are_stored_exactly(self, store: Store) -> None:
        ids = add_memories(store, 5)
        rows = dict(zip(ids, vector_clusters(5, 4), strict=True))
        put_vectors(store, rows)

        got = store.vectors.get(ADMIN, TEST_PROFILE, [ids[3], "nobody", ids[1]])

        assert got.keys() == {ids[1], ids[3]}
        assert all(np.array_equal(vector, rows[id]) for id, vector in got.items())

    def test_missing_lists_memories_without_vector(self, store: Store) -> None:
        ids = add_memories(store, 5)
        put_vectors(store, {id: unit_vector(1) for id in ids[:2]})

        without = {memory.id for memory in store.vectors.list_missing(ADMIN, TEST_PROFILE, limit=9)}

        assert without == set(ids[2:])
        in_order = [
            memory.id for memory in store.vectors.list_missing(ADMIN, TEST_PROFILE, limit=2)
        ]
        assert in_order == sorted(ids[2:])[:2]
        rest = store.vectors.list_missing(ADMIN, TEST_PROFILE, limit=9, after=in_order[-1])
        assert [memory.id for memory in rest] == sorted(ids[2:])[2:]
        assert len(store.vectors.list_missing(ADMIN, WIDE_PROFILE, limit=9)) == 5

    def test_missing_skips_unindexed_memories(self, store: Store) -> None:
        silent = add_memory(store, "silent", "tea", indexed_text="")
        plain = add_memory(store, "plain", "tea")
        other = add_memory(store, "other", "tea", indexed_text="milk")

        without = {memory.id for memory in store.vectors.list_missing(ADMIN, TEST_PROFILE, limit=9)}

        assert without == {plain.id, other.id}
        assert {
            memory.id for memory in store.vectors.list_missing(ADMIN, TEST_PROFILE, limit=2)
        } == without
        found = store.memories.search_keywords(ADMIN, ["tea", "milk"], limit=9)
        assert silent.id not in {hit.id for hit in found}
        assert len(found) == 2

    def test_profiles_are_searched_separately(self, store: Store) -> None:
        one, two = add_memories(store, 2)
        sibling = replace(TEST_PROFILE, revision="2")
        put_vectors(store, {one: unit_vector(1)})
        store.vectors.put(ACME, sibling, {two: unit_vector(1)})

        assert [hit.id for hit in self.find_nearest(store, 1)] == [one]
        assert [
            h.id for h in store.vectors.find_nearest(ADMIN, sibling, unit_vector(1), limit=9)
        ] == [two]
        assert (
            store.vectors.find_nearest(
                ADMIN, replace(TEST_PROFILE, model="?"), unit_vector(1), limit=9
            )
            == []
        )
        assert store.vectors.get(ADMIN, sibling, [one]) == {}

    def test_first_profile_stays_active_until_switch(self, store: Store) -> None:
        assert store.vectors.list_profiles() == []
        assert store.vectors.active_profile(ACME) is None

        (id,) = add_memories(store, 1)
        put_vectors(store, {id: unit_vector(1)})
        store.vectors.put(ACME, WIDE_PROFILE, {id: vector_clusters(1, WIDE_PROFILE.dimension)[0]})
        assert store.vectors.active_profile(ACME) == TEST_PROFILE
        assert store.vectors.active_profile(OTHER) is None

        before = store.epoch(ADMIN)
        store.vectors.activate_profile(ACME, WIDE_PROFILE)
        assert store.vectors.active_profile(ACME) == WIDE_PROFILE
        assert store.epoch(ADMIN) > before
        assert len(store.vectors.list_profiles()) == 2

    def test_inactive_profile_is_deleted_in_batches(self, store: Store) -> None:
        ids = add_memories(store, 5)
        put_vectors(store, {id: unit_vector(1) for id in ids})
        wide = dict(zip(ids, vector_clusters(5, WIDE_PROFILE.dimension), strict=True))
        store.vectors.put(ACME, WIDE_PROFILE, wide)
        assert self.find_nearest(store, 1)

        assert (
            store.vectors.delete_profile(ACME, TEST_PROFILE, limit=9) == 0
        )  # their profile is active
        store.vectors.activate_profile(ACME, WIDE_PROFILE)
        assert [store.vectors.delete_profile(ACME, TEST_PROFILE, limit=3) for _ in range(3)] == [
            3,
            2,
            0,
        ]

        assert store.vectors.get(ADMIN, TEST_PROFILE, ids) == {}
        assert self.find_nearest(store, 1) == []
        assert store.vectors.get(ADMIN, WIDE_PROFILE, ids).keys() == set(ids)
        assert store.count_records(ADMIN)["vectors"] == 5

    def test_coverage_counts_vectors_of_profile(self, store: Store) -> None:
        ids = add_memories(store, 5)
        add_memory(store, "silent", "tea", indexed_text="")
        put_vectors(store, {id: unit_vector(1) for id in ids[:2]})

        assert store.vectors.coverage(ADMIN, TEST_PROFILE) == {"embedded": 2, "missing": 3}
        assert store.vectors.coverage(ADMIN, WIDE_PROFILE) == {"embedded": 0, "missing": 5}
        elsewhere = store.vectors.coverage(administrator_grant(OTHER), TEST_PROFILE)
        assert elsewhere == {"embedded": 0, "missing": 0}

    def test_nearest_has_no_duplicates(self, store: Store) -> None:
        ids = add_memories(store, 40)
        for start in range(0, 40, 7):  # between two questions, some memories are new
            put_vectors(store, {id: unit_vector(1, n) for n, id in enumerate(ids[: start + 7])})

            hits = self.find_nearest(store, 1, limit=40)
            assert sorted(hit.id for hit in hits) == sorted(ids[: start + 7])

    def test_new_vectors_are_found_immediately(self, store: Store) -> None:
        for number in range(5):
            memory = add_memory(store, f"new {number}")
            put_vectors(store, {memory.id: unit_vector(1)})

            assert len(self.find_nearest(store, 1)) == number + 1
