"""`nexus procedure …`: tools as they are used, tasks as they end, and what works."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from .lazy import FOUND_NOTHING
from .options import Door, json_option, viewer_options
from .output import message, one_line, print_json, print_table

if TYPE_CHECKING:
    from ..core.records import Receipt

SHOWN = 100  # characters of a text


@click.group()
def procedure() -> None:
    """How things are done: tools as they are used, tasks as they end, what works.

    \b
        nexus procedure record run_tests --worked --task "release 1.2" --seconds 41
        nexus procedure finish "release 1.2" --worked --type release
        nexus procedure find "make a release"
        nexus procedure stats
    """


@procedure.command()
@click.argument("tool")
@click.option("--worked/--failed", "success", required=True, help="How it went.")
@click.option("--seconds", type=float, help="How long it took.")
@click.option("--task", metavar="NAME", help="What it was used for.")
@click.option("--type", "task_type", metavar="NAME", help="Which type of task that is.")
@click.option("--key", metavar="KEY", help="The same key again is the same use.")
@json_option
@viewer_options
def record(door: Door, tool: str, *, as_json: bool, **told: Any) -> None:
    """A tool was used.

    \b
        nexus procedure record run_tests --failed --task "release 1.2" --seconds 12
    """
    with door.enter(create=True) as place:
        _kept(place.procedures().record(tool, **told), as_json=as_json)


@procedure.command()
@click.argument("task")
@click.option("--worked/--failed", "success", required=True, help="How it ended.")
@click.option("--type", "task_type", metavar="NAME", help="Which type of task it was.")
@click.option("--step", "steps", multiple=True, metavar="NAME", help="What was done; repeatable.")
@click.option("--key", metavar="KEY", help="The same key again is the same outcome.")
@json_option
@viewer_options
def finish(door: Door, task: str, *, as_json: bool, **told: Any) -> None:
    """A task is over; the tools recorded for it led there.

    \b
        nexus procedure finish "release 1.2" --worked --type release
    """
    with door.enter(create=True) as place:
        _kept(place.procedures().finish(task, **told), as_json=as_json)


@procedure.command()
@click.argument("task", required=False)
@click.option("--type", "task_type", metavar="NAME", help="Only for this type of task.")
@click.option("--limit", type=int, default=10, show_default=True, metavar="N", help="At most.")
@json_option
@viewer_options
def find(door: Door, task: str | None, *, as_json: bool, **asked: Any) -> None:
    """What was done for such tasks, and how often it worked.

    \b
        nexus procedure find "make a release"
    """
    with door.enter() as place:
        found = place.procedures().find(task, **asked)
    rows = [
        {
            "task": each.task,
            "task_type": each.task_type,
            "steps": list(each.steps),
            "worked": each.record.worked,
            "of": each.record.of,
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
                one_line(each.task, SHOWN),
                " → ".join(each.steps),
                f"{each.record.worked}/{each.record.of}",
            )
            for each in found
        ]
        print_table(["task", "steps", "worked"], shown)
    if not found:
        message("nothing was done for that yet")
        sys.exit(FOUND_NOTHING)


@procedure.command()
@click.option("--type", "task_type", metavar="NAME", help="Only for this type of task.")
@click.option("--by-type", is_flag=True, help="Apart for each type of task.")
@json_option
@viewer_options
def stats(door: Door, *, as_json: bool, **asked: Any) -> None:
    """How each tool did: how often it worked, and how long it took.

    \b
        nexus procedure stats --by-type
    """
    with door.enter() as place:
        found = place.procedures().statistics(**asked)
    if as_json:
        for each in found:
            print_json(
                {
                    "tool": each.tool,
                    "task_type": each.task_type,
                    "calls": each.calls.of,
                    "worked": each.calls.worked,
                    "low": round(each.calls.low, 3),
                    "high": round(each.calls.high, 3),
                    "p50_seconds": each.p50_seconds,
                    "p95_seconds": each.p95_seconds,
                }
            )
    elif found:
        rows = [
            (
                each.tool,
                each.task_type or "",
                f"{each.calls.worked}/{each.calls.of}",
                f"{each.calls.low:.2f}–{each.calls.high:.2f}",
                each.p50_seconds if each.p50_seconds is not None else "",
                each.p95_seconds if each.p95_seconds is not None else "",
            )
            for each in found
        ]
        print_table(["tool", "type", "worked", "in truth", "p50 s", "p95 s"], rows)
    if not found:
        message("no tool was used yet")
        sys.exit(FOUND_NOTHING)


def _kept(receipt: Receipt, *, as_json: bool) -> None:
    if as_json:
        print_json({"event_id": receipt.event_id, "key": receipt.key, "repeated": receipt.repeated})
    else:
        message(f"kept as {receipt.event_id}")
