"""`nexus landmarks`: decisions, action items, commitments, preferences and corrections."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from . import EXIT_NEGATIVE
from .options import TIME, CommandTarget, json_option, limit_option, viewer_options
from .output import one_line, print_json, print_message, print_table

if TYPE_CHECKING:
    from ..recall.views.landmarks import LandmarkView

MAX_TEXT_CHARACTERS = 100
COLUMNS = ("id", "status", "kind", "owner", "due", "text")


@click.command()
@click.option(
    "--kind",
    metavar="KIND",
    help="decision, action_item, commitment, preference_stated or correction.",
)
@click.option("--owner", metavar="NAME", help="Only those this person has to act on.")
@click.option("--due-before", type=TIME, help="Only with an earlier due date.")
@click.option(
    "--open/--closed",
    default=None,
    help="Only open ones, or only those that are done, cancelled or superseded.",
)
@click.option("--at", type=TIME, help="The status at this time, as known today.")
@click.option("--as-of", type=TIME, help="Only what was recorded until this time.")
@limit_option
@json_option
@viewer_options
def landmarks(target: CommandTarget, *, as_json: bool, **filters: Any) -> None:
    """List decisions and tasks with their status.

    \b
        nexus landmarks --open --room design
        nexus landmarks --kind action_item --owner alice --due-before 2026-04-01
        nexus landmarks --closed --json

    These are decisions, action items, commitments, stated preferences and corrections. Decisions
    that hold come first, then open tasks by due date, then the rest. A task is overdue if its due
    date has passed and no message says that it is done or cancelled.
    """
    with target.open_place() as place:
        found = place.landmarks(filters.pop("kind"), **filters)
    if as_json:
        for each in found:
            print_json(_landmark_json(each))
    elif found:
        print_table(COLUMNS, [_landmark_row(each) for each in found])
    overdue = sum(each.is_overdue for each in found)
    count = f"{len(found)} {'landmark' if len(found) == 1 else 'landmarks'}"
    print_message(f"{count}, {overdue} overdue" if overdue else count)
    if not found:
        sys.exit(EXIT_NEGATIVE)


def _landmark_row(view: LandmarkView) -> tuple[str, ...]:
    return (
        view.id,
        "overdue" if view.is_overdue else view.status.value,
        view.kind.replace("_", " "),
        one_line(view.owner or ""),
        str(view.due_day or ""),
        one_line(view.text, MAX_TEXT_CHARACTERS),
    )


def _landmark_json(view: LandmarkView) -> dict[str, Any]:
    from ..core.canonical import format_time  # loaded on first use

    return {
        "id": view.id,
        "kind": view.kind,
        "text": view.text,
        "owner": view.owner,
        "at": format_time(view.at),
        "due": format_time(view.due) if view.due else None,
        "due_day": str(view.due_day) if view.due_day else None,
        "status": view.status.value,
        "overdue": view.is_overdue,
        "closed_at": format_time(view.closed_at) if view.closed_at else None,
        "closed_by": view.closed_by,
        "scope": str(view.memory.scope),
        "speaker": view.memory.speaker,
    }
