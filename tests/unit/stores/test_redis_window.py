"""What is special about a window in Redis; what every window does is in the conformance suite."""

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

from nexus.core.access import administrator_grant
from nexus.core.errors import StoreUnavailable
from nexus.core.ids import WorkspaceId
from nexus.core.protocols import Store
from nexus.core.scope import Scope
from nexus.core.window import MOST_KEPT, Slot, WindowItem
from nexus.stores.beside import CombinedStore
from nexus.stores.inprocess import InProcessStore
from nexus.testing.samples import ACME, ADMIN, NOON, OTHER, ROOM, event, keep, tell

redis = pytest.importorskip("redis", reason="the extra redis is not installed")

from nexus.stores.redis import RedisWindow  # noqa: E402

DAY = timedelta(days=1)
Open = Callable[..., CombinedStore]


@pytest.fixture
def open_store(redis_url: str) -> Iterator[Open]:
    """A memory with its window on the Redis of the run, which is empty before each test."""
    opened: list[Store] = []

    def open_store(records: Any = None, *, namespace: str = "", **options: Any) -> CombinedStore:
        records = records or InProcessStore()
        address = f"{redis_url}?namespace={namespace}"
        window = RedisWindow(address, records, **{"wait_seconds": 10.0, **options})
        opened.append(CombinedStore(records, window=window))
        return opened[-1]

    yield open_store
    for store in opened:
        store.close()


@pytest.fixture
def client(redis_url: str) -> Iterator[Any]:
    with redis.Redis.from_url(redis_url, decode_responses=True, protocol=2) as client:
        yield client


def item(key: str = "k", value: Any = "v", **more: Any) -> WindowItem:
    told: dict[str, Any] = {"scope": ROOM, "slot": Slot.NOTE, "at": NOON, "by": "scribe", **more}
    return WindowItem(key=key, value=value, **told)


def fill(store: Store) -> None:
    """One of everything."""
    for workspace in (ACME, OTHER):
        items = [item(f"my {slot.value}", "tea", slot=slot) for slot in Slot]
        store.window.put(workspace, [*items, item("dm", scope=Scope.dm("alice", "scribe"))])


@pytest.mark.requirement("A2")
def test_no_name_stands_in_a_key_and_every_key_has_an_end(open_store: Open, client: Any) -> None:
    fill(open_store())

    keys = client.keys()

    assert len(keys) > 2 * len(Slot)
    for key in keys:
        assert all(word not in key for word in ("acme", "alice", "design", "my", "tea", "scribe"))
        assert 29 * DAY.total_seconds() < client.ttl(key) <= 30 * DAY.total_seconds()


@pytest.mark.requirement("A2")
def test_all_keys_of_a_workspace_are_on_one_node_of_a_cluster(
    open_store: Open, client: Any
) -> None:
    fill(open_store())

    slots = {redis.cluster.key_slot(key.encode()) for key in client.keys("*")}

    assert len(slots) == 2  # one for each workspace


def test_what_says_when_it_expires_is_kept_that_long(open_store: Open, client: Any) -> None:
    store = open_store()
    store.window.put(ACME, [item("long", expires_at=NOON + 100 * DAY)])
    store.window.put(ACME, [item("short", expires_at=NOON + DAY)])

    assert {round(client.ttl(key) / DAY.total_seconds()) for key in client.keys("*")} == {100}


def test_two_memories_on_one_redis_do_not_meet(open_store: Open) -> None:
    one, other = open_store(namespace="one"), open_store(namespace="other")

    one.window.put(ACME, [item()])

    assert len(one.window.find(ADMIN, slots=[Slot.NOTE], now=NOON)) == 1
    assert other.window.find(ADMIN, slots=[Slot.NOTE], now=NOON) == []
    assert other.window.drop(ACME, ROOM, Slot.NOTE) == 0


@pytest.mark.requirement("D23")
def test_an_epoch_never_comes_back(open_store: Open, client: Any) -> None:
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
    assert after[0] == 0  # nothing lies there, as in the beginning
    assert after == sorted(set(after))
    assert seen & set(after) == {0}


@pytest.mark.requirement("X2")
def test_nothing_is_shown_that_was_put_somewhere_else(open_store: Open, client: Any) -> None:
    """Somebody who copies keys of one workspace over those of another one gains nothing."""
    store = open_store()
    store.window.put(OTHER, [item(value="of others")])
    store.window.put(ACME, [item(value="ours")])
    (theirs, ours) = (
        next(key for key in client.keys("*:note") if word in "".join(client.hvals(key)))
        for word in ("of others", "ours")
    )
    client.rename(theirs, ours)

    with pytest.raises(StoreUnavailable, match="somewhere else"):
        store.window.find(ADMIN, slots=[Slot.NOTE], now=NOON)
    assert store.window.find(ADMIN, slots=[Slot.GOAL], now=NOON) == []  # Redis is not given up


@pytest.mark.parametrize("slot", MOST_KEPT)
def test_of_the_same_moment_the_first_keys_stay(open_store: Open, slot: Slot) -> None:
    store, reference = open_store(), InProcessStore()
    told = [item(f"{number:03}", number, slot=slot) for number in range(MOST_KEPT[slot] + 5)]

    for each in (store, reference):
        each.window.put(ACME, told)

    shown, expected = (
        [each.value for each in one.window.find(ADMIN, slots=[slot], now=NOON)]
        for one in (store, reference)
    )
    assert shown == expected


def test_other_labels_of_a_place_are_trimmed_on_their_own(open_store: Open) -> None:
    store, reference = open_store(), InProcessStore()
    second = timedelta(seconds=1)
    told = [
        item(str(n), n, slot=Slot.CONTEXT, at=NOON + n * second, beside=beside)
        for n, beside in enumerate([(), (Scope.workspace(),), (Scope.user("bob"),)] * 70)
    ]

    for each in (store, reference):
        each.window.put(ACME, told)

    shown, expected = (
        [each.value for each in one.window.find(ADMIN, slots=[Slot.CONTEXT], now=NOON + DAY / 2)]
        for one in (store, reference)
    )
    assert len(expected) == 3 * MOST_KEPT[Slot.CONTEXT]
    assert shown == expected


class Meanwhile:
    """The records of a store, where something happens between the first and the second look."""

    def __init__(self, records: Store, happens: Callable[[], object]) -> None:
        self._records = records
        self._happens = [happens]

    def __getattr__(self, name: str) -> Any:
        return self if name == "eraser" else getattr(self._records, name)

    def gone(self, workspace: WorkspaceId, ids: Sequence[str], *, since: datetime | None) -> bool:
        answer = self._records.eraser.gone(workspace, ids, since=since)
        while self._happens:
            self._happens.pop()()
        return answer


@pytest.mark.requirement("X6")
def test_what_is_erased_while_it_is_put_is_not_kept(open_store: Open, client: Any) -> None:
    records = InProcessStore()
    memory = keep(records, "1", "the heron nests in the tower")
    usual = open_store(records)

    def forget() -> None:
        usual.eraser.erase(ACME, events=memory.sources, memories=[memory.id], tombstones=[])

    hasty = open_store(Meanwhile(records, forget))
    resting = item("s", "the heron", slot=Slot.SUMMARY, rests_on=memory.sources)

    hasty.window.put(ACME, [resting, item("note", "tea")])

    shown = usual.window.find(ADMIN, slots=list(Slot), now=NOON)
    assert [each.value for each in shown] == ["tea"]
    assert "heron" not in json.dumps([client.hgetall(key) for key in client.keys("*:summary")])


@pytest.mark.requirement("X6")
def test_what_was_put_again_is_not_taken_out_with_what_was_there(open_store: Open) -> None:
    """Between looking and taking out somebody may put another item under the same key."""
    store = open_store()
    (id,) = tell(store, event("1"))
    store.window.put(ACME, [item("s", "old", slot=Slot.SUMMARY, rests_on=(id,))])
    window: Any = store.window
    keys = window._keys(ACME)
    (found,) = window._tied(keys, [id])
    store.window.put(ACME, [item("s", "new", slot=Slot.SUMMARY)])

    assert window._take(keys, [found], 1.0) == 0
    assert [each.value for each in store.window.find(ADMIN, slots=list(Slot), now=NOON)] == ["new"]


def test_places_in_which_nothing_lies_are_let_go(open_store: Open, client: Any) -> None:
    store = open_store()
    tell(store, event("1"))
    places = [Scope.session("alice", str(number)) for number in range(60)]
    store.window.put(ACME, [item(scope=place) for place in places])
    store.window.put(ACME, [item("stays", scope=places[0], expires_at=NOON + 9 * DAY)])
    (index,) = client.keys("*:places")
    assert client.scard(index) == 60

    assert store.window.prune(now=NOON + 2 * DAY) == 60

    assert client.smembers(index) == {str(places[0])}
    (left,) = store.window.find(ADMIN, slots=[Slot.NOTE], now=NOON + 2 * DAY)
    assert left.key == "stays"


def test_whatever_was_put_there_keeps_a_place_awake(open_store: Open) -> None:
    """Also what is not asked for."""
    stores = [open_store(), InProcessStore()]
    for store in stores:
        store.window.put(ACME, [item("old"), item("old", scope=BESIDE)])
        store.window.put(ACME, [item("i", slot=Slot.INJECTED, at=NOON + 0.9 * DAY)])
        here = administrator_grant(ACME).within([ROOM, BESIDE])
        for days, shown in ((0.5, 2), (1.5, 1), (2.5, 0)):
            found = store.window.find(here, slots=[Slot.NOTE], now=NOON + days * DAY)
            assert len(found) == shown, (store, days)
        store.window.put(ACME, [item("g", slot=Slot.GOAL, at=NOON + 2 * DAY, scope=BESIDE)])
        assert store.window.find(here, slots=[Slot.NOTE], now=NOON + 2.5 * DAY) == []


BESIDE = Scope.project("apollo")


def test_an_administrator_sees_all_and_an_empty_grant_nothing(open_store: Open) -> None:
    store = open_store()
    fill(store)

    assert len(store.window.find(ADMIN, slots=list(Slot), now=NOON)) == len(Slot) + 1
    assert store.window.find(ADMIN.within([]), slots=list(Slot), now=NOON) == []
    assert store.window.find(ADMIN, slots=[], now=NOON) == []
    assert store.window.epoch(ADMIN.within([])) == 0


@pytest.mark.requirement("D22")
def test_all_threads_of_a_process_share_a_few_connections(open_store: Open, client: Any) -> None:
    store = open_store()
    before = client.info("stats")["total_connections_received"]

    def read() -> None:
        for _ in range(20):
            store.window.find(ADMIN.within([ROOM]), slots=[Slot.NOTE], now=NOON)

    threads = [threading.Thread(target=read) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    made = client.info("stats")["total_connections_received"] - before
    assert 0 < made <= len(threads)


def test_a_user_of_its_own_needs_no_more_than_the_page_says(
    open_store: Open, client: Any, redis_url: str
) -> None:
    page = (ROOT / "docs" / "stores.md").read_text()
    found = re.search(r"ACL SETUSER nexus on >password ([^`]*)`", page)
    assert found
    client.execute_command("ACL", "SETUSER", "nexus", "reset", "on", ">password", *found[1].split())
    records = InProcessStore()
    url = redis_url.replace("redis://", "redis://nexus:password@")
    store = CombinedStore(records, window=RedisWindow(url, records, wait_seconds=10.0))
    (id,) = tell(store, event("1"))

    fill(store)
    store.window.put(ACME, [item(str(n), slot=Slot.THOUGHT) for n in range(60)])
    store.window.drop(ACME, ROOM, Slot.GOAL)
    store.window.prune(now=NOON + 9 * DAY)
    store.window.put(ACME, [item(rests_on=(id,))])
    store.eraser.erase(ACME, events=[id], memories=[], tombstones=[])

    assert store.window.find(ADMIN, slots=list(Slot), now=NOON) == []
    assert store.window.epoch(ADMIN) > 0
    with redis.Redis.from_url(url, protocol=2) as theirs, pytest.raises(redis.ResponseError):
        theirs.keys("*")
    store.close()


ASK = """
import sys
sys.modules["redis"] = None
try:
    import nexus.stores.redis
except ImportError as error:
    print(type(error).__name__, error)
"""


def test_without_the_extra_one_is_told_how_to_install_it() -> None:
    told = subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True, check=True)

    assert told.stdout.startswith("MissingExtra")
    assert "pip install 'nexus-memory[redis]'" in told.stdout
