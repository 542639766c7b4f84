"""`nexus audit`: show, verify and export the audit log."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from . import EXIT_NEGATIVE
from .options import DEFAULT_NAME, TIME, CommandTarget, json_option, workspace_options
from .output import is_terminal, one_line, print_json, print_message, print_record, print_table

if TYPE_CHECKING:
    from ..audit.records import AuditCursor, RecordedEntry
    from ..workspace import Workspace

COLUMNS = ("time", "action", "actor", "place", "detail")
MAX_DETAIL_CHARACTERS = 120
MAX_ENTRIES = 100_000
POLL_SECONDS = 1.0
COLOURS = {"forget": "red", "retention": "red", "share": "yellow", "export": "yellow"}


@click.group()
def audit() -> None:
    """Show, verify and export the audit log.

    memory.audit.level chooses what is recorded: off, writes, reads or verbose. Events of the
    ledger are listed between the entries, with their ids and without their texts.

    \b
        nexus audit tail --follow
        nexus audit tail --action forget --since 2026-11-01
        nexus audit verify
        nexus audit export audit.jsonl
    """


@audit.command()
@click.option("--follow", "-f", is_flag=True, help="Print new entries until interrupted.")
@click.option("--action", metavar="NAME", help="Only this action: forget, recall, message …")
@click.option("--since", type=TIME, help="Only from this time on.")
@click.option("--no-events", is_flag=True, help="Leave out events of the ledger.")
@click.option(
    "--limit",
    type=click.IntRange(1, MAX_ENTRIES),
    default=50,
    show_default=True,
    help="Maximum number.",
)
@json_option
@workspace_options
def tail(
    target: CommandTarget, follow: bool, no_events: bool, as_json: bool, **filters: Any
) -> None:
    """Show the newest entries, the newest last.

    \b
        nexus audit tail
        nexus audit tail --follow --action recall
        nexus audit tail --json --limit 1000 --workspace acme
    """
    filters["events"] = not no_events
    with target.open_nexus() as nexus:
        workspace = nexus.workspace(target.workspace or DEFAULT_NAME)
        _, cursor = workspace.audit_since(events=True)
        shown = workspace.audit(**filters)[::-1]
        _print_entries(shown, as_json=as_json)
        if follow:
            seen = {_entry_key(each) for each in shown}  # including those after the cursor
            wanted = {name: filters[name] for name in ("action", "events")}
            for more in _follow_entries(workspace, cursor, **wanted):
                _print_entries(
                    [each for each in more if _entry_key(each) not in seen], as_json=as_json
                )
    if not shown and not follow:
        print_message("no entries")
        sys.exit(EXIT_NEGATIVE)


def _follow_entries(
    workspace: Workspace, cursor: AuditCursor, **filters: Any
) -> Iterator[list[RecordedEntry]]:
    """Yield the new entries, poll by poll."""
    while True:
        found, now = workspace.audit_since(cursor, **filters)
        if found:
            yield found
        if now == cursor:
            time.sleep(POLL_SECONDS)
        cursor = now


def _entry_key(entry: RecordedEntry) -> tuple[int, object]:
    return entry.number, entry.entry.detail.get(
        "event"
    ) if entry.entry and not entry.number else None


def _print_entries(entries: list[RecordedEntry], *, as_json: bool) -> None:
    from ..audit.chain import entry_to_json  # loaded on first use

    if as_json:
        for each in entries:
            print_json(entry_to_json(each))
        sys.stdout.flush()
    elif entries and is_terminal():
        _print_colored([_entry_cells(each) for each in entries])
    elif entries:
        print_table(COLUMNS, [_entry_cells(each) for each in entries])
        sys.stdout.flush()


def _print_colored(rows: list[tuple[str, ...]]) -> None:
    """Print one line per entry, so that later entries can follow."""
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for row in rows:
        at, action, *rest = (cell.ljust(n) for cell, n in zip(row, [*widths, 0], strict=True))
        colour = COLOURS.get(row[1], "cyan")
        click.echo("  ".join([click.style(at, dim=True), click.style(action, fg=colour), *rest]))


def _entry_cells(recorded: RecordedEntry) -> tuple[str, ...]:
    at = f"{recorded.at:%Y-%m-%d %H:%M:%S}"
    if recorded.entry is None:
        return at, recorded.action, "", "", "(erased)"
    entry = recorded.entry
    detail = ", ".join(f"{name} {_format_value(value)}" for name, value in entry.detail.items())
    who, where = one_line(entry.actor), one_line(entry.place)
    return at, recorded.action, who, where, one_line(detail, MAX_DETAIL_CHARACTERS)


def _format_value(value: object) -> str:
    if isinstance(value, dict):
        return " ".join(f"{name}={_format_value(inner)}" for name, inner in value.items())
    if isinstance(value, list):
        return " ".join(map(_format_value, value))
    return str(value)


@audit.command()
@click.option("--anchor", metavar="HEAD", help="The head of an earlier report.")
@json_option
@workspace_options
def verify(target: CommandTarget, anchor: str | None, as_json: bool) -> None:
    """Check the hash chain of the audit log.

    Store the printed head outside the database. An attacker with write access to the database can
    rewrite the log; only a key (memory.audit.key) or a stored head proves that.

    \b
        nexus audit verify
        nexus audit verify --anchor "$(cat head.txt)" --json
    """
    with target.open_nexus() as nexus:
        report = nexus.workspace(target.workspace or DEFAULT_NAME).verify_audit(anchor=anchor)
    record = {**asdict(report), "workspace": report.workspace.value}
    if as_json:
        print_json(record)
    else:
        print_record({name: value for name, value in record.items() if name != "problems"})
        for problem in report.problems:
            print_message(problem)
    if report.problems:
        sys.exit(EXIT_NEGATIVE)


@audit.command()
@click.argument("file", type=click.Path(dir_okay=False, writable=True))
@json_option
@workspace_options
def export(target: CommandTarget, file: str, as_json: bool) -> None:
    """Write the audit log to a file, one JSON object per line, oldest first.

    \b
        nexus audit export audit.jsonl --workspace acme
    """
    with target.open_nexus() as nexus:
        written = nexus.workspace(target.workspace or DEFAULT_NAME).export_audit(file)
    if as_json:
        print_json({"file": file, "entries": written})
    else:
        print_message(f"{written} entries in {file}")
