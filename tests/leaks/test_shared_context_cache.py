"""The shared context cache shows no viewer another viewer's data, not even through a cache
hit.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Clock, Open
from tests.servers.redis_store import with_redis

from nexusmem import Nexus
from nexusmem.core.access import Viewer
from nexusmem.core.ids import AgentId, UserId, WorkspaceId
from nexusmem.core.protocols.store import Store
from nexusmem.core.records.context import Context
from nexusmem.core.scope import Scope
from nexusmem.stores.external.composite_store import CompositeStore
from nexusmem.stores.sqlite.store import SqliteStore
from nexusmem.testing.leaks.observations import ViewerRead
from nexusmem.testing.leaks.operations import (
    EventRef,
    ForgetData,
    MaintenanceStep,
    Operation,
    World,
    WriteEvent,
)
from nexusmem.testing.leaks.state_machine import Leak, LeakScenario, WorldPair, replay_script
from nexusmem.testing.suites.access import VIEWERS

pytest.importorskip("redis", reason="the extra redis is not installed")

from nexusmem.stores.external.redis import RedisContextCache

QUESTION = "What is the word of the day?"
Beside = Callable[[str], CompositeStore]


@pytest.fixture
def beside(tmp_path: Path, redis_url: str) -> Beside:
    """Open a memory by name, in another process each time."""
    return lambda name: with_redis(SqliteStore(tmp_path / f"{name}.db"), redis_url, name)


STRANGERS = {
    # Carol is in the room, and the settings, not a viewer, say which flows are on.
    **{name: viewer for name, viewer in VIEWERS.items() if name not in ("carol", "walled")},
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
def test_each_viewer_gets_own_context(
    open_nexus: Open, beside: Beside, tmp_path: Path, clock: Clock, window: str
) -> None:
    """Each viewer writes a distinct word, then all of them ask another process the same
    question.
    """

    def opened() -> Nexus:
        store = beside("memory")
        if window == "in Redis":
            return open_nexus(store)
        contexts: Any = store.contexts
        contexts._window = store._records.window
        return open_nexus(CompositeStore(store._records, contexts=contexts))

    one, other, none = opened(), opened(), open_nexus(SqliteStore(tmp_path / "memory.db"))
    words = {name: f"word{number}xyz" for number, name in enumerate(STRANGERS)}
    for name, viewer in STRANGERS.items():
        speaker = (viewer.user or viewer.participants[0]).value
        place(one, viewer).observe(speaker, f"The word of the day is {words[name]}.")
    clock.advance(seconds=1)  # each Nexus has its own clock: all facts hold in all of them
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
def test_cache_hit_reveals_only_reads_of_same_place(
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
TOLD = WriteEvent(SECRET, "observe", ("ann", "the blue heron likes secret tea"), "k1")
SAID = WriteEvent(WATCHER, "observe", ("bea", "the grey heron likes plain tea"), "k2")
LEARN = MaintenanceStep("learn everything", WATCHER)
COMPOSING = ("compose", "compose as of", "before and explain", "epoch")


class Restart:
    """All viewers continue in another process whose caches are empty."""

    workspace, label, event_ref = HERE, None, None

    def run(self, world: World) -> None:
        world.reopen_nexus()

    def __str__(self) -> str:
        return "restart"


def leak(beside: Beside, *script: Operation) -> Leak | None:
    def reopen(store: Store) -> Store:
        return store

    def world() -> World:
        return World(beside(secrets.token_hex(4)), reopen=reopen)

    plot = LeakScenario("ann", (SECRET,), (ROOM, WATCHER))
    return replay_script(lambda p: WorldPair(p, world(), world()), plot, list(script))


def looks() -> list[ViewerRead]:
    return [ViewerRead(viewer, each) for viewer in (WATCHER, ROOM) for each in COMPOSING]


AGAIN = Restart()
SOURCE = EventRef(HERE, Scope.dm("ann", "bot"), "k1")


@pytest.mark.requirement("X2", "X6", "D23")
@pytest.mark.parametrize(
    "secretly",
    [
        [TOLD, LEARN],
        [ViewerRead(SECRET, "compose"), TOLD, LEARN, ViewerRead(SECRET, "compose")],
        [TOLD, LEARN, ViewerRead(SECRET, "compose"), ForgetData(HERE, event=SOURCE), LEARN],
    ],
    ids=["told", "asked", "forgotten"],
)
def test_cache_state_reveals_nothing_of_others(beside: Beside, secretly: list[Any]) -> None:
    """In one of two worlds a secret is written, read and erased. Nothing else differs."""
    script = [SAID, LEARN, *looks(), *secretly, AGAIN, *looks()]

    assert leak(beside, *script) is None


def test_other_process_reads_cached_context(beside: Beside) -> None:
    world = World(beside("memory"), reopen=lambda store: store)
    for step in (SAID, LEARN, *looks(), AGAIN):
        step.run(world)

    assert (
        world.open_place(WATCHER)
        .compose("tea and secrets", budget=900, explain=True)
        .receipt.cached
    )


def test_clearing_whole_cache_is_detected(beside: Beside, monkeypatch: pytest.MonkeyPatch) -> None:
    """An erasure that empties the whole cache is visible to others, and the test detects it."""

    def empty(self: Any, workspace: WorkspaceId, ids: Any) -> int:
        del ids
        keys = self._workspace_keys(workspace)
        return sum(
            self._delete_contexts(keys, [name for name, _ in each])
            for each in self._iter_headers(keys)
        )

    monkeypatch.setattr(RedisContextCache, "erase", empty)
    script = [SAID, TOLD, LEARN, *looks(), ForgetData(HERE, event=SOURCE), AGAIN, *looks()]

    assert leak(beside, *script) is not None
