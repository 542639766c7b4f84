"""The sections that no question changes, kept from turn to turn."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from nexus.compose.steady import MOST, Standing, SteadySections
from nexus.core.access import Viewer
from nexus.core.context import Item
from nexus.core.ids import AgentId, UserId, WorkspaceId
from nexus.core.part import Part

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
ALICE = Viewer(workspace=WorkspaceId("acme"), agent=AgentId("scribe"), user=UserId("alice"))
HERE = Standing(viewer=ALICE, window=40, family="o200k", epoch=1)
SECTIONS = {Part.LANDMARKS: [Item(text="We decided to use Redis.", id="a")]}


class World:
    def __init__(self) -> None:
        self.now = NOON
        self.steady = SteadySections(lambda: self.now, seconds=300)

    def keep(self, standing: Standing = HERE) -> None:
        self.steady.keep(standing, SECTIONS, forgotten=self.steady.forgotten)


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
def test_they_are_found_for_the_same_viewer_and_epoch_alone(world: World, other: Standing) -> None:
    world.keep()

    assert world.steady.find(HERE) == SECTIONS
    assert world.steady.find(other) is None


def test_they_last_as_long_as_a_context(world: World) -> None:
    world.keep()
    world.now += timedelta(seconds=299)
    assert world.steady.find(HERE)
    world.now += timedelta(seconds=1)
    assert world.steady.find(HERE) is None


def test_a_clock_that_goes_back_finds_nothing(world: World) -> None:
    world.keep()
    world.now -= timedelta(seconds=1)
    assert world.steady.find(HERE) is None


def test_where_nothing_may_be_cached_nothing_is() -> None:
    never = SteadySections(lambda: NOON, seconds=0)
    never.keep(HERE, SECTIONS, forgotten=0)
    assert never.find(HERE) is None


def test_of_a_place_the_newest_epoch_is_kept(world: World) -> None:
    world.keep()
    world.keep(replace(HERE, epoch=2))

    assert world.steady.find(HERE) is None
    assert world.steady.find(replace(HERE, epoch=2))


def test_the_places_that_were_asked_in_longest_ago_are_let_go(world: World) -> None:
    places = [replace(HERE, window=number) for number in range(MOST + 1)]
    for place in places[:MOST]:
        world.keep(place)
    assert world.steady.find(places[0])  # asked in again
    world.keep(places[MOST])

    assert world.steady.find(places[0])
    assert world.steady.find(places[1]) is None
    assert world.steady.find(places[MOST])


def test_what_is_forgotten_is_dropped_and_not_kept_by_who_was_reading_it(world: World) -> None:
    world.keep()
    reading = world.steady.forgotten
    world.steady.forget(ALICE.workspace)
    world.steady.keep(HERE, SECTIONS, forgotten=reading)

    assert world.steady.find(HERE) is None
