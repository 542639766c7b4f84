"""What the embeddings promise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ...core.access import Grant, administrator_grant
from ...core.errors import InvalidInput
from ...core.filters import parse_filter
from ...core.protocols import Floats, Scored, Store
from ...core.records import EmbeddingProfile
from ...core.scope import Scope
from ..samples import ACME, ADMIN, OTHER, SPACE, draft, event, keep, point, tell, towards

WIDE = EmbeddingProfile(provider="test", model="wide", dimension=96)


def crowd(store: Store, count: int) -> list[str]:
    """The ids of this many memories."""
    sources = tell(store, *(event(str(number)) for number in range(count)))
    drafts = [draft(id, text=f"number {n}") for n, id in enumerate(sources)]
    return [memory.id for memory in store.memories.put(ACME, drafts)]


def spread_out(count: int, dimension: int) -> Floats:
    """Unit vectors, the same every time; many of them close to each other."""
    numbers = np.random.default_rng(7)
    middles = numbers.normal(size=(8, dimension))
    rows = middles[np.arange(count) % 8] + 0.02 * numbers.normal(size=(count, dimension))
    unit: Floats = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit


def by_hand(table: dict[str, Floats], asked: Floats) -> list[Scored]:
    scores = {id: float(row.astype(np.float64) @ asked) for id, row in table.items()}
    rounded = {id: round(max(0.0, score), 9) for id, score in scores.items()}
    order = sorted(rounded, key=lambda each: (-rounded[each], each))
    return [Scored(id=id, score=rounded[id]) for id in order]


class VectorsSuite:
    """Needs a fixture `store`: an empty one."""

    def nearest(self, store: Store, *direction: float, limit: int = 9) -> list[Scored]:
        return store.vectors.nearest(ADMIN, SPACE, towards(*direction), limit=limit)

    def test_the_closest_come_first(self, store: Store) -> None:
        near, far, away = crowd(store, 3)
        point(store, {near: towards(3, 4), far: towards(0, 1), away: towards(-1)})

        hits = self.nearest(store, 1)

        assert [hit.id for hit in hits] == [near, *sorted([far, away])]
        assert [hit.score for hit in hits] == pytest.approx([0.6, 0, 0], abs=1e-6)

    def test_scores_are_those_of_who_asks_what_now(self, store: Store) -> None:
        """Whatever a search before has left behind."""
        near, far = crowd(store, 2)
        point(store, {near: towards(3, 4), far: towards(0, 1)})

        def scores(grant: Grant, *direction: float) -> dict[str, float]:
            return store.vectors.scores(grant, SPACE, towards(*direction), [near, far])

        with store.moment():
            self.nearest(store, 1)
            assert scores(ADMIN, 1) == pytest.approx({near: 0.6, far: 0.0}, abs=1e-6)
            assert scores(ADMIN, 0, 1) == pytest.approx({near: 0.8, far: 1.0}, abs=1e-6)
            assert scores(ADMIN.within([Scope.room("elsewhere")]), 1) == {}
        point(store, {far: towards(1)})
        assert scores(ADMIN, 1) == pytest.approx({near: 0.6, far: 1.0}, abs=1e-6)

    @pytest.mark.parametrize("limit", [1, 10, 100, 400])
    def test_the_answer_is_exact(self, store: Store, limit: int) -> None:
        rows = spread_out(400, WIDE.dimension)
        table = dict(zip(crowd(store, 400), rows, strict=True))
        store.vectors.put(ACME, WIDE, table)

        for asked in (*rows[:3], *spread_out(50, WIDE.dimension)[-2:]):
            hits = store.vectors.nearest(ADMIN, WIDE, asked, limit=limit)

            expected = by_hand(table, asked)[:limit]
            assert [hit.id for hit in hits] == [hit.id for hit in expected]
            assert [h.score for h in hits] == pytest.approx([h.score for h in expected], abs=1e-6)

    def test_equal_scores_are_ordered_by_id(self, store: Store) -> None:
        ids = crowd(store, 30)
        point(store, dict.fromkeys(ids, towards(1, 1)))

        assert [hit.id for hit in self.nearest(store, 1, limit=30)] == sorted(ids)
        assert [hit.id for hit in self.nearest(store, 1, limit=7)] == sorted(ids)[:7]

    @pytest.mark.parametrize("where", [None, {"kind": "passage"}])
    @pytest.mark.parametrize("count", [60, 1_500])
    def test_whatever_points_away_scores_nothing_and_is_ordered_by_id(
        self, store: Store, count: int, where: dict[str, str] | None
    ) -> None:
        ids = crowd(store, count)
        near, *others = ids
        away = {id: towards(-1 - n % 11, n % 7) for n, id in enumerate(others)}
        point(store, {near: towards(1), **away})

        hits = store.vectors.nearest(ADMIN, SPACE, towards(1), where=parse_filter(where), limit=5)

        assert [hit.id for hit in hits] == [near, *sorted(others)[:4]]
        assert [hit.score for hit in hits] == [1, 0, 0, 0, 0]

    def test_a_filter_finds_the_farthest_of_many(self, store: Store) -> None:
        ids = crowd(store, 500)
        point(store, {id: towards(500 - n, n) for n, id in enumerate(ids)})

        where = parse_filter({"text": "number 499"})
        hits = store.vectors.nearest(ADMIN, SPACE, towards(1), where=where, limit=3)

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
    def test_what_is_no_unit_vector_is_refused(self, store: Store, bad: Floats) -> None:
        one, two = crowd(store, 2)

        with pytest.raises(InvalidInput):
            point(store, {one: towards(1), two: bad})
        with pytest.raises(InvalidInput):
            store.vectors.nearest(ADMIN, SPACE, bad, limit=9)

        assert store.count(ADMIN)["vectors"] == 0

    def test_memories_that_are_gone_get_no_vector(self, store: Store) -> None:
        stays, gone = crowd(store, 2)
        store.memories.delete(ACME, [gone])

        assert point(store, {stays: towards(1), gone: towards(1), "nobody": towards(1)}) == 1
        assert point(store, {stays: towards(1)}, workspace=OTHER) == 0
        assert [hit.id for hit in self.nearest(store, 1)] == [stays]

    def test_a_vector_put_again_replaces_the_first(self, store: Store) -> None:
        (id,) = crowd(store, 1)
        point(store, {id: towards(1)})
        self.nearest(store, 1)

        point(store, {id: towards(0, 1)})

        assert self.nearest(store, 1) == [Scored(id=id, score=0.0)]
        assert self.nearest(store, 0, 1) == [Scored(id=id, score=1.0)]
        assert store.count(ADMIN)["vectors"] == 1

    def test_vectors_come_back_bit_for_bit(self, store: Store) -> None:
        ids = crowd(store, 5)
        rows = dict(zip(ids, spread_out(5, 4), strict=True))
        point(store, rows)

        got = store.vectors.get(ADMIN, SPACE, [ids[3], "nobody", ids[1]])

        assert got.keys() == {ids[1], ids[3]}
        assert all(np.array_equal(vector, rows[id]) for id, vector in got.items())

    def test_one_knows_which_memories_have_no_vector_yet(self, store: Store) -> None:
        ids = crowd(store, 5)
        point(store, {id: towards(1) for id in ids[:2]})

        without = {memory.id for memory in store.vectors.missing(ADMIN, SPACE, limit=9)}

        assert without == set(ids[2:])
        in_order = [memory.id for memory in store.vectors.missing(ADMIN, SPACE, limit=2)]
        assert in_order == sorted(ids[2:])[:2]
        rest = store.vectors.missing(ADMIN, SPACE, limit=9, after=in_order[-1])
        assert [memory.id for memory in rest] == sorted(ids[2:])[2:]
        assert len(store.vectors.missing(ADMIN, WIDE, limit=9)) == 5

    def test_what_is_indexed_as_nothing_misses_no_vector(self, store: Store) -> None:
        silent = keep(store, "silent", "tea", indexed_text="")
        plain = keep(store, "plain", "tea")
        other = keep(store, "other", "tea", indexed_text="milk")

        without = {memory.id for memory in store.vectors.missing(ADMIN, SPACE, limit=9)}

        assert without == {plain.id, other.id}
        assert {memory.id for memory in store.vectors.missing(ADMIN, SPACE, limit=2)} == without
        found = store.memories.matching(ADMIN, ["tea", "milk"], limit=9)
        assert silent.id not in {hit.id for hit in found}
        assert len(found) == 2

    def test_vectors_of_two_profiles_are_never_compared(self, store: Store) -> None:
        one, two = crowd(store, 2)
        sibling = replace(SPACE, revision="2")
        point(store, {one: towards(1)})
        store.vectors.put(ACME, sibling, {two: towards(1)})

        assert [hit.id for hit in self.nearest(store, 1)] == [one]
        assert [h.id for h in store.vectors.nearest(ADMIN, sibling, towards(1), limit=9)] == [two]
        assert store.vectors.nearest(ADMIN, replace(SPACE, model="?"), towards(1), limit=9) == []
        assert store.vectors.get(ADMIN, sibling, [one]) == {}

    def test_the_first_vectors_are_used_until_others_are(self, store: Store) -> None:
        assert store.vectors.profiles() == []
        assert store.vectors.in_use(ACME) is None

        (id,) = crowd(store, 1)
        point(store, {id: towards(1)})
        store.vectors.put(ACME, WIDE, {id: spread_out(1, WIDE.dimension)[0]})
        assert store.vectors.in_use(ACME) == SPACE
        assert store.vectors.in_use(OTHER) is None

        before = store.epoch(ADMIN)
        store.vectors.use(ACME, WIDE)
        assert store.vectors.in_use(ACME) == WIDE
        assert store.epoch(ADMIN) > before
        assert len(store.vectors.profiles()) == 2

    def test_vectors_that_are_not_in_use_can_be_dropped_a_few_at_a_time(self, store: Store) -> None:
        ids = crowd(store, 5)
        point(store, {id: towards(1) for id in ids})
        wide = dict(zip(ids, spread_out(5, WIDE.dimension), strict=True))
        store.vectors.put(ACME, WIDE, wide)
        assert self.nearest(store, 1)

        assert store.vectors.drop(ACME, SPACE, limit=9) == 0  # they are in use
        store.vectors.use(ACME, WIDE)
        assert [store.vectors.drop(ACME, SPACE, limit=3) for _ in range(3)] == [3, 2, 0]

        assert store.vectors.get(ADMIN, SPACE, ids) == {}
        assert self.nearest(store, 1) == []
        assert store.vectors.get(ADMIN, WIDE, ids).keys() == set(ids)
        assert store.count(ADMIN)["vectors"] == 5

    def test_one_knows_how_far_a_profile_has_come(self, store: Store) -> None:
        ids = crowd(store, 5)
        keep(store, "silent", "tea", indexed_text="")
        point(store, {id: towards(1) for id in ids[:2]})

        assert store.vectors.coverage(ADMIN, SPACE) == {"embedded": 2, "missing": 3}
        assert store.vectors.coverage(ADMIN, WIDE) == {"embedded": 0, "missing": 5}
        elsewhere = store.vectors.coverage(administrator_grant(OTHER), SPACE)
        assert elsewhere == {"embedded": 0, "missing": 0}

    def test_an_answer_never_holds_a_memory_twice(self, store: Store) -> None:
        ids = crowd(store, 40)
        for start in range(0, 40, 7):  # between two questions, some are new and some are not
            point(store, {id: towards(1, n) for n, id in enumerate(ids[: start + 7])})

            hits = self.nearest(store, 1, limit=40)
            assert sorted(hit.id for hit in hits) == sorted(ids[: start + 7])

    def test_new_memories_are_found_at_once(self, store: Store) -> None:
        for number in range(5):
            memory = keep(store, f"new {number}")
            point(store, {memory.id: towards(1)})

            assert len(self.nearest(store, 1)) == number + 1
