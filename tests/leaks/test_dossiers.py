"""A dossier tells of all that its maker could read: only those see it who may read all that."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nexus.core import derive
from nexus.core.access import Viewer
from nexus.core.ids import AgentId, UserId, WorkspaceId
from nexus.stores.inprocess import InProcessStore
from nexus.testing.housekeeping import Housekeeping
from nexus.testing.leaks import Leak, Plot, Worlds, replayed
from nexus.testing.observations import LOOKS, Look
from nexus.testing.operations import Jot, Operation, Tell, World

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

LEARN = Housekeeping("learn everything", BEA)
WORK = Housekeeping("three weeks pass", BEA)  # with the jobs of three weeks
TOLD = Tell(TOGETHER, "observe", ("bea", "the blue heron likes tea and a ledger"), "k1")
SECRET = Tell(ANN, "remember", ("the heron likes secret tea at night",), "k2", "user:ann")
PRIVATE = Tell(ANN, "observe", ("ann", "the heron likes secret tea at home"), "k3")


def leak(*script: Operation) -> Leak | None:
    plot = Plot("ann", (TOGETHER, ANN), (ALONE, BEA))
    looks = [Look(viewer, each) for viewer in plot.watchers for each in LOOKS]
    return replayed(
        lambda p: Worlds(p, *(World(InProcessStore()) for _ in range(2))), plot, [*script, *looks]
    )


def looked(viewer: Viewer) -> Look:
    return Look(viewer, "dossiers")


@pytest.mark.slow
@pytest.mark.requirement("X1", "X2")
@pytest.mark.parametrize("first", [(TOLD, LEARN), (TOLD, SECRET, LEARN)], ids=["later", "before"])
def test_who_has_left_the_room_takes_along_what_was_woven_of_their_profile(
    first: tuple[Operation, ...],
) -> None:
    asked = Jot(TOGETHER, "standing question", "who likes the blue heron?")

    assert leak(*first, looked(TOGETHER), asked, SECRET, LEARN, WORK) is None
    assert leak(*first, looked(TOGETHER), asked, looked(ALONE), SECRET, LEARN, WORK) is None


@pytest.mark.slow
@pytest.mark.requirement("X1", "X2")
def test_what_was_made_in_private_and_is_kept_fresh_shows_nothing_to_others() -> None:
    asked = Jot(ANN, "standing question", "who likes the blue heron?")

    assert leak(TOLD, LEARN, looked(ANN), asked, PRIVATE, SECRET, LEARN, WORK) is None


def test_a_dossier_under_no_more_than_its_sources_would_be_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(derive, "reach_of", lambda _: frozenset())

    assert leak(TOLD, SECRET, LEARN, looked(TOGETHER), LEARN) is not None
