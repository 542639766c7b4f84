"""A fact promoted to a user's scope reveals nothing of the private scopes it came from."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest

from nexusmem.core.access import Viewer, administrator_grant
from nexusmem.core.ids import AgentId, UserId, WorkspaceId
from nexusmem.core.records import Draft, Memory, event_id
from nexusmem.core.records.links import LinkRelation
from nexusmem.core.scope import Scope
from nexusmem.maintain.jobs import promote
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
LIKES = ("ann", "LIKES", "blue heron tea")
SAID_OPENLY = WriteEvent(SECRET, "add_fact", LIKES, "k1", "project")
SAID_IN_PRIVATE = WriteEvent(SECRET, "add_fact", LIKES, "k1", str(SECRET.home))
HELLO = WriteEvent(ROOM, "observe", ("bea", "the staging database"), "k2")
TOMORROW = MaintenanceStep("tomorrow", WATCHER)


def asked(viewer: Viewer) -> PlaceAction:
    return PlaceAction(viewer, "question", "blue heron tea")


def leak(*script: Operation) -> Leak | None:
    looks = [ViewerRead(viewer, each) for viewer in (WATCHER, ROOM) for each in VIEWER_READS]
    plot = LeakScenario("ann", (SECRET,), (ROOM, WATCHER))
    learn = MaintenanceStep("learn everything", WATCHER)
    steps = [step for each in script for step in (each, learn)]
    return replay_script(
        lambda p: WorldPair(p, *(World(ReferenceStore()) for _ in range(2))), plot, [*steps, *looks]
    )


def known_for_somebody(*script: Operation) -> list[Memory]:
    world = World(ReferenceStore())
    for operation in script:
        world.register_operation(operation)
        world.run(operation)
    every = world.store.memories.find(administrator_grant(HERE))
    return [each for each in every if each.body.get("relation") == LinkRelation.USER_WIDE]


@pytest.mark.requirement("X1", "X2", "E3")
def test_promoted_private_fact_stays_private() -> None:
    script = (HELLO, SAID_IN_PRIVATE, asked(SECRET), TOMORROW)

    (link,) = known_for_somebody(*script)

    assert link.label == {SECRET.home, Scope.user("ann")}
    assert leak(*script) is None


@pytest.mark.requirement("X2", "E3")
def test_private_reads_do_not_promote_for_others() -> None:
    assert known_for_somebody(SAID_OPENLY, asked(SECRET), TOMORROW) == []
    assert leak(HELLO, SAID_OPENLY, asked(SECRET), TOMORROW) is None


def test_promotion_with_fewer_sources_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    made = promote.user_wide_draft

    def rests_on_less(fact: Memory, person: Scope, now: datetime) -> Draft:
        return replace(made(fact, person, now), sources=(event_id(ROOM.home, "k2"),))

    monkeypatch.setattr(promote, "user_wide_draft", rests_on_less)

    assert leak(HELLO, SAID_IN_PRIVATE, asked(SECRET), TOMORROW) is not None
