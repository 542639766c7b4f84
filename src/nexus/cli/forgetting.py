"""`nexus forget`."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from .lazy import FOUND_NOTHING
from .options import HERE, Door, json_option, workspace_options
from .output import message, one_line, print_json, print_record

if TYPE_CHECKING:
    from ..maintain.forget import ForgetReport


@click.command()
@click.option("--user", metavar="NAME", help="All they said, and what is in their drawers.")
@click.option("--room", "--channel", "room", metavar="NAME", help="All that was said in a room.")
@click.option("--event", metavar="ID", help="One event.")
@click.option("--memory", metavar="ID", help="One memory; a message it was made of stays.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
@workspace_options
def forget(door: Door, yes: bool, as_json: bool, **wanted: str | None) -> None:
    """Erase, with everything derived from it, and prove it.

    Afterwards every file of the memory is searched for what was erased; a residue is exit 1.

    \b
        nexus forget --user alice
        nexus forget --room design --workspace acme --yes
    """
    given = {kind: value for kind, value in wanted.items() if value is not None}
    if len(given) != 1:
        raise click.UsageError("say one of --user, --room, --event and --memory")
    ((kind, value),) = given.items()
    what = f"{kind} {one_line(value)} in workspace {one_line(door.workspace or HERE)}"
    if not yes and not as_json:
        click.confirm(f"Erase {what} and everything derived from it?", abort=True, err=True)
    with door.open() as nexus:
        report = nexus.workspace(door.workspace or HERE).forget(**given)
    (print_json if as_json else print_record)(_shown(report))
    if report.residue:
        message(f"{report.residue} traces are left; run it again, and tell us if they stay")
        sys.exit(FOUND_NOTHING)


def _shown(report: ForgetReport) -> dict[str, Any]:
    told = asdict(report)
    erased = {f"erased_{name}": count for name, count in told.pop("erased").items()}
    left = {file: count for file, count in told.pop("by_file").items() if count}
    told["places_searched"] = len(told.pop("files_searched"))  # files, or tables of a server
    told["seconds"] = round(report.seconds, 3)
    return {"what": told.pop("what"), **erased, **told, **({"left_in": left} if left else {})}
