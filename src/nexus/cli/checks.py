"""`nexus verify`, `nexus rebuild` and `nexus reembed`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from ..core.layers import Layer
from .lazy import FOUND_NOTHING
from .options import Door, json_option, store_options
from .output import message, print_json, print_record, print_table, progress

if TYPE_CHECKING:
    from ..core.layers import Damage
    from ..core.records import LedgerReport


@click.command()
@click.option("--workspace", "-w", "only", metavar="NAME", help="One workspace; else all.")
@json_option
@store_options
def verify(door: Door, only: str | None, as_json: bool) -> None:
    """Walk the hash chain of the ledger: nothing was changed, and nothing is missing.

    What was derived is counted and compared with what it rests on. `nexus rebuild` mends it.

    \b
        nexus verify
        nexus verify --workspace acme
    """
    with door.open() as nexus:
        names = [only] if only else nexus.workspaces()
        reports = {name: nexus.workspace(name).verify() for name in names}
        damaged = {name: list(map(_told, nexus.workspace(name).damage())) for name in names}
    _print_reports(reports, damaged, as_json=as_json)
    for name, report in reports.items():
        for problem in (*report.problems, *damaged[name]):
            message(f"{name}: {problem}")
    if any(damaged.values()) or not all(report.sound for report in reports.values()):
        sys.exit(FOUND_NOTHING)


def _told(damage: Damage) -> str:
    return f"{damage.layer}: {damage.what}"


def _print_reports(
    reports: Mapping[str, LedgerReport], damaged: Mapping[str, Sequence[str]], *, as_json: bool
) -> None:
    if as_json:
        for name, report in reports.items():
            print_json({**asdict(report), "workspace": name, "damaged": damaged[name]})
        return
    rows = [
        (
            *(name, report.events, report.erased),
            "sound" if report.sound else len(report.problems),
            len(damaged[name]) or "sound",
        )
        for name, report in reports.items()
    ]
    print_table(["workspace", "events", "erased", "problems", "derived"], rows)


@click.command()
@click.option(
    "--layer",
    type=click.Choice([*(layer.value for layer in Layer), "all"]),
    default="all",
    show_default=True,
    help="What to make again.",
)
@click.option("--workspace", "-w", "only", metavar="NAME", help="One workspace; else all.")
@click.option("--again", is_flag=True, help="Let the model tell its episodes once more.")
@json_option
@store_options
def rebuild(door: Door, layer: str, only: str | None, *, again: bool, as_json: bool) -> None:
    """Make what was derived again from what it rests on. Afterwards every answer is as before.

    knowledge is made of what was said, episodes of that, keywords, graph and vectors of both. It
    is compared part by part, and what is different is written: others may use the memory
    meanwhile, and a rebuild that was broken off is finished by the next one.

    \b
        nexus rebuild --layer keywords
        nexus rebuild --workspace acme
    """
    with door.open() as nexus:
        for name in [only] if only else nexus.workspaces():
            with progress(f"{name}: {layer}") as report:
                made = nexus.workspace(name).rebuild(layer, again=again, report=report)
            rows = [{"workspace": name, "layer": each, **counts} for each, counts in made.items()]
            for row in rows:
                if as_json:
                    print_json(row)
            if not as_json:
                print_table(list(rows[0]), [tuple(row.values()) for row in rows])


@click.command()
@click.option("--drop-old", is_flag=True, help="Remove the former vectors at once.")
@click.option("--background", is_flag=True, help="Only ask for it: whoever has a worker does it.")
@json_option
@store_options
def reembed(door: Door, *, drop_old: bool, background: bool, as_json: bool) -> None:
    """Give every memory a vector of the configured embedder, then use those.

    It goes on where it was interrupted, and others may use the memory meanwhile. A process with
    a worker does the same by itself, in the background.

    \b
        nexus reembed --config nexus.yaml
    """
    with door.open() as nexus, progress("Embedding") as report:
        if background:
            made = {"asked_for": nexus.reembed_soon()}
        else:
            made = nexus.reembed(report, drop_old=drop_old)
    (print_json if as_json else print_record)(made)
