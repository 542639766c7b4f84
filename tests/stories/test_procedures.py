"""Procedures: tool calls, outcomes, strategies and statistics."""

from __future__ import annotations

import pytest

from nexusmem import InvalidInput, Place
from nexusmem.core.records.procedures import SuccessRate


def release(place: Place, name: str, *tools: str, success: bool = True, failing: str = "") -> None:
    procedures = place.procedures
    for tool in tools:
        worked = tool != failing
        procedures.record(tool, success=worked, seconds=2.0, task=name, task_type="release")
    procedures.finish(name, success=success, task_type="release")


@pytest.mark.requirement("E6", "E7")
def test_successful_steps_become_a_strategy(team) -> None:
    release(team.room, "release 1.0", "run_tests", "build", "publish")
    release(team.room, "release 1.1", "run_tests", "build", "build", "publish")
    release(team.room, "release 1.2", "publish", success=False)

    best, worst = team.room.procedures.find("make the release 1.3")

    assert best.steps == ("run_tests", "build", "publish")
    assert (best.success_rate.successes, best.success_rate.total, best.task) == (
        2,
        2,
        "release 1.1",
    )
    assert (worst.steps, worst.success_rate.successes, worst.success_rate.total) == (
        ("publish",),
        0,
        1,
    )
    assert worst.confidence < best.confidence < 0.5  # two successes are weak evidence


@pytest.mark.requirement("E7")
def test_outcome_reinforces_its_steps(team) -> None:
    procedures = team.room.procedures
    seen = []
    for number in range(6):
        procedures.finish(f"restore backup {number}", success=number != 3, steps=["stop", "copy"])
        (found,) = procedures.find("restore the backup")
        seen.append(found.confidence)
    assert seen[0] < seen[1] < seen[2]
    assert seen[3] < seen[2]
    assert (found.success_rate.successes, found.success_rate.total) == (5, 6)


@pytest.mark.requirement("E7")
def test_failed_tool_is_not_a_step_and_attempts_are_separate(team) -> None:
    release(team.room, "r", "guess", "build", failing="guess")
    release(team.room, "r", "measure", "cut")
    steps = {each.steps for each in team.room.procedures.find()}
    assert steps == {("build",), ("measure", "cut")}


@pytest.mark.requirement("E8")
def test_tool_statistics_by_task_type(team) -> None:
    procedures = team.room.procedures
    for number in range(20):
        procedures.record("search", success=number % 4 > 0, seconds=float(number), task_type="look")
    procedures.record("search", success=True, task_type="book")

    (overall,) = procedures.statistics()
    assert (overall.calls.successes, overall.calls.total, overall.task_type) == (16, 21, None)
    book, look = procedures.statistics(by_type=True)
    assert (look.calls.successes, look.p50_seconds, look.p95_seconds) == (15, 9.0, 18.0)
    assert (book.task_type, book.calls.total, book.p50_seconds) == ("book", 1, None)
    assert procedures.statistics("book") == [book]


def test_success_rate_of_few_calls_is_uncertain() -> None:
    once, often = SuccessRate(total=1, successes=1), SuccessRate(total=50, successes=50)
    assert once.lower_bound < 0.21
    assert 0.9 < often.lower_bound < 1
    assert once.upper_bound == often.upper_bound == 1
    assert (
        SuccessRate(total=0, successes=0).lower_bound,
        SuccessRate(total=0, successes=0).upper_bound,
    ) == (0, 1)
    assert (SuccessRate(total=0, successes=0).estimate, once.estimate) == (0.5, 2 / 3)
    half = SuccessRate(total=10, successes=5)
    assert (round(half.lower_bound, 3), round(half.upper_bound, 3)) == (0.237, 0.763)


@pytest.mark.requirement("E7")
def test_how_to_question_shows_successful_strategy(team) -> None:
    release(team.room, "release 1.0", "run_tests", "build", "publish")
    release(team.room, "hurried release", "publish", success=False)
    shown = team.room.compose("How do we make a release?").text
    assert "run_tests → build → publish (worked 1 of 1)" in shown
    assert "worked 0 of 1" not in shown


@pytest.mark.requirement("X1", "X2")
def test_private_procedures_are_not_shared(team) -> None:
    release(team.alices, "ask for a raise", "rehearse", "ask")
    for other in (team.room, team.bobs):
        assert other.procedures.find() == []
        assert other.procedures.statistics() == []
    assert len(team.alices.procedures.find()) == 1


@pytest.mark.requirement("X6")
def test_forgetting_removes_strategies(team) -> None:
    release(team.alices, "ask for a raise", "rehearse", "ask")
    assert team.workspace.forget(user="alice").residue == 0
    assert team.alices.procedures.find() == []


def test_invalid_arguments_are_refused(team) -> None:
    procedures = team.room.procedures
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


def test_archive_contains_procedures(team, tmp_path) -> None:
    release(team.room, "release 1.0", "run_tests", "build")
    before = team.room.procedures.find()
    file = tmp_path / "all.jsonl"
    team.workspace.export(file)
    team.workspace.import_(file)
    assert team.room.procedures.find() == before
