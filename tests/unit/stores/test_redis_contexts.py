"""What is special about contexts in Redis; the rest is in the conformance suite."""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.architecture.sources import ROOT

from nexus.core.context_codec import FORMAT
from nexus.core.errors import StoreUnavailable
from nexus.core.keeping import KeptContext
from nexus.core.scope import Scope
from nexus.core.window import Slot, WindowItem
from nexus.stores.beside import CombinedStore
from nexus.stores.sqlite.store import SqliteStore
from nexus.testing.samples import (
    ACME,
    ALICE,
    ALICE_DM,
    BOB,
    IN_ROOM,
    NOON,
    OTHER,
    ROOM,
    event,
    keep,
    tell,
)
from nexus.testing.suites.contexts import KEY, LASTS, ContextsSuite, full_context

redis = pytest.importorskip("redis", reason="the extra redis is not installed")

from nexus.stores.redis import RedisContexts, RedisWindow, contexts  # noqa: E402

Open = Callable[..., Any]
GRANT = ALICE.grant()


@pytest.fixture
def open_store(redis_url: str, tmp_path: Path) -> Iterator[Open]:
    """A memory with its contexts on the Redis of the run, which is empty before each test."""
    opened: list[CombinedStore] = []

    def open_store(
        file: str = "memory.db", *, url: str = redis_url, namespace: str = "", window: bool = False
    ) -> CombinedStore:
        records = SqliteStore(tmp_path / file)
        address = f"{url}?namespace={namespace}&wait=10"
        windows = RedisWindow(address, records) if window else None
        kept = RedisContexts(address, records, window=windows)
        opened.append(CombinedStore(records, window=windows, contexts=kept))
        return opened[-1]

    yield open_store
    for store in opened:
        store.close()


@pytest.fixture
def client(redis_url: str) -> Iterator[Any]:
    with redis.Redis.from_url(redis_url, protocol=2) as client:
        yield client


def put(store: Any, grant: Any = GRANT, text: str = "tea", **more: Any) -> KeptContext:
    return ContextsSuite._put(store, grant, text, **more)  # type: ignore[no-any-return]


def found(store: Any, grant: Any = GRANT, key: str = KEY) -> KeptContext | None:
    kept: KeptContext | None = store.contexts.get(grant, key).kept
    return kept


def lying(client: Any) -> list[bytes]:
    """The keys of contexts."""
    return sorted(client.keys("nexus:*:composed:*"))


@pytest.mark.requirement("A2", "D23")
class TestContextsInRedis(ContextsSuite):
    @pytest.fixture(params=[False, True], ids=["window in the file", "window in Redis"])
    def store(self, open_store: Open, request: pytest.FixtureRequest) -> Any:
        return open_store(namespace=secrets.token_hex(4), window=request.param)


@pytest.mark.requirement("A2")
def test_no_name_stands_in_a_key_and_every_key_has_an_end(open_store: Open, client: Any) -> None:
    store = open_store(window=True)
    for viewer in (ALICE, BOB, IN_ROOM):
        put(store, viewer.grant())

    keys = client.keys()

    assert len(keys) == 3 + 2  # and the list of them, and the ticket
    for key in keys:
        assert re.fullmatch(rb"nexus:\{[0-9a-f]{32}\}:[a-z]+:[0-9a-f]{32}", key)
        assert 0 < client.ttl(key) <= (LASTS if b":composed:" in key else LASTS + 3_600)


@pytest.mark.requirement("A2")
def test_they_are_on_the_node_of_their_workspace_with_its_windows(
    open_store: Open, client: Any
) -> None:
    store = open_store(window=True)
    for workspace in (ACME, OTHER):
        put(store, replace(ALICE, workspace=workspace).grant())
        note = WindowItem(scope=ROOM, slot=Slot.NOTE, key="k", value="v", at=NOON)
        store.window.put(workspace, [note])

    assert len({redis.cluster.key_slot(key) for key in client.keys("*")}) == 2


def test_two_memories_on_one_redis_do_not_meet(open_store: Open, client: Any) -> None:
    """Also without a namespace: a file knows when it was made."""
    stores = [open_store("one.db"), open_store("other.db"), open_store("one.db", namespace="n")]
    tell(stores[0], event("1", scope=ALICE_DM))
    kept = put(stores[0], text="one")
    assert found(stores[1]) is None
    assert found(stores[2]) is None
    put(stores[1], text="other")

    stores[1].eraser.erase(ACME, events=[], memories=[], tombstones=[])

    assert found(stores[0]) == kept  # although the other memory has other epochs


@pytest.mark.requirement("D23")
def test_two_openings_of_one_memory_do_meet(open_store: Open) -> None:
    kept = put(open_store())

    assert found(open_store()) == kept


@pytest.mark.requirement("X2", "A12")
def test_nothing_is_shown_that_was_kept_for_somebody_else(open_store: Open, client: Any) -> None:
    """Somebody who copies keys over those of others gains nothing."""
    store = open_store()
    put(store, text="alice's own")
    (theirs,) = lying(client)
    put(store, BOB.grant(), text="bob's own")
    (ours,) = set(lying(client)) - {theirs}
    client.rename(theirs, ours)

    assert found(store, BOB.grant()) is None


def look_whole(client: Any, key: bytes) -> None:
    """Somebody who knows how digests are made, but not what a context looks like."""
    head = json.loads(client.hget(key, "head"))
    body = b"garbage"
    client.hset(key, mapping={"head": json.dumps([*head[:-1], contexts._digest(body)])})
    client.hset(key, "body", body)


@pytest.mark.requirement("D24")
@pytest.mark.parametrize(
    "spoil",
    {
        "another type": lambda client, key: (client.delete(key), client.set(key, "x")),
        "no body": lambda client, key: client.hdel(key, "body"),
        "no head": lambda client, key: client.hdel(key, "head"),
        "cut short": lambda client, key: client.hset(key, "body", client.hget(key, "body")[:-9]),
        "another body": lambda client, key: client.hset(key, "body", b"garbage"),
        "another head": lambda client, key: client.hset(key, "head", b"{"),
        "a head of numbers": lambda client, key: client.hset(key, "head", b"[1,2,3,4,5,6]"),
        "no UTF-8": lambda client, key: client.hset(key, "head", b"\xff"),
        "a body that only looks whole": look_whole,
    }.items(),
    ids=lambda each: each[0],
)
def test_what_cannot_be_read_is_not_there_and_is_replaced(
    open_store: Open, client: Any, spoil: Any
) -> None:
    store = open_store()
    put(store)
    (key,) = lying(client)
    spoil[1](client, key)

    assert found(store) is None
    kept = put(store, text="again")
    assert found(store) == kept


def test_what_cannot_be_read_is_erased_with_the_next_erasure(open_store: Open, client: Any) -> None:
    store = open_store()
    put(store)
    (key,) = lying(client)
    client.hset(key, "head", "{")

    assert store.eraser.erase(ACME, events=[], memories=[], tombstones=[]).contexts == 1
    assert lying(client) == []


def test_another_form_is_another_key(
    open_store: Open, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store()
    put(store)
    monkeypatch.setattr(contexts, "FORMAT", FORMAT + 1)

    assert found(store) is None
    put(store)
    assert len(lying(client)) == 2


def test_what_is_over_is_no_longer_listed(open_store: Open, client: Any) -> None:
    store = open_store()
    put(store, seconds=1)
    put(store, BOB.grant())
    (index,) = client.keys("nexus:*:contexts:*")
    assert client.zcard(index) == 2
    time.sleep(3.2)

    put(store, IN_ROOM.grant())

    assert client.zcard(index) == 2


def test_what_is_too_large_is_not_kept(
    open_store: Open, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contexts, "MOST_BYTES", 100)

    put(open_store(), text=secrets.token_hex(1_000))

    assert lying(client) == []


def test_what_has_no_bytes_is_not_kept(open_store: Open, client: Any) -> None:
    store = open_store()
    odd = replace(full_context(), text="\ud800")
    ticket = store.contexts.get(GRANT, KEY).ticket

    kept = KeptContext(context=odd, at=NOON, epoch=0)
    store.contexts.put(GRANT, KEY, kept, ticket=ticket, seconds=LASTS)

    assert lying(client) == []


@pytest.mark.requirement("X6")
def test_contexts_go_with_a_note_that_only_the_window_knew(open_store: Open, client: Any) -> None:
    """The epoch of the records did not move: that of the window did."""
    store = open_store(window=True)
    (id,) = tell(store, event("1", scope=Scope.room("elsewhere")))
    note = WindowItem(
        scope=ALICE_DM, slot=Slot.NOTE, key="k", value="heron", at=NOON, rests_on=(id,)
    )
    store.window.put(ACME, [note])
    put(store, text="the heron")
    put(store, BOB.grant())

    erased = store.eraser.erase(ACME, events=[id], memories=[], tombstones=[])

    assert (erased.window, erased.contexts) == (1, 1)
    assert found(store) is None
    assert found(store, BOB.grant())


@pytest.mark.requirement("X6")
def test_what_is_kept_while_the_records_are_erased_goes_in_the_second_round(
    open_store: Open, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, other = open_store(), open_store()
    memory = keep(store, "1", "the heron nests in the tower", scope=ALICE_DM)
    erase = store._records.eraser.erase

    def meanwhile(*args: Any, **named: Any) -> Any:
        put(other, text="the heron nests in the tower")
        assert lying(client)
        return erase(*args, **named)

    monkeypatch.setattr(store._records.eraser, "erase", meanwhile)

    erased = store.eraser.erase(ACME, events=memory.sources, memories=[], tombstones=[])

    assert erased.contexts == 1
    assert lying(client) == []


@pytest.mark.requirement("X6")
def test_what_could_show_it_is_gone_before_the_records_are(
    open_store: Open, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that a Redis which goes away meanwhile holds nothing of it but what is newer."""
    store = open_store()
    memory = keep(store, "1", "the heron nests in the tower", scope=ALICE_DM)
    put(store)
    put(store, BOB.grant())
    lay: list[int] = []
    erase = store._records.eraser.erase

    def looking(*args: Any, **named: Any) -> Any:
        lay.append(len(lying(client)))
        return erase(*args, **named)

    monkeypatch.setattr(store._records.eraser, "erase", looking)

    store.eraser.erase(ACME, events=[], memories=[memory.id], tombstones=[])

    assert lay == [1]
    assert found(store, BOB.grant())


@pytest.mark.requirement("X6")
@pytest.mark.parametrize("lost", ["the ticket", "everything"])
def test_a_ticket_that_redis_lost_is_worth_nothing(
    open_store: Open, client: Any, lost: str
) -> None:
    """Whether something was erased since, nobody knows any more."""
    store = open_store()
    ticket = store.contexts.get(GRANT, KEY).ticket
    (key,) = client.keys("nexus:*:ticket:*")
    client.delete(key) if lost == "the ticket" else client.flushall()

    kept = KeptContext(context=full_context(), at=NOON, epoch=0)
    store.contexts.put(GRANT, KEY, kept, ticket=ticket, seconds=LASTS)

    assert lying(client) == []
    assert found(store) is None
    put(store)
    assert found(store)


def test_something_else_under_the_list_is_told_by_who_erases(open_store: Open, client: Any) -> None:
    """Nothing is kept then, and what was kept before cannot be found: that is not erased."""
    store = open_store()
    put(store)
    (index,) = client.keys("nexus:*:contexts:*")
    client.set(index, "something else")

    put(store, BOB.grant())

    assert found(store, BOB.grant()) is None
    with pytest.raises(StoreUnavailable):
        store.eraser.erase(ACME, events=[], memories=[], tombstones=[])


def test_a_user_of_its_own_needs_no_more_than_the_page_says(
    open_store: Open, client: Any, redis_url: str
) -> None:
    page = (ROOT / "docs" / "stores.md").read_text()
    rights = re.search(r"ACL SETUSER nexus on >password ([^`]*)`", page)
    more = re.search(r"for contexts also `([^`]*)`", page)
    assert rights
    assert more
    told = f"{rights[1]} {more[1]}".split()
    client.execute_command("ACL", "SETUSER", "nexus", "reset", "on", ">password", *told)
    store = open_store(url=redis_url.replace("redis://", "redis://nexus:password@"))
    (id,) = tell(store, event("1", scope=ALICE_DM))

    put(store)
    assert found(store)

    assert store.eraser.erase(ACME, events=[id], memories=[], tombstones=[]).contexts == 1
    assert sum(store.eraser.residue(ACME, [b"tea"]).values()) == 0
