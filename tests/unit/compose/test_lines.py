"""Lines that were rendered a moment ago, kept for the next question of the same place."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from nexus.compose.asking import TIMES
from nexus.compose.fit import Measure
from nexus.compose.lines import LONGEST, MOST, MOST_OF_A_SECTION, KeptLines, PlaceLines
from nexus.compose.render import line
from nexus.core.access import Viewer
from nexus.core.context import Item
from nexus.core.ids import AgentId, UserId, WorkspaceId
from nexus.core.part import Part
from nexus.core.records import Trust

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
ALICE = Viewer(workspace=WorkspaceId("acme"), agent=AgentId("scribe"), user=UserId("alice"))
SAID = Item(text="We use Redis.", id="a", at=NOON, speaker="alice", trust=Trust.DIRECT)


class World:
    def __init__(self) -> None:
        self.now = NOON
        self.kept = KeptLines(lambda: self.now, seconds=300)

    def lines(self, viewer: Viewer = ALICE, family: str = "o200k") -> PlaceLines:
        return self.kept.of(viewer, family)


@pytest.fixture
def world() -> World:
    return World()


def counted(item: Item, lines: PlaceLines, part: Part = Part.RECALL) -> Item:
    (made,) = Measure("o200k", lines).counted(part, [replace(item)])
    return made


@pytest.mark.requirement("D23")
@pytest.mark.parametrize(
    "other",
    [
        replace(SAID, text="We use Postgres."),
        replace(SAID, at=NOON + timedelta(days=1)),
        replace(SAID, speaker="bob"),
        replace(SAID, trust=Trust.EXTERNAL),
        replace(SAID, scope="room:design"),
        replace(SAID, why={"kind": "decision"}),
        replace(SAID, why={TIMES: 3}),
    ],
)
def test_another_item_of_the_same_id_has_a_line_of_its_own(other: Item) -> None:
    lines = PlaceLines()
    counted(SAID, lines)

    made = counted(other, lines)

    assert made.line == line(other, Part.RECALL)
    assert (made.tokens, made.words) == _alone(other)


def test_the_same_item_keeps_its_line_and_has_its_own_worth() -> None:
    lines = PlaceLines()
    lines.keep(Part.RECALL, [replace(SAID, line="- as it was", tokens=7, words="as it was")])

    made = counted(replace(SAID, worth=0.4, why={"score": 0.2}), lines)

    assert (made.line, made.tokens, made.words) == ("- as it was", 7, "as it was")
    assert (made.worth, made.why) == (0.4, {"score": 0.2})


def test_a_section_has_lines_of_its_own() -> None:
    lines = PlaceLines()
    counted(SAID, lines, Part.WINDOW)

    assert counted(SAID, lines, Part.RECALL).line == line(SAID, Part.RECALL)


@pytest.mark.requirement("D23")
def test_they_are_kept_for_who_asks_as_tokens_are_counted(world: World) -> None:
    counted(SAID, world.lines())

    assert "a" in world.lines().section(Part.RECALL)
    assert "a" not in world.lines(family="anthropic").section(Part.RECALL)
    for other in (
        replace(ALICE, user=UserId("bob")),
        replace(ALICE, workspace=WorkspaceId("other")),
        replace(ALICE, project="apollo"),
    ):
        assert "a" not in world.lines(other).section(Part.RECALL)


def test_they_last_as_long_as_a_context(world: World) -> None:
    counted(SAID, world.lines())
    world.now += timedelta(seconds=299)
    assert "a" in world.lines().section(Part.RECALL)
    world.now += timedelta(seconds=1)
    assert "a" not in world.lines().section(Part.RECALL)


def test_where_nothing_may_be_cached_nothing_is() -> None:
    never = KeptLines(lambda: NOON, seconds=0)
    counted(SAID, never.of(ALICE, "o200k"))
    assert "a" not in never.of(ALICE, "o200k").section(Part.RECALL)


def test_what_is_forgotten_is_dropped_and_not_kept_by_who_was_reading_it(world: World) -> None:
    reading = world.lines()
    world.kept.forget(ALICE.workspace)
    counted(SAID, reading)

    assert "a" not in world.lines().section(Part.RECALL)


def test_another_workspace_forgets_nothing_here(world: World) -> None:
    counted(SAID, world.lines())
    world.kept.forget(WorkspaceId("other"))
    assert "a" in world.lines().section(Part.RECALL)


def test_there_are_not_too_many(world: World) -> None:
    lines = world.lines()
    for number in range(MOST_OF_A_SECTION + 1):
        counted(replace(SAID, id=str(number)), lines)
    counted(replace(SAID, id="long", text="x" * (LONGEST + 1)), lines)
    assert 0 < len(lines.section(Part.RECALL)) <= MOST_OF_A_SECTION
    assert "long" not in lines.section(Part.RECALL)

    for number in range(MOST):
        world.lines(replace(ALICE, user=UserId(f"user-{number}")))
    assert world.lines() is not lines


def _alone(item: Item) -> tuple[int, str]:
    made = counted(item, PlaceLines())
    return made.tokens, made.words
