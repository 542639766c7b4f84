"""What the memories tell a ranking: texts, times, names, conversations, and never an old state."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from threading import Event as Signal

import pytest

from ...core.access import Grant
from ...core.candidate import Candidate
from ...core.protocols import Store
from ...core.records import Draft, Memory, MemoryKind
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
    draft,
    event,
    keep,
    tell,
)

MINUTE = timedelta(minutes=1)
READERS = 4


def said(store: Store, key: str, minute: int, thread: str = "t") -> str:
    return keep(store, key, f"number {key}", at=NOON + minute * MINUTE, thread=thread).id


def row(store: Store, id: str, reach: int = 9) -> list[str]:
    """The conversation as seen from one of its memories, in order."""
    before, after = store.memories.neighbours(ADMIN, [id], reach=reach)[id]
    return [*reversed(before), id, *after]


def described(store: Store, memory: Memory, grant: Grant = ADMIN) -> Candidate:
    return store.memories.describe(grant, [memory.id], ["tea"])[memory.id]


def talk(store: Store, minutes: Iterable[int]) -> list[Draft]:
    """Drafts of one conversation, none of them put yet."""
    spread = list(minutes)
    sources = tell(store, *(event(f"m{minute}") for minute in spread))
    return [
        draft(source, text=f"minute {minute}", at=NOON + minute * MINUTE, thread="t")
        for source, minute in zip(sources, spread, strict=True)
    ]


@contextmanager
def often_switching() -> Iterator[None]:
    """Let threads take turns so often that none finishes anything undisturbed."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)


class CandidatesSuite:
    """Needs a fixture `store`: an empty one."""

    def test_texts_are_those_that_exist_and_may_be_seen(self, store: Store) -> None:
        open_, secret = keep(store, "1", "Tea.\n"), keep(store, "2", "Gin.", scope=ALICE_DM)
        elsewhere = keep(store, "3", "Milk.", workspace=OTHER)
        ids = [secret.id, "nobody", open_.id, elsewhere.id]

        assert store.memories.texts(ADMIN, ids) == {open_.id: "Tea.\n", secret.id: "Gin."}
        assert store.memories.texts(IN_ROOM.grant(), ids) == {open_.id: "Tea.\n"}
        assert store.memories.texts(ADMIN, []) == {}

    def test_a_text_is_the_one_put_last(self, store: Store) -> None:
        memory = keep(store, "1", "old")
        assert store.memories.texts(ADMIN, [memory.id]) == {memory.id: "old"}
        store.memories.put(ACME, [draft(*memory.sources, text="new", indexed_text="hidden")])

        assert store.memories.texts(ADMIN, [memory.id]) == {memory.id: "new"}

    def test_a_stretch_of_time_has_its_beginning_and_not_its_end(self, store: Store) -> None:
        edges = [NOON - MINUTE / 60_000_000, NOON, LATER - MINUTE / 60_000_000, LATER]
        _, first, last, _ = (keep(store, str(n), at=at).id for n, at in enumerate(edges))

        assert store.memories.between(ADMIN, NOON, LATER, limit=9) == [last, first]
        assert store.memories.between(ADMIN, NOON, NOON, limit=9) == []
        assert store.memories.between(ADMIN, LATER, NOON, limit=9) == []

    def test_a_stretch_of_time_is_read_newest_first_and_ties_by_id(self, store: Store) -> None:
        same = sorted(said(store, str(n), 1) for n in range(5))
        newest = said(store, "new", 2)

        found = store.memories.between(ADMIN, NOON, LATER, limit=4)

        assert found == [newest, *same[:3]]

    def test_a_stretch_of_time_ends_at_the_grant(self, store: Store) -> None:
        ours = keep(store, "1").id
        secret = keep(store, "2", scope=ALICE_DM).id
        keep(store, "3", workspace=OTHER)

        assert store.memories.between(IN_ROOM.grant(), NOON, LATER, limit=9) == [ours]
        assert store.memories.between(ALICE.grant(), NOON, LATER, limit=9) == [secret]
        assert store.memories.between(BOB.grant(), NOON, LATER, limit=9) == []

    def test_a_limit_counts_only_what_may_be_seen(self, store: Store) -> None:
        ours = [said(store, str(n), n) for n in range(3)]
        for n in range(3, 9):
            keep(store, str(n), scope=ALICE_DM, at=NOON + n * MINUTE)

        found = store.memories.between(IN_ROOM.grant(), NOON, LATER, limit=2)

        assert found == [ours[2], ours[1]]

    def test_a_candidate_says_what_it_is_when_and_by_whom(self, store: Store) -> None:
        told = "Tea, please."
        memory = keep(
            store, "1", told, kind=MemoryKind.EPISODE, at=LATER, speaker="ann", role="user"
        )

        seen = described(store, memory)

        assert (seen.id, seen.kind, seen.at) == (memory.id, MemoryKind.EPISODE, LATER)
        assert (seen.speaker, seen.role, seen.length) == ("ann", "user", 2)
        assert (seen.asks, seen.directs) == (False, False)
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
    def test_a_candidate_says_whether_it_directs(
        self, store: Store, text: str, role: str | None, directs: bool
    ) -> None:
        memory = keep(store, "1", text, role=role)

        assert described(store, memory).directs is directs

    def test_a_candidate_says_whether_it_asks(self, store: Store) -> None:
        question, statement = keep(store, "1", "Is there tea?"), keep(store, "2", "There is tea.")

        assert described(store, question).asks
        assert not described(store, statement).asks

    def test_conversations_are_threads_of_a_label_or_else_days(self, store: Store) -> None:
        first, second = (keep(store, key, thread="t") for key in "12")
        loose, same_day = (keep(store, key) for key in "34")
        another, next_day = keep(store, "5", thread="u"), keep(store, "6", at=LATER)
        elsewhere = keep(store, "7", thread="t", scope=ALICE_DM)
        ids = [m.id for m in (first, second, loose, same_day, another, next_day, elsewhere)]

        seen = store.memories.describe(ADMIN, ids, ())

        a, b, c, d, *rest = (seen[id].thread for id in ids)
        assert a == b
        assert c == d
        assert len({a, c, *rest}) == 5

    def test_what_is_described_follows_what_is_put(self, store: Store) -> None:
        memory = keep(store, "1", "Is there tea?")
        assert described(store, memory).asks

        store.memories.put(ACME, [draft(*memory.sources, text="Always use tea.", at=LATER)])

        seen = described(store, memory)
        assert (seen.asks, seen.directs, seen.at, seen.length) == (False, True, LATER, 3)

    def test_what_may_not_be_seen_is_neither_described_nor_beside(self, store: Store) -> None:
        ours, secret = keep(store, "1", thread="t"), keep(store, "2", thread="t", scope=ALICE_DM)
        ids, grant = [ours.id, secret.id, "nobody"], IN_ROOM.grant()

        assert set(store.memories.describe(grant, ids, ["tea"])) == {ours.id}
        assert store.memories.neighbours(grant, ids, reach=2) == {ours.id: ((), ())}

    def test_neighbours_stand_in_the_order_of_time_whenever_they_arrived(
        self, store: Store
    ) -> None:
        minutes = [5, 1, 9, 3, 7]
        ids = {minute: said(store, str(minute), minute) for minute in minutes}
        said(store, "elsewhere", 4, thread="u")

        around = store.memories.neighbours(ADMIN, [ids[5], ids[1]], reach=1)

        assert around == {ids[5]: ((ids[3],), (ids[7],)), ids[1]: ((), (ids[3],))}
        assert row(store, ids[9]) == [ids[minute] for minute in sorted(minutes)]

    def test_neighbours_of_one_time_stand_in_the_order_of_their_ids(self, store: Store) -> None:
        ids = sorted(said(store, str(n), 1) for n in range(6))

        assert row(store, ids[2]) == ids

    def test_a_conversation_that_grew_is_seen_grown(self, store: Store) -> None:
        last, first = said(store, "9", 9), said(store, "1", 1)
        assert row(store, first) == [first, last]

        middle = said(store, "5", 5)
        assert row(store, first) == [first, middle, last]

        earliest = said(store, "0", 0)
        assert row(store, middle) == [earliest, first, middle, last]

    def test_a_conversation_that_shrank_is_seen_shrunk(self, store: Store) -> None:
        drafts = talk(store, range(5))
        ids = [memory.id for memory in store.memories.put(ACME, drafts)]
        assert row(store, ids[2]) == ids

        store.memories.delete(ACME, [ids[1]])
        assert row(store, ids[2]) == [ids[0], *ids[2:]]
        assert ids[1] not in store.memories.describe(ADMIN, ids, ())

        store.eraser.erase(ACME, events=drafts[3].sources, memories=[], tombstones=[])
        assert row(store, ids[2]) == [ids[0], ids[2], ids[4]]

        store.memories.put(ACME, drafts[1:2])
        assert row(store, ids[2]) == [ids[0], ids[1], ids[2], ids[4]]

    def test_what_moves_in_time_moves_in_its_conversation(self, store: Store) -> None:
        memory = keep(store, "1", at=NOON, thread="t")
        other = said(store, "2", 1)
        assert row(store, other) == [memory.id, other]

        moved = draft(*memory.sources, at=NOON + 2 * MINUTE, thread="t")
        store.memories.put(ACME, [moved])

        assert row(store, other) == [other, memory.id]

    def test_readers_see_whole_conversations_while_one_writes(self, store: Store) -> None:
        drafts = talk(store, [minute * 7 % 40 for minute in range(40)])
        when = {each.id: (each.at, each.id) for each in drafts}
        ids, done = list(when), Signal()

        def read() -> int:
            rounds = 0
            while not done.is_set() or rounds == 0:
                store.memories.describe(ADMIN, ids, ["minut"])
                around = store.memories.neighbours(ADMIN, ids, reach=2)
                for id, (before, after) in around.items():
                    moments = [when[each] for each in (*reversed(before), id, *after)]
                    assert moments == sorted(set(moments))
                rounds += 1
            return rounds

        with often_switching(), ThreadPoolExecutor(READERS) as pool:
            readers = [pool.submit(read) for _ in range(READERS)]
            try:
                self._come_and_go(store, drafts)
            finally:
                done.set()
            assert all(reader.result() for reader in readers)
        left = sorted(ids[::2], key=when.__getitem__)
        assert row(store, left[0], reach=40) == left

    def _come_and_go(self, store: Store, drafts: Sequence[Draft]) -> None:
        """All are put, one by one, and every second one is deleted again."""
        for each in drafts:
            store.memories.put(ACME, [each])
        for each in drafts[1::2]:
            store.memories.delete(ACME, [each.id])
