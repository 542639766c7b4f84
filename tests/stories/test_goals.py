"""Goals: actions, blockers, hierarchy, access and erasure."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from nexusmem import Conflict, InvalidInput, NotFound
from nexusmem.core.records.goals import GoalAction, GoalStatus

pytestmark = pytest.mark.requirement("E10")


def test_goal_is_added_updated_blocked_and_completed(team) -> None:
    goals = team.room.goals
    ship = goals.add(
        "Ship the first release", priority=1, deadline=datetime(2026, 12, 1, tzinfo=UTC)
    )
    assert (ship.status, ship.priority, ship.by) == (GoalStatus.ACTIVE, 1, "scribe")

    moved = goals.update(ship.id, deadline=None, priority=2)
    assert (moved.deadline, moved.priority, moved.text) == (None, 2, "Ship the first release")

    blocked = goals.block(ship.id, "no access to the staging server")
    assert (blocked.status, blocked.blockers) == (
        GoalStatus.BLOCKED,
        ("no access to the staging server",),
    )
    assert goals.unblock(ship.id).status is GoalStatus.ACTIVE

    done = goals.complete(ship.id, result="released as 1.0")
    assert (done.status, done.result) == (GoalStatus.COMPLETED, "released as 1.0")
    assert done.closed_at is not None
    assert goals.list() == []
    assert goals.list("completed") == [done]
    assert goals.reopen(ship.id).status is GoalStatus.ACTIVE


def test_goal_waits_for_another_goal(team) -> None:
    goals = team.room.goals
    ship, tests = goals.add("Ship it"), goals.add("Make the tests green")
    assert goals.block(ship.id, goal=tests.id).waits_for == (tests.id,)
    with pytest.raises(Conflict, match="waits for"):
        goals.block(tests.id, goal=ship.id)
    goals.cancel(tests.id, reason="nobody needs them")
    assert goals.get(ship.id).status is GoalStatus.ACTIVE
    assert goals.get(tests.id).result == "nobody needs them"


def test_goals_have_children(team) -> None:
    goals = team.room.goals
    ship = goals.add("Ship it")
    docs = goals.add("Write the docs", parent=ship.id)
    goals.add("Draw the picture", parent=docs.id)
    (tree,) = goals.tree()
    assert tree.goal.id == ship.id
    assert tree.children[0].goal.text == "Write the docs"
    assert tree.children[0].children[0].goal.text == "Draw the picture"
    with pytest.raises(Conflict, match="a subgoal of"):
        goals.update(ship.id, parent=docs.id)
    goals.complete(ship.id)
    assert [branch.goal.text for branch in goals.tree()] == ["Write the docs"]


def test_same_key_is_the_same_goal(team) -> None:
    goals = team.room.goals
    assert goals.add("Ship it", key="ship").id == goals.add("Ship it", key="ship").id
    assert len(goals.list()) == 1


def test_most_urgent_goal_comes_first(team) -> None:
    goals = team.room.goals
    soon = datetime(2026, 5, 1, tzinfo=UTC)
    for text, more in {
        "some day": {},
        "later": {"deadline": soon + timedelta(days=9)},
        "soon": {"deadline": soon},
        "now": {"priority": 1},
    }.items():
        goals.add(text, **more)
    assert [goal.text for goal in goals.list()] == ["now", "soon", "later", "some day"]


def test_context_shows_open_goals_only(team) -> None:
    goals = team.room.goals
    ship = goals.add("Ship the first release", deadline=datetime(2026, 12, 1, tzinfo=UTC))
    goals.block(ship.id, "the build is red")
    old = goals.add("Choose a database")
    goals.complete(old.id)
    shown = team.room.compose("What should I do next?").text
    assert "Ship the first release (until 2026-12-01) [blocked: the build is red]" in shown
    assert "Choose a database" not in shown


def test_finished_active_goal_leaves_the_context(team) -> None:
    team.room.set_active_goal("Choose a database")
    assert "Choose a database" in team.room.compose("What should I do next?").text
    team.room.set_active_goal("Choose a database", status="done")
    assert "Choose a database" not in team.room.compose("What should I do next?").text


@pytest.mark.requirement("X1", "X2")
def test_goal_is_visible_only_in_its_scope(team) -> None:
    private = team.alices.goals.add("Ask for a raise")
    assert team.room.goals.list("any") == []
    assert team.bobs.goals.list("any") == []
    for place in (team.room, team.bobs):
        with pytest.raises(NotFound, match="no goal"):
            place.goals.complete(private.id)
        with pytest.raises(NotFound):
            place.goals.add("a part", parent=private.id)
    assert team.alices.goals.get(private.id).is_open


@pytest.mark.requirement("X6")
def test_erased_goal_is_gone_with_its_actions(team) -> None:
    goals = team.alices.goals
    goal = goals.add("Buy the heron lamp")
    goals.block(goal.id, "the shop is closed")
    report = team.workspace.forget(user="alice")
    assert report.residue == 0
    assert team.alices.goals.list("any") == []


def test_forgetting_an_action_undoes_it(team) -> None:
    goals = team.room.goals
    goal = goals.add("Ship it")
    goals.complete(goal.id, result="done")
    (deed,) = [each for each in team.room.recent() if each.text == "goal: completed: done"]
    team.workspace.forget(event=deed.id)
    assert goals.get(goal.id).status is GoalStatus.ACTIVE


def test_invalid_arguments_are_refused(team) -> None:
    goals = team.room.goals
    goal = goals.add("Ship it")
    refused = [
        lambda: goals.add("  "),
        lambda: goals.add("x", priority=0),
        lambda: goals.add("x", priority=True),
        lambda: goals.add("x", deadline="tomorrow"),
        lambda: goals.update(goal.id),
        lambda: goals.block(goal.id),
        lambda: goals.block(goal.id, "a", goal=goal.id),
        lambda: goals.list("maybe"),
        lambda: goals.get(7),
    ]
    for attempt in refused:
        with pytest.raises(InvalidInput):
            attempt()
    with pytest.raises(NotFound):
        goals.unblock(goal.id, "nothing like that")
    goals.complete(goal.id)
    with pytest.raises(Conflict, match="reopen"):
        goals.complete(goal.id)


def test_archive_contains_goals(team, tmp_path) -> None:
    goals = team.room.goals
    goal = goals.add("Ship it")
    goals.complete(goal.id, result="done")
    file = tmp_path / "all.jsonl"
    team.workspace.export(file)
    before = goals.list("any")
    team.workspace.import_(file)
    assert goals.list("any") == before


def test_first_of_two_concurrent_closings_counts(team) -> None:
    one, other = team.room.goals, team.room.goals
    goal = one.add("Ship it")
    seen = other.get(goal.id)
    one.complete(goal.id, result="released")
    other._apply_action(
        seen, GoalAction.ABANDON, {"result": "too late"}, "abandoned: too late"
    )  # it read the goal while it was open
    assert one.get(goal.id).status is GoalStatus.COMPLETED
    assert one.get(goal.id).result == "released"
