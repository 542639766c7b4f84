"""Faults of the Redis context cache: contexts are composed without it."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Open
from tests.servers.fixtures import start_or_skip
from tests.servers.proxy import Proxy
from tests.servers.redis import Redis

from nexusmem import Nexus, Place
from nexusmem.core.errors import StoreUnavailable
from nexusmem.core.records.context import Context, decompress_json
from nexusmem.stores.external.composite_store import CompositeStore
from nexusmem.stores.sqlite.store import SqliteStore

redis = pytest.importorskip("redis", reason="the extra redis is not installed")

from nexusmem.stores.external.redis import RedisContextCache, RedisWindow  # noqa: E402

QUESTION = "Which database did we choose for the ledger?"
WAIT = 0.25  # seconds until a result, generous for a busy machine
SOON = 10 * WAIT


@dataclass
class Scene:
    """A room in two processes that share Redis; the first one uses a proxy."""

    server: Redis
    wire: Proxy
    nexus: Nexus
    room: Place
    other: Place  # has its own proxy without faults

    def after_cool_down(self) -> None:
        """End the cool-down of the circuit breaker."""
        contexts: Any = self.room._parts.store.contexts  # type: ignore[attr-defined]
        contexts._server._breaker.clock = lambda: time.monotonic() + 1_000

    def context_keys(self) -> list[bytes]:
        with redis.Redis(port=self.server.port, protocol=2) as client:
            return sorted(client.keys("nexus:*:composed:*"))


@pytest.fixture
def scene(open_nexus: Open, tmp_path: Path) -> Iterator[Scene]:
    with start_or_skip(Redis) as server, Proxy(server.port) as wire:
        yield make_scene(open_nexus, tmp_path, server, wire)


def make_scene(
    open_nexus: Open, folder: Path, server: Redis, wire: Proxy, login: str = ""
) -> Scene:
    def opened(port: int, wait: float) -> Nexus:
        records = SqliteStore(folder / "memory.db")
        contexts = RedisContextCache(f"redis://{login}127.0.0.1:{port}/0?wait={wait}", records)
        return open_nexus(CompositeStore(records, contexts=contexts))

    nexus = opened(wire.port, WAIT)
    room, other = (
        each.workspace("acme").room("design", participants=["alice", "bob"])
        for each in (nexus, opened(server.port, 10.0))
    )
    room.observe("alice", "We decided to use PostgreSQL for the ledger.", key="choice")
    room.flush()
    return Scene(server, wire, nexus, room, other)


def timed(call: Callable[[], Context]) -> tuple[Context, float]:
    begun = time.perf_counter()
    return call(), time.perf_counter() - begun


def another_type(scene: Scene) -> None:
    for key in scene.context_keys():
        scene.server.execute("DEL", key.decode())
        scene.server.execute("SET", key.decode(), "something else")


def kill_during_request(scene: Scene) -> None:
    """Kill the server during a request."""
    scene.server.freeze()
    asking = threading.Thread(target=lambda: scene.room.compose("Is somebody there?"))
    asking.start()
    time.sleep(WAIT / 5)
    scene.server.signal(signal.SIGKILL)
    asking.join()
    scene.server.kill()


def slow(scene: Scene) -> None:
    scene.wire.latency = 4 * WAIT


def fast(scene: Scene) -> None:
    scene.wire.latency = 0


FAULTS: dict[str, tuple[Callable[[Scene], object], Callable[[Scene], object]]] = {
    "refused": (lambda scene: scene.wire.refuse(), lambda scene: scene.wire.accept()),
    "half open": (lambda scene: scene.wire.pause(), lambda scene: scene.wire.resume()),
    "frozen": (lambda scene: scene.server.freeze(), lambda scene: scene.server.thaw()),
    "killed": (lambda scene: scene.server.kill(), lambda scene: scene.server.start()),
    "killed in the middle": (kill_during_request, lambda scene: scene.server.start()),
    "cut short": (lambda scene: scene.wire.truncate(3), lambda scene: scene.wire.reset()),
    "slow": (slow, fast),
    "another type": (another_type, lambda scene: scene.server.empty()),
    "flushed": (lambda scene: scene.server.empty(), lambda scene: None),
}


@pytest.mark.requirement("D24", "A2")
@pytest.mark.parametrize("fault", FAULTS)
def test_context_is_composed_soon_and_complete(scene: Scene, fault: str) -> None:
    breaks, heals = FAULTS[fault]
    given = scene.other.compose(QUESTION)
    assert len(scene.context_keys()) == 1

    breaks(scene)
    context, took = timed(lambda: scene.room.compose(QUESTION))

    assert took < SOON
    assert "PostgreSQL" in context.text
    assert [each.text for each in context.sections[0].items] == [
        each.text for each in given.sections[0].items
    ]
    assert not context.receipt.cached
    assert context.receipt.degraded == ()  # nothing was stored only in Redis
    assert scene.room.compose(QUESTION).receipt.cached  # composed by this process
    scene.room.observe("bob", "The heron is blue.", key="heron")
    assert "heron" in scene.room.compose("What is blue?").text

    heals(scene)
    scene.after_cool_down()
    fresh = scene.room.compose("And what color is the heron?")
    assert not fresh.receipt.cached
    again = scene.other.compose("And what color is the heron?")
    assert again.receipt.cached
    assert again.text == fresh.text


@pytest.mark.requirement("D22", "D24")
def test_frozen_redis_costs_one_timeout(scene: Scene) -> None:
    scene.room.compose(QUESTION)
    ask = lambda n: timed(lambda: scene.room.compose(f"Who asks, {n}?"))[1]  # noqa: E731
    usual = min(map(ask, range(3)))
    scene.server.freeze()

    first = ask(100)
    others = list(map(ask, range(200, 220)))

    scene.server.thaw()
    assert WAIT * 0.9 < first < SOON
    assert sorted(others)[10] < usual + WAIT / 2


@pytest.mark.requirement("D22")
def test_window_and_contexts_share_circuit_breaker(open_nexus: Open, tmp_path: Path) -> None:
    """The epoch of the window is read first; after its timeout the cache must not wait again."""
    with start_or_skip(Redis) as server, Proxy(server.port) as wire:
        url = f"redis://127.0.0.1:{wire.port}/0?wait={WAIT}"
        records = SqliteStore(tmp_path / "memory.db")
        window = RedisWindow(url, records)
        contexts = RedisContextCache(url, records, window=window)
        store = CompositeStore(records, window=window, contexts=contexts)
        room = open_nexus(store).workspace("acme").room("design")
        room.observe("alice", "We decided to use PostgreSQL for the ledger.")
        room.compose("Is it warm?")
        wire.pause()

        context, took = timed(lambda: room.compose(QUESTION))

        assert took < 2 * WAIT + 1
        assert "PostgreSQL" in context.text
        assert any(
            "Redis is unavailable (circuit open)" in each for each in context.receipt.degraded
        )
        assert contexts.stats.misses == 1  # no request was sent
        wire.resume()


@pytest.mark.requirement("D24", "X6")
def test_full_redis_reads_and_erases_contexts(scene: Scene) -> None:
    scene.other.compose(QUESTION)
    assert scene.server.execute("CONFIG", "SET", "maxmemory-policy", "noeviction") == "+OK"
    assert scene.server.execute("CONFIG", "SET", "maxmemory", "1") == "+OK"

    assert scene.room.compose(QUESTION).receipt.cached
    fresh = scene.room.compose("Which one, then?")
    assert not fresh.receipt.cached
    assert fresh.receipt.degraded == ()
    assert len(scene.context_keys()) == 1

    report = scene.nexus.workspace("acme").forget(user="alice")
    assert report.erased.contexts == 1
    assert scene.context_keys() == []
    assert not scene.room.compose("And now?").receipt.cached


@pytest.mark.requirement("X6")
def test_erasure_fails_while_redis_is_unreachable(scene: Scene) -> None:
    acme, room = scene.nexus.workspace("acme"), scene.room
    scene.other.compose(QUESTION)
    scene.wire.refuse()

    with pytest.raises(StoreUnavailable):
        acme.forget(user="alice")
    assert [event.key for event in room.recent(99)] == ["choice"]

    scene.wire.accept()
    scene.after_cool_down()
    assert acme.forget(user="alice").erased.contexts == 1
    assert scene.context_keys() == []


@pytest.mark.requirement("X6")
def test_residue_search_reports_unreachable_redis(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Redis fails after the erasure, so the residue search cannot check it."""
    contexts: Any = scene.room._parts.store.contexts  # type: ignore[attr-defined]
    find_residue = contexts.find_residue
    away = lambda *args: (scene.wire.refuse(), find_residue(*args))[1]  # noqa: E731
    monkeypatch.setattr(contexts, "find_residue", away)

    report = scene.nexus.workspace("acme").forget(user="alice")

    assert report.by_file["redis: contexts (away)"] == 1
    assert report.residue == 1


@pytest.mark.requirement("D24")
def test_late_write_after_erasure_is_not_returned(scene: Scene) -> None:
    """A frozen Redis executes a pending write after the erasure."""
    ticket_taken = threading.Event()
    contexts: Any = scene.room._parts.store.contexts  # type: ignore[attr-defined]
    put = contexts.put

    def freezing(*told: Any, **more: Any) -> None:
        scene.server.freeze()
        ticket_taken.set()
        put(*told, **more)

    contexts.put = freezing
    scene.room.compose(QUESTION)
    del contexts.put
    assert ticket_taken.is_set()

    scene.server.thaw()
    assert scene.other._parts.store.eraser.erase(
        scene.room.viewer.workspace, events=[], memories=[], tombstones=[]
    )
    scene.other.observe("bob", "No, MariaDB after all.")
    context = scene.other.compose(QUESTION)
    assert not context.receipt.cached
    assert "MariaDB" in context.text


@pytest.mark.requirement("D24")
@pytest.mark.parametrize("login", ["", ":wrong@", "nobody:secret@"])
def test_wrong_password_disables_only_cache(open_nexus: Open, tmp_path: Path, login: str) -> None:
    with start_or_skip(Redis) as server, Proxy(server.port) as wire:
        assert server.execute("CONFIG", "SET", "requirepass", "secret") == "+OK"
        scene = make_scene(open_nexus, tmp_path, server, wire, login)

        assert "PostgreSQL" in scene.room.compose(QUESTION).text
        with pytest.raises(StoreUnavailable) as told:
            scene.nexus.workspace("acme").forget(user="alice")
        assert "secret" not in str(told.value)
        assert "wrong" not in str(told.value)


@pytest.mark.requirement("X6", "D23")
def test_erasure_during_concurrent_composition(
    open_nexus: Open, tmp_path: Path, own_redis: Redis
) -> None:
    """No context with the erased event may remain, whenever it was composed or stored."""

    def opened() -> Place:
        records = SqliteStore(tmp_path / "memory.db")
        contexts = RedisContextCache(f"{own_redis.url}?wait=10", records)
        nexus = open_nexus(CompositeStore(records, contexts=contexts))
        return nexus.workspace("acme").room("design", participants=["alice", "bob"])

    room, others = opened(), [opened() for _ in range(3)]
    ended, composed = threading.Event(), [0] * len(others)

    def ask(number: int) -> None:
        """Compose and store contexts of new questions until stopped."""
        while not ended.is_set():
            others[number].compose(f"What is the word of the day, {composed[number]}?")
            composed[number] += 1

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(len(others))]
    for thread in threads:
        thread.start()
    for number in range(8):
        told = room.observe("alice", f"The word of the day is heron{number}.", key=str(number))
        wait_for(composed)
        Nexus(room._parts).workspace("acme").forget(event=told)
    wait_for(composed)
    ended.set()
    for thread in threads:
        thread.join()

    kept = bodies(own_redis)
    assert kept
    assert not [body for body in kept if b"heron" in body]


def wait_for(counts: list[int]) -> None:
    """Wait until each thread has composed once more."""
    before = list(counts)
    while any(now < then + 2 for now, then in zip(counts, before, strict=True)):
        time.sleep(0.01)


def bodies(server: Redis) -> list[bytes]:
    with redis.Redis(port=server.port, protocol=2) as client:
        found = [client.hget(key, "body") for key in client.keys("nexus:*:composed:*")]
    return [decompress_json(body) for body in found if body]
