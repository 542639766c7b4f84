"""`nexus migrate`: copy a memory into another store and compare both."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import click

from . import EXIT_NEGATIVE
from .options import json_option
from .output import print_json, print_message, print_table, progress_bar

if TYPE_CHECKING:
    from ..config.settings import StoreSettings
    from ..core.protocols.store import Store
    from ..transfer.migrate import MigrationReport


@click.command()
@click.argument("source", metavar="SOURCE")
@click.argument("target", metavar="TARGET")
@click.option(
    "--workspace",
    "-w",
    "workspace_names",
    metavar="NAME",
    multiple=True,
    help="Only this workspace; repeatable.",
)
@click.option(
    "--allow-other-workspaces",
    is_flag=True,
    help="The target may contain other workspaces.",
)
@click.option(
    "--config", metavar="FILE", help="Settings file; default: $NEXUS_CONFIG or ./nexus.yaml."
)
@json_option
def migrate(
    source: str,
    target: str,
    *,
    workspace_names: tuple[str, ...],
    allow_other_workspaces: bool,
    config: str | None,
    as_json: bool,
) -> None:
    """Copy a memory into another store and compare both.

    SOURCE and TARGET are files, URLs, or settings files (.yaml) with a memory.store section; with
    settings files the two stores can have different keys. The source is not changed, except for
    an entry in its audit log, which is copied. Run an interrupted command again to continue it.

    \b
        nexus migrate memory.db postgresql://app@db/nexus
        nexus migrate old.yaml new.yaml --workspace acme --json
    """
    from ..transfer.migrate import migrate as copy_store  # loaded on first use

    old, new = _load_store_settings(source, config), _load_store_settings(target, config)
    with ExitStack() as stack:
        old_store = stack.enter_context(_open_records(old, must_exist=True))
        new_store = stack.enter_context(_open_records(new, must_exist=False))
        report = stack.enter_context(progress_bar("Copying"))
        _audit_migration(old_store, new, workspace_names, config)
        reports = copy_store(
            old_store,
            new_store,
            workspaces=workspace_names or None,
            allow_others=allow_other_workspaces,
            report=report,
        )
    _print_reports(reports, as_json=as_json)
    problems = [(each.workspace, problem) for each in reports for problem in each.problems]
    for workspace, problem in problems:
        print_message(f"{workspace}: {problem}")
    if problems:
        sys.exit(EXIT_NEGATIVE)


def _audit_migration(
    source: Store,
    target_settings: StoreSettings,
    workspace_names: Sequence[str],
    config: str | None,
) -> None:
    """Record the migration in the audit log of each copied workspace."""
    from ..config.settings import load_settings  # loaded on first use
    from ..text.urls import url_scheme  # loaded on first use
    from ..wiring.telemetry import record_in_workspaces  # loaded on first use

    names = [workspace.value for workspace in source.list_workspaces()]
    copied = [name for name in names if not workspace_names or name in workspace_names]
    to = url_scheme(target_settings.url) or "sqlite"
    record_in_workspaces(source, load_settings(config).audit, "migrate", copied, to=to)


def _load_store_settings(address: str, config: str | None) -> StoreSettings:
    """Return the store settings of an address; the environment does not override a file."""
    from ..config.settings import ENVIRONMENT_OVERRIDES, load_settings  # loaded on first use

    if address.endswith((".yaml", ".yml")):
        environment = {
            name: value for name, value in os.environ.items() if name not in ENVIRONMENT_OVERRIDES
        }
        return load_settings(address, environment).store
    return replace(load_settings(config).store, url=address)


@contextmanager
def _open_records(settings: StoreSettings, *, must_exist: bool) -> Iterator[Store]:
    """Open the record store alone; external indexes are derived from it later."""
    from ..core.errors import NotFound  # loaded on first use
    from ..wiring.stores import make_records, store_file  # loaded on first use

    file = store_file(settings)
    if must_exist and file and not file.exists():
        raise NotFound(f"no store at {file}")
    with closing(make_records(settings)) as store:
        yield store


def _print_reports(reports: Sequence[MigrationReport], *, as_json: bool) -> None:
    if as_json:
        for each in reports:
            print_json(asdict(each))
        return
    kinds = list(reports[0].records) if reports else []
    rows = [(each.workspace, *each.records.values(), each.written, "equal") for each in reports]
    print_table(["workspace", *kinds, "copied", "comparison"], rows)
