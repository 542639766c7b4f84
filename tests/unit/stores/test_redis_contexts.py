"""Context cache in Redis; common behaviour is in the conformance suite."""

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

from nexusmem.core.errors import StoreUnavailable
from nexusmem.core.protocols.context_cache import CachedContext
from nexusmem.core.records.context import ENCODING_VERSION
from nexusmem.core.records.window import WindowItem, WindowSlot
from nexusmem.core.scope import Scope
from nexusmem.stores.external.composite_store import CompositeStore
from nexusmem.stores.sqlite.store import SqliteStore
from nexusmem.testing.samples import (
    ACME,
    ALICE,
    ALICE_DM,
    BOB,
    IN_ROOM,
    NOON,
    OTHER,
    ROOM,
    add_memory,
    append_events,
    make_event,
)
from nexusmem.testing.suites.window import KEY, TTL_SECONDS, ContextCacheSuite, full_context

redis = pytest.importorskip("redis", reason="the extra redis is not installed")

from nexusmem.stores.external.redis import RedisContextCache, RedisWindow, context_cache  # noqa: E402

Open = Callable[..., Any]
GRANT = ALICE.grant()


@pytest.fixture
def open_store(redis_url: str, tmp_path: Path) -> Iterator[Open]:
    """Return a function that opens a store with its context cache in the empty shared Redis."""
    opened: list[CompositeStore] = []

    def open_store(
        file: str = "memory.db", *, url: str = redis_url, namespace: str = "", window: bool = False
    ) -> CompositeStore:
        records = SqliteStore(tmp_path / file)
        address = f"{url}?namespace={namespace}&wait=10"
        windows = RedisWindow(address, records) if window else None
        kept = RedisContextCache(address, records, window=windows)
        opened.append(CompositeStore(records, window=windows, contexts=kept))
        return opened[-1]

    yield open_store
    for store in opened:
        store.close()


@pytest.fixture
def client(redis_url: str) -> Iterator[Any]:
    with redis.Redis.from_url(redis_url, protocol=2) as client:
        yield client


def put(store: Any, grant: Any = GRANT, text: str = "tea", **more: Any) -> CachedContext:
    return ContextCacheSuite._put_context(store, grant, text, **more)  # type: ignore[no-any-return]


def found(store: Any, grant: Any = GRANT, key: str = KEY) -> CachedContext | None:
    kept: CachedContext | None = store.contexts.get(grant, key).cached
    return kept


def context_keys(client: Any) -> list[bytes]:
    """Return the Redis keys of contexts."""
    return sorted(client.keys("nexus:*:composed:*"))


@pytest.mark.requirement("A2", "D23")
class TestContextsInRedis(ContextCacheSuite):
    @pytest.fixture(params=[False, True], ids=["window in the file", "window in Redis"])
    def store(self, open_store: Open, request: pytest.FixtureRequest) -> Any:
        return open_store(namespace=secrets.token_hex(4), window=request.param)


@pytest.mark.requirement("A2")
def test_keys_contain_no_names_and_expire(open_store: Open, client: Any) -> None:
    store = open_store(window=True)
    for viewer in (ALICE, BOB, IN_ROOM):
        put(store, viewer.grant())

    keys = client.keys()

    assert len(keys) == 3 + 2  # with index and ticket
    for key in keys:
        assert re.fullmatch(rb"nexus:\{[0-9a-f]{32}\}:[a-z]+:[0-9a-f]{32}", key)
        assert 0 < client.ttl(key) <= (TTL_SECONDS if b":composed:" in key else TTL_SECONDS + 3_600)


@pytest.mark.requirement("A2")
def test_keys_share_hash_tag_of_workspace(open_store: Open, client: Any) -> None:
    store = open_store(window=True)
    for workspace in (ACME, OTHER):
        put(store, replace(ALICE, workspace=workspace).grant())
        note = WindowItem(scope=ROOM, slot=WindowSlot.NOTE, key="k", value="v", at=NOON)
        store.window.put(workspace, [note])

    assert len({redis.cluster.key_slot(key) for key in client.keys("*")}) == 2


def test_two_memories_on_one_redis_are_separate(open_store: Open, client: Any) -> None:
    """Without a namespace, the creation time of the store separates the keys."""
    stores = [open_store("one.db"), open_store("other.db"), open_store("one.db", namespace="n")]
    append_events(stores[0], make_event("1", scope=ALICE_DM))
    kept = put(stores[0], text="one")
    assert found(stores[1]) is None
    assert found(stores[2]) is None
    put(stores[1], text="other")

    stores[1].eraser.erase(ACME, events=[], memories=[], tombstones=[])

    assert found(stores[0]) == kept  # the other memory has other epochs


@pytest.mark.requirement("D23")
def test_two_openings_of_one_memory_share_contexts(open_store: Open) -> None:
    kept = put(open_store())

    assert found(open_store()) == kept


@pytest.mark.requirement("X2", "A12")
def test_context_of_another_viewer_is_not_returned(open_store: Open, client: Any) -> None:
    """Copying values to the keys of another viewer must not reveal them."""
    store = open_store()
    put(store, text="alice's own")
    (theirs,) = context_keys(client)
    put(store, BOB.grant(), text="bob's own")
    (ours,) = set(context_keys(client)) - {theirs}
    client.rename(theirs, ours)

    assert found(store, BOB.grant()) is None


def with_valid_digest(client: Any, key: bytes) -> None:
    """Return an invalid body with a valid digest."""
    head = json.loads(client.hget(key, "head"))
    body = b"garbage"
    client.hset(key, mapping={"head": json.dumps([*head[:-1], context_cache._body_digest(body)])})
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
        "a body that only looks whole": with_valid_digest,
    }.items(),
    ids=lambda each: each[0],
)
def test_unreadable_context_is_replaced(open_store: Open, client: Any, spoil: Any) -> None:
    store = open_store()
    put(store)
    (key,) = context_keys(client)
    spoil[1](client, key)

    assert found(store) is None
    kept = put(store, text="again")
    assert found(store) == kept


def test_unreadable_context_is_erased(open_store: Open, client: Any) -> None:
    store = open_store()
    put(store)
    (key,) = context_keys(client)
    client.hset(key, "head", "{")

    assert store.eraser.erase(ACME, events=[], memories=[], tombstones=[]).contexts == 1
    assert context_keys(client) == []


def test_encoding_version_changes_key(
    open_store: Open, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store()
    put(store)
    monkeypatch.setattr(context_cache, "ENCODING_VERSION", ENCODING_VERSION + 1)

    assert found(store) is None
    put(store)
    assert len(context_keys(client)) == 2


def test_expired_context_leaves_index(open_store: Open, client: Any) -> None:
    store = open_store()
    put(store, seconds=1)
    put(store, BOB.grant())
    (index,) = client.keys("nexus:*:contexts:*")
    assert client.zcard(index) == 2
    time.sleep(3.2)

    put(store, IN_ROOM.grant())

    assert client.zcard(index) == 2


def test_large_context_is_not_stored(
    open_store: Open, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context_cache, "MAX_CONTEXT_BYTES", 100)

    put(open_store(), text=secrets.token_hex(1_000))

    assert context_keys(client) == []


def test_unencodable_context_is_not_stored(open_store: Open, client: Any) -> None:
    store = open_store()
    odd = replace(full_context(), text="\ud800")
    ticket = store.contexts.get(GRANT, KEY).ticket

    kept = CachedContext(context=odd, at=NOON, epoch=0)
    store.contexts.put(GRANT, KEY, kept, ticket=ticket, seconds=TTL_SECONDS)

    assert context_keys(client) == []


@pytest.mark.requirement("X6")
def test_erasing_a_note_erases_its_contexts(open_store: Open, client: Any) -> None:
    """Only the epoch of the window has changed."""
    store = open_store(window=True)
    (id,) = append_events(store, make_event("1", scope=Scope.room("elsewhere")))
    note = WindowItem(
        scope=ALICE_DM, slot=WindowSlot.NOTE, key="k", value="heron", at=NOON, source_ids=(id,)
    )
    store.window.put(ACME, [note])
    put(store, text="the heron")
    put(store, BOB.grant())

    erased = store.eraser.erase(ACME, events=[id], memories=[], tombstones=[])

    assert (erased.window, erased.contexts) == (1, 1)
    assert found(store) is None
    assert found(store, BOB.grant())


@pytest.mark.requirement("X6")
def test_context_stored_during_erasure_is_erased(
    open_store: Open, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, other = open_store(), open_store()
    memory = add_memory(store, "1", "the heron nests in the tower", scope=ALICE_DM)
    erase = store._records.eraser.erase

    def meanwhile(*args: Any, **named: Any) -> Any:
        put(other, text="the heron nests in the tower")
        assert context_keys(client)
        return erase(*args, **named)

    monkeypatch.setattr(store._records.eraser, "erase", meanwhile)

    erased = store.eraser.erase(ACME, events=memory.sources, memories=[], tombstones=[])

    assert erased.contexts == 1
    assert context_keys(client) == []


@pytest.mark.requirement("X6")
def test_contexts_are_erased_before_records(
    open_store: Open, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If Redis fails during the erasure, it must not contain older contexts."""
    store = open_store()
    memory = add_memory(store, "1", "the heron nests in the tower", scope=ALICE_DM)
    put(store)
    put(store, BOB.grant())
    lay: list[int] = []
    erase = store._records.eraser.erase

    def looking(*args: Any, **named: Any) -> Any:
        lay.append(len(context_keys(client)))
        return erase(*args, **named)

    monkeypatch.setattr(store._records.eraser, "erase", looking)

    store.eraser.erase(ACME, events=[], memories=[memory.id], tombstones=[])

    assert lay == [1]
    assert found(store, BOB.grant())


@pytest.mark.requirement("X6")
@pytest.mark.parametrize("lost", ["the ticket", "everything"])
def test_lost_ticket_is_rejected(open_store: Open, client: Any, lost: str) -> None:
    """Without the ticket, an erasure since then cannot be excluded."""
    store = open_store()
    ticket = store.contexts.get(GRANT, KEY).ticket
    (key,) = client.keys("nexus:*:ticket:*")
    client.delete(key) if lost == "the ticket" else client.flushall()

    kept = CachedContext(context=full_context(), at=NOON, epoch=0)
    store.contexts.put(GRANT, KEY, kept, ticket=ticket, seconds=TTL_SECONDS)

    assert context_keys(client) == []
    assert found(store) is None
    put(store)
    assert found(store)


def test_erasure_reports_index_of_wrong_type(open_store: Open, client: Any) -> None:
    """Contexts cannot be listed then, so the erasure must fail."""
    store = open_store()
    put(store)
    (index,) = client.keys("nexus:*:contexts:*")
    client.set(index, "something else")

    put(store, BOB.grant())

    assert found(store, BOB.grant()) is None
    with pytest.raises(StoreUnavailable):
        store.eraser.erase(ACME, events=[], memories=[], tombstones=[])


def test_documented_acl_is_sufficient(open_store: Open, client: Any, redis_url: str) -> None:
    page = (ROOT / "docs" / "reference" / "redis.md").read_text()
    rights = re.search(r"ACL SETUSER nexus on >password ([^`]*)`", page)
    more = re.search(r"for the context cache also `([^`]*)`", page)
    assert rights
    assert more
    told = f"{rights[1]} {more[1]}".split()
    client.execute_command("ACL", "SETUSER", "nexus", "reset", "on", ">password", *told)
    store = open_store(url=redis_url.replace("redis://", "redis://nexus:password@"))
    (id,) = append_events(store, make_event("1", scope=ALICE_DM))

    put(store)
    assert found(store)

    assert store.eraser.erase(ACME, events=[id], memories=[], tombstones=[]).contexts == 1
    assert sum(store.eraser.find_residue(ACME, [b"tea"]).values()) == 0
