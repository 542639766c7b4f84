"""`nexus reembed`: embed every memory with the configured embedder."""

from __future__ import annotations

import click

from .options import CommandTarget, json_option, store_options
from .output import print_json, print_record, progress_bar


@click.command()
@click.option("--delete-old", is_flag=True, help="Delete the old vectors immediately.")
@click.option("--background", is_flag=True, help="Only schedule it; a worker does it.")
@json_option
@store_options
def reembed(target: CommandTarget, *, delete_old: bool, background: bool, as_json: bool) -> None:
    """Embed every memory with the configured embedder, then search with the new vectors.

    An interrupted run continues with the next one. Other processes may use the store meanwhile.
    A process with a background worker does the same without this command.

    \b
        nexus reembed --config nexus.yaml
    """
    with target.open_nexus() as nexus, progress_bar("Embedding") as report:
        if background:
            made = {"scheduled": nexus.schedule_reembed()}
        else:
            made = nexus.reembed(report, delete_old=delete_old)
    (print_json if as_json else print_record)(made)
