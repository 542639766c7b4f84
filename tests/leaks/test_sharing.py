"""A reader cannot tell a shared memory from one that was written in the same place."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nexusmem.core.access import Viewer
from nexusmem.core.ids import AgentId, UserId, WorkspaceId
from nexusmem.core.scope import Scope
from nexusmem.observe import events
from nexusmem.testing.leaks.observations import VIEWER_READS, ViewerRead
from nexusmem.testing.leaks.operations import (
    EventRef,
    ForgetData,
    ImportArchive,
    MaintenanceStep,
    Operation,
    ShareMemory,
    World,
    WriteEvent,
    export_archive,
)
from nexusmem.testing.leaks.state_machine import Leak, LeakScenario, WorldPair, replay_script
from nexusmem.testing.reference_store.store import ReferenceStore

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
SOURCE = EventRef(HERE, Scope.dm("ann", "bot"), "k1")


TOLD = WriteEvent(SECRET, "observe", ("ann", "the blue heron likes secret tea"), "k1")
LEARN = MaintenanceStep("learn everything", WATCHER)


def leak(to: str | Viewer, *after: Operation) -> Leak | None:
    looks = [ViewerRead(viewer, each) for viewer in (WATCHER, ROOM) for each in VIEWER_READS]
    script = [TOLD, LEARN, ShareMemory(SECRET, SOURCE, to, "k2"), LEARN, *after, *looks]
    plot = LeakScenario("ann", (SECRET,), (ROOM, WATCHER))
    return replay_script(
        lambda p: WorldPair(p, *(World(ReferenceStore()) for _ in range(2))), plot, script
    )


@pytest.mark.requirement("X2")
@pytest.mark.parametrize("to", ["project", ROOM], ids=["project", "room"])
def test_shared_memory_looks_like_local_one(to: str | Viewer) -> None:
    assert leak(to) is None
    assert leak(to, ForgetData(HERE, event=SOURCE)) is None


def test_source_id_in_copy_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    along = events.copy_content
    monkeypatch.setattr(events, "copy_content", lambda m, by: (along(m, by)[0], {"was": m.id}))

    assert leak("project") is not None


@pytest.mark.requirement("X2")
@pytest.mark.parametrize("into", [WATCHER.home, None], ids=["into a DM", "as it is"])
def test_forged_share_event_reveals_nothing(into: Scope | None) -> None:
    """The result of a forged share event must not depend on whether its memory exists."""
    worlds = WorldPair(
        LeakScenario("ann", (SECRET,), (ROOM, WATCHER)),
        *(World(ReferenceStore()) for _ in range(2)),
    )
    for operation in (TOLD, LEARN, ShareMemory(SECRET, SOURCE, "agent", "k2"), LEARN):
        worlds.run(operation)
    worlds.run(ImportArchive(WATCHER, export_archive(worlds.with_secrets, HERE), into))
    worlds.run(LEARN)

    for look in VIEWER_READS:
        worlds.run(ViewerRead(WATCHER, look))  # raises Leak if the worlds differ
