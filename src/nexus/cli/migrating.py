"""`nexus migrate`: a whole memory from one store into another."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import click

from .lazy import FOUND_NOTHING
from .options import json_option
from .output import message, print_json, print_table, progress

if TYPE_CHECKING:
    from ..config import StoreSettings
    from ..core.protocols import Store
    from ..transfer.migrating import Moved


@click.command()
@click.argument("source", metavar="SOURCE")
@click.argument("target", metavar="TARGET")
@click.option("--workspace", "-w", "only", metavar="NAME", multiple=True, help="Only this; many.")
@click.option("--beside", is_flag=True, help="The target may hold other workspaces.")
@click.option("--config", metavar="FILE", help="Settings; else $NEXUS_CONFIG or ./nexus.yaml.")
@json_option
def migrate(
    source: str,
    target: str,
    *,
    only: tuple[str, ...],
    beside: bool,
    config: str | None,
    as_json: bool,
) -> None:
    """Move a whole memory into another store, as it is, and compare both.

    SOURCE and TARGET are files, URLs, or settings files (.yaml) whose memory.store is meant: that
    is how the two may have different keys. The source is only read, but for an entry in its audit,
    which moves along. Stopped in the middle, the same command goes on where it was.

    \b
        nexus migrate memory.db postgresql://app@db/nexus
        nexus migrate old.yaml new.yaml --workspace acme --json
    """
    from ..transfer.migrating import migrate as move  # noqa: PLC0415

    old, new = _settings(source, config), _settings(target, config)
    with ExitStack() as stack:
        here = stack.enter_context(_opened(old, must_exist=True))
        there = stack.enter_context(_opened(new, must_exist=False))
        report = stack.enter_context(progress("Moving"))
        _record(here, new, only, config)
        moved = move(here, there, workspaces=only or None, beside=beside, report=report)
    _print(moved, as_json=as_json)
    problems = [(each.workspace, problem) for each in moved for problem in each.problems]
    for workspace, problem in problems:
        message(f"{workspace}: {problem}")
    if problems:
        sys.exit(FOUND_NOTHING)


def _record(here: Store, new: StoreSettings, only: Sequence[str], config: str | None) -> None:
    """In the trail of each workspace that goes, and so of each that comes."""
    from ..auditing import record_everywhere  # noqa: PLC0415
    from ..config import load_settings  # noqa: PLC0415
    from ..core.urls import scheme_of  # noqa: PLC0415

    names = [workspace.value for workspace in here.workspaces()]
    going = [name for name in names if not only or name in only]
    to = scheme_of(new.url) or "sqlite"
    record_everywhere(here, load_settings(config).audit, "migrate", going, to=to)


def _settings(address: str, config: str | None) -> StoreSettings:
    """The store an address means; a settings file speaks for itself, whatever the environment."""
    from ..config import OVERRULING, load_settings  # noqa: PLC0415

    if address.endswith((".yaml", ".yml")):
        rest = {name: value for name, value in os.environ.items() if name not in OVERRULING}
        return load_settings(address, rest).store
    return replace(load_settings(config).store, url=address)


@contextmanager
def _opened(settings: StoreSettings, *, must_exist: bool) -> Iterator[Store]:
    """The records alone: what stands beside them is made from them."""
    from ..core.errors import NotFound  # noqa: PLC0415
    from ..storing import file_of, make_records  # noqa: PLC0415

    file = file_of(settings)
    if must_exist and file and not file.exists():
        raise NotFound(f"no memory at {file}")
    with closing(make_records(settings)) as store:
        yield store


def _print(moved: Sequence[Moved], *, as_json: bool) -> None:
    if as_json:
        for each in moved:
            print_json(asdict(each))
        return
    shelves = list(moved[0].records) if moved else []
    rows = [(each.workspace, *each.records.values(), each.written, "the same") for each in moved]
    print_table(["workspace", *shelves, "new here", "compared"], rows)
