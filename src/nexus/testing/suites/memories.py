"""What the derived records and their keywords promise."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import timedelta
from math import log

import pytest

from ...core.errors import InvalidInput
from ...core.filters import parse_filter
from ...core.protocols import Store
from ...core.records import Draft, MemoryKind, Tier, Tombstone
from ...core.text import terms
from ..samples import (
    ACME,
    ADMIN,
    LATER,
    NOON,
    OTHER,
    PROJECT,
    SPACE,
    draft,
    event,
    keep,
    point,
    tell,
    towards,
)
from .candidates import CandidatesSuite
from .names import NamesSuite

HOUR = timedelta(hours=1)


def texts(store: Store) -> list[str]:
    return [memory.text for memory in store.memories.find(ADMIN)]


def found(store: Store, words: str, limit: int = 10) -> list[str]:
    return [hit.id for hit in store.memories.matching(ADMIN, terms(words), limit=limit)]


class MemoriesSuite(CandidatesSuite, NamesSuite):
    """Needs a fixture `store`: an empty one."""

    def test_what_was_written_is_read_on_in_that_order(self, store: Store) -> None:
        facts = [keep(store, str(n), str(n), kind=MemoryKind.FACT) for n in range(4)]
        keep(store, "else", "of another kind")

        def read(after: int, limit: int = 9) -> list[tuple[int, str]]:
            kinds = [MemoryKind.FACT]
            found = store.memories.written(ACME, kinds, after=after, limit=limit)
            return [(number, memory.text) for number, memory in found]

        first = read(0, limit=3)
        assert [text for _, text in first] == ["0", "1", "2"]
        assert [text for _, text in read(first[-1][0])] == ["3"]
        last = read(0)[-1][0]

        again = [draft(*facts[1].sources, text="1, otherwise", kind=MemoryKind.FACT)]
        store.memories.put(ACME, again)
        store.memories.put(ACME, [draft(*facts[2].sources, text="2", kind=MemoryKind.FACT)])
        store.memories.delete(ACME, [facts[3].id])

        assert [text for _, text in read(last)] == ["1, otherwise"]
        assert [text for _, text in read(0)] == ["0", "2", "1, otherwise"]
        assert store.memories.written(OTHER, [MemoryKind.FACT], after=0, limit=9) == []

    def test_a_memory_comes_back_as_it_was_drafted(self, store: Store) -> None:
        (source,) = tell(store, event("1"))
        whole = draft(
            source,
            text="Größe \U0001f980 ␀",
            kind=MemoryKind.FACT,
            slot="7",
            indexed_text="size",
            at=LATER,
            confidence=0.25,
            salience=0.75,
            tier=Tier.LONG,
            valid_from=NOON,
            valid_to=LATER,
            speaker="alice",
            role="user",
            source="note",
            thread="t",
            tags=("a", "b"),
            metadata={"a": {"b": [1, 2.5, None, True]}},
            body={"subject": "alice", "predicate": "LIKES", "object": "tea", "value": None},
        )

        (put,) = store.memories.put(ACME, [whole])

        assert store.memories.get(ADMIN, [put.id]) == [put]
        assert {f.name: getattr(put, f.name) for f in fields(Draft)} == {
            f.name: getattr(whole, f.name) for f in fields(Draft)
        }

    def test_its_time_is_its_newest_sources(self, store: Store) -> None:
        sources = tell(store, event("1", at=LATER), event("2", at=NOON))

        (put,) = store.memories.put(ACME, [draft(*sources)])

        assert (put.at, put.recorded_at) == (LATER, NOON)

    def test_the_same_draft_is_the_same_memory(self, store: Store) -> None:
        one, two = tell(store, event("1"), event("2"))
        same = draft(one, two)

        (first,) = store.memories.put(ACME, [same])
        (again,) = store.memories.put(ACME, [replace(same, sources=(two, one))])
        others = store.memories.put(
            ACME,
            [
                replace(same, slot="2"),
                replace(same, kind=MemoryKind.EPISODE),
                replace(same, sources=(one,)),
                replace(same, scope=PROJECT),
            ],
        )

        assert first.id == again.id
        assert len({first.id, *(other.id for other in others)}) == 5
        assert store.count(ADMIN) == {"events": 2, "episode": 1, "passage": 4, "vectors": 0}

    def test_a_draft_that_rests_on_nothing_is_refused(self, store: Store) -> None:
        (source,) = tell(store, event("1"))

        with pytest.raises(InvalidInput):
            store.memories.put(ACME, [draft(source), draft()])

        assert store.memories.find(ADMIN) == []

    def test_a_draft_whose_sources_are_gone_is_left_out(self, store: Store) -> None:
        one, two = tell(store, event("1"), event("2"))
        store.eraser.erase(ACME, events=[two], memories=[], tombstones=[])

        put = store.memories.put(
            ACME, [draft(one, text="kept"), draft(one, two), draft("nobody"), draft(two)]
        )

        assert [memory.text for memory in put] == texts(store) == ["kept"]

    def test_a_draft_does_not_rest_on_another_workspace(self, store: Store) -> None:
        (there,) = tell(store, event("1"), workspace=OTHER)

        assert store.memories.put(ACME, [draft(there)]) == []

    def test_putting_again_replaces_text_and_words(self, store: Store) -> None:
        old = keep(store, "1", "old words here")
        (new,) = store.memories.put(ACME, [draft(*old.sources, text="new letters")])

        assert old.id == new.id
        assert texts(store) == ["new letters"]
        assert found(store, "old") == []
        assert found(store, "letters") == [new.id]

    def test_of_two_with_the_same_id_the_later_one_stays(self, store: Store) -> None:
        (source,) = tell(store, event("1"))

        store.memories.put(ACME, [draft(source, text="first"), draft(source, text="second")])

        assert texts(store) == ["second"]
        assert found(store, "first") == []

    def test_a_vector_outlives_what_changes_nothing(self, store: Store) -> None:
        memory = keep(store, "1")
        point(store, {memory.id: towards(1)})

        store.memories.put(ACME, [draft(*memory.sources)])
        assert store.count(ADMIN)["vectors"] == 1

        store.memories.put(ACME, [draft(*memory.sources, text="Something else.")])
        assert store.count(ADMIN)["vectors"] == 0

    def test_memories_are_found_newest_first(self, store: Store) -> None:
        hours = [3, 1, 2, 2, -5]
        put = [keep(store, str(key), at=NOON + hour * HOUR) for key, hour in enumerate(hours)]

        ids = [memory.id for memory in store.memories.find(ADMIN)]

        by_id = sorted(put, key=lambda memory: memory.id)
        assert ids == [m.id for m in sorted(by_id, key=lambda memory: memory.at, reverse=True)]

    def test_a_limit_counts_what_passed_the_filter(self, store: Store) -> None:
        for n in range(9):
            keep(store, str(n), f"number {n}", at=NOON + n * HOUR, tags=(f"t{n % 3}",))

        where = parse_filter({"tags": {"contains": "t0"}})

        passed = store.memories.find(ADMIN, where=where, limit=2)
        assert [memory.text for memory in passed] == ["number 6", "number 3"]

    def test_facts_are_found_by_what_they_are_about(self, store: Store) -> None:
        told = [("ann", "LIKES"), ("ann", "OWNS"), ("%", "_")]
        for key, (subject, predicate) in enumerate(told):
            body = {"subject": subject, "predicate": predicate, "object": "tea"}
            keep(store, str(key), f"{subject} {predicate}", kind=MemoryKind.FACT, body=body)

        def about(**wanted: str) -> list[str]:
            facts = store.memories.find(ADMIN, where=parse_filter(wanted))
            return sorted(memory.text for memory in facts)

        assert about(subject="ann") == ["ann LIKES", "ann OWNS"]
        assert about(subject="ann", predicate="OWNS") == ["ann OWNS"]
        assert about(subject="%") == ["% _"]
        assert about(subject="an") == []

    def test_memories_come_in_the_order_asked(self, store: Store) -> None:
        one, two = (keep(store, key) for key in "12")

        got = store.memories.get(ADMIN, [two.id, "nobody", one.id])

        assert [memory.id for memory in got] == [two.id, one.id]

    def test_words_are_scored_by_bm25(self, store: Store) -> None:
        one = keep(store, "1", "tea tea milk")
        two = keep(store, "2", "tea sugar bread butter jam")
        keep(store, "3", "coffee")

        hits = store.memories.matching(ADMIN, terms("tea milk"), limit=9)

        # Three texts of 3, 5 and 1 words: 3 on average. Tea is in two of them, milk in one.
        tea, milk = log(1 + 1.5 / 2.5), log(1 + 2.5 / 1.5)
        best = (tea + milk) * 2.2
        expected = {
            one.id: (tea * 2 * 2.2 / (2 + 1.2) + milk * 2.2 / (1 + 1.2)) / best,
            two.id: (tea * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 5 / 3))) / best,
        }
        assert [hit.id for hit in hits] == [one.id, two.id]
        assert {hit.id: hit.score for hit in hits} == pytest.approx(expected, abs=1e-8)

    def test_a_word_asked_for_twice_counts_once(self, store: Store) -> None:
        keep(store, "1", "tea and milk")

        once, twice = (
            store.memories.matching(ADMIN, words, limit=9) for words in (["tea"], ["tea", "tea"])
        )
        assert once == twice

    def test_words_nobody_said_find_nothing(self, store: Store) -> None:
        keep(store, "1")

        assert store.memories.matching(ADMIN, [], limit=9) == []
        assert store.memories.matching(ADMIN, ["%", "_", "", "zzz", "' OR 1=1"], limit=9) == []

    def test_equal_scores_are_ordered_by_id(self, store: Store) -> None:
        ids = [keep(store, str(key), "just the same").id for key in range(20)]

        assert found(store, "same", limit=20) == sorted(ids)
        assert found(store, "same", limit=7) == sorted(ids)[:7]

    def test_words_come_from_the_indexed_text_if_there_is_one(self, store: Store) -> None:
        memory = keep(store, "1", "tea", indexed_text="coffee")

        assert found(store, "coffee") == [memory.id]
        assert found(store, "tea") == []

    def test_a_filter_finds_the_worst_match_of_many(self, store: Store) -> None:
        ids = tell(store, *(event(str(n)) for n in range(500)))
        drafts = [draft(id, text="tea " + "cup " * n, slot=str(n)) for n, id in enumerate(ids)]
        put = store.memories.put(ACME, drafts)
        where = parse_filter({"id": put[-1].id})

        hits = store.memories.matching(ADMIN, ["tea"], where=where, limit=3)

        every = store.memories.matching(ADMIN, ["tea"], limit=500)
        assert every[-1].id == put[-1].id
        assert hits == every[-1:]

    def test_deleting_leaves_no_trace_but_the_sources(self, store: Store) -> None:
        gone, stays = keep(store, "1", "red tea"), keep(store, "2", "green tea")
        point(store, {gone.id: towards(1), stays.id: towards(1)})

        assert store.memories.delete(ACME, [gone.id, "nobody"]) == 1

        assert store.memories.get(ADMIN, [gone.id]) == []
        assert texts(store) == ["green tea"]
        assert found(store, "tea") == [stays.id]
        assert [hit.id for hit in store.vectors.nearest(ADMIN, SPACE, towards(1), limit=9)] == [
            stays.id
        ]
        assert store.eraser.derived(ACME, gone.sources) == []
        assert store.count(ADMIN) == {"events": 2, "passage": 1, "vectors": 1}
        assert store.memories.delete(ACME, [gone.id]) == 0

    def test_deleting_stays_inside_its_workspace(self, store: Store) -> None:
        memory = keep(store, "1")

        assert store.memories.delete(OTHER, [memory.id]) == 0
        assert len(texts(store)) == 1

    def test_what_was_deleted_can_be_derived_again(self, store: Store) -> None:
        memory = keep(store, "1")
        store.memories.delete(ACME, [memory.id])

        assert store.memories.put(ACME, [draft(*memory.sources)]) == [memory]
        assert found(store, "tea") == [memory.id]

    def test_a_memory_with_a_tombstone_is_not_derived_again(self, store: Store) -> None:
        memory = keep(store, "1")
        stone = Tombstone(kind="memory", digest=memory.id, at=NOON)
        store.eraser.erase(ACME, events=[], memories=[memory.id], tombstones=[stone])

        assert store.memories.put(ACME, [draft(*memory.sources)]) == []
        assert store.memories.find(ADMIN) == []
