"""Window in Redis; common behaviour is in the conformance suite."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.architecture.sources import ROOT

from nexusmem.core.access import administrator_grant
from nexusmem.core.errors import StoreUnavailable
from nexusmem.core.ids import WorkspaceId
from nexusmem.core.protocols.store import Store
from nexusmem.core.records.window import MAX_ITEMS, WindowItem, WindowSlot
from nexusmem.core.scope import Scope
from nexusmem.stores.external.composite_store import CompositeStore
from nexusmem.testing.reference_store.store import ReferenceStore
from nexusmem.testing.samples import (
    ACME,
    ADMIN,
    NOON,
    OTHER,
    ROOM,
    add_memory,
    append_events,
    make_event,
)

redis = pytest.importorskip("redis", reason="the extra redis is not installed")

from nexusmem.stores.external.redis import RedisWindow  # noqa: E402

DAY = timedelta(days=1)
Open = Callable[..., CompositeStore]


@pytest.fixture
def open_store(redis_url: str) -> Iterator[Open]:
    """Return a function that opens a store with its window in the empty shared Redis."""
    opened: list[Store] = []

    def open_store(records: Any = None, *, namespace: str = "", **options: Any) -> CompositeStore:
        records = records or ReferenceStore()
        address = f"{redis_url}?namespace={namespace}"
        window = RedisWindow(address, records, **{"wait_seconds": 10.0, **options})
        opened.append(CompositeStore(records, window=window))
        return opened[-1]

    yield open_store
    for store in opened:
        store.close()


@pytest.fixture
def client(redis_url: str) -> Iterator[Any]:
    with redis.Redis.from_url(redis_url, decode_responses=True, protocol=2) as client:
        yield client


def item(key: str = "k", value: Any = "v", **more: Any) -> WindowItem:
    told: dict[str, Any] = {
        "scope": ROOM,
        "slot": WindowSlot.NOTE,
        "at": NOON,
        "by": "scribe",
        **more,
    }
    return WindowItem(key=key, value=value, **told)


def fill(store: Store) -> None:
    """Put one item into each slot."""
    for workspace in (ACME, OTHER):
        items = [item(f"my {slot.value}", "tea", slot=slot) for slot in WindowSlot]
        store.window.put(workspace, [*items, item("dm", scope=Scope.dm("alice", "scribe"))])


@pytest.mark.requirement("A2")
def test_keys_contain_no_names_and_expire(open_store: Open, client: Any) -> None:
    fill(open_store())

    keys = client.keys()

    assert len(keys) > 2 * len(WindowSlot)
    for key in keys:
        assert all(word not in key for word in ("acme", "alice", "design", "my", "tea", "scribe"))
        assert 29 * DAY.total_seconds() < client.ttl(key) <= 30 * DAY.total_seconds()


@pytest.mark.requirement("A2")
def test_keys_of_workspace_share_hash_tag(open_store: Open, client: Any) -> None:
    fill(open_store())

    slots = {redis.cluster.key_slot(key.encode()) for key in client.keys("*")}

    assert len(slots) == 2  # one per workspace


def test_ttl_follows_expiry_of_item(open_store: Open, client: Any) -> None:
    store = open_store()
    store.window.put(ACME, [item("long", expires_at=NOON + 100 * DAY)])
    store.window.put(ACME, [item("short", expires_at=NOON + DAY)])

    assert {round(client.ttl(key) / DAY.total_seconds()) for key in client.keys("*")} == {100}


def test_two_memories_on_one_redis_are_separate(open_store: Open) -> None:
    one, other = open_store(namespace="one"), open_store(namespace="other")

    one.window.put(ACME, [item()])

    assert len(one.window.find(ADMIN, slots=[WindowSlot.NOTE], now=NOON)) == 1
    assert other.window.find(ADMIN, slots=[WindowSlot.NOTE], now=NOON) == []
    assert other.window.delete(ACME, ROOM, WindowSlot.NOTE) == 0


@pytest.mark.requirement("D23")
def test_epoch_never_repeats(open_store: Open, client: Any) -> None:
    store = open_store()
    seen = {store.window.epoch(ADMIN)}
    for key in ("a", "b"):
        store.window.put(ACME, [item(key)])
        seen.add(store.window.epoch(ADMIN))
    client.flushall()
    after = [store.window.epoch(ADMIN)]
    for key in ("a", "b", "c"):
        store.window.put(ACME, [item(key)])
        after.append(store.window.epoch(ADMIN))

    assert len(seen) == 3
    assert after[0] == 0  # empty, as at the beginning
    assert after == sorted(set(after))
    assert seen & set(after) == {0}


@pytest.mark.requirement("X2")
def test_item_copied_to_another_key_is_rejected(open_store: Open, client: Any) -> None:
    """Copying values to the keys of another workspace must not reveal them."""
    store = open_store()
    store.window.put(OTHER, [item(value="of others")])
    store.window.put(ACME, [item(value="ours")])
    (theirs, ours) = (
        next(key for key in client.keys("*:note") if word in "".join(client.hvals(key)))
        for word in ("of others", "ours")
    )
    client.rename(theirs, ours)

    with pytest.raises(StoreUnavailable, match="belongs to another key"):
        store.window.find(ADMIN, slots=[WindowSlot.NOTE], now=NOON)
    assert (
        store.window.find(ADMIN, slots=[WindowSlot.GOAL], now=NOON) == []
    )  # the circuit breaker stays closed


@pytest.mark.parametrize("slot", MAX_ITEMS)
def test_trim_breaks_ties_by_key(open_store: Open, slot: WindowSlot) -> None:
    store, reference = open_store(), ReferenceStore()
    told = [item(f"{number:03}", number, slot=slot) for number in range(MAX_ITEMS[slot] + 5)]

    for each in (store, reference):
        each.window.put(ACME, told)

    shown, expected = (
        [each.value for each in one.window.find(ADMIN, slots=[slot], now=NOON)]
        for one in (store, reference)
    )
    assert shown == expected


def test_labels_of_a_scope_are_trimmed_separately(open_store: Open) -> None:
    store, reference = open_store(), ReferenceStore()
    second = timedelta(seconds=1)
    told = [
        item(str(n), n, slot=WindowSlot.CONTEXT, at=NOON + n * second, extra_scopes=extra)
        for n, extra in enumerate([(), (Scope.workspace(),), (Scope.user("bob"),)] * 70)
    ]

    for each in (store, reference):
        each.window.put(ACME, told)

    shown, expected = (
        [
            each.value
            for each in one.window.find(ADMIN, slots=[WindowSlot.CONTEXT], now=NOON + DAY / 2)
        ]
        for one in (store, reference)
    )
    assert len(expected) == 3 * MAX_ITEMS[WindowSlot.CONTEXT]
    assert shown == expected


class ConcurrentChange:
    """Records that run a callback between the first and the second erasure check."""

    def __init__(self, records: Store, happens: Callable[[], object]) -> None:
        self._records = records
        self._happens = [happens]

    def __getattr__(self, name: str) -> Any:
        return self if name == "eraser" else getattr(self._records, name)

    def any_erased(
        self, workspace: WorkspaceId, ids: Sequence[str], *, since: datetime | None
    ) -> bool:
        answer = self._records.eraser.any_erased(workspace, ids, since=since)
        while self._happens:
            self._happens.pop()()
        return answer


@pytest.mark.requirement("X6")
def test_item_erased_during_put_is_removed(open_store: Open, client: Any) -> None:
    records = ReferenceStore()
    memory = add_memory(records, "1", "the heron nests in the tower")
    usual = open_store(records)

    def forget() -> None:
        usual.eraser.erase(ACME, events=memory.sources, memories=[memory.id], tombstones=[])

    hasty = open_store(ConcurrentChange(records, forget))
    resting = item("s", "the heron", slot=WindowSlot.SUMMARY, source_ids=memory.sources)

    hasty.window.put(ACME, [resting, item("note", "tea")])

    shown = usual.window.find(ADMIN, slots=list(WindowSlot), now=NOON)
    assert [each.value for each in shown] == ["tea"]
    assert "heron" not in json.dumps([client.hgetall(key) for key in client.keys("*:summary")])


@pytest.mark.requirement("X6")
def test_replaced_item_is_not_removed(open_store: Open) -> None:
    """Another process may replace an item between read and removal."""
    store = open_store()
    (id,) = append_events(store, make_event("1"))
    store.window.put(ACME, [item("s", "old", slot=WindowSlot.SUMMARY, source_ids=(id,))])
    window: Any = store.window
    keys = window._workspace_keys(ACME)
    (found,) = window._dependent_items(keys, [id])
    store.window.put(ACME, [item("s", "new", slot=WindowSlot.SUMMARY)])

    assert window._remove_items(keys, [found], 1.0) == 0
    assert [each.value for each in store.window.find(ADMIN, slots=list(WindowSlot), now=NOON)] == [
        "new"
    ]


def test_empty_scopes_are_removed(open_store: Open, client: Any) -> None:
    store = open_store()
    append_events(store, make_event("1"))
    places = [Scope.session("alice", "scribe", str(number)) for number in range(60)]
    store.window.put(ACME, [item(scope=place) for place in places])
    store.window.put(ACME, [item("stays", scope=places[0], expires_at=NOON + 9 * DAY)])
    (index,) = client.keys("*:places")
    assert client.scard(index) == 60

    assert store.window.prune(now=NOON + 2 * DAY) == 60

    assert client.smembers(index) == {str(places[0])}
    (left,) = store.window.find(ADMIN, slots=[WindowSlot.NOTE], now=NOON + 2 * DAY)
    assert left.key == "stays"


def test_any_slot_counts_as_activity(open_store: Open) -> None:
    """Slots that the query does not read count as well."""
    stores = [open_store(), ReferenceStore()]
    for store in stores:
        store.window.put(ACME, [item("old"), item("old", scope=BESIDE)])
        store.window.put(ACME, [item("i", slot=WindowSlot.INJECTED, at=NOON + 0.9 * DAY)])
        here = administrator_grant(ACME).narrow_to([ROOM, BESIDE])
        for days, shown in ((0.5, 2), (1.5, 1), (2.5, 0)):
            found = store.window.find(here, slots=[WindowSlot.NOTE], now=NOON + days * DAY)
            assert len(found) == shown, (store, days)
        store.window.put(ACME, [item("g", slot=WindowSlot.GOAL, at=NOON + 2 * DAY, scope=BESIDE)])
        assert store.window.find(here, slots=[WindowSlot.NOTE], now=NOON + 2.5 * DAY) == []


BESIDE = Scope.project("apollo")


def test_administrator_reads_all_and_empty_grant_nothing(open_store: Open) -> None:
    store = open_store()
    fill(store)

    assert len(store.window.find(ADMIN, slots=list(WindowSlot), now=NOON)) == len(WindowSlot) + 1
    assert store.window.find(ADMIN.narrow_to([]), slots=list(WindowSlot), now=NOON) == []
    assert store.window.find(ADMIN, slots=[], now=NOON) == []
    assert store.window.epoch(ADMIN.narrow_to([])) == 0


@pytest.mark.requirement("D22")
def test_threads_share_connections(open_store: Open, client: Any) -> None:
    store = open_store()
    before = client.info("stats")["total_connections_received"]

    def read() -> None:
        for _ in range(20):
            store.window.find(ADMIN.narrow_to([ROOM]), slots=[WindowSlot.NOTE], now=NOON)

    threads = [threading.Thread(target=read) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    made = client.info("stats")["total_connections_received"] - before
    assert 0 < made <= len(threads)


def test_documented_acl_is_sufficient(open_store: Open, client: Any, redis_url: str) -> None:
    page = (ROOT / "docs" / "reference" / "redis.md").read_text()
    found = re.search(r"ACL SETUSER nexus on >password ([^`]*)`", page)
    assert found
    client.execute_command("ACL", "SETUSER", "nexus", "reset", "on", ">password", *found[1].split())
    records = ReferenceStore()
    url = redis_url.replace("redis://", "redis://nexus:password@")
    store = CompositeStore(records, window=RedisWindow(url, records, wait_seconds=10.0))
    (id,) = append_events(store, make_event("1"))

    fill(store)
    store.window.put(ACME, [item(str(n), slot=WindowSlot.THOUGHT) for n in range(60)])
    store.window.delete(ACME, ROOM, WindowSlot.GOAL)
    store.window.prune(now=NOON + 9 * DAY)
    store.window.put(ACME, [item(source_ids=(id,))])
    store.eraser.erase(ACME, events=[id], memories=[], tombstones=[])

    assert store.window.find(ADMIN, slots=list(WindowSlot), now=NOON) == []
    assert store.window.epoch(ADMIN) > 0
    with redis.Redis.from_url(url, protocol=2) as theirs, pytest.raises(redis.ResponseError):
        theirs.keys("*")
    store.close()


ASK = """
import sys
sys.modules["redis"] = None
try:
    import nexusmem.stores.external.redis
except ImportError as error:
    print(type(error).__name__, error)
"""


def test_missing_extra_names_install_command() -> None:
    told = subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True, check=True)

    assert told.stdout.startswith("MissingExtra")
    assert "pip install 'nexusmem[redis]'" in told.stdout
