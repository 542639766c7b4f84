"""Line cache: rendered lines are reused for equal items of the same viewer."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from nexusmem.compose.caching.viewer_caches import (
    MAX_SECTION_LINES,
    MAX_TEXT_CHARS,
    MAX_VIEWERS,
    LineCache,
    ViewerLines,
)
from nexusmem.compose.render import ContextWriter
from nexusmem.compose.request import MENTION_COUNT_KEY
from nexusmem.compose.selection import TokenMeter
from nexusmem.core.access import Viewer
from nexusmem.core.ids import AgentId, UserId, WorkspaceId
from nexusmem.core.records import Trust
from nexusmem.core.records.context import ContextItem

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
ALICE = Viewer(workspace=WorkspaceId("acme"), agent=AgentId("scribe"), user=UserId("alice"))
SAID = ContextItem(text="We use Redis.", id="a", at=NOON, speaker="alice", trust=Trust.DIRECT)


class World:
    def __init__(self) -> None:
        self.now = NOON
        self.kept = LineCache(lambda: self.now, seconds=300)

    def lines(self, viewer: Viewer = ALICE, family: str = "o200k") -> ViewerLines:
        return self.kept.for_viewer(viewer, family)


@pytest.fixture
def world() -> World:
    return World()


def counted(item: ContextItem, lines: ViewerLines, part: str = "recall") -> ContextItem:
    (made,) = TokenMeter("o200k", lines).count_items(part, [replace(item)])
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
        replace(SAID, why={MENTION_COUNT_KEY: 3}),
        replace(SAID, why={"confidence": 0.5}),
    ],
)
def test_changed_item_with_same_id_is_rendered_again(other: ContextItem) -> None:
    lines = ViewerLines()
    counted(SAID, lines)

    made = counted(other, lines)

    assert made.line == ContextWriter().write_line(other, "recall")
    assert (made.tokens, made.words) == _alone(other)


def test_same_item_reuses_line_but_not_worth() -> None:
    lines = ViewerLines()
    lines.add_items("recall", [replace(SAID, line="- as it was", tokens=7, words="as it was")])

    made = counted(replace(SAID, worth=0.4, why={"score": 0.2}), lines)

    assert (made.line, made.tokens, made.words) == ("- as it was", 7, "as it was")
    assert (made.worth, made.why) == (0.4, {"score": 0.2})


def test_lines_are_cached_per_section() -> None:
    lines = ViewerLines()
    counted(SAID, lines, "window")

    assert counted(SAID, lines, "recall").line == ContextWriter().write_line(SAID, "recall")


@pytest.mark.requirement("D23")
def test_lines_are_cached_per_viewer_tokenizer_family_and_template(world: World) -> None:
    counted(SAID, world.lines())

    assert "a" in world.lines().section_items("recall")
    assert "a" not in world.lines(family="anthropic").section_items("recall")
    assert "a" not in world.kept.for_viewer(ALICE, "o200k", "json").section_items("recall")
    for other in (
        replace(ALICE, user=UserId("bob")),
        replace(ALICE, workspace=WorkspaceId("other")),
        replace(ALICE, project="apollo"),
    ):
        assert "a" not in world.lines(other).section_items("recall")


def test_lines_expire_after_ttl(world: World) -> None:
    counted(SAID, world.lines())
    world.now += timedelta(seconds=299)
    assert "a" in world.lines().section_items("recall")
    world.now += timedelta(seconds=1)
    assert "a" not in world.lines().section_items("recall")


def test_zero_seconds_caches_nothing() -> None:
    never = LineCache(lambda: NOON, seconds=0)
    counted(SAID, never.for_viewer(ALICE, "o200k"))
    assert "a" not in never.for_viewer(ALICE, "o200k").section_items("recall")


def test_clear_workspace_discards_lines_added_later(world: World) -> None:
    reading = world.lines()
    world.kept.clear_workspace(ALICE.workspace)
    counted(SAID, reading)

    assert "a" not in world.lines().section_items("recall")


def test_clear_workspace_keeps_other_workspaces(world: World) -> None:
    counted(SAID, world.lines())
    world.kept.clear_workspace(WorkspaceId("other"))
    assert "a" in world.lines().section_items("recall")


def test_number_and_length_of_lines_are_bounded(world: World) -> None:
    lines = world.lines()
    for number in range(MAX_SECTION_LINES + 1):
        counted(replace(SAID, id=str(number)), lines)
    counted(replace(SAID, id="long", text="x" * (MAX_TEXT_CHARS + 1)), lines)
    assert 0 < len(lines.section_items("recall")) <= MAX_SECTION_LINES
    assert "long" not in lines.section_items("recall")

    for number in range(MAX_VIEWERS):
        world.lines(replace(ALICE, user=UserId(f"user-{number}")))
    assert world.lines() is not lines


def _alone(item: ContextItem) -> tuple[int, str]:
    made = counted(item, ViewerLines())
    return made.tokens, made.words
