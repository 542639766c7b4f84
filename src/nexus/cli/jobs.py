"""`nexus jobs`: work that is still to be done, and why it is not; jobs and when they ran."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from .options import HERE, Door, json_option, workspace_options
from .output import for_person, message, one_line, print_json, print_record, print_table

if TYPE_CHECKING:
    from ..core.jobs import JobState
    from ..core.records import Waiting
    from ..workspace import Workspace

WAITING = ("event", "place", "step", "attempts", "next try", "error")
JOBS = ("job", "every", "last run", "took", "did", "due", "state")
WAITING_TO_READ = ("event", "why it waits")  # for a person: few columns, on any terminal
JOBS_TO_READ = ("job", "every", "last run", "what came of it", "due")
FAILED = ("workspace", "event or job", "attempts", "next try", "error")
ONLY_ASKED = "only when asked"
LONGEST_ERROR = 160
MOST = 10_000

WaitingCells = tuple[str, str, str, int, str, str]
JobCells = tuple[str, str, str, str, str, str, str]


@click.command()
@click.argument("action", required=False, type=click.Choice(["retry", "run"]))
@click.argument("which", nargs=-1)
@click.option(
    "--limit", type=click.IntRange(1, MOST), default=100, show_default=True, help="Show at most."
)
@click.option("--failed", is_flag=True, help="What failed, in all workspaces.")
@json_option
@workspace_options
def jobs(
    door: Door,
    *,
    action: str | None,
    which: tuple[str, ...],
    limit: int,
    failed: bool,
    as_json: bool,
) -> None:
    """Work that is still to be done, and why it is not; jobs and when they ran.

    What was said is kept whatever happens here, and is found as far as it was indexed. What failed
    too often waits for somebody: `nexus jobs retry` tries what failed again, all of it or the
    events and jobs that are named. `nexus jobs run` does a job now.

    \b
        nexus jobs
        nexus jobs --json --workspace acme
        nexus jobs --failed
        nexus jobs retry
        nexus jobs retry patterns
        nexus jobs run episodes
    """
    if action == "run" and not which:
        raise click.UsageError("say which job: `nexus jobs` shows their names")
    if action and failed:
        raise click.UsageError(f"--failed shows what failed; leave it out to {action} something")
    with door.open() as nexus:
        if failed:
            _show_failed([*map(nexus.workspace, nexus.workspaces())], limit, as_json)
            return
        workspace = nexus.workspace(door.workspace or HERE)
        if action is None:
            _show(workspace, limit, as_json)
            return
        done = _did_all(workspace, action, which, as_json)
    (print_json if as_json else print_record)(done)


def _did_all(
    workspace: Workspace, action: str, which: tuple[str, ...], as_json: bool
) -> dict[str, Any]:
    if action == "retry":
        retried = workspace.retry(which or None)
        return {"retried": retried, "still_waiting": workspace.flush()}
    counts = {name: workspace.run_job(name) for name in which}
    return {name: counted if as_json else _did(counted) for name, counted in counts.items()}


def _show(workspace: Workspace, limit: int, as_json: bool) -> None:
    waiting, states = workspace.waiting(limit=limit), workspace.jobs()
    if as_json:
        for row in (*map(_waiting_row, waiting), *map(_job_row, states)):
            print_json(row)
        return
    if not waiting:
        message("nothing is waiting to be learned")
    events, jobs = map(_waiting_cells, waiting), map(_job_cells, states)
    if for_person():
        if waiting:
            print_table(WAITING_TO_READ, [_event_to_read(each) for each in events])
        print_table(JOBS_TO_READ, [_job_to_read(each) for each in jobs])
        return
    print_table(WAITING, list(events))
    print_table(JOBS, list(jobs))


def _show_failed(workspaces: Sequence[Workspace], limit: int, as_json: bool) -> None:
    """At most so many of each."""
    found = [
        {"workspace": each.id.value, **row} for each in workspaces for row in _failed(each, limit)
    ]
    if not found:
        message("nothing has failed")
    elif as_json:
        for row in found:
            print_json(row)
    else:
        print_table(FAILED, [_failed_cells(row) for row in found])


def _failed(workspace: Workspace, limit: int) -> list[dict[str, Any]]:
    waiting, states = workspace.waiting(limit=limit), workspace.jobs()
    rows = [*map(_waiting_row, waiting), *map(_job_row, states)]
    return [row for row in rows if row["error"]][:limit]


def _failed_cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    what = row["event_id"] if row["kind"] == "event" else f"{row['name']} {row['key']}".strip()
    due = row["due_at"]
    tried = ONLY_ASKED if row["dead"] or not due else _when(datetime.fromisoformat(due))
    error = one_line(row["error"], LONGEST_ERROR)
    return row["workspace"], what, str(row["attempts"]), tried, error


def _event_to_read(cells: WaitingCells) -> tuple[str, str]:
    id, place, step, attempts, tried, error = cells
    times = "1 attempt" if attempts == 1 else f"{attempts} attempts"
    next_try = tried if tried == ONLY_ASKED else f"again at {tried}"
    why = f"{step}: {times}, {next_try}"
    return f"{id}\n{place}", f"{why}\n{error}" if error else why


def _job_to_read(cells: JobCells) -> tuple[str, ...]:
    name, every, ran, took, did, due, state = cells
    done = f"{did} ({took})" if did else took
    return name, every, ran, "\n".join(filter(None, (done, state))), due


def _waiting_row(waiting: Waiting) -> dict[str, Any]:
    return {
        "kind": "event",
        "event_id": waiting.event_id,
        "scope": str(waiting.scope),
        "step": waiting.step.value,
        "attempts": waiting.attempts,
        "due_at": waiting.due_at.isoformat(),
        "error": waiting.error,
        "dead": waiting.dead,
    }


def _job_row(state: JobState) -> dict[str, Any]:
    return {
        "kind": "job",
        "name": state.name,
        "key": state.key,
        "every_minutes": None if state.every is None else state.every.total_seconds() / 60,
        "on_news": state.on_news,
        "due_at": None if state.due_at is None else state.due_at.isoformat(),
        "lag_seconds": round(state.lag(_now()).total_seconds(), 1),
        "running": state.running,
        "attempts": state.attempts,
        "error": state.error,
        "dead": state.dead,
        "last_run_at": None if state.last_run_at is None else state.last_run_at.isoformat(),
        "last_seconds": round(state.last_seconds, 3),
        "last_counts": dict(state.last_counts),
    }


def _waiting_cells(waiting: Waiting) -> WaitingCells:
    row = _waiting_row(waiting)
    tried = ONLY_ASKED if waiting.dead else _when(waiting.due_at)
    error = one_line(waiting.error or "", LONGEST_ERROR)
    return row["event_id"], row["scope"], row["step"], row["attempts"], tried, error


def _job_cells(state: JobState) -> JobCells:
    name = f"{state.name} {state.key}".strip()
    every = "" if state.every is None else _span(state.every)
    ran = "" if state.last_run_at is None else _when(state.last_run_at)
    took = "" if state.last_run_at is None else f"{state.last_seconds:.2f} s"
    return name, every, ran, took, _did(state.last_counts), _due(state), _state(state)


def _did(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {what}".replace("_", " ") for what, count in counts.items())


def _due(state: JobState) -> str:
    if state.dead:
        return ONLY_ASKED
    if state.due_at is None:
        return "after news" if state.on_news else ONLY_ASKED
    return _when(state.due_at)


def _state(state: JobState) -> str:
    if state.error:
        times = f"failed {state.attempts} times" if state.attempts > 1 else "failed"
        return one_line(f"{times}: {state.error}", LONGEST_ERROR)
    if state.running:
        return "running"
    late = state.lag(_now())
    return f"late by {_span(late)}" if late > timedelta(minutes=1) else ""


def _span(span: timedelta) -> str:
    minutes = span.total_seconds() / 60
    for size, name in ((7 * 24 * 60, "w"), (24 * 60, "d"), (60, "h")):
        if minutes >= 2 * size or minutes == size:
            return f"{round(minutes / size, 1):g} {name}"
    return f"{minutes:g} min"


def _when(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}"


def _now() -> datetime:
    return datetime.now(UTC)
