"""`nexus verify` and `nexus reembed`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from .lazy import FOUND_NOTHING
from .options import Door, json_option, store_options
from .output import message, print_json, print_record, print_table, progress

if TYPE_CHECKING:
    from ..core.records import LedgerReport


@click.command()
@click.option("--workspace", "-w", "only", metavar="NAME", help="One workspace; else all.")
@json_option
@store_options
def verify(door: Door, only: str | None, as_json: bool) -> None:
    """Walk the hash chain of the ledger: nothing was changed, and nothing is missing.

    \b
        nexus verify
        nexus verify --workspace acme
    """
    with door.open() as nexus:
        names = [only] if only else nexus.workspaces()
        reports = {name: nexus.workspace(name).verify() for name in names}
    _print_reports(reports, as_json=as_json)
    for name, report in reports.items():
        for problem in report.problems:
            message(f"{name}: {problem}")
    if not all(report.sound for report in reports.values()):
        sys.exit(FOUND_NOTHING)


def _print_reports(reports: Mapping[str, LedgerReport], *, as_json: bool) -> None:
    if as_json:
        for name, report in reports.items():
            print_json({**asdict(report), "workspace": name})
        return
    rows = [
        (name, report.events, report.erased, "sound" if report.sound else len(report.problems))
        for name, report in reports.items()
    ]
    print_table(["workspace", "events", "erased", "problems"], rows)


@click.command()
@click.option("--drop-old", is_flag=True, help="Remove the former vectors at once.")
@json_option
@store_options
def reembed(door: Door, drop_old: bool, as_json: bool) -> None:
    """Give every memory a vector of the configured embedder, then use those.

    It goes on where it was interrupted, and others may use the memory meanwhile. A process with
    a worker does the same by itself, in the background.

    \b
        nexus reembed --config nexus.yaml
    """
    with door.open() as nexus, progress("Embedding") as report:
        made = nexus.reembed(report, drop_old=drop_old)
    (print_json if as_json else print_record)(made)
