"""What a ledger promises about quotas."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from ...core.chain import content_of
from ...core.errors import Conflict, QuotaExceeded
from ...core.protocols import Store
from ...core.quotas import Quota, Used
from ...core.records import Event, NewEvent, Receipt
from ..samples import ACME, ADMIN, NOON, OTHER, draft, event, tell

DAY = timedelta(days=1)


def append(store: Store, quota: Quota, *events: NewEvent, **more: object) -> list[Receipt]:
    told = {"recorded_at": NOON, "workspace": ACME, **more}
    return store.ledger.append(told.pop("workspace"), events, quota=quota, **told)  # type: ignore[arg-type]


def size(store: Store) -> int:
    """As many bytes as the events take that are there."""
    kept: list[Event] = store.ledger.find(ADMIN)
    return sum(len(content_of(each).encode()) for each in kept)


class QuotasSuite:
    """Needs a fixture `store`: an empty one."""

    def test_nothing_is_used_before_something_is_written(self, store: Store) -> None:
        assert store.ledger.used(ACME, now=NOON) == Used()

    def test_what_is_kept_is_counted(self, store: Store) -> None:
        one, _ = tell(store, event("1"), event("2", "Größe: 🫖"))
        tell(store, event("1"))  # again
        store.memories.put(ACME, [draft(one)])

        used = store.ledger.used(ACME, now=NOON)

        assert used == Used(events_today=2, memories=1, text_bytes=size(store))
        assert store.ledger.used(OTHER, now=NOON) == Used()

    def test_a_day_ends_and_another_one_begins(self, store: Store) -> None:
        tell(store, event("1"), event("2"))
        store.ledger.append(ACME, [event("3")], recorded_at=NOON + DAY)

        used = [store.ledger.used(ACME, now=NOON + days * DAY).events_today for days in range(3)]

        assert used == [1, 1, 0]  # a clock that is behind does not open a day again

    def test_more_events_than_a_day_may_have_are_refused_together(self, store: Store) -> None:
        quota = Quota(events_per_day=3)
        append(store, quota, event("1"), event("2"))
        before = store.ledger.verify(ACME), store.epoch(ADMIN), store.queue.pending(ADMIN)

        with pytest.raises(QuotaExceeded) as refused:
            append(store, quota, event("3"), event("4"))

        after = store.ledger.verify(ACME), store.epoch(ADMIN), store.queue.pending(ADMIN)
        assert after == before
        told = refused.value
        assert (told.quota, told.limit) == ("events_per_day", 3)
        assert told.frees_at == NOON.replace(hour=0) + DAY
        append(store, quota, event("3"))
        append(store, quota, event("4"), recorded_at=NOON + DAY)
        assert len(store.ledger.find(ADMIN)) == 4

    def test_what_is_there_already_needs_no_room(self, store: Store) -> None:
        quota = Quota(events_per_day=1, text_bytes=1_000, memories=5)
        append(store, quota, event("1"))

        (again,) = append(store, quota, event("1"))

        assert again.repeated
        with pytest.raises(Conflict):
            append(store, quota, event("1", "Other words."))

    def test_bytes_are_refused_beyond_the_last_one_and_freed_by_erasure(self, store: Store) -> None:
        (id,) = tell(store, event("1"))
        quota = Quota(text_bytes=2 * size(store))
        append(store, quota, event("2"))

        with pytest.raises(QuotaExceeded, match="forget something") as refused:
            append(store, quota, event("3", "x"))

        assert refused.value.frees_at is None
        store.eraser.erase(ACME, events=[id, id], memories=[], tombstones=[])
        store.eraser.erase(ACME, events=[id], memories=[], tombstones=[])
        assert store.ledger.used(ACME, now=NOON).text_bytes == size(store)
        append(store, quota, event("3"))

    def test_no_event_is_taken_in_when_there_are_enough_memories(self, store: Store) -> None:
        quota = Quota(memories=2)
        one, two = (each.event_id for each in append(store, quota, event("1"), event("2")))
        store.memories.put(ACME, [draft(one)])
        append(store, quota, event("3"))
        made = store.memories.put(ACME, [draft(two)])

        with pytest.raises(QuotaExceeded, match="2 memories"):
            append(store, quota, event("4"))

        store.memories.delete(ACME, [made[0].id])
        append(store, quota, event("4"))

    def test_a_quota_depends_on_no_other_workspace(self, store: Store) -> None:
        quota = Quota(events_per_day=1, text_bytes=1_000)
        append(store, quota, event("1"))

        append(store, quota, event("1"), workspace=OTHER)

        for workspace in (ACME, OTHER):
            with pytest.raises(QuotaExceeded):
                append(store, quota, event("2"), workspace=workspace)

    def test_of_many_at_once_just_as_many_are_written_as_there_is_room(self, store: Store) -> None:
        quota = Quota(events_per_day=10)

        def write(number: int) -> bool:
            try:
                append(store, quota, event(str(number)))
            except QuotaExceeded:
                return False
            return True

        with ThreadPoolExecutor(8) as threads:
            written = list(threads.map(write, range(24)))

        assert sum(written) == 10 == len(store.ledger.find(ADMIN))
        assert store.ledger.verify(ACME).problems == ()

    def test_a_refusal_tells_the_limit_and_not_what_others_have_used(self, store: Store) -> None:
        append(store, Quota(), *(event(str(number)) for number in range(37)))

        with pytest.raises(QuotaExceeded) as refused:
            append(store, Quota(events_per_day=20), event("x"))

        assert "20" in str(refused.value)
        assert not {"36", "37", "38"} & set(str(refused.value).split())
