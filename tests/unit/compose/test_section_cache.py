"""Section cache: stable sections by viewer and epoch."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from nexusmem.compose.caching.viewer_caches import MAX_VIEWERS, SectionCache, SectionCacheKey
from nexusmem.core.access import Viewer
from nexusmem.core.ids import AgentId, UserId, WorkspaceId
from nexusmem.core.records.context import ContextItem

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
ALICE = Viewer(workspace=WorkspaceId("acme"), agent=AgentId("scribe"), user=UserId("alice"))
HERE = SectionCacheKey(viewer=ALICE, window=40, family="o200k", epoch=1)
SECTIONS = {"landmarks": [ContextItem(text="We decided to use Redis.", id="a")]}


class World:
    def __init__(self) -> None:
        self.now = NOON
        self.steady = SectionCache(lambda: self.now, seconds=300)

    def keep(self, standing: SectionCacheKey = HERE) -> None:
        self.steady.put(standing, SECTIONS, generation=self.steady.generation)


@pytest.fixture
def world() -> World:
    return World()


@pytest.mark.requirement("D23")
@pytest.mark.parametrize(
    "other",
    [
        replace(HERE, epoch=2),
        replace(HERE, window=20),
        replace(HERE, family="anthropic"),
        replace(HERE, viewer=replace(ALICE, user=UserId("bob"))),
        replace(HERE, viewer=replace(ALICE, workspace=WorkspaceId("other"))),
        replace(HERE, viewer=replace(ALICE, project="apollo")),
    ],
)
def test_sections_are_cached_per_viewer_and_epoch(world: World, other: SectionCacheKey) -> None:
    world.keep()

    assert world.steady.get(HERE) == SECTIONS
    assert world.steady.get(other) is None


def test_sections_expire_after_ttl(world: World) -> None:
    world.keep()
    world.now += timedelta(seconds=299)
    assert world.steady.get(HERE)
    world.now += timedelta(seconds=1)
    assert world.steady.get(HERE) is None


def test_entry_from_the_future_is_expired(world: World) -> None:
    world.keep()
    world.now -= timedelta(seconds=1)
    assert world.steady.get(HERE) is None


def test_zero_seconds_caches_nothing() -> None:
    never = SectionCache(lambda: NOON, seconds=0)
    never.put(HERE, SECTIONS, generation=0)
    assert never.get(HERE) is None


def test_newest_epoch_replaces_older_one(world: World) -> None:
    world.keep()
    world.keep(replace(HERE, epoch=2))

    assert world.steady.get(HERE) is None
    assert world.steady.get(replace(HERE, epoch=2))


def test_least_recently_used_viewer_is_evicted(world: World) -> None:
    places = [replace(HERE, window=number) for number in range(MAX_VIEWERS + 1)]
    for place in places[:MAX_VIEWERS]:
        world.keep(place)
    assert world.steady.get(places[0])  # marks it as recently used
    world.keep(places[MAX_VIEWERS])

    assert world.steady.get(places[0])
    assert world.steady.get(places[1]) is None
    assert world.steady.get(places[MAX_VIEWERS])


def test_clear_workspace_prevents_put_of_older_generation(world: World) -> None:
    world.keep()
    reading = world.steady.generation
    world.steady.clear_workspace(ALICE.workspace)
    world.steady.put(HERE, SECTIONS, generation=reading)

    assert world.steady.get(HERE) is None
