"""A fact promoted to a user's scope reveals nothing of the private scopes it came from."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest

from nexusmem.core.access import Viewer, administrator_grant
from nexusmem.core.flows import FLOW_SCOPES, FlowRule, Sharing
from nexusmem.core.ids import AgentId, UserId, WorkspaceId
from nexusmem.core.records import Draft, Memory, MemoryKind, event_id
from nexusmem.core.records.memory import is_copy
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


def promoted(*script: Operation) -> list[Memory]:
    """Return the copies that promotion made, after the script."""
    world = World(ReferenceStore())
    for operation in script:
        world.register_operation(operation)
        world.run(operation)
    every = world.store.memories.find(administrator_grant(HERE))
    return [each for each in every if is_copy(each) and each.source == promote.PROMOTED_SLOT]


PRIVATE_SCRIPT = (HELLO, SAID_IN_PRIVATE, asked(SECRET), TOMORROW)


@pytest.mark.requirement("X1", "X2", "E3")
def test_promoted_private_fact_is_read_in_private_places_only() -> None:
    fact, passage = sorted(promoted(*PRIVATE_SCRIPT), key=lambda each: each.kind)

    assert (fact.kind, passage.kind) == (MemoryKind.FACT, MemoryKind.PASSAGE)
    assert fact.label == passage.label == {Scope.private("ann"), FLOW_SCOPES[FlowRule.AGENTS]}
    assert replace(SECRET, agent=AgentId("other")).grant().allows(fact.label)
    assert not any(viewer.grant().allows(fact.label) for viewer in (ROOM, WATCHER))
    assert leak(*PRIVATE_SCRIPT) is None


@pytest.mark.requirement("X2", "E3")
def test_private_reads_do_not_promote_for_others() -> None:
    assert promoted(SAID_OPENLY, asked(SECRET), TOMORROW) == []
    assert leak(HELLO, SAID_OPENLY, asked(SECRET), TOMORROW) is None


def to_shared_profile(fact: Memory, sharing: Sharing) -> tuple[Scope, FlowRule]:
    """A seeded bug: every fact rises to the profile that rooms read."""
    return Scope.user("ann"), FlowRule.PROFILE


@pytest.mark.requirement("X1", "X2", "E3")
def test_promotion_to_a_wrong_profile_keeps_the_label(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(promote, "promotion_target", to_shared_profile)

    made = promoted(*PRIVATE_SCRIPT)

    assert made
    assert all(SECRET.home in each.label for each in made)
    assert leak(*PRIVATE_SCRIPT) is None


def test_promotion_with_fewer_sources_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    made = promote.user_wide_drafts

    def rests_on_less(fact: Memory, target: Scope, rule: FlowRule, now: datetime) -> list[Draft]:
        source = event_id(ROOM.home, "k2")
        return [replace(each, sources=(source,)) for each in made(fact, target, rule, now)]

    monkeypatch.setattr(promote, "promotion_target", to_shared_profile)
    monkeypatch.setattr(promote, "user_wide_drafts", rests_on_less)

    assert leak(*PRIVATE_SCRIPT) is not None
