"""Faults of the Redis window: calls return soon and report the missing window."""

from __future__ import annotations

import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from tests.conftest import Open
from tests.servers.fixtures import start_or_skip
from tests.servers.proxy import Proxy
from tests.servers.redis import Redis

from nexusmem import Nexus, Place
from nexusmem.core.access import administrator_grant
from nexusmem.core.errors import StoreUnavailable
from nexusmem.core.ids import WorkspaceId
from nexusmem.core.records.window import WindowItem, WindowSlot, summary_bytes
from nexusmem.stores.external.composite_store import CompositeStore
from nexusmem.testing.reference_store.store import ReferenceStore

redis = pytest.importorskip("redis", reason="the extra redis is not installed")

from nexusmem.stores.external.redis import RedisWindow  # noqa: E402
from nexusmem.stores.external.redis.item_encoding import RedisKeys  # noqa: E402
from nexusmem.stores.external.redis.server import WAIT_SECONDS  # noqa: E402

QUESTION = "Which database did we choose for the ledger?"
WAIT = 0.25  # seconds until a result, generous for a busy machine
SOON = 10 * WAIT


@dataclass
class Scene:
    """A room with its window in Redis, behind a proxy."""

    server: Redis
    wire: Proxy
    nexus: Nexus
    room: Place

    @property
    def window(self) -> Any:
        return self.room._parts.store.window

    def after_cool_down(self) -> None:
        """End the cool-down of the circuit breaker."""
        breaker = self.window._server._breaker
        breaker.clock = lambda: time.monotonic() + 1_000


@pytest.fixture
def scene(open_nexus: Open) -> Iterator[Scene]:
    with start_or_skip(Redis) as server, Proxy(server.port) as wire:
        yield make_scene(open_nexus, server, wire)


def make_scene(open_nexus: Open, server: Redis, wire: Proxy, login: str = "") -> Scene:
    records = ReferenceStore()
    url = f"redis://{login}127.0.0.1:{wire.port}/0"
    window = RedisWindow(f"{url}?wait={WAIT}", records)
    nexus = open_nexus(CompositeStore(records, window=window))
    room = nexus.workspace("acme").room("design", participants=["alice", "bob"])
    room.observe("alice", "We decided to use PostgreSQL for the ledger.", key="choice")
    for number in range(6):
        room.observe("bob", f"The cafeteria serves soup number {number} on Mondays.")
    room.flush()
    return Scene(server, wire, nexus, room)


def seconds_until_error(call: Callable[[], object]) -> float:
    """Return the seconds until StoreUnavailable is raised."""
    begun = time.perf_counter()
    with pytest.raises(StoreUnavailable):
        call()
    return time.perf_counter() - begun


def wrong_type(scene: Scene) -> None:
    keys = RedisKeys.for_workspace("", scene.room.viewer.workspace)
    for slot in WindowSlot:
        scene.server.execute("DEL", keys.items(scene.room.viewer.home, slot))
        scene.server.execute("SET", keys.items(scene.room.viewer.home, slot), "something else")


def right_type(scene: Scene) -> None:
    keys = RedisKeys.for_workspace("", scene.room.viewer.workspace)
    for slot in WindowSlot:
        scene.server.execute("DEL", keys.items(scene.room.viewer.home, slot))


def kill_during_request(scene: Scene) -> None:
    """Kill the server during a request."""
    scene.server.freeze()
    asking = threading.Thread(target=lambda: seconds_until_error(scene.room.notes))
    asking.start()
    time.sleep(WAIT / 5)
    scene.server.signal(signal.SIGKILL)
    asking.join()
    scene.server.kill()


def truncate_replies(scene: Scene) -> None:
    """Cut every reply after its first bytes."""
    scene.wire.truncate(3)


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
    "cut short": (truncate_replies, lambda scene: scene.wire.reset()),
    "slow": (slow, fast),
    "another type": (wrong_type, right_type),
}


@pytest.mark.requirement("D24", "A2")
@pytest.mark.parametrize("fault", FAULTS)
def test_calls_return_soon_and_report_missing_window(scene: Scene, fault: str) -> None:
    breaks, heals = FAULTS[fault]
    room = scene.room
    room.set_active_goal("Paint it vermilion.")
    assert "vermilion" in room.compose(QUESTION).text

    breaks(scene)
    begun = time.perf_counter()
    context = room.compose(f"{QUESTION} And when?")
    took = time.perf_counter() - begun

    assert took < SOON
    assert "PostgreSQL" in context.text
    assert "vermilion" not in context.text
    assert not context.receipt.cached
    assert [each for each in context.receipt.degraded if each.startswith("window: ")]
    view = room.window()
    assert view.events[0].key == "choice"
    assert view.summary.lines
    assert view.degraded
    assert context.section_items("summary") == ()  # not stored: composed for this call
    with pytest.raises(StoreUnavailable):
        room.set_note("color", "ochre")
    with pytest.raises(StoreUnavailable):
        room.notes()
    room.observe("alice", "The heron is blue.", key="heron")
    assert room.flush() == 0
    assert room.recall("What color is the heron?")[0].event_keys == ("heron",)
    scene.nexus.workspace("acme").refresh_episodes()

    heals(scene)
    scene.after_cool_down()
    room.set_active_goal("Paint it teal.")
    context = room.compose(QUESTION)
    assert context.receipt.degraded == ()
    assert "teal" in context.text


@pytest.mark.requirement("D24")
def test_unreadable_note_is_reported(scene: Scene) -> None:
    keys = RedisKeys.for_workspace("", scene.room.viewer.workspace)
    scene.server.execute("HSET", keys.items(scene.room.viewer.home, WindowSlot.NOTE), "f", "{")

    with pytest.raises(StoreUnavailable, match="data that Nexus did not write"):
        scene.room.notes()

    context = scene.room.compose(QUESTION)
    assert "PostgreSQL" in context.text
    assert "did not write" in context.receipt.degraded[0]
    assert scene.room.active_goal() is None  # nothing else is affected


@pytest.mark.requirement("D22", "D24")
def test_frozen_redis_costs_one_timeout(scene: Scene) -> None:
    scene.server.freeze()
    first = seconds_until_error(scene.room.notes)
    others = [seconds_until_error(scene.room.notes) for _ in range(50)]

    assert WAIT_SECONDS == 0.05
    assert WAIT * 0.9 < first < SOON
    assert sorted(others)[25] < WAIT / 5  # fails without waiting


@pytest.mark.requirement("D22")
def test_memories_of_a_process_share_circuit_breaker(scene: Scene, open_nexus: Open) -> None:
    twin = make_scene(open_nexus, scene.server, scene.wire)
    scene.wire.refuse()
    with pytest.raises(StoreUnavailable):
        scene.room.notes()
    asked = scene.wire.accepted
    scene.wire.accept()

    with pytest.raises(StoreUnavailable, match=r"Redis is unavailable \(circuit open\)"):
        twin.room.notes()
    assert scene.wire.accepted == asked
    twin.after_cool_down()
    assert twin.room.notes() == []


@pytest.mark.requirement("A12", "D22")
def test_replies_are_not_mixed_up(scene: Scene) -> None:
    """The reply of an abandoned request must not reach the next user of a connection."""
    window = RedisWindow(f"redis://127.0.0.1:{scene.wire.port}?wait=0.1", ReferenceStore())
    window._server._breaker.clock = lambda: 1_000 * time.monotonic()  # short cool-down
    homes = [WorkspaceId(f"workspace {number}") for number in range(4)]
    at, room = scene.nexus._parts.now(), scene.room.viewer.home
    for home in homes:
        note = WindowItem(scope=room, slot=WindowSlot.NOTE, key="k", value=home.value, at=at)
        while not _done(lambda: window.put(home, [note])):  # noqa: B023
            pass
    answers: list[tuple[str, list[Any]]] = []
    refused: list[str] = []

    def ask(home: WorkspaceId) -> None:
        grant = administrator_grant(home).narrow_to([room])
        until = time.monotonic() + 60
        while min(len(answers), len(refused)) < 100 and time.monotonic() < until:
            try:
                found = window.find(grant, slots=[WindowSlot.NOTE], now=at)
                answers.append((home.value, [each.value for each in found]))
            except StoreUnavailable:
                refused.append(home.value)

    threads = [threading.Thread(target=ask, args=(home,)) for home in homes]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        scene.wire.latency = 0.15 - scene.wire.latency  # too slow, then fast again
        time.sleep(0.2)
    window.close()

    assert len(answers) >= 100
    assert len(refused) >= 100
    assert all(told == [home] for home, told in answers)


def _done(call: Callable[[], object]) -> bool:
    try:
        call()
    except StoreUnavailable:
        return False
    return True


def test_restart_between_requests_is_invisible(scene: Scene) -> None:
    """A restart of Redis between two requests causes no error."""
    scene.room.set_note("color", "vermilion")
    scene.wire.reset()
    time.sleep(WAIT)

    assert [note.value for note in scene.room.notes()] == ["vermilion"]


@pytest.mark.requirement("D24", "X3")
def test_flushed_redis_is_refilled_from_ledger(scene: Scene) -> None:
    room = scene.room
    room.set_note("color", "vermilion")
    room.set_active_goal("Paint it vermilion.")
    before = room.window().summary
    kept = room.compose(QUESTION)
    assert before.lines

    scene.server.empty()

    again = room.compose(QUESTION)
    assert not again.receipt.cached
    assert again.receipt.degraded == ()
    assert "vermilion" in kept.text
    assert "vermilion" not in again.text
    assert summary_bytes(room.window().summary) == summary_bytes(before)
    assert room.notes() == []
    room.set_active_goal("Paint it teal.")
    assert "teal" in room.compose(QUESTION).text


@pytest.mark.requirement("D24", "X6")
def test_full_redis_rejects_notes_but_reads_and_erases(scene: Scene) -> None:
    room = scene.room
    room.set_active_goal("Paint it vermilion.")
    room.set_note("color", "vermilion")
    assert scene.server.execute("CONFIG", "SET", "maxmemory-policy", "noeviction") == "+OK"
    assert scene.server.execute("CONFIG", "SET", "maxmemory", "1") == "+OK"

    with pytest.raises(StoreUnavailable, match="maxmemory"):
        room.set_note("shape", "round")
    context = room.compose(QUESTION)

    assert context.receipt.degraded == ()
    assert "vermilion" in context.text
    assert room.delete_note("color")
    assert not room.compose(QUESTION).receipt.cached  # without a new epoch
    report = scene.nexus.workspace("acme").forget(user="alice")
    assert report.erased.window > 0


@pytest.mark.requirement("X6")
def test_erasure_fails_while_redis_is_unreachable(scene: Scene) -> None:
    """Redis would keep erased data, so `forget` raises StoreUnavailable and erases nothing."""
    acme, room = scene.nexus.workspace("acme"), scene.room
    room.set_note("menu", "soup")
    assert "PostgreSQL" in str(room.window().summary)
    scene.wire.refuse()

    with pytest.raises(StoreUnavailable):
        acme.forget(user="alice")
    assert [event.key for event in room.recent(99) if event.key == "choice"] == ["choice"]

    scene.wire.accept()
    scene.after_cool_down()
    assert acme.forget(user="alice").erased.window > 0
    with redis.Redis(port=scene.server.port, decode_responses=True, protocol=2) as client:
        values = [client.hgetall(key) for key in client.keys("*") if client.type(key) == "hash"]
    assert "soup" in str(values)
    assert "PostgreSQL" not in str(values)


@pytest.mark.requirement("D23", "D24")
def test_cached_context_is_not_served_after_outage(scene: Scene, open_nexus: Open) -> None:
    """Another process changes a note while this one cannot reach Redis."""
    room = scene.room
    records = scene.window._records
    window = RedisWindow(scene.server.url, records, wait_seconds=WAIT)
    other = CompositeStore(records, window=window)
    theirs = open_nexus(other).workspace("acme").room("design", participants=["alice", "bob"])
    room.set_active_goal("Paint it vermilion.")
    assert "vermilion" in room.compose(QUESTION).text
    scene.wire.pause()
    assert "vermilion" not in room.compose(QUESTION).text
    theirs.set_active_goal("Paint it teal.")
    scene.wire.resume()
    scene.after_cool_down()

    context = room.compose(QUESTION)

    assert not context.receipt.cached
    assert "teal" in context.text
    assert "vermilion" not in context.text


@pytest.mark.requirement("D24")
@pytest.mark.parametrize("login", ["", ":wrong@", "nobody:secret@"])
def test_wrong_password_degrades_only_window(open_nexus: Open, login: str) -> None:
    with start_or_skip(Redis) as server, Proxy(server.port) as wire:
        assert server.execute("CONFIG", "SET", "requirepass", "secret") == "+OK"
        scene = make_scene(open_nexus, server, wire, login)

        with pytest.raises(StoreUnavailable) as told:
            scene.room.set_note("color", "teal")

        assert "secret" not in str(told.value)
        assert "wrong" not in str(told.value)
        assert "PostgreSQL" in scene.room.compose(QUESTION).text


def test_password_is_used(open_nexus: Open) -> None:
    with start_or_skip(Redis) as server, Proxy(server.port) as wire:
        assert server.execute("CONFIG", "SET", "requirepass", "a secret") == "+OK"
        scene = make_scene(open_nexus, server, wire, ":a%20secret@")

        scene.room.set_note("color", "teal")

        assert [note.value for note in scene.room.notes()] == ["teal"]


def test_server_that_is_not_redis(open_nexus: Open) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()

        def answer() -> None:
            while True:
                try:
                    client, _ = listener.accept()
                except OSError:
                    return
                with client:
                    client.recv(1_000)
                    client.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        threading.Thread(target=answer, daemon=True).start()
        port = listener.getsockname()[1]
        records = ReferenceStore()
        window = RedisWindow(f"redis://127.0.0.1:{port}", records)
        room = open_nexus(CompositeStore(records, window=window)).workspace("acme").room("design")
        room.observe("alice", "We decided to use PostgreSQL for the ledger.")

        context = room.compose(QUESTION)

        assert "PostgreSQL" in context.text
        assert any(each.startswith("window: ") for each in context.receipt.degraded)
        listener.shutdown(socket.SHUT_RDWR)
