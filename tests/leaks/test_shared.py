"""Whoever reads what was shared cannot tell whether it was shared or said there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nexus import observe
from nexus.core.access import Viewer
from nexus.core.ids import AgentId, UserId, WorkspaceId
from nexus.core.scope import Scope
from nexus.stores.inprocess import InProcessStore
from nexus.testing.housekeeping import Housekeeping
from nexus.testing.leaks import Leak, Plot, Worlds, replayed
from nexus.testing.observations import LOOKS, Look
from nexus.testing.operations import (
    Forget,
    Operation,
    Ref,
    Take,
    Tell,
    World,
    archive_of,
)
from nexus.testing.shares import Share

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
SOURCE = Ref(HERE, Scope.dm("ann", "bot"), "k1")


TOLD = Tell(SECRET, "observe", ("ann", "the blue heron likes secret tea"), "k1")
LEARN = Housekeeping("learn everything", WATCHER)


def leak(to: str | Viewer, *after: Operation) -> Leak | None:
    looks = [Look(viewer, each) for viewer in (WATCHER, ROOM) for each in LOOKS]
    script = [TOLD, LEARN, Share(SECRET, SOURCE, to, "k2"), LEARN, *after, *looks]
    plot = Plot("ann", (SECRET,), (ROOM, WATCHER))
    return replayed(lambda p: Worlds(p, *(World(InProcessStore()) for _ in range(2))), plot, script)


@pytest.mark.requirement("X2")
@pytest.mark.parametrize("to", ["project", ROOM], ids=["project", "room"])
def test_it_is_as_if_it_had_been_said_there(to: str | Viewer) -> None:
    assert leak(to) is None
    assert leak(to, Forget(HERE, event=SOURCE)) is None


def test_an_id_of_what_it_comes_from_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    along = observe.told_along
    monkeypatch.setattr(observe, "told_along", lambda m: (along(m)[0], {"was": m.id}))

    assert leak("project") is not None


@pytest.mark.requirement("X2")
@pytest.mark.parametrize("into", [WATCHER.home, None], ids=["into a DM", "as it is"])
def test_an_act_that_a_file_claims_tells_nothing_of_what_it_names(into: Scope | None) -> None:
    """What becomes of such an act must not show whether what it names is there."""
    worlds = Worlds(
        Plot("ann", (SECRET,), (ROOM, WATCHER)), *(World(InProcessStore()) for _ in range(2))
    )
    for operation in (TOLD, LEARN, Share(SECRET, SOURCE, "agent", "k2"), LEARN):
        worlds.do(operation)
    worlds.do(Take(WATCHER, archive_of(worlds.with_secrets, HERE), into))
    worlds.do(LEARN)

    for look in LOOKS:
        worlds.do(Look(WATCHER, look))  # raises where the worlds differ
