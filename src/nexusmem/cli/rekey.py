"""`nexus rekey`: encrypt a SQLite file with another key."""

from __future__ import annotations

import os

import click

from .options import STORE_OPTIONS, json_option
from .output import print_json, print_message


@click.command()
@STORE_OPTIONS["store"]
@STORE_OPTIONS["config"]
@click.option(
    "--new-key-command",
    metavar="COMMAND",
    help="Command that prints the new key; default: $NEXUS_NEW_KEY.",
)
@json_option
def rekey(
    store: str | None, config: str | None, new_key_command: str | None, as_json: bool
) -> None:
    """Encrypt a SQLite file with another key. Stop every program that uses the file first.

    The old key comes from $NEXUS_KEY or memory.store.key_command. After an interruption the file
    opens with one of the two keys, and no data is lost.

    \b
        NEXUS_KEY="$OLD" NEXUS_NEW_KEY="$NEW" nexus rekey --store memory.db
        nexus rekey --new-key-command "pass show nexus/new"
    """
    from contextlib import closing  # loaded on first use
    from dataclasses import replace  # loaded on first use

    from ..config.settings import load_settings  # loaded on first use
    from ..core.errors import ConfigError  # loaded on first use
    from ..runtime.encryption_keys import read_key  # loaded on first use
    from ..wiring.stores import change_key, make_records  # loaded on first use
    from ..wiring.telemetry import record_in_workspaces  # loaded on first use

    settings = load_settings(config)
    store_settings = replace(settings.store, url=store) if store else settings.store
    new = read_key(os.environ.get("NEXUS_NEW_KEY"), new_key_command)
    if not new:
        raise ConfigError("no new key: set NEXUS_NEW_KEY, or give --new-key-command")
    file = change_key(store_settings, new)
    with closing(make_records(replace(store_settings, key=new, key_command=None))) as opened:
        names = [workspace.value for workspace in opened.list_workspaces()]
        record_in_workspaces(opened, settings.audit, "rekey", names)
    if as_json:
        print_json({"file": str(file)})
    print_message(f"{file} has the new key; now change NEXUS_KEY or memory.store.key_command")
