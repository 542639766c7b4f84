"""A dossier contains everything its author could read, so only viewers with the same access
see it.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from nexusmem.core import derive
from nexusmem.core.access import Viewer
from nexusmem.core.ids import AgentId, UserId, WorkspaceId
from nexusmem.testing.leaks.observations import VIEWER_READS, ViewerRead
from nexusmem.testing.leaks.operations import (
    MaintenanceStep,
    Operation,
    PlaceAction,
    World,
    WriteEvent,
)
from nexusmem.testing.leaks.state_machine import Leak, LeakScenario, WorldPair, replay_script
from nexusmem.testing.reference_store.store import ReferenceStore

TOGETHER = Viewer(
    workspace=WorkspaceId("w"),
    agent=AgentId("bot"),
    room="r",
    participants=(UserId("ann"), UserId("bea")),
    project="p",
)
ALONE = replace(TOGETHER, participants=(UserId("bea"),))  # ann has left the room
BEA = replace(TOGETHER, room=None, participants=(), user=UserId("bea"))
ANN = replace(BEA, user=UserId("ann"))

LEARN = MaintenanceStep("learn everything", BEA)
WORK = MaintenanceStep("three weeks pass", BEA)  # with the jobs of three weeks
TOLD = WriteEvent(TOGETHER, "observe", ("bea", "the blue heron likes tea and a ledger"), "k1")
SECRET = WriteEvent(ANN, "remember", ("the heron likes secret tea at night",), "k2", "user:ann")
PRIVATE = WriteEvent(ANN, "observe", ("ann", "the heron likes secret tea at home"), "k3")


def leak(*script: Operation) -> Leak | None:
    plot = LeakScenario("ann", (TOGETHER, ANN), (ALONE, BEA))
    looks = [ViewerRead(viewer, each) for viewer in plot.watchers for each in VIEWER_READS]
    return replay_script(
        lambda p: WorldPair(p, *(World(ReferenceStore()) for _ in range(2))),
        plot,
        [*script, *looks],
    )


def looked(viewer: Viewer) -> ViewerRead:
    return ViewerRead(viewer, "dossiers")


@pytest.mark.slow
@pytest.mark.requirement("X1", "X2")
@pytest.mark.parametrize("first", [(TOLD, LEARN), (TOLD, SECRET, LEARN)], ids=["later", "before"])
def test_dossier_is_hidden_after_member_leaves_room(
    first: tuple[Operation, ...],
) -> None:
    asked = PlaceAction(TOGETHER, "standing question", "who likes the blue heron?")

    assert leak(*first, looked(TOGETHER), asked, SECRET, LEARN, WORK) is None
    assert leak(*first, looked(TOGETHER), asked, looked(ALONE), SECRET, LEARN, WORK) is None


@pytest.mark.slow
@pytest.mark.requirement("X1", "X2")
def test_refreshed_private_dossier_has_no_leak() -> None:
    asked = PlaceAction(ANN, "standing question", "who likes the blue heron?")

    assert leak(TOLD, LEARN, looked(ANN), asked, PRIVATE, SECRET, LEARN, WORK) is None


def test_dossier_without_reach_is_detected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(derive, "parse_reach", lambda _: frozenset())

    assert leak(TOLD, SECRET, LEARN, looked(TOGETHER), LEARN) is not None
