"""Every way a Redis can fail: Nexus answers, soon, and says that its window is missing."""

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
from tests.servers.fixtures import started
from tests.servers.proxy import Proxy
from tests.servers.redis import Redis

from nexus import Nexus, Place
from nexus.core.access import administrator_grant
from nexus.core.errors import StoreUnavailable
from nexus.core.ids import WorkspaceId
from nexus.core.part import Part
from nexus.core.window import Slot, WindowItem, summary_bytes
from nexus.stores.beside import CombinedStore
from nexus.stores.inprocess import InProcessStore

redis = pytest.importorskip("redis", reason="the extra redis is not installed")

from nexus.stores.redis import RedisWindow  # noqa: E402
from nexus.stores.redis.address import WAIT_SECONDS  # noqa: E402
from nexus.stores.redis.keys import Keys  # noqa: E402

QUESTION = "Which database did we choose for the ledger?"
WAIT = 0.25  # seconds for an answer: more than usual, because this machine does other things, too
SOON = 10 * WAIT


@dataclass
class Scene:
    """A room whose window is in a Redis, and the wire between them."""

    server: Redis
    wire: Proxy
    nexus: Nexus
    room: Place

    @property
    def window(self) -> Any:
        return self.room._parts.store.window

    def later(self) -> None:
        """Redis has been left alone for long enough: the next question tries it again."""
        breaker = self.window._server._breaker
        breaker.clock = lambda: time.monotonic() + 1_000


@pytest.fixture
def scene(open_nexus: Open) -> Iterator[Scene]:
    with started(Redis) as server, Proxy(server.port) as wire:
        yield make_scene(open_nexus, server, wire)


def make_scene(open_nexus: Open, server: Redis, wire: Proxy, login: str = "") -> Scene:
    records = InProcessStore()
    url = f"redis://{login}127.0.0.1:{wire.port}/0"
    window = RedisWindow(f"{url}?wait={WAIT}", records)
    nexus = open_nexus(CombinedStore(records, window=window))
    room = nexus.workspace("acme").room("design", participants=["alice", "bob"])
    room.observe("alice", "We decided to use PostgreSQL for the ledger.", key="choice")
    for number in range(6):
        room.observe("bob", f"The cafeteria serves soup number {number} on Mondays.")
    room.flush()
    return Scene(server, wire, nexus, room)


def refusal(call: Callable[[], object]) -> float:
    """In how many seconds it was refused."""
    begun = time.perf_counter()
    with pytest.raises(StoreUnavailable):
        call()
    return time.perf_counter() - begun


def wrong_type(scene: Scene) -> None:
    keys = Keys.of("", scene.room.viewer.workspace)
    for slot in Slot:
        scene.server.ask("DEL", keys.items(scene.room.viewer.home, slot))
        scene.server.ask("SET", keys.items(scene.room.viewer.home, slot), "something else")


def right_type(scene: Scene) -> None:
    keys = Keys.of("", scene.room.viewer.workspace)
    for slot in Slot:
        scene.server.ask("DEL", keys.items(scene.room.viewer.home, slot))


def killed_in_the_middle(scene: Scene) -> None:
    """A question is on its way when the server dies."""
    scene.server.freeze()
    asking = threading.Thread(target=lambda: refusal(scene.room.notes))
    asking.start()
    time.sleep(WAIT / 5)
    scene.server.signal(signal.SIGKILL)
    asking.join()
    scene.server.kill()


def cut_short(scene: Scene) -> None:
    """Every answer ends after its first bytes."""
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
    "killed in the middle": (killed_in_the_middle, lambda scene: scene.server.start()),
    "cut short": (cut_short, lambda scene: scene.wire.reset()),
    "slow": (slow, fast),
    "another type": (wrong_type, right_type),
}


@pytest.mark.requirement("D24", "A2")
@pytest.mark.parametrize("fault", FAULTS)
def test_nexus_answers_soon_and_says_what_is_missing(scene: Scene, fault: str) -> None:
    breaks, heals = FAULTS[fault]
    room = scene.room
    room.set_goal("Paint it vermilion.")
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
    assert context.section(Part.SUMMARY) == ()  # nothing would keep it: it is made for who asks
    with pytest.raises(StoreUnavailable):
        room.note("color", "ochre")
    with pytest.raises(StoreUnavailable):
        room.notes()
    room.observe("alice", "The heron is blue.", key="heron")
    assert room.flush() == 0
    assert room.recall("What color is the heron?")[0].event_keys == ("heron",)
    scene.nexus.workspace("acme").learn_episodes()

    heals(scene)
    scene.later()
    room.set_goal("Paint it teal.")
    context = room.compose(QUESTION)
    assert context.receipt.degraded == ()
    assert "teal" in context.text


@pytest.mark.requirement("D24")
def test_garbage_among_the_notes_is_told_and_not_shown(scene: Scene) -> None:
    keys = Keys.of("", scene.room.viewer.workspace)
    scene.server.ask("HSET", keys.items(scene.room.viewer.home, Slot.NOTE), "f", "{")

    with pytest.raises(StoreUnavailable, match="what Nexus did not put there"):
        scene.room.notes()

    context = scene.room.compose(QUESTION)
    assert "PostgreSQL" in context.text
    assert "did not put there" in context.receipt.degraded[0]
    assert scene.room.goal() is None  # nothing else is lost by it


@pytest.mark.requirement("D22", "D24")
def test_nobody_waits_twice_for_a_redis_that_stands_still(scene: Scene) -> None:
    scene.server.freeze()
    first = refusal(scene.room.notes)
    others = [refusal(scene.room.notes) for _ in range(50)]

    assert WAIT_SECONDS == 0.05
    assert WAIT * 0.9 < first < SOON
    assert sorted(others)[25] < WAIT / 5  # a refusal, and no waiting


@pytest.mark.requirement("D22")
def test_two_memories_of_one_process_share_what_one_of_them_found_out(
    scene: Scene, open_nexus: Open
) -> None:
    twin = make_scene(open_nexus, scene.server, scene.wire)
    scene.wire.refuse()
    with pytest.raises(StoreUnavailable):
        scene.room.notes()
    asked = scene.wire.accepted
    scene.wire.accept()

    with pytest.raises(StoreUnavailable, match="Redis is away and not asked"):
        twin.room.notes()
    assert scene.wire.accepted == asked
    twin.later()
    assert twin.room.notes() == []


@pytest.mark.requirement("A12", "D22")
def test_no_answer_goes_to_somebody_else(scene: Scene) -> None:
    """Questions that were given up leave nothing behind in a connection that others use next."""
    window = RedisWindow(f"redis://127.0.0.1:{scene.wire.port}?wait=0.1", InProcessStore())
    window._server._breaker.clock = lambda: 1_000 * time.monotonic()  # a rest is soon over
    homes = [WorkspaceId(f"workspace {number}") for number in range(4)]
    at, room = scene.nexus._parts.now(), scene.room.viewer.home
    for home in homes:
        note = WindowItem(scope=room, slot=Slot.NOTE, key="k", value=home.value, at=at)
        while not _done(lambda: window.put(home, [note])):  # noqa: B023
            pass
    answers: list[tuple[str, list[Any]]] = []
    refused: list[str] = []

    def ask(home: WorkspaceId) -> None:
        grant = administrator_grant(home).within([room])
        until = time.monotonic() + 60
        while min(len(answers), len(refused)) < 100 and time.monotonic() < until:
            try:
                found = window.find(grant, slots=[Slot.NOTE], now=at)
                answers.append((home.value, [each.value for each in found]))
            except StoreUnavailable:
                refused.append(home.value)

    threads = [threading.Thread(target=ask, args=(home,)) for home in homes]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        scene.wire.latency = 0.15 - scene.wire.latency  # too slow, and quick again
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


def test_connections_that_ended_meanwhile_are_made_again(scene: Scene) -> None:
    """A restart of Redis between two questions is nobody's fault."""
    scene.room.note("color", "vermilion")
    scene.wire.reset()
    time.sleep(WAIT)

    assert [note.value for note in scene.room.notes()] == ["vermilion"]


@pytest.mark.requirement("D24", "X3")
def test_a_flushed_redis_is_filled_again_from_the_ledger(scene: Scene) -> None:
    room = scene.room
    room.note("color", "vermilion")
    room.set_goal("Paint it vermilion.")
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
    room.set_goal("Paint it teal.")
    assert "teal" in room.compose(QUESTION).text


@pytest.mark.requirement("D24", "X6")
def test_a_full_redis_takes_no_note_but_tells_and_forgets(scene: Scene) -> None:
    room = scene.room
    room.set_goal("Paint it vermilion.")
    room.note("color", "vermilion")
    assert scene.server.ask("CONFIG", "SET", "maxmemory-policy", "noeviction") == "+OK"
    assert scene.server.ask("CONFIG", "SET", "maxmemory", "1") == "+OK"

    with pytest.raises(StoreUnavailable, match="maxmemory"):
        room.note("shape", "round")
    context = room.compose(QUESTION)

    assert context.receipt.degraded == ()
    assert "vermilion" in context.text
    assert room.drop_note("color")
    assert not room.compose(QUESTION).receipt.cached  # although no epoch could be written
    report = scene.nexus.workspace("acme").forget(user="alice")
    assert report.erased.window > 0


@pytest.mark.requirement("X6")
def test_nothing_is_forgotten_by_halves_while_redis_is_away(scene: Scene) -> None:
    """What Redis holds of somebody would outlast them; so forgetting waits, and says so."""
    acme, room = scene.nexus.workspace("acme"), scene.room
    room.note("menu", "soup")
    assert "PostgreSQL" in str(room.window().summary)
    scene.wire.refuse()

    with pytest.raises(StoreUnavailable):
        acme.forget(user="alice")
    assert [event.key for event in room.recent(99) if event.key == "choice"] == ["choice"]

    scene.wire.accept()
    scene.later()
    assert acme.forget(user="alice").erased.window > 0
    with redis.Redis(port=scene.server.port, decode_responses=True, protocol=2) as client:
        values = [client.hgetall(key) for key in client.keys("*") if client.type(key) == "hash"]
    assert "soup" in str(values)
    assert "PostgreSQL" not in str(values)


@pytest.mark.requirement("D23", "D24")
def test_no_context_of_before_is_served_after_an_absence(scene: Scene, open_nexus: Open) -> None:
    """Another process changed a note while this one could not reach Redis."""
    room = scene.room
    records = scene.window._records
    window = RedisWindow(scene.server.url, records, wait_seconds=WAIT)
    other = CombinedStore(records, window=window)
    theirs = open_nexus(other).workspace("acme").room("design", participants=["alice", "bob"])
    room.set_goal("Paint it vermilion.")
    assert "vermilion" in room.compose(QUESTION).text
    scene.wire.pause()
    assert "vermilion" not in room.compose(QUESTION).text
    theirs.set_goal("Paint it teal.")
    scene.wire.resume()
    scene.later()

    context = room.compose(QUESTION)

    assert not context.receipt.cached
    assert "teal" in context.text
    assert "vermilion" not in context.text


@pytest.mark.requirement("D24")
@pytest.mark.parametrize("login", ["", ":wrong@", "nobody:secret@"])
def test_a_wrong_password_is_told_and_everything_else_works(open_nexus: Open, login: str) -> None:
    with started(Redis) as server, Proxy(server.port) as wire:
        assert server.ask("CONFIG", "SET", "requirepass", "secret") == "+OK"
        scene = make_scene(open_nexus, server, wire, login)

        with pytest.raises(StoreUnavailable) as told:
            scene.room.note("color", "teal")

        assert "secret" not in str(told.value)
        assert "wrong" not in str(told.value)
        assert "PostgreSQL" in scene.room.compose(QUESTION).text


def test_the_right_password_opens(open_nexus: Open) -> None:
    with started(Redis) as server, Proxy(server.port) as wire:
        assert server.ask("CONFIG", "SET", "requirepass", "a secret") == "+OK"
        scene = make_scene(open_nexus, server, wire, ":a%20secret@")

        scene.room.note("color", "teal")

        assert [note.value for note in scene.room.notes()] == ["teal"]


def test_a_server_that_is_no_redis(open_nexus: Open) -> None:
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
        records = InProcessStore()
        window = RedisWindow(f"redis://127.0.0.1:{port}", records)
        room = open_nexus(CombinedStore(records, window=window)).workspace("acme").room("design")
        room.observe("alice", "We decided to use PostgreSQL for the ledger.")

        context = room.compose(QUESTION)

        assert "PostgreSQL" in context.text
        assert any(each.startswith("window: ") for each in context.receipt.degraded)
        listener.shutdown(socket.SHUT_RDWR)
