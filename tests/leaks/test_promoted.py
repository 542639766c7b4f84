"""What is known for a person tells nobody what was said, or asked, where they may not read."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest

from nexus.core.access import Viewer, administrator_grant
from nexus.core.ids import AgentId, UserId, WorkspaceId
from nexus.core.links import Relation
from nexus.core.records import Draft, Memory, event_id
from nexus.core.scope import Scope
from nexus.maintain import user_wide
from nexus.stores.inprocess import InProcessStore
from nexus.testing.housekeeping import Housekeeping
from nexus.testing.leaks import Leak, Plot, Worlds, replayed
from nexus.testing.observations import LOOKS, Look
from nexus.testing.operations import Jot, Operation, Tell, World

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
SAID_OPENLY = Tell(SECRET, "add_fact", LIKES, "k1", "project")
SAID_IN_PRIVATE = Tell(SECRET, "add_fact", LIKES, "k1", str(SECRET.home))
HELLO = Tell(ROOM, "observe", ("bea", "the staging database"), "k2")
TOMORROW = Housekeeping("tomorrow", WATCHER)


def asked(viewer: Viewer) -> Jot:
    return Jot(viewer, "question", "blue heron tea")


def leak(*script: Operation) -> Leak | None:
    looks = [Look(viewer, each) for viewer in (WATCHER, ROOM) for each in LOOKS]
    plot = Plot("ann", (SECRET,), (ROOM, WATCHER))
    learn = Housekeeping("learn everything", WATCHER)
    steps = [step for each in script for step in (each, learn)]
    return replayed(
        lambda p: Worlds(p, *(World(InProcessStore()) for _ in range(2))), plot, [*steps, *looks]
    )


def known_for_somebody(*script: Operation) -> list[Memory]:
    world = World(InProcessStore())
    for operation in script:
        world.know(operation)
        world.do(operation)
    every = world.store.memories.find(administrator_grant(HERE))
    return [each for each in every if each.body.get("relation") == Relation.USER_WIDE]


@pytest.mark.requirement("X1", "X2", "E3")
def test_what_was_said_in_private_and_proved_itself_stays_private() -> None:
    script = (HELLO, SAID_IN_PRIVATE, asked(SECRET), TOMORROW)

    (link,) = known_for_somebody(*script)

    assert link.label == {SECRET.home, Scope.user("ann")}
    assert leak(*script) is None


@pytest.mark.requirement("X2", "E3")
def test_nobody_notices_what_somebody_else_asks_in_private() -> None:
    assert known_for_somebody(SAID_OPENLY, asked(SECRET), TOMORROW) == []
    assert leak(HELLO, SAID_OPENLY, asked(SECRET), TOMORROW) is None


def test_a_record_that_rests_on_less_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    made = user_wide.user_wide

    def rests_on_less(fact: Memory, person: Scope, now: datetime) -> Draft:
        return replace(made(fact, person, now), sources=(event_id(ROOM.home, "k2"),))

    monkeypatch.setattr(user_wide, "user_wide", rests_on_less)

    assert leak(HELLO, SAID_IN_PRIVATE, asked(SECRET), TOMORROW) is not None
