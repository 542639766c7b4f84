"""`nexus jobs`: work that is still to be done, and why it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from .options import HERE, Door, json_option, workspace_options
from .output import message, one_line, print_json, print_record, print_table

if TYPE_CHECKING:
    from ..core.records import Waiting

COLUMNS = ("event", "place", "step", "attempts", "next try", "error")
LONGEST_ERROR = 160
MOST = 10_000


@click.command()
@click.argument("action", required=False, type=click.Choice(["retry"]))
@click.option("--event", "events", metavar="ID", multiple=True, help="Retry only these; many.")
@click.option(
    "--limit", type=click.IntRange(1, MOST), default=100, show_default=True, help="Show at most."
)
@json_option
@workspace_options
def jobs(
    door: Door, action: str | None, events: tuple[str, ...], limit: int, as_json: bool
) -> None:
    """Work that is still to be done, and why it is not.

    What was said is kept whatever happens here, and is found as far as it was indexed. `nexus jobs
    retry` tries what failed again, now.

    \b
        nexus jobs
        nexus jobs --json --workspace acme
        nexus jobs retry
    """
    if events and not action:
        raise click.UsageError("--event belongs to `nexus jobs retry`")
    with door.open() as nexus:
        workspace = nexus.workspace(door.workspace or HERE)
        if action:
            retried = workspace.retry_jobs(events or None)
            done = {"retried": retried, "still_waiting": workspace.flush()}
            (print_json if as_json else print_record)(done)
            return
        waiting = workspace.jobs(limit=limit)
    if as_json:
        for each in waiting:
            print_json(_row(each))
    elif waiting:
        print_table(COLUMNS, [_cells(each) for each in waiting])
    else:
        message("nothing is waiting")


def _row(waiting: Waiting) -> dict[str, Any]:
    return {
        "event_id": waiting.event_id,
        "scope": str(waiting.scope),
        "step": waiting.step.value,
        "attempts": waiting.attempts,
        "due_at": waiting.due_at.isoformat(),
        "error": waiting.error,
    }


def _cells(waiting: Waiting) -> tuple[object, ...]:
    row = _row(waiting)
    from ..core.canonical import LATEST  # noqa: PLC0415  # only for a table

    given_up = waiting.due_at >= LATEST
    tried = "only when asked" if given_up else f"{waiting.due_at:%Y-%m-%d %H:%M:%S}"
    error = one_line(waiting.error or "", LONGEST_ERROR)
    return row["event_id"], row["scope"], row["step"], row["attempts"], tried, error
