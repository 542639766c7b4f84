"""`nexus procedure`: tool calls, task outcomes, and what worked."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from . import EXIT_NEGATIVE
from .options import CommandTarget, json_option, key_option, viewer_options
from .output import one_line, print_json, print_message, print_table

if TYPE_CHECKING:
    from ..core.records import Receipt

MAX_TEXT_CHARACTERS = 100


@click.group()
def procedure() -> None:
    """Tool calls, task outcomes, and what worked.

    \b
        nexus procedure record run_tests --success --task "release 1.2" --seconds 41
        nexus procedure finish "release 1.2" --success --task-type release
        nexus procedure find "make a release"
        nexus procedure stats
    """


@procedure.command()
@click.argument("tool")
@click.option("--success/--failure", required=True, help="The outcome.")
@click.option("--seconds", type=float, help="The duration.")
@click.option("--task", metavar="NAME", help="The task the tool was used for.")
@click.option("--task-type", metavar="NAME", help="The type of the task.")
@key_option
@json_option
@viewer_options
def record(target: CommandTarget, tool: str, *, as_json: bool, **options: Any) -> None:
    """Record a tool call.

    \b
        nexus procedure record run_tests --failure --task "release 1.2" --seconds 12
    """
    with target.open_place(create=True) as place:
        _print_receipt(place.procedures.record(tool, **options), as_json=as_json)


@procedure.command()
@click.argument("task")
@click.option("--success/--failure", required=True, help="The outcome.")
@click.option("--task-type", metavar="NAME", help="The type of the task.")
@click.option("--step", "steps", multiple=True, metavar="NAME", help="A step; repeatable.")
@key_option
@json_option
@viewer_options
def finish(target: CommandTarget, task: str, *, as_json: bool, **options: Any) -> None:
    """Record the outcome of a task; its recorded tool calls are its steps.

    \b
        nexus procedure finish "release 1.2" --success --task-type release
    """
    with target.open_place(create=True) as place:
        _print_receipt(place.procedures.finish(task, **options), as_json=as_json)


@procedure.command()
@click.argument("task", required=False)
@click.option("--task-type", metavar="NAME", help="Only this type of task.")
@click.option(
    "--limit", type=int, default=10, show_default=True, metavar="N", help="Maximum number."
)
@json_option
@viewer_options
def find(target: CommandTarget, task: str | None, *, as_json: bool, **filters: Any) -> None:
    """Find the steps of similar tasks, with their success rates.

    \b
        nexus procedure find "make a release"
    """
    with target.open_place() as place:
        found = place.procedures.find(task, **filters)
    rows = [
        {
            "task": each.task,
            "task_type": each.task_type,
            "steps": list(each.steps),
            "successes": each.success_rate.successes,
            "total": each.success_rate.total,
            "confidence": round(each.confidence, 3),
            "relevance": round(each.relevance, 3),
        }
        for each in found
    ]
    if as_json:
        for row in rows:
            print_json(row)
    elif found:
        shown = [
            (
                one_line(each.task, MAX_TEXT_CHARACTERS),
                " → ".join(each.steps),
                f"{each.success_rate.successes}/{each.success_rate.total}",
            )
            for each in found
        ]
        print_table(["task", "steps", "successes"], shown)
    if not found:
        print_message("no similar task")
        sys.exit(EXIT_NEGATIVE)


@procedure.command()
@click.option("--task-type", metavar="NAME", help="Only this type of task.")
@click.option("--by-type", is_flag=True, help="Separate rows for each type of task.")
@json_option
@viewer_options
def stats(target: CommandTarget, *, as_json: bool, **filters: Any) -> None:
    """Show the success rate and duration of each tool.

    \b
        nexus procedure stats --by-type
    """
    with target.open_place() as place:
        found = place.procedures.statistics(**filters)
    if as_json:
        for each in found:
            print_json(
                {
                    "tool": each.tool,
                    "task_type": each.task_type,
                    "calls": each.calls.total,
                    "successes": each.calls.successes,
                    "low": round(each.calls.lower_bound, 3),
                    "high": round(each.calls.upper_bound, 3),
                    "p50_seconds": each.p50_seconds,
                    "p95_seconds": each.p95_seconds,
                }
            )
    elif found:
        rows = [
            (
                each.tool,
                each.task_type or "",
                f"{each.calls.successes}/{each.calls.total}",
                f"{each.calls.lower_bound:.2f}–{each.calls.upper_bound:.2f}",
                each.p50_seconds if each.p50_seconds is not None else "",
                each.p95_seconds if each.p95_seconds is not None else "",
            )
            for each in found
        ]
        print_table(["tool", "type", "successes", "95 % interval", "p50 s", "p95 s"], rows)
    if not found:
        print_message("no tool calls")
        sys.exit(EXIT_NEGATIVE)


def _print_receipt(receipt: Receipt, *, as_json: bool) -> None:
    if as_json:
        print_json(
            {"event_id": receipt.event_id, "key": receipt.key, "duplicate": receipt.duplicate}
        )
    else:
        print_message(f"recorded as {receipt.event_id}")
