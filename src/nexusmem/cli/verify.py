"""`nexus verify`: check the ledger's hash chain and the derived indexes."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from . import EXIT_NEGATIVE
from .options import CommandTarget, json_option, one_workspace_option, store_options
from .output import print_json, print_message, print_table

if TYPE_CHECKING:
    from ..core.protocols.index_repair import IndexDamage
    from ..core.records import LedgerReport


@click.command()
@one_workspace_option
@json_option
@store_options
def verify(target: CommandTarget, workspace_name: str | None, as_json: bool) -> None:
    """Check the ledger's hash chain and the indexes.

    The chain proves that no event was changed and none is missing. Derived indexes are compared
    with the records; `nexus rebuild` repairs them.

    \b
        nexus verify
        nexus verify --workspace acme
    """
    with target.open_nexus() as nexus:
        names = [workspace_name] if workspace_name else nexus.workspaces()
        reports = {name: nexus.workspace(name).verify() for name in names}
        damaged = {
            name: list(map(_format_damage, nexus.workspace(name).check_indexes())) for name in names
        }
    _print_reports(reports, damaged, as_json=as_json)
    for name, report in reports.items():
        for problem in (*report.problems, *damaged[name]):
            print_message(f"{name}: {problem}")
    if any(damaged.values()) or not all(report.is_intact for report in reports.values()):
        sys.exit(EXIT_NEGATIVE)


def _format_damage(damage: IndexDamage) -> str:
    return f"{damage.layer}: {damage.problem}"


def _print_reports(
    reports: Mapping[str, LedgerReport], damage: Mapping[str, Sequence[str]], *, as_json: bool
) -> None:
    if as_json:
        for name, report in reports.items():
            print_json({**asdict(report), "workspace": name, "damaged": damage[name]})
        return
    rows = [
        (
            *(name, report.events, report.erased),
            "intact" if report.is_intact else f"{len(report.problems)} problems",
            f"{len(damage[name])} problems" if damage[name] else "intact",
        )
        for name, report in reports.items()
    ]
    print_table(["workspace", "events", "erased", "ledger", "indexes"], rows, header=True)
