"""`nexus rekey`: another key for a memory that is encrypted."""

from __future__ import annotations

import os

import click

from .options import STORE, json_option
from .output import message, print_json


@click.command()
@STORE["store"]
@STORE["config"]
@click.option(
    "--new-key-command", metavar="COMMAND", help="Prints the new key; else $NEXUS_NEW_KEY."
)
@json_option
def rekey(
    store: str | None, config: str | None, new_key_command: str | None, as_json: bool
) -> None:
    """Write an encrypted SQLite file anew with another key. Close every program that uses it.

    The old key comes from where it always does: $NEXUS_KEY or memory.store.key_command. Stopped in
    the middle, the memory opens with one of the two, and nothing is lost.

    \b
        NEXUS_KEY="$OLD" NEXUS_NEW_KEY="$NEW" nexus rekey --store memory.db
        nexus rekey --new-key-command "pass show nexus/new"
    """
    from contextlib import closing  # noqa: PLC0415
    from dataclasses import replace  # noqa: PLC0415

    from ..auditing import record_everywhere  # noqa: PLC0415
    from ..config import load_settings  # noqa: PLC0415
    from ..core.errors import ConfigError  # noqa: PLC0415
    from ..providers.keys import read_key  # noqa: PLC0415
    from ..storing import change_key, make_records  # noqa: PLC0415

    everything = load_settings(config)
    settings = replace(everything.store, url=store) if store else everything.store
    new = read_key(os.environ.get("NEXUS_NEW_KEY"), new_key_command)
    if not new:
        raise ConfigError("no new key: set NEXUS_NEW_KEY, or give --new-key-command")
    file = change_key(settings, new)
    with closing(make_records(replace(settings, key=new, key_command=None))) as opened:
        names = [workspace.value for workspace in opened.workspaces()]
        record_everywhere(opened, everything.audit, "rekey", names)
    if as_json:
        print_json({"file": str(file)})
    message(f"{file} has its new key; change NEXUS_KEY or memory.store.key_command now")
