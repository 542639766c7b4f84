"""`nexus forget`: erase data and everything derived from it."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from . import EXIT_NEGATIVE
from .options import DEFAULT_NAME, CommandTarget, RoomOption, json_option, workspace_options
from .output import one_line, print_json, print_message, print_record

if TYPE_CHECKING:
    from ..maintain.forget import ForgetReport


@click.command()
@click.option("--user", metavar="NAME", help="All messages and private places of a user.")
@click.option(
    "--room", "--channel", "room", cls=RoomOption, metavar="NAME", help="Everything in a room."
)
@click.option("--event", metavar="ID", help="One event.")
@click.option("--memory", metavar="ID", help="One memory; the message it was learned from stays.")
@click.option("--yes", is_flag=True, help="Skip the confirmation.")
@json_option
@workspace_options
def forget(target: CommandTarget, yes: bool, as_json: bool, **targets: str | None) -> None:
    """Erase data and everything derived from it.

    Afterwards every file of the store is searched for the erased texts. Exits with 1 if traces
    are left, or if nothing was found.

    \b
        nexus forget --user alice
        nexus forget --room design --workspace acme --yes
    """
    given = {kind: value for kind, value in targets.items() if value is not None}
    if len(given) != 1:
        raise click.UsageError("give exactly one of --user, --room, --event and --memory")
    ((kind, value),) = given.items()
    what = f"{kind} {one_line(value)} in workspace {one_line(target.workspace or DEFAULT_NAME)}"
    if not yes and not as_json:
        click.confirm(f"Erase {what} and everything derived from it?", abort=True, err=True)
    with target.open_nexus() as nexus:
        report = nexus.workspace(target.workspace or DEFAULT_NAME).forget(**given)
    is_empty = not any(asdict(report.erased).values())
    if as_json or not is_empty:
        (print_json if as_json else print_record)(_report_json(report))
    if is_empty:
        print_message(f"nothing was found for {kind} {one_line(value)!r}")
        sys.exit(EXIT_NEGATIVE)
    if report.residue:
        print_message(f"{report.residue} traces are left; run the command again")
        sys.exit(EXIT_NEGATIVE)


def _report_json(report: ForgetReport) -> dict[str, Any]:
    record = asdict(report)
    erased = {f"erased_{name}": count for name, count in record.pop("erased").items()}
    residue = {file: count for file, count in record.pop("by_file").items() if count}
    record["files_searched"] = len(report.files_searched)  # or tables of a server
    record["seconds"] = round(report.seconds, 3)
    by_file = {"residue_by_file": residue} if residue else {}
    return {"what": record.pop("what"), **erased, **record, **by_file}
