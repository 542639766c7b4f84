"""From contexts that processes share nobody learns what is not theirs, not even by a hit."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Open
from tests.servers.windows import beside_redis

from nexus import Nexus
from nexus.core.access import Viewer
from nexus.core.context import Context
from nexus.core.ids import AgentId, UserId, WorkspaceId
from nexus.core.protocols import Store
from nexus.core.scope import Scope
from nexus.stores.beside import CombinedStore
from nexus.stores.sqlite.store import SqliteStore
from nexus.testing.housekeeping import Housekeeping
from nexus.testing.leaks import Leak, Plot, Worlds, replayed
from nexus.testing.observations import Look
from nexus.testing.operations import Forget, Operation, Ref, Tell, World
from nexus.testing.suites.access import VIEWERS

pytest.importorskip("redis", reason="the extra redis is not installed")

from nexus.stores.redis import RedisContexts

QUESTION = "What is the word of the day?"
Beside = Callable[[str], CombinedStore]


@pytest.fixture
def beside(tmp_path: Path, redis_url: str) -> Beside:
    """A memory by its name, in another process each time."""
    return lambda name: beside_redis(SqliteStore(tmp_path / f"{name}.db"), redis_url, name)


STRANGERS = {
    **{name: viewer for name, viewer in VIEWERS.items() if name != "carol"},  # she is in the room
    "another agent": replace(VIEWERS["alice"], agent=AgentId("critic")),
    "no project": replace(VIEWERS["alice"], project=None),
    "another room": replace(VIEWERS["room"], room="attic"),
    "fewer people": replace(VIEWERS["room"], participants=(UserId("alice"),)),
    "another company": replace(VIEWERS["alice"], workspace=WorkspaceId("other")),
}


def place(nexus: Nexus, viewer: Viewer) -> Any:
    return nexus.workspace(viewer.workspace.value).place(viewer)


def without_time(context: Context) -> str:
    return context.text.replace(context.id, "")


@pytest.mark.requirement("X2", "A12", "D23")
@pytest.mark.parametrize("window", ["in Redis", "in the store"])
def test_everybody_is_given_their_own(
    open_nexus: Open, beside: Beside, tmp_path: Path, window: str
) -> None:
    """Each of them says a word of their own, and then all ask the same of another process."""

    def opened() -> Nexus:
        store = beside("memory")
        if window == "in Redis":
            return open_nexus(store)
        contexts: Any = store.contexts
        contexts._window = store._records.window
        return open_nexus(CombinedStore(store._records, contexts=contexts))

    one, other, none = opened(), opened(), open_nexus(SqliteStore(tmp_path / "memory.db"))
    words = {name: f"word{number}xyz" for number, name in enumerate(STRANGERS)}
    for name, viewer in STRANGERS.items():
        speaker = (viewer.user or viewer.participants[0]).value
        place(one, viewer).observe(speaker, f"The word of the day is {words[name]}.")
    for viewer in STRANGERS.values():
        place(one, viewer).compose(QUESTION)

    for viewer in STRANGERS.values():
        given, alone = (place(each, viewer).compose(QUESTION) for each in (other, none))
        assert given.receipt.cached
        assert not alone.receipt.cached
        assert {word for word in words.values() if word in given.text} == {
            word for word in words.values() if word in alone.text
        }
        assert len(without_time(given)) == len(without_time(alone))


@pytest.mark.requirement("X2", "D23")
@pytest.mark.parametrize("asked", STRANGERS)
def test_a_hit_says_only_that_the_place_itself_asked(
    open_nexus: Open, beside: Beside, asked: str
) -> None:
    one, other = (open_nexus(beside("memory")) for _ in range(2))
    place(one, STRANGERS["room"]).observe("alice", "The word of the day is heron.")
    place(one, STRANGERS[asked]).compose(QUESTION)

    hits = [
        name
        for name, viewer in STRANGERS.items()
        if place(other, viewer).compose(QUESTION).receipt.cached
    ]

    assert hits == [asked]


HERE = WorkspaceId("w")
ROOM = Viewer(
    workspace=HERE,
    agent=AgentId("bot"),
    room="r",
    participants=(UserId("ann"), UserId("bea")),
    project="p",
)
WATCHER = replace(ROOM, room=None, participants=(), user=UserId("bea"))
SECRET = replace(WATCHER, user=UserId("ann"))
TOLD = Tell(SECRET, "observe", ("ann", "the blue heron likes secret tea"), "k1")
SAID = Tell(WATCHER, "observe", ("bea", "the grey heron likes plain tea"), "k2")
LEARN = Housekeeping("learn everything", WATCHER)
COMPOSING = ("compose", "compose as of", "before and explain", "epoch")


class Restart:
    """Everybody goes on in another process, which has composed nothing yet."""

    workspace, label, tells = HERE, None, None

    def do(self, world: World) -> None:
        world.open_again()

    def __str__(self) -> str:
        return "restart"


def leak(beside: Beside, *script: Operation) -> Leak | None:
    def reopen(store: Store) -> Store:
        return store

    def world() -> World:
        return World(beside(secrets.token_hex(4)), reopen=reopen)

    plot = Plot("ann", (SECRET,), (ROOM, WATCHER))
    return replayed(lambda p: Worlds(p, world(), world()), plot, list(script))


def looks() -> list[Look]:
    return [Look(viewer, each) for viewer in (WATCHER, ROOM) for each in COMPOSING]


AGAIN = Restart()
SOURCE = Ref(HERE, Scope.dm("ann", "bot"), "k1")


@pytest.mark.requirement("X2", "X6", "D23")
@pytest.mark.parametrize(
    "secretly",
    [
        [TOLD, LEARN],
        [Look(SECRET, "compose"), TOLD, LEARN, Look(SECRET, "compose")],
        [TOLD, LEARN, Look(SECRET, "compose"), Forget(HERE, event=SOURCE), LEARN],
    ],
    ids=["told", "asked", "forgotten"],
)
def test_whether_a_context_was_kept_says_nothing_of_others(
    beside: Beside, secretly: list[Any]
) -> None:
    """In one of two worlds a secret is told, asked about and forgotten; nothing else differs."""
    script = [SAID, LEARN, *looks(), *secretly, AGAIN, *looks()]

    assert leak(beside, *script) is None


def test_the_other_process_is_in_fact_given_them(beside: Beside) -> None:
    world = World(beside("memory"), reopen=lambda store: store)
    for step in (SAID, LEARN, *looks(), AGAIN):
        step.do(world)

    assert world.place(WATCHER).compose("tea and secrets", budget=900, explain=True).receipt.cached


def test_an_erasure_that_took_everything_would_be_noticed(
    beside: Beside, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test has teeth: who forgets by emptying the cache is found out."""

    def empty(self: Any, workspace: WorkspaceId, ids: Any) -> int:
        del ids
        keys = self._keys(workspace)
        return sum(self._taken(keys, [name for name, _ in each]) for each in self._heads(keys))

    monkeypatch.setattr(RedisContexts, "erase", empty)
    script = [SAID, TOLD, LEARN, *looks(), Forget(HERE, event=SOURCE), AGAIN, *looks()]

    assert leak(beside, *script) is not None
