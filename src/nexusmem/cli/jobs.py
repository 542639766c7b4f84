"""`nexus jobs`: pending and failed work, and the schedule of background jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from .options import DEFAULT_NAME, CommandTarget, json_option, workspace_options
from .output import is_terminal, one_line, print_json, print_message, print_record, print_table

if TYPE_CHECKING:
    from ..core.protocols.jobs import JobState
    from ..core.records import PendingTask
    from ..workspace import Workspace

EVENT_COLUMNS = ("event", "scope", "step", "attempts", "next try", "error")
JOB_COLUMNS = ("job", "every", "last run", "took", "result", "due", "state")
EVENT_COLUMNS_SHORT = ("event", "status")  # fits a terminal of 80 columns
JOB_COLUMNS_SHORT = ("job", "every", "last run", "result", "due")
FAILURE_COLUMNS = ("workspace", "event or job", "attempts", "next try", "error")
ONLY_MANUALLY = "only manually"
MAX_ERROR_CHARACTERS = 160
MAX_ROWS = 10_000

EventCells = tuple[str, str, str, int, str, str]
JobCells = tuple[str, str, str, str, str, str, str]


class ListByDefaultGroup(click.Group):
    """A group whose command `list` runs if no other command is named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or (args[0].startswith("-") and "--help" not in args):
            args = ["list", *args]
        return super().parse_args(ctx, args)


@click.group(cls=ListByDefaultGroup)
def jobs() -> None:
    """List, retry and run background work.

    Messages are stored before anything is learned from them, so failed work loses nothing. Work
    that failed too often is retried only by `nexus jobs retry`.

    \b
        nexus jobs list
        nexus jobs list --failed
        nexus jobs retry
        nexus jobs run episodes
    """


@jobs.command("list")
@click.option(
    "--limit",
    type=click.IntRange(1, MAX_ROWS),
    default=100,
    show_default=True,
    help="Maximum number of events.",
)
@click.option("--failed", is_flag=True, help="Only failed work, of all workspaces.")
@json_option
@workspace_options
def list_(target: CommandTarget, *, limit: int, failed: bool, as_json: bool) -> None:
    """List events that are not learned yet, and the background jobs with their last runs.

    \b
        nexus jobs list --workspace acme --json
        nexus jobs list --failed
    """
    with target.open_nexus() as nexus:
        if failed:
            _print_failures([*map(nexus.workspace, nexus.workspaces())], limit, as_json)
        else:
            _print_jobs(nexus.workspace(target.workspace or DEFAULT_NAME), limit, as_json)


@jobs.command()
@click.argument("names", nargs=-1)
@json_option
@workspace_options
def retry(target: CommandTarget, names: tuple[str, ...], *, as_json: bool) -> None:
    """Retry failed events and jobs: those named, or all.

    \b
        nexus jobs retry
        nexus jobs retry habits
    """
    with target.open_nexus() as nexus:
        workspace = nexus.workspace(target.workspace or DEFAULT_NAME)
        retried = workspace.retry(names or None)
        done = {"retried": retried, "pending": workspace.flush()}
    (print_json if as_json else print_record)(done)


@jobs.command()
@click.argument("names", nargs=-1, required=True)
@json_option
@workspace_options
def run(target: CommandTarget, names: tuple[str, ...], *, as_json: bool) -> None:
    """Run jobs now; `nexus jobs list` shows their names.

    \b
        nexus jobs run episodes
    """
    with target.open_nexus() as nexus:
        workspace = nexus.workspace(target.workspace or DEFAULT_NAME)
        counts = {name: workspace.run_job(name) for name in names}
    if as_json:
        print_json(counts)
    else:
        print_record({name: _format_counts(each) for name, each in counts.items()})


def _print_jobs(workspace: Workspace, limit: int, as_json: bool) -> None:
    pending, states = workspace.pending_work(limit=limit), workspace.jobs()
    if as_json:
        for row in (*map(_event_json, pending), *map(_job_json, states)):
            print_json(row)
        return
    if not pending:
        print_message("no pending events")
    events, jobs = map(_event_cells, pending), map(_job_cells, states)
    if is_terminal():
        if pending:
            print_table(EVENT_COLUMNS_SHORT, [_event_summary(each) for each in events])
        print_table(JOB_COLUMNS_SHORT, [_job_summary(each) for each in jobs])
        return
    if pending:
        print_table(EVENT_COLUMNS, list(events), header=True)
    print_table(JOB_COLUMNS, list(jobs), header=True)


def _print_failures(workspaces: Sequence[Workspace], limit: int, as_json: bool) -> None:
    """Print at most `limit` failures of each workspace."""
    found = [
        {"workspace": each.id.value, **row}
        for each in workspaces
        for row in _find_failures(each, limit)
    ]
    if not found:
        print_message("no failed work")
    elif as_json:
        for row in found:
            print_json(row)
    else:
        print_table(FAILURE_COLUMNS, [_failure_cells(row) for row in found], header=True)


def _find_failures(workspace: Workspace, limit: int) -> list[dict[str, Any]]:
    pending, states = workspace.pending_work(limit=limit), workspace.jobs()
    rows = [*map(_event_json, pending), *map(_job_json, states)]
    return [row for row in rows if row["error"]][:limit]


def _failure_cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    what = row["event_id"] if row["kind"] == "event" else f"{row['name']} {row['key']}".strip()
    due = row["due_at"]
    tried = ONLY_MANUALLY if row["dead"] or not due else _format_time(datetime.fromisoformat(due))
    error = one_line(row["error"], MAX_ERROR_CHARACTERS)
    return row["workspace"], what, str(row["attempts"]), tried, error


def _event_summary(cells: EventCells) -> tuple[str, str]:
    id, place, step, attempts, tried, error = cells
    times = "1 attempt" if attempts == 1 else f"{attempts} attempts"
    next_try = tried if tried == ONLY_MANUALLY else f"next attempt at {tried}"
    why = f"{step}: {times}, {next_try}"
    return f"{id}\n{place}", f"{why}\n{error}" if error else why


def _job_summary(cells: JobCells) -> tuple[str, ...]:
    name, every, ran, took, did, due, state = cells
    done = f"{did} ({took})" if did else took
    return name, every, ran, "\n".join(filter(None, (done, state))), due


def _event_json(work: PendingTask) -> dict[str, Any]:
    return {
        "kind": "event",
        "event_id": work.event_id,
        "scope": str(work.scope),
        "step": work.step.value,
        "attempts": work.attempts,
        "due_at": work.due_at.isoformat(),
        "error": work.error,
        "dead": work.is_dead,
    }


def _job_json(state: JobState) -> dict[str, Any]:
    return {
        "kind": "job",
        "name": state.name,
        "key": state.key,
        "every_minutes": None if state.every is None else state.every.total_seconds() / 60,
        "on_news": state.on_news,
        "due_at": None if state.due_at is None else state.due_at.isoformat(),
        "lag_seconds": round(state.lag(_utc_now()).total_seconds(), 1),
        "running": state.running,
        "attempts": state.attempts,
        "error": state.error,
        "dead": state.dead,
        "last_run_at": None if state.last_run_at is None else state.last_run_at.isoformat(),
        "last_seconds": round(state.last_seconds, 3),
        "last_counts": dict(state.last_counts),
    }


def _event_cells(work: PendingTask) -> EventCells:
    row = _event_json(work)
    tried = ONLY_MANUALLY if work.is_dead else _format_time(work.due_at)
    error = one_line(work.error or "", MAX_ERROR_CHARACTERS)
    return row["event_id"], row["scope"], row["step"], row["attempts"], tried, error


def _job_cells(state: JobState) -> JobCells:
    name = f"{state.name} {state.key}".strip()
    every = "" if state.every is None else _format_span(state.every)
    ran = "" if state.last_run_at is None else _format_time(state.last_run_at)
    took = "" if state.last_run_at is None else f"{state.last_seconds:.2f} s"
    return (
        name,
        every,
        ran,
        took,
        _format_counts(state.last_counts),
        _format_due(state),
        _format_state(state),
    )


def _format_counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {what}".replace("_", " ") for what, count in counts.items())


def _format_due(state: JobState) -> str:
    if state.dead:
        return ONLY_MANUALLY
    if state.due_at is None:
        return "after new events" if state.on_news else ONLY_MANUALLY
    return _format_time(state.due_at)


def _format_state(state: JobState) -> str:
    if state.error:
        times = f"failed {state.attempts} times" if state.attempts > 1 else "failed"
        return one_line(f"{times}: {state.error}", MAX_ERROR_CHARACTERS)
    if state.running:
        return "running"
    late = state.lag(_utc_now())
    return f"late by {_format_span(late)}" if late > timedelta(minutes=1) else ""


def _format_span(span: timedelta) -> str:
    minutes = span.total_seconds() / 60
    for size, name in ((7 * 24 * 60, "w"), (24 * 60, "d"), (60, "h")):
        if minutes >= 2 * size or minutes == size:
            return f"{round(minutes / size, 1):g} {name}"
    return f"{minutes:g} min"


def _format_time(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}"


def _utc_now() -> datetime:
    return datetime.now(UTC)
