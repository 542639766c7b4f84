"""How things are done: tools, outcomes, strategies, statistics."""

from __future__ import annotations

import pytest

from nexus import InvalidInput, Place
from nexus.core.procedures import Share


def release(place: Place, name: str, *tools: str, success: bool = True, failing: str = "") -> None:
    procedures = place.procedures()
    for tool in tools:
        worked = tool != failing
        procedures.record(tool, success=worked, seconds=2.0, task=name, task_type="release")
    procedures.finish(name, success=success, task_type="release")


@pytest.mark.requirement("E6", "E7")
def test_what_led_to_success_is_a_strategy(team) -> None:
    release(team.room, "release 1.0", "run_tests", "build", "publish")
    release(team.room, "release 1.1", "run_tests", "build", "build", "publish")
    release(team.room, "release 1.2", "publish", success=False)

    best, worst = team.room.procedures().find("make the release 1.3")

    assert best.steps == ("run_tests", "build", "publish")
    assert (best.record.worked, best.record.of, best.task) == (2, 2, "release 1.1")
    assert (worst.steps, worst.record.worked, worst.record.of) == (("publish",), 0, 1)
    assert worst.confidence < best.confidence < 0.5  # twice of twice is not much


@pytest.mark.requirement("E7")
def test_an_outcome_reinforces_the_steps_it_names(team) -> None:
    procedures = team.room.procedures()
    seen = []
    for number in range(6):
        procedures.finish(f"restore backup {number}", success=number != 3, steps=["stop", "copy"])
        (found,) = procedures.find("restore the backup")
        seen.append(found.confidence)
    assert seen[0] < seen[1] < seen[2]
    assert seen[3] < seen[2]
    assert (found.record.worked, found.record.of) == (5, 6)


@pytest.mark.requirement("E7")
def test_a_tool_that_failed_is_no_step_to_success_and_each_try_is_its_own(team) -> None:
    release(team.room, "r", "guess", "build", failing="guess")
    release(team.room, "r", "measure", "cut")
    steps = {each.steps for each in team.room.procedures().find()}
    assert steps == {("build",), ("measure", "cut")}


@pytest.mark.requirement("E8")
def test_tools_are_counted_by_type_of_task(team) -> None:
    procedures = team.room.procedures()
    for number in range(20):
        procedures.record("search", success=number % 4 > 0, seconds=float(number), task_type="look")
    procedures.record("search", success=True, task_type="book")

    (overall,) = procedures.statistics()
    assert (overall.calls.worked, overall.calls.of, overall.task_type) == (16, 21, None)
    book, look = procedures.statistics(by_type=True)
    assert (look.calls.worked, look.p50_seconds, look.p95_seconds) == (15, 9.0, 18.0)
    assert (book.task_type, book.calls.of, book.p50_seconds) == ("book", 1, None)
    assert procedures.statistics("book") == [book]


def test_a_share_of_few_is_unsure() -> None:
    once, often = Share(of=1, worked=1), Share(of=50, worked=50)
    assert once.low < 0.21
    assert 0.9 < often.low < 1
    assert once.high == often.high == 1
    assert (Share(of=0, worked=0).low, Share(of=0, worked=0).high) == (0, 1)
    assert (Share(of=0, worked=0).expected, once.expected) == (0.5, 2 / 3)
    half = Share(of=10, worked=5)
    assert (round(half.low, 3), round(half.high, 3)) == (0.237, 0.763)


@pytest.mark.requirement("E7")
def test_how_to_questions_are_shown_what_worked(team) -> None:
    release(team.room, "release 1.0", "run_tests", "build", "publish")
    release(team.room, "hurried release", "publish", success=False)
    shown = team.room.compose("How do we make a release?").text
    assert "run_tests → build → publish (worked 1 of 1)" in shown
    assert "worked 0 of 1" not in shown


@pytest.mark.requirement("X1", "X2")
def test_what_is_done_in_private_teaches_nobody_else(team) -> None:
    release(team.alices, "ask for a raise", "rehearse", "ask")
    for other in (team.room, team.bobs):
        assert other.procedures().find() == []
        assert other.procedures().statistics() == []
    assert len(team.alices.procedures().find()) == 1


@pytest.mark.requirement("X6")
def test_forgetting_takes_a_strategy_along(team) -> None:
    release(team.alices, "ask for a raise", "rehearse", "ask")
    assert team.workspace.forget(user="alice").residue == 0
    assert team.alices.procedures().find() == []


def test_what_is_wrong_is_said(team) -> None:
    procedures = team.room.procedures()
    refused = [
        lambda: procedures.record("", success=True),
        lambda: procedures.record("x", success="yes"),
        lambda: procedures.record("x", success=True, seconds=-1),
        lambda: procedures.record("x", success=True, seconds=float("nan")),
        lambda: procedures.record("x", success=True, task=""),
        lambda: procedures.finish("", success=True),
        lambda: procedures.finish("x", success=1),
        lambda: procedures.finish("x", success=True, steps="abc"),
        lambda: procedures.finish("x", success=True, steps=["a"] * 51),
        lambda: procedures.find(limit=0),
    ]
    for attempt in refused:
        with pytest.raises(InvalidInput):
            attempt()


def test_an_archive_carries_them(team, tmp_path) -> None:
    release(team.room, "release 1.0", "run_tests", "build")
    before = team.room.procedures().find()
    file = tmp_path / "all.jsonl"
    team.workspace.export(file)
    team.workspace.import_(file)
    assert team.room.procedures().find() == before
