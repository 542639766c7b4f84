"""`nexus goal`: goals, subgoals, blockers and results."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from . import EXIT_NEGATIVE
from .options import (
    TIME,
    CommandTarget,
    json_option,
    limit_option,
    make_scope_option,
    viewer_options,
)
from .output import one_line, print_json, print_message, print_record, print_table

if TYPE_CHECKING:
    from datetime import datetime

    from ..core.records.goals import Goal
    from ..place.goals import Goals

MAX_TEXT_CHARACTERS = 100
STATUSES = ["open", "active", "blocked", "completed", "abandoned", "any"]

deadline_option = click.option("--deadline", type=TIME, help="Due date or time.")


@click.group()
def goal() -> None:
    """Goals, subgoals, blockers and results.

    \b
        nexus goal add "Ship the first release" --deadline 2026-12-01 --room design
        nexus goal list --room design
        nexus goal complete 5f0c… --result "released as 1.0" --room design
    """


@goal.command()
@click.argument("text")
@click.option("--parent", metavar="ID", help="The parent goal.")
@click.option(
    "--priority",
    type=click.IntRange(1, 5),
    default=3,
    show_default=True,
    help="1 is the most urgent.",
)
@deadline_option
@make_scope_option("Where to store the goal; default: this place")
@json_option
@viewer_options
def add(
    target: CommandTarget, text: str, *, deadline: datetime | None, as_json: bool, **options: Any
) -> None:
    """Add a goal.

    \b
        nexus goal add "Ship the first release" --priority 1 --room design
    """
    with _open_goals(target, create=True) as goals:
        _print_goal(goals.add(text, deadline=deadline, **options), as_json=as_json)


@goal.command("list")
@click.option("--status", type=click.Choice(STATUSES), default="open", show_default=True)
@limit_option
@json_option
@viewer_options
def list_(target: CommandTarget, *, status: str, limit: int, as_json: bool) -> None:
    """List goals, the most urgent first.

    \b
        nexus goal list --status any --room design
    """
    with _open_goals(target) as goals:
        found = goals.list(None if status == "open" else status, limit=limit)
    if as_json:
        for each in found:
            print_json(_goal_json(each))
    elif found:
        print_table(["id", "goal", "status", "priority", "due"], list(map(_goal_row, found)))
    print_message(f"{len(found)} {'goal' if len(found) == 1 else 'goals'}")
    if not found:
        sys.exit(EXIT_NEGATIVE)


@goal.command()
@click.argument("id")
@json_option
@viewer_options
def show(target: CommandTarget, id: str, *, as_json: bool) -> None:
    """Show one goal.

    \b
        nexus goal show 5f0c… --room design
    """
    with _open_goals(target) as goals:
        _print_goal(goals.get(id), as_json=as_json)


@goal.command()
@click.argument("id")
@click.option("--text", metavar="TEXT", help="The new text.")
@click.option("--parent", metavar="ID", help='The new parent goal; "" removes the parent.')
@click.option("--priority", type=click.IntRange(1, 5), help="1 is the most urgent.")
@deadline_option
@click.option("--no-deadline", is_flag=True, help="Remove the due date.")
@json_option
@viewer_options
def update(
    target: CommandTarget,
    id: str,
    *,
    parent: str | None,
    deadline: datetime | None,
    no_deadline: bool,
    as_json: bool,
    **fields: Any,
) -> None:
    """Change the text, parent, priority or due date of a goal.

    \b
        nexus goal update 5f0c… --priority 1 --deadline 2026-12-01 --room design
    """
    changes = {name: value for name, value in fields.items() if value is not None}
    if parent is not None:
        changes["parent"] = parent or None
    if deadline is not None or no_deadline:
        changes["deadline"] = None if no_deadline else deadline
    with _open_goals(target) as goals:
        _print_goal(goals.update(id, **changes), as_json=as_json)


@goal.command()
@click.argument("id")
@click.argument("reason", required=False)
@click.option("--goal", metavar="ID", help="A goal that must be closed first.")
@json_option
@viewer_options
def block(
    target: CommandTarget, id: str, reason: str | None, *, goal: str | None, as_json: bool
) -> None:
    """Add a blocker: a reason, or another goal.

    \b
        nexus goal block 5f0c… "no access to the staging server" --room design
    """
    with _open_goals(target) as goals:
        _print_goal(goals.block(id, reason, goal=goal), as_json=as_json)


@goal.command()
@click.argument("id")
@click.argument("reason", required=False)
@click.option("--goal", metavar="ID", help="The goal to remove as a blocker.")
@json_option
@viewer_options
def unblock(
    target: CommandTarget, id: str, reason: str | None, *, goal: str | None, as_json: bool
) -> None:
    """Remove one blocker, or all if none is named.

    \b
        nexus goal unblock 5f0c… --room design
    """
    with _open_goals(target) as goals:
        _print_goal(goals.unblock(id, reason, goal=goal), as_json=as_json)


@goal.command()
@click.argument("id")
@click.option("--result", metavar="TEXT", help="The result.")
@json_option
@viewer_options
def complete(target: CommandTarget, id: str, *, result: str | None, as_json: bool) -> None:
    """Mark a goal as completed.

    \b
        nexus goal complete 5f0c… --result "released as 1.0" --room design
    """
    with _open_goals(target) as goals:
        _print_goal(goals.complete(id, result=result), as_json=as_json)


@goal.command()
@click.argument("id")
@click.option("--reason", metavar="TEXT", help="The reason.")
@json_option
@viewer_options
def cancel(target: CommandTarget, id: str, *, reason: str | None, as_json: bool) -> None:
    """Cancel a goal.

    \b
        nexus goal cancel 5f0c… --reason "no longer needed" --room design
    """
    with _open_goals(target) as goals:
        _print_goal(goals.cancel(id, reason=reason), as_json=as_json)


@goal.command()
@click.argument("id")
@json_option
@viewer_options
def reopen(target: CommandTarget, id: str, *, as_json: bool) -> None:
    """Open a completed or cancelled goal again.

    \b
        nexus goal reopen 5f0c… --room design
    """
    with _open_goals(target) as goals:
        _print_goal(goals.reopen(id), as_json=as_json)


@contextmanager
def _open_goals(target: CommandTarget, *, create: bool = False) -> Iterator[Goals]:
    with target.open_place(create=create) as place:
        yield place.goals


def _print_goal(found: Goal, *, as_json: bool) -> None:
    (print_json if as_json else print_record)(_goal_json(found))


def _goal_row(found: Goal) -> tuple[str, ...]:
    due = f"{found.deadline:%Y-%m-%d}" if found.deadline else ""
    text = one_line(found.text, MAX_TEXT_CHARACTERS)
    return found.id, text, found.status.value, str(found.priority), due


def _goal_json(found: Goal) -> dict[str, Any]:
    from ..core.canonical import format_time  # loaded on first use

    record = asdict(found)
    record["scope"] = str(found.scope)
    for name in ("at", "changed_at", "deadline", "closed_at"):
        record[name] = format_time(record[name]) if record[name] else None
    for name in ("waits_for", "blockers", "memories"):
        record[name] = list(record[name])
    return {name: value for name, value in record.items() if value not in (None, [])}
