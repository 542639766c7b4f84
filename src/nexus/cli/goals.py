"""`nexus goal …`: what is to be achieved, and what became of it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from .lazy import FOUND_NOTHING
from .options import Door, json_option, viewer_options
from .output import message, one_line, print_json, print_record, print_table

if TYPE_CHECKING:
    from datetime import datetime

    from ..core.goals import Goal
    from ..goals import Goals

SHOWN = 100  # characters of a text
STATUSES = ["open", "active", "blocked", "completed", "abandoned", "any"]

deadline_option = click.option(
    "--deadline", type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"]), help="Until when; UTC."
)


@click.group()
def goal() -> None:
    """What is to be achieved: goals, their parts, what blocks them, how they ended.

    \b
        nexus goal add "Ship the first release" --deadline 2026-12-01 --room design
        nexus goal list --room design
        nexus goal complete 5f0c… --result "released as 1.0" --room design
    """


@goal.command()
@click.argument("text")
@click.option("--parent", metavar="ID", help="The goal this one is a part of.")
@click.option("--priority", type=click.IntRange(1, 5), default=3, show_default=True, help="1: now.")
@deadline_option
@click.option("--scope", metavar="SCOPE", help='Wider than the place: "project", "user:alice" …')
@json_option
@viewer_options
def add(door: Door, text: str, *, deadline: datetime | None, as_json: bool, **told: Any) -> None:
    """A new goal.

    \b
        nexus goal add "Ship the first release" --priority 1 --room design
    """
    with _goals(door, create=True) as goals:
        _print(goals.add(text, deadline=deadline, **told), as_json=as_json)


@goal.command("list")
@click.option("--status", type=click.Choice(STATUSES), default="open", show_default=True)
@click.option("--limit", type=int, default=100, show_default=True, metavar="N", help="At most.")
@json_option
@viewer_options
def list_(door: Door, *, status: str, limit: int, as_json: bool) -> None:
    """Goals, the most pressing first.

    \b
        nexus goal list --status any --room design
    """
    with _goals(door) as goals:
        found = goals.list(None if status == "open" else status, limit=limit)
    if as_json:
        for each in found:
            print_json(_shown(each))
    elif found:
        print_table(["id", "goal", "status", "priority", "until"], list(map(_row, found)))
    message(f"{len(found)} {'goal' if len(found) == 1 else 'goals'}")
    if not found:
        sys.exit(FOUND_NOTHING)


@goal.command()
@click.argument("id")
@json_option
@viewer_options
def show(door: Door, id: str, *, as_json: bool) -> None:
    """One goal.

    \b
        nexus goal show 5f0c… --room design
    """
    with _goals(door) as goals:
        _print(goals.get(id), as_json=as_json)


@goal.command()
@click.argument("id")
@click.argument("by", required=False)
@click.option("--goal", metavar="ID", help="Another goal that must be closed first.")
@json_option
@viewer_options
def block(door: Door, id: str, by: str | None, *, goal: str | None, as_json: bool) -> None:
    """Something is in the way.

    \b
        nexus goal block 5f0c… "no access to the staging server" --room design
    """
    with _goals(door) as goals:
        _print(goals.block(id, by, goal=goal), as_json=as_json)


@goal.command()
@click.argument("id")
@click.argument("by", required=False)
@click.option("--goal", metavar="ID", help="The goal that is in the way no more.")
@json_option
@viewer_options
def unblock(door: Door, id: str, by: str | None, *, goal: str | None, as_json: bool) -> None:
    """Something is in the way no more; without a name: nothing is.

    \b
        nexus goal unblock 5f0c… --room design
    """
    with _goals(door) as goals:
        _print(goals.unblock(id, by, goal=goal), as_json=as_json)


@goal.command()
@click.argument("id")
@click.option("--result", metavar="TEXT", help="What came of it.")
@json_option
@viewer_options
def complete(door: Door, id: str, *, result: str | None, as_json: bool) -> None:
    """It is achieved.

    \b
        nexus goal complete 5f0c… --result "released as 1.0" --room design
    """
    with _goals(door) as goals:
        _print(goals.complete(id, result=result), as_json=as_json)


@goal.command()
@click.argument("id")
@click.option("--reason", metavar="TEXT", help="Why.")
@json_option
@viewer_options
def abandon(door: Door, id: str, *, reason: str | None, as_json: bool) -> None:
    """It is not pursued any more.

    \b
        nexus goal abandon 5f0c… --reason "nobody asked for it" --room design
    """
    with _goals(door) as goals:
        _print(goals.abandon(id, reason=reason), as_json=as_json)


@goal.command()
@click.argument("id")
@json_option
@viewer_options
def reopen(door: Door, id: str, *, as_json: bool) -> None:
    """It was closed too early.

    \b
        nexus goal reopen 5f0c… --room design
    """
    with _goals(door) as goals:
        _print(goals.reopen(id), as_json=as_json)


@contextmanager
def _goals(door: Door, *, create: bool = False) -> Iterator[Goals]:
    with door.enter(create=create) as place:
        yield place.goals()


def _print(found: Goal, *, as_json: bool) -> None:
    (print_json if as_json else print_record)(_shown(found))


def _row(found: Goal) -> tuple[str, ...]:
    until = f"{found.deadline:%Y-%m-%d}" if found.deadline else ""
    text = one_line(found.text, SHOWN)
    return found.id, text, found.status.value, str(found.priority), until


def _shown(found: Goal) -> dict[str, Any]:
    from ..core.canonical import time_text  # noqa: PLC0415

    told = asdict(found)
    told["scope"] = str(found.scope)
    for name in ("at", "changed_at", "deadline", "closed_at"):
        told[name] = time_text(told[name]) if told[name] else None
    for name in ("waits_for", "blockers", "memories"):
        told[name] = list(told[name])
    return {name: value for name, value in told.items() if value not in (None, [])}
