"""Shared context cache in Redis, used by several processes."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Clock, Open
from tests.servers.redis import Redis

from nexusmem import Nexus, Place
from nexusmem.compose.settings import ComposeSettings
from nexusmem.config.settings import EmbeddingSettings, Settings, StoreSettings
from nexusmem.core.records.context import Context
from nexusmem.embedders.feature_hash import HashingEmbedder
from nexusmem.wiring.stores import get_context_cache

redis = pytest.importorskip("redis", reason="the extra redis is not installed")

QUESTION = "Which database did we choose for the ledger?"
SECRET = "We decided to use PostgreSQL for the ledger."


def make_settings(url: str, redis_url: str, **more: Any) -> Settings:
    """Return settings with a long Redis timeout, for a busy machine."""
    address = f"{redis_url}?wait=10"
    told = {"store": StoreSettings(url=url, window_url=address, context_cache_url=address), **more}
    return Settings(**told)


@pytest.fixture(params=["window in Redis", "window in the store"])
def settings(request: pytest.FixtureRequest, tmp_path: Path, redis_url: str) -> Settings:
    made = make_settings(str(tmp_path / "memory.db"), redis_url)
    elsewhere = request.param == "window in Redis"
    return made if elsewhere else replace(made, store=replace(made.store, window_url=None))


@pytest.fixture
def client(redis_url: str) -> Iterator[Any]:
    with redis.Redis.from_url(redis_url, protocol=2) as client:
        yield client


def opened(open_nexus: Open, settings: Settings, **more: Any) -> Nexus:
    return open_nexus(None, settings=settings, **more)


def room_of(nexus: Nexus, **more: Any) -> Place:
    return nexus.workspace("acme").room("design", participants=["alice", "bob"], **more)


@pytest.fixture
def rooms(open_nexus: Open, settings: Settings) -> tuple[Place, Place]:
    return open_rooms(open_nexus, settings)


def open_rooms(open_nexus: Open, settings: Settings) -> tuple[Place, Place]:
    """Return the same room in two Nexus objects that share only the servers."""
    one, other = (room_of(opened(open_nexus, settings)) for _ in range(2))
    one.observe("alice", SECRET)
    for number in range(5):
        one.observe("bob", f"The cafeteria serves soup number {number} on Mondays.")
    one.flush()
    return one, other


def uncached(context: Context) -> Context:
    return replace(context, receipt=replace(context.receipt, cached=False))


def count_compositions(place: Place) -> int:
    """Count the compositions of this process."""
    return place._parts.telemetry.metrics.snapshot().timing("section_seconds", section="plan").count


@pytest.mark.requirement("D23", "A2")
def test_second_process_gets_cached_context(rooms: tuple[Place, Place]) -> None:
    one, other = rooms
    first = one.compose(QUESTION, explain=True)

    second = other.compose(QUESTION, explain=True)
    third = other.compose(QUESTION, explain=True)

    assert "PostgreSQL" in first.text
    assert (first.receipt.cached, second.receipt.cached) == (False, True)
    assert uncached(second) == first
    assert second.text.encode() == first.text.encode()
    assert third == second
    assert count_compositions(other) == 0
    assert other.explain(second.id).receipt == first.receipt
    assert other._parts.store.cache_stats()["shared contexts"].hits == 1  # then a local hit


@pytest.mark.requirement("D23", "A2")
def test_cache_works_with_every_store(shared_url: str, redis_url: str, open_nexus: Open) -> None:
    one, other = open_rooms(open_nexus, make_settings(shared_url, redis_url))

    for writer, word in ((one, "vermilion"), (other, "ochre")):
        first, second = one.compose(QUESTION), other.compose(QUESTION)
        assert (first.receipt.cached, second.receipt.cached) == (False, True)
        assert uncached(second) == first
        writer.set_active_goal(f"Paint it {word}.")
        assert word in writer.compose(QUESTION).text
        writer.observe("bob", "So be it.")


@pytest.mark.requirement("D23")
def test_compose_does_not_wait_for_store(
    open_nexus: Open, settings: Settings, rooms: tuple[Place, Place], monkeypatch: Any
) -> None:
    """A background thread encodes and sends the context."""
    busy = room_of(opened(open_nexus, settings, background=True))
    keepers: list[str] = []
    keeper: Any = get_context_cache(busy._parts.store)
    put = keeper.put

    def noticed(*told: Any, **more: Any) -> None:
        keepers.append(threading.current_thread().name)
        put(*told, **more)

    monkeypatch.setattr(keeper, "put", noticed)
    busy.compose(QUESTION)
    until = time.monotonic() + 30
    while not keepers and time.monotonic() < until:
        time.sleep(0.01)
    busy._parts.worker.drain()

    assert keepers == ["nexus-worker"]
    assert rooms[1].compose(QUESTION).receipt.cached


@pytest.mark.requirement("D23", "E29")
def test_hits_are_in_metrics(
    open_nexus: Open, settings: Settings, rooms: tuple[Place, Place]
) -> None:
    for room in rooms:
        room.compose(QUESTION)
    third = opened(open_nexus, settings)
    room_of(third).compose(QUESTION)

    now = third.metrics()

    assert now.value("cache_hits_total", cache="shared contexts") == 1
    assert now.value("cache_misses_total", cache="shared contexts") == 0
    assert now.value("cache_misses_total", cache="contexts") == 1


@pytest.mark.requirement("D23")
@pytest.mark.parametrize("who", [0, 1])
@pytest.mark.parametrize("what", ["message", "note", "fact", "goal"])
def test_write_of_either_process_invalidates(
    rooms: tuple[Place, Place], who: int, what: str
) -> None:
    for room in rooms:
        room.compose(QUESTION)
    writer = rooms[who]
    writes = {
        "message": lambda: writer.observe("bob", "No, we take vermilion after all."),
        "note": lambda: writer.set_note("color", "vermilion"),
        "fact": lambda: writer.set_value("room", "color", "vermilion"),
        "goal": lambda: writer.set_active_goal("Paint it vermilion."),
    }

    writes[what]()

    fresh, again = (room.compose(QUESTION) for room in rooms)
    assert not fresh.receipt.cached
    assert again.receipt.cached
    assert uncached(again) == fresh
    assert ("vermilion" in fresh.text) == (what != "note")  # looked up in Redis


@pytest.mark.requirement("D23")
def test_context_expires_after_five_minutes(rooms: tuple[Place, Place], clock: Clock) -> None:
    one, other = rooms
    one.compose(QUESTION)
    clock.advance(seconds=299)
    assert other.compose(QUESTION).receipt.cached
    clock.advance(seconds=2)

    assert not other.compose(QUESTION).receipt.cached


@pytest.mark.parametrize(("seconds", "given"), [(3, True), (30, False)])
def test_clock_skew_is_tolerated(
    open_nexus: Open, settings: Settings, clock: Clock, seconds: int, given: bool
) -> None:
    early = Clock(clock.now + timedelta(seconds=seconds))
    one, other = (room_of(opened(open_nexus, settings, clock=each)) for each in (early, clock))
    one.observe("alice", SECRET)
    one.compose(QUESTION)

    assert other.compose(QUESTION).receipt.cached == given
    assert other.compose(QUESTION).receipt.cached


@pytest.mark.requirement("D23")
@pytest.mark.parametrize(
    "more",
    [
        {"compose": ComposeSettings(budget_tokens=3_999)},
        {"embeddings": EmbeddingSettings(provider="hashing", query_cache_size=7)},
    ],
)
def test_settings_change_key(
    open_nexus: Open, settings: Settings, rooms: tuple[Place, Place], more: dict[str, Any]
) -> None:
    rooms[0].compose(QUESTION)
    other = room_of(opened(open_nexus, replace(settings, **more)))

    assert not other.compose(QUESTION).receipt.cached


def test_embedder_changes_key(
    open_nexus: Open, settings: Settings, rooms: tuple[Place, Place]
) -> None:
    rooms[0].compose(QUESTION)
    other = room_of(opened(open_nexus, settings, embedder=HashingEmbedder(dimension=32)))

    assert not other.compose(QUESTION).receipt.cached


def test_program_version_changes_key(
    open_nexus: Open,
    settings: Settings,
    rooms: tuple[Place, Place],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rooms[0].compose(QUESTION)
    monkeypatch.setattr("nexusmem.wiring.build.program_version", lambda: "another one")

    assert not room_of(opened(open_nexus, settings)).compose(QUESTION).receipt.cached


def test_disabled_cache_is_not_used(
    open_nexus: Open, settings: Settings, rooms: tuple[Place, Place], client: Any
) -> None:
    client.flushall()
    off = replace(settings, compose=ComposeSettings(cache_seconds=0))
    room_of(opened(open_nexus, off)).compose(QUESTION)

    assert client.keys("nexus:*:composed:*") == []


@pytest.mark.requirement("D24")
def test_degraded_context_is_not_stored(
    rooms: tuple[Place, Place], monkeypatch: pytest.MonkeyPatch
) -> None:
    from nexusmem.core.errors import EmbedderUnavailable  # recall works without it

    one, other = rooms

    def away(*_: object) -> None:
        raise EmbedderUnavailable("away")

    for method in ("embed", "embed_queries"):
        monkeypatch.setattr(one._parts.embedder_switch.embedder, method, away)
    assert one.compose(QUESTION).receipt.degraded

    context = other.compose(QUESTION)
    assert not context.receipt.cached
    assert context.receipt.degraded == ()


def dump(server: Redis, client: Any) -> bytes:
    """Return all values of the server, decompressed."""
    from nexusmem.core.records.context import decompress_json

    assert client.config_set("rdbcompression", "no")
    assert client.save()
    file = server.folder / client.config_get("dbfilename")["dbfilename"]
    bodies = [client.hget(key, "body") for key in client.keys("nexus:*:composed:*")]
    return b"".join([file.read_bytes(), *map(decompress_json, bodies)])


@pytest.mark.requirement("X6", "D23")
def test_forget_erases_only_affected_contexts(
    shared_url: str, own_redis: Redis, open_nexus: Open
) -> None:
    settings = make_settings(shared_url, own_redis.url)
    one, other = (opened(open_nexus, settings) for _ in range(2))
    room, acme = room_of(one), other.workspace("acme")
    room.observe("alice", SECRET)
    dm = one.workspace("acme").dm("bob")
    dm.observe("bob", "My heron is called Ferdinand.")
    room.compose(QUESTION)
    dm.compose("What is my heron called?")
    with redis.Redis.from_url(own_redis.url, protocol=2) as client:
        before = dump(own_redis, client)
        assert b"PostgreSQL for the ledger" in before
        assert b"Ferdinand" in before

        report = acme.forget(user="alice")

        after = dump(own_redis, client)
        assert b"PostgreSQL" not in after
        assert b"Ferdinand" in after
    assert report.erased.contexts == 1
    assert report.residue == 0
    assert any("redis" in name for name in report.files_searched)
    again = acme.dm("bob").compose("What is my heron called?")
    assert again.receipt.cached  # viewers without access to the erased event are not affected
    assert "PostgreSQL" not in room_of(other).compose(QUESTION).text


@pytest.mark.requirement("X6")
def test_context_composed_during_forget_is_not_stored(
    rooms: tuple[Place, Place], client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nexusmem.compose.composer import Composer

    one, other = rooms
    compose = Composer.compose

    def slowly(self: Composer, *asked: Any) -> Context:
        context = compose(self, *asked)
        if "PostgreSQL" in context.text:
            monkeypatch.undo()
            Nexus(other._parts).workspace("acme").forget(user="alice")
        return context

    monkeypatch.setattr(Composer, "compose", slowly)

    assert "PostgreSQL" in one.compose(QUESTION).text  # cached before

    assert client.keys("nexus:*:composed:*") == []
    assert "PostgreSQL" not in one.compose(QUESTION).text


SECOND = textwrap.dedent("""
    import json, sys
    from nexusmem import Nexus
    from nexusmem.compose.receipts import receipt_to_json
    from nexusmem.config.settings import EmbeddingSettings, Settings, StoreSettings

    url, address, question = sys.argv[1:]
    store = StoreSettings(url=url, context_cache_url=address)
    settings = Settings(store=store, embeddings=EmbeddingSettings(provider="hashing"))
    with Nexus.open(settings=settings, background=False) as nexus:
        room = nexus.workspace("acme").room("design", participants=["alice", "bob"])
        context = room.compose(question)
        told = {"text": context.text, "receipt": receipt_to_json(context.receipt)}
        print(json.dumps(told, sort_keys=True))
""")


@pytest.mark.requirement("D23", "A2")
def test_two_processes_share_context(shared_url: str, redis_url: str) -> None:
    """The second process gets the same bytes, until a write."""
    from nexusmem.compose.receipts import receipt_to_json

    address = f"{redis_url}?wait=10"
    store = StoreSettings(url=shared_url, context_cache_url=address)
    settings = Settings(store=store, embeddings=EmbeddingSettings(provider="hashing"))

    def second() -> dict[str, Any]:
        asked = [sys.executable, "-c", SECOND, shared_url, address, QUESTION]
        run = subprocess.run(asked, capture_output=True, text=True, check=True)
        told: dict[str, Any] = json.loads(run.stdout)
        return told

    with Nexus.open(settings=settings, background=False) as nexus:
        room = room_of(nexus)
        room.observe("alice", SECRET)
        context = room.compose(QUESTION)
        receipt = json.loads(json.dumps({**receipt_to_json(context.receipt), "cached": True}))

        assert second() == {"text": context.text, "receipt": receipt}

        room.observe("bob", "No, we take MariaDB after all.")
        told = second()
        assert not told["receipt"]["cached"]
        assert "MariaDB" in told["text"]
        mine = room.compose(QUESTION)
        assert mine.receipt.cached  # composed by the other process
        assert mine.text == told["text"]
