"""`nexus audit`: what was done, by whom and from where."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from .lazy import FOUND_NOTHING
from .options import HERE, Door, json_option, workspace_options
from .output import for_person, message, one_line, print_json, print_record, print_table

if TYPE_CHECKING:
    from ..core.audit import Mark, Recorded
    from ..workspace import Workspace

COLUMNS = ("at", "action", "by", "where", "what")
LONGEST_DETAIL = 120
MOST = 100_000
EVERY_SECONDS = 1.0  # a look at what is new
COLOURS = {"forget": "red", "retention": "red", "share": "yellow", "export": "yellow"}


@click.group()
def audit() -> None:
    """What was done here, by whom and from where; and whether it still is so.

    memory.audit.level says what is recorded: off, writes, reads or verbose. What was told is in the
    ledger already, and stands between the entries with its id, and without its words.

    \b
        nexus audit tail --follow
        nexus audit tail --action forget --since 2026-11-01
        nexus audit verify
        nexus audit export trail.jsonl
    """


@audit.command()
@click.option("--follow", "-f", is_flag=True, help="Go on with what comes, until interrupted.")
@click.option("--action", metavar="NAME", help="Only this: forget, recall, message …")
@click.option("--since", metavar="TIME", type=datetime.fromisoformat, help="An ISO date or time.")
@click.option("--entries", is_flag=True, help="Leave out what was told.")
@click.option(
    "--limit", type=click.IntRange(1, MOST), default=50, show_default=True, help="Show at most."
)
@json_option
@workspace_options
def tail(door: Door, follow: bool, entries: bool, as_json: bool, **asked: Any) -> None:
    """The newest of what was done and told, the newest last.

    \b
        nexus audit tail
        nexus audit tail --follow --action recall
        nexus audit tail --json --limit 1000 --workspace acme
    """
    asked["events"] = not entries
    with door.open() as nexus:
        workspace = nexus.workspace(door.workspace or HERE)
        _, mark = workspace.audit_after(events=True)
        shown = workspace.audit(**asked)[::-1]
        _show(shown, as_json=as_json)
        if follow:
            seen = {_name(each) for each in shown}  # also what came after the mark
            wanted = {name: asked[name] for name in ("action", "events")}
            for more in _coming(workspace, mark, **wanted):
                _show([each for each in more if _name(each) not in seen], as_json=as_json)
    if not shown and not follow:
        message("nothing was recorded")
        sys.exit(FOUND_NOTHING)


def _coming(workspace: Workspace, mark: Mark, **wanted: Any) -> Iterator[list[Recorded]]:
    """What is new, look by look."""
    while True:
        found, now = workspace.audit_after(mark, **wanted)
        if found:
            yield found
        if now == mark:
            time.sleep(EVERY_SECONDS)
        mark = now


def _name(each: Recorded) -> tuple[int, object]:
    return each.number, each.entry.detail.get("event") if each.entry and not each.number else None


def _show(found: list[Recorded], *, as_json: bool) -> None:
    from ..maintain.trail import recorded_json  # noqa: PLC0415

    if as_json:
        for each in found:
            print_json(recorded_json(each))
        sys.stdout.flush()
    elif found and for_person():
        _print_coloured([_cells(each) for each in found])
    elif found:
        print_table(COLUMNS, [_cells(each) for each in found])
        sys.stdout.flush()


def _print_coloured(rows: list[tuple[str, ...]]) -> None:
    """One line each, so that lines that come later stand below them."""
    widths = [max(len(row[place]) for row in rows) for place in range(4)]
    for row in rows:
        at, action, *rest = (cell.ljust(n) for cell, n in zip(row, [*widths, 0], strict=True))
        colour = COLOURS.get(row[1], "cyan")
        click.echo("  ".join([click.style(at, dim=True), click.style(action, fg=colour), *rest]))


def _cells(each: Recorded) -> tuple[str, ...]:
    at = f"{each.at:%Y-%m-%d %H:%M:%S}"
    if each.entry is None:
        return at, each.action, "", "", "(erased)"
    entry = each.entry
    told = ", ".join(f"{name} {_spelt(value)}" for name, value in entry.detail.items())
    who, where = one_line(entry.actor), one_line(entry.place)
    return at, each.action, who, where, one_line(told, LONGEST_DETAIL)


def _spelt(value: object) -> str:
    if isinstance(value, dict):
        return " ".join(f"{name}={_spelt(inner)}" for name, inner in value.items())
    if isinstance(value, list):
        return " ".join(map(_spelt, value))
    return str(value)


@audit.command()
@click.option("--anchor", metavar="HEAD", help="The head of an earlier report, kept elsewhere.")
@json_option
@workspace_options
def verify(door: Door, anchor: str | None, as_json: bool) -> None:
    """Walk the hash chain of the audit.

    Keep the head it prints somewhere else. Who can write the database and knows no key can write a
    trail anew, and only a key (memory.audit.key) or a head kept elsewhere shows that.

    \b
        nexus audit verify
        nexus audit verify --anchor "$(cat head.txt)" --json
    """
    with door.open() as nexus:
        report = nexus.workspace(door.workspace or HERE).verify_audit(anchor=anchor)
    told = {**asdict(report), "workspace": report.workspace.value}
    if as_json:
        print_json(told)
    else:
        print_record({name: value for name, value in told.items() if name != "problems"})
        for problem in report.problems:
            message(problem)
    if report.problems:
        sys.exit(FOUND_NOTHING)


@audit.command()
@click.argument("file", type=click.Path(dir_okay=False, writable=True))
@json_option
@workspace_options
def export(door: Door, file: str, as_json: bool) -> None:
    """Write the whole trail into a file, one JSON object a line, oldest first.

    \b
        nexus audit export trail.jsonl --workspace acme
    """
    with door.open() as nexus:
        written = nexus.workspace(door.workspace or HERE).export_audit(file)
    if as_json:
        print_json({"file": file, "entries": written})
    else:
        message(f"{written} entries in {file}")
