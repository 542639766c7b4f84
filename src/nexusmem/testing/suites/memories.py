"""Contract of derived memories and their keyword index."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import fields, replace
from datetime import timedelta
from math import log
from threading import Event as Signal

import pytest

from ...core.access import Grant
from ...core.errors import InvalidInput
from ...core.filters import parse_filter
from ...core.protocols.store import Store
from ...core.records import Draft, Memory, MemoryKind, Tier, Tombstone
from ...core.records.projections import Candidate
from ...text.terms import extract_terms
from ..samples import (
    ACME,
    ADMIN,
    ALICE,
    ALICE_DM,
    BOB,
    IN_ROOM,
    LATER,
    NOON,
    OTHER,
    PROJECT,
    TEST_PROFILE,
    add_memory,
    append_events,
    make_draft,
    make_event,
    put_vectors,
    unit_vector,
)
from .graph import NameIndexSuite

MINUTE = timedelta(minutes=1)
READER_THREADS = 4


def add_passage(store: Store, key: str, minute: int, thread: str = "t") -> str:
    return add_memory(store, key, f"number {key}", at=NOON + minute * MINUTE, thread=thread).id


def list_conversation(store: Store, id: str, reach: int = 9) -> list[str]:
    """Return the conversation as seen from one of its memories, in order."""
    before, after = store.memories.find_neighbours(ADMIN, [id], reach=reach)[id]
    return [*reversed(before), id, *after]


def describe_memory(store: Store, memory: Memory, grant: Grant = ADMIN) -> Candidate:
    return store.memories.load_candidates(grant, [memory.id], ["tea"])[memory.id]


def conversation_drafts(store: Store, minutes: Iterable[int]) -> list[Draft]:
    """Return drafts of one conversation. None of them is stored yet."""
    spread = list(minutes)
    sources = append_events(store, *(make_event(f"m{minute}") for minute in spread))
    return [
        make_draft(source, text=f"minute {minute}", at=NOON + minute * MINUTE, thread="t")
        for source, minute in zip(sources, spread, strict=True)
    ]


@contextmanager
def fast_thread_switching() -> Iterator[None]:
    """Switch threads so often that none of them finishes an operation undisturbed."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)


class CandidatesSuite:
    """Needs a fixture `store` that yields an empty store."""

    def test_texts_returns_existing_readable_memories(self, store: Store) -> None:
        open_, secret = (
            add_memory(store, "1", "Tea.\n"),
            add_memory(store, "2", "Gin.", scope=ALICE_DM),
        )
        elsewhere = add_memory(store, "3", "Milk.", workspace=OTHER)
        ids = [secret.id, "nobody", open_.id, elsewhere.id]

        assert store.memories.load_texts(ADMIN, ids) == {open_.id: "Tea.\n", secret.id: "Gin."}
        assert store.memories.load_texts(IN_ROOM.grant(), ids) == {open_.id: "Tea.\n"}
        assert store.memories.load_texts(ADMIN, []) == {}

    def test_texts_returns_latest_text(self, store: Store) -> None:
        memory = add_memory(store, "1", "old")
        assert store.memories.load_texts(ADMIN, [memory.id]) == {memory.id: "old"}
        store.memories.put(ACME, [make_draft(*memory.sources, text="new", indexed_text="hidden")])

        assert store.memories.load_texts(ADMIN, [memory.id]) == {memory.id: "new"}

    def test_ids_between_includes_start_excludes_end(self, store: Store) -> None:
        edges = [NOON - MINUTE / 60_000_000, NOON, LATER - MINUTE / 60_000_000, LATER]
        _, first, last, _ = (add_memory(store, str(n), at=at).id for n, at in enumerate(edges))

        assert store.memories.ids_between(ADMIN, NOON, LATER, limit=9) == [last, first]
        assert store.memories.ids_between(ADMIN, NOON, NOON, limit=9) == []
        assert store.memories.ids_between(ADMIN, LATER, NOON, limit=9) == []

    def test_ids_between_orders_by_time_then_id(self, store: Store) -> None:
        same = sorted(add_passage(store, str(n), 1) for n in range(5))
        newest = add_passage(store, "new", 2)

        found = store.memories.ids_between(ADMIN, NOON, LATER, limit=4)

        assert found == [newest, *same[:3]]

    def test_ids_between_respects_grant(self, store: Store) -> None:
        ours = add_memory(store, "1").id
        secret = add_memory(store, "2", scope=ALICE_DM).id
        add_memory(store, "3", workspace=OTHER)

        assert store.memories.ids_between(IN_ROOM.grant(), NOON, LATER, limit=9) == [ours]
        assert store.memories.ids_between(ALICE.grant(), NOON, LATER, limit=9) == [secret]
        assert store.memories.ids_between(BOB.grant(), NOON, LATER, limit=9) == []

    def test_limit_counts_only_readable_memories(self, store: Store) -> None:
        ours = [add_passage(store, str(n), n) for n in range(3)]
        for n in range(3, 9):
            add_memory(store, str(n), scope=ALICE_DM, at=NOON + n * MINUTE)

        found = store.memories.ids_between(IN_ROOM.grant(), NOON, LATER, limit=2)

        assert found == [ours[2], ours[1]]

    def test_candidate_has_kind_time_speaker(self, store: Store) -> None:
        told = "Tea, please."
        memory = add_memory(
            store, "1", told, kind=MemoryKind.EPISODE, at=LATER, speaker="ann", role="user"
        )

        seen = describe_memory(store, memory)

        assert (seen.id, seen.kind, seen.at) == (memory.id, MemoryKind.EPISODE, LATER)
        assert (seen.speaker, seen.role, seen.length) == ("ann", "user", 2)
        assert (seen.is_question, seen.is_instruction) == (False, False)
        assert 0 < seen.keyword <= 1
        assert 0 < seen.thread_keyword <= 1

    @pytest.mark.parametrize(
        ("text", "role", "directs"),
        [
            ("From now on, serve tea at five.", "user", True),
            ("Always use metric units when you give weights.", None, True),
            ("I prefer tea.", "user", True),
            ("I always lose my keys.", "user", False),
            ("From now on I will serve tea at five.", "assistant", False),
        ],
    )
    def test_candidate_flags_instructions(
        self, store: Store, text: str, role: str | None, directs: bool
    ) -> None:
        memory = add_memory(store, "1", text, role=role)

        assert describe_memory(store, memory).is_instruction is directs

    def test_candidate_flags_questions(self, store: Store) -> None:
        question, statement = (
            add_memory(store, "1", "Is there tea?"),
            add_memory(store, "2", "There is tea."),
        )

        assert describe_memory(store, question).is_question
        assert not describe_memory(store, statement).is_question

    def test_conversation_is_thread_or_day_per_label(self, store: Store) -> None:
        first, second = (add_memory(store, key, thread="t") for key in "12")
        loose, same_day = (add_memory(store, key) for key in "34")
        another, next_day = add_memory(store, "5", thread="u"), add_memory(store, "6", at=LATER)
        elsewhere = add_memory(store, "7", thread="t", scope=ALICE_DM)
        ids = [m.id for m in (first, second, loose, same_day, another, next_day, elsewhere)]

        seen = store.memories.load_candidates(ADMIN, ids, ())

        a, b, c, d, *rest = (seen[id].thread for id in ids)
        assert a == b
        assert c == d
        assert len({a, c, *rest}) == 5

    def test_description_reflects_updates(self, store: Store) -> None:
        memory = add_memory(store, "1", "Is there tea?")
        assert describe_memory(store, memory).is_question

        store.memories.put(ACME, [make_draft(*memory.sources, text="Always use tea.", at=LATER)])

        seen = describe_memory(store, memory)
        assert (seen.is_question, seen.is_instruction, seen.at, seen.length) == (
            False,
            True,
            LATER,
            3,
        )

    def test_unreadable_memories_are_not_described(self, store: Store) -> None:
        ours, secret = (
            add_memory(store, "1", thread="t"),
            add_memory(store, "2", thread="t", scope=ALICE_DM),
        )
        ids, grant = [ours.id, secret.id, "nobody"], IN_ROOM.grant()

        assert set(store.memories.load_candidates(grant, ids, ["tea"])) == {ours.id}
        assert store.memories.find_neighbours(grant, ids, reach=2) == {ours.id: ((), ())}

    def test_neighbours_are_ordered_by_time(self, store: Store) -> None:
        minutes = [5, 1, 9, 3, 7]
        ids = {minute: add_passage(store, str(minute), minute) for minute in minutes}
        add_passage(store, "elsewhere", 4, thread="u")

        around = store.memories.find_neighbours(ADMIN, [ids[5], ids[1]], reach=1)

        assert around == {ids[5]: ((ids[3],), (ids[7],)), ids[1]: ((), (ids[3],))}
        assert list_conversation(store, ids[9]) == [ids[minute] for minute in sorted(minutes)]

    def test_neighbours_with_equal_time_order_by_id(self, store: Store) -> None:
        ids = sorted(add_passage(store, str(n), 1) for n in range(6))

        assert list_conversation(store, ids[2]) == ids

    def test_neighbours_include_added_memories(self, store: Store) -> None:
        last, first = add_passage(store, "9", 9), add_passage(store, "1", 1)
        assert list_conversation(store, first) == [first, last]

        middle = add_passage(store, "5", 5)
        assert list_conversation(store, first) == [first, middle, last]

        earliest = add_passage(store, "0", 0)
        assert list_conversation(store, middle) == [earliest, first, middle, last]

    def test_neighbours_exclude_deleted_memories(self, store: Store) -> None:
        drafts = conversation_drafts(store, range(5))
        ids = [memory.id for memory in store.memories.put(ACME, drafts)]
        assert list_conversation(store, ids[2]) == ids

        store.memories.delete(ACME, [ids[1]])
        assert list_conversation(store, ids[2]) == [ids[0], *ids[2:]]
        assert ids[1] not in store.memories.load_candidates(ADMIN, ids, ())

        store.eraser.erase(ACME, events=drafts[3].sources, memories=[], tombstones=[])
        assert list_conversation(store, ids[2]) == [ids[0], ids[2], ids[4]]

        store.memories.put(ACME, drafts[1:2])
        assert list_conversation(store, ids[2]) == [ids[0], ids[1], ids[2], ids[4]]

    def test_changed_time_moves_memory_in_conversation(self, store: Store) -> None:
        memory = add_memory(store, "1", at=NOON, thread="t")
        other = add_passage(store, "2", 1)
        assert list_conversation(store, other) == [memory.id, other]

        moved = make_draft(*memory.sources, at=NOON + 2 * MINUTE, thread="t")
        store.memories.put(ACME, [moved])

        assert list_conversation(store, other) == [other, memory.id]

    def test_concurrent_readers_see_consistent_conversations(self, store: Store) -> None:
        drafts = conversation_drafts(store, [minute * 7 % 40 for minute in range(40)])
        when = {each.id: (each.at, each.id) for each in drafts}
        ids, done = list(when), Signal()

        def read_until_done() -> int:
            rounds = 0
            while not done.is_set() or rounds == 0:
                store.memories.load_candidates(ADMIN, ids, ["minut"])
                around = store.memories.find_neighbours(ADMIN, ids, reach=2)
                for id, (before, after) in around.items():
                    moments = [when[each] for each in (*reversed(before), id, *after)]
                    assert moments == sorted(set(moments))
                rounds += 1
            return rounds

        with fast_thread_switching(), ThreadPoolExecutor(READER_THREADS) as pool:
            readers = [pool.submit(read_until_done) for _ in range(READER_THREADS)]
            try:
                self._put_and_delete(store, drafts)
            finally:
                done.set()
            assert all(reader.result() for reader in readers)
        left = sorted(ids[::2], key=when.__getitem__)
        assert list_conversation(store, left[0], reach=40) == left

    def _put_and_delete(self, store: Store, drafts: Sequence[Draft]) -> None:
        """Store memories one by one and delete every second one again."""
        for each in drafts:
            store.memories.put(ACME, [each])
        for each in drafts[1::2]:
            store.memories.delete(ACME, [each.id])


HOUR = timedelta(hours=1)


def memory_texts(store: Store) -> list[str]:
    return [memory.text for memory in store.memories.find(ADMIN)]


def search_ids(store: Store, words: str, limit: int = 10) -> list[str]:
    return [
        hit.id for hit in store.memories.search_keywords(ADMIN, extract_terms(words), limit=limit)
    ]


class MemoriesSuite(CandidatesSuite, NameIndexSuite):
    """Needs a fixture `store` that yields an empty store."""

    def test_written_since_pages_in_write_order(self, store: Store) -> None:
        facts = [add_memory(store, str(n), str(n), kind=MemoryKind.FACT) for n in range(4)]
        add_memory(store, "else", "of another kind")

        def read_page(after: int, limit: int = 9) -> list[tuple[int, str]]:
            kinds = [MemoryKind.FACT]
            found = store.memories.changes_since(ACME, kinds, after=after, limit=limit)
            return [(number, memory.text) for number, memory in found]

        first = read_page(0, limit=3)
        assert [text for _, text in first] == ["0", "1", "2"]
        assert [text for _, text in read_page(first[-1][0])] == ["3"]
        last = read_page(0)[-1][0]

        again = [make_draft(*facts[1].sources, text="1, otherwise", kind=MemoryKind.FACT)]
        store.memories.put(ACME, again)
        store.memories.put(ACME, [make_draft(*facts[2].sources, text="2", kind=MemoryKind.FACT)])
        store.memories.delete(ACME, [facts[3].id])

        assert [text for _, text in read_page(last)] == ["1, otherwise"]
        assert [text for _, text in read_page(0)] == ["0", "2", "1, otherwise"]
        assert store.memories.changes_since(OTHER, [MemoryKind.FACT], after=0, limit=9) == []

    def test_memory_matches_its_draft(self, store: Store) -> None:
        (source,) = append_events(store, make_event("1"))
        whole = make_draft(
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
        names = {field.name for field in fields(Draft)} - {"flow"}  # it becomes part of the label
        assert {name: getattr(put, name) for name in names} == {
            name: getattr(whole, name) for name in names
        }

    def test_memory_time_defaults_to_newest_source(self, store: Store) -> None:
        sources = append_events(store, make_event("1", at=LATER), make_event("2", at=NOON))

        (put,) = store.memories.put(ACME, [make_draft(*sources)])

        assert (put.at, put.recorded_at) == (LATER, NOON)

    def test_same_draft_has_same_id(self, store: Store) -> None:
        one, two = append_events(store, make_event("1"), make_event("2"))
        same = make_draft(one, two)

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
        assert store.count_records(ADMIN) == {"events": 2, "episode": 1, "passage": 4, "vectors": 0}

    def test_draft_without_sources_is_rejected(self, store: Store) -> None:
        (source,) = append_events(store, make_event("1"))

        with pytest.raises(InvalidInput):
            store.memories.put(ACME, [make_draft(source), make_draft()])

        assert store.memories.find(ADMIN) == []

    def test_draft_with_missing_sources_is_skipped(self, store: Store) -> None:
        one, two = append_events(store, make_event("1"), make_event("2"))
        store.eraser.erase(ACME, events=[two], memories=[], tombstones=[])

        put = store.memories.put(
            ACME,
            [
                make_draft(one, text="kept"),
                make_draft(one, two),
                make_draft("nobody"),
                make_draft(two),
            ],
        )

        assert [memory.text for memory in put] == memory_texts(store) == ["kept"]

    def test_draft_cannot_use_other_workspace_sources(self, store: Store) -> None:
        (there,) = append_events(store, make_event("1"), workspace=OTHER)

        assert store.memories.put(ACME, [make_draft(there)]) == []

    def test_put_replaces_text_and_keywords(self, store: Store) -> None:
        old = add_memory(store, "1", "old words here")
        (new,) = store.memories.put(ACME, [make_draft(*old.sources, text="new letters")])

        assert old.id == new.id
        assert memory_texts(store) == ["new letters"]
        assert search_ids(store, "old") == []
        assert search_ids(store, "letters") == [new.id]

    def test_last_draft_with_same_id_wins(self, store: Store) -> None:
        (source,) = append_events(store, make_event("1"))

        store.memories.put(
            ACME, [make_draft(source, text="first"), make_draft(source, text="second")]
        )

        assert memory_texts(store) == ["second"]
        assert search_ids(store, "first") == []

    def test_unchanged_put_keeps_vector(self, store: Store) -> None:
        memory = add_memory(store, "1")
        put_vectors(store, {memory.id: unit_vector(1)})

        store.memories.put(ACME, [make_draft(*memory.sources)])
        assert store.count_records(ADMIN)["vectors"] == 1

        store.memories.put(ACME, [make_draft(*memory.sources, text="Something else.")])
        assert store.count_records(ADMIN)["vectors"] == 0

    def test_memories_are_found_newest_first(self, store: Store) -> None:
        hours = [3, 1, 2, 2, -5]
        put = [add_memory(store, str(key), at=NOON + hour * HOUR) for key, hour in enumerate(hours)]

        ids = [memory.id for memory in store.memories.find(ADMIN)]

        by_id = sorted(put, key=lambda memory: memory.id)
        assert ids == [m.id for m in sorted(by_id, key=lambda memory: memory.at, reverse=True)]

    def test_memory_limit_applies_after_filter(self, store: Store) -> None:
        for n in range(9):
            add_memory(store, str(n), f"number {n}", at=NOON + n * HOUR, tags=(f"t{n % 3}",))

        where = parse_filter({"tags": {"contains": "t0"}})

        passed = store.memories.find(ADMIN, where=where, limit=2)
        assert [memory.text for memory in passed] == ["number 6", "number 3"]

    def test_facts_are_found_by_subject_predicate(self, store: Store) -> None:
        told = [("ann", "LIKES"), ("ann", "OWNS"), ("%", "_")]
        for key, (subject, predicate) in enumerate(told):
            body = {"subject": subject, "predicate": predicate, "object": "tea"}
            add_memory(store, str(key), f"{subject} {predicate}", kind=MemoryKind.FACT, body=body)

        def find_texts(**wanted: str) -> list[str]:
            facts = store.memories.find(ADMIN, where=parse_filter(wanted))
            return sorted(memory.text for memory in facts)

        assert find_texts(subject="ann") == ["ann LIKES", "ann OWNS"]
        assert find_texts(subject="ann", predicate="OWNS") == ["ann OWNS"]
        assert find_texts(subject="%") == ["% _"]
        assert find_texts(subject="an") == []

    def test_memories_are_returned_in_requested_order(self, store: Store) -> None:
        one, two = (add_memory(store, key) for key in "12")

        got = store.memories.get(ADMIN, [two.id, "nobody", one.id])

        assert [memory.id for memory in got] == [two.id, one.id]

    def test_keywords_are_scored_by_bm25(self, store: Store) -> None:
        one = add_memory(store, "1", "tea tea milk")
        two = add_memory(store, "2", "tea sugar bread butter jam")
        add_memory(store, "3", "coffee")

        hits = store.memories.search_keywords(ADMIN, extract_terms("tea milk"), limit=9)

        # Three texts of 3, 5 and 1 words: 3 on average. Two contain "tea", one contains "milk".
        tea, milk = log(1 + 1.5 / 2.5), log(1 + 2.5 / 1.5)
        best = (tea + milk) * 2.2
        expected = {
            one.id: (tea * 2 * 2.2 / (2 + 1.2) + milk * 2.2 / (1 + 1.2)) / best,
            two.id: (tea * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 5 / 3))) / best,
        }
        assert [hit.id for hit in hits] == [one.id, two.id]
        assert {hit.id: hit.score for hit in hits} == pytest.approx(expected, abs=1e-8)

    def test_repeated_query_term_counts_once(self, store: Store) -> None:
        add_memory(store, "1", "tea and milk")

        once, twice = (
            store.memories.search_keywords(ADMIN, words, limit=9)
            for words in (["tea"], ["tea", "tea"])
        )
        assert once == twice

    def test_unknown_terms_match_nothing(self, store: Store) -> None:
        add_memory(store, "1")

        assert store.memories.search_keywords(ADMIN, [], limit=9) == []
        assert (
            store.memories.search_keywords(ADMIN, ["%", "_", "", "zzz", "' OR 1=1"], limit=9) == []
        )

    def test_equal_keyword_scores_order_by_id(self, store: Store) -> None:
        ids = [add_memory(store, str(key), "just the same").id for key in range(20)]

        assert search_ids(store, "same", limit=20) == sorted(ids)
        assert search_ids(store, "same", limit=7) == sorted(ids)[:7]

    def test_indexed_text_overrides_text_for_keywords(self, store: Store) -> None:
        memory = add_memory(store, "1", "tea", indexed_text="coffee")

        assert search_ids(store, "coffee") == [memory.id]
        assert search_ids(store, "tea") == []

    def test_keyword_filter_finds_lowest_match(self, store: Store) -> None:
        ids = append_events(store, *(make_event(str(n)) for n in range(500)))
        drafts = [make_draft(id, text="tea " + "cup " * n, slot=str(n)) for n, id in enumerate(ids)]
        put = store.memories.put(ACME, drafts)
        where = parse_filter({"id": put[-1].id})

        hits = store.memories.search_keywords(ADMIN, ["tea"], where=where, limit=3)

        every = store.memories.search_keywords(ADMIN, ["tea"], limit=500)
        assert every[-1].id == put[-1].id
        assert hits == every[-1:]

    def test_delete_removes_memory_but_not_sources(self, store: Store) -> None:
        gone, stays = add_memory(store, "1", "red tea"), add_memory(store, "2", "green tea")
        put_vectors(store, {gone.id: unit_vector(1), stays.id: unit_vector(1)})

        assert store.memories.delete(ACME, [gone.id, "nobody"]) == 1

        assert store.memories.get(ADMIN, [gone.id]) == []
        assert memory_texts(store) == ["green tea"]
        assert search_ids(store, "tea") == [stays.id]
        assert [
            hit.id
            for hit in store.vectors.find_nearest(ADMIN, TEST_PROFILE, unit_vector(1), limit=9)
        ] == [stays.id]
        assert store.eraser.list_derived(ACME, gone.sources) == []
        assert store.count_records(ADMIN) == {"events": 2, "passage": 1, "vectors": 1}
        assert store.memories.delete(ACME, [gone.id]) == 0

    def test_delete_is_limited_to_workspace(self, store: Store) -> None:
        memory = add_memory(store, "1")

        assert store.memories.delete(OTHER, [memory.id]) == 0
        assert len(memory_texts(store)) == 1

    def test_deleted_memory_can_be_derived_again(self, store: Store) -> None:
        memory = add_memory(store, "1")
        store.memories.delete(ACME, [memory.id])

        assert store.memories.put(ACME, [make_draft(*memory.sources)]) == [memory]
        assert search_ids(store, "tea") == [memory.id]

    def test_tombstoned_memory_is_not_derived_again(self, store: Store) -> None:
        memory = add_memory(store, "1")
        stone = Tombstone(kind="memory", digest=memory.id, at=NOON)
        store.eraser.erase(ACME, events=[], memories=[memory.id], tombstones=[stone])

        assert store.memories.put(ACME, [make_draft(*memory.sources)]) == []
        assert store.memories.find(ADMIN) == []
