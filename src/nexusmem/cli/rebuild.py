"""`nexus rebuild`: derive memories and indexes again from the ledger."""

from __future__ import annotations

import click

from ..core.protocols.index_repair import DerivedLayer
from .options import CommandTarget, json_option, one_workspace_option, store_options
from .output import print_json, print_table, progress_bar


@click.command()
@click.option(
    "--layer",
    type=click.Choice([*(layer.value for layer in DerivedLayer), "all"]),
    default="all",
    show_default=True,
    help="The layer to derive again.",
)
@one_workspace_option
@click.option("--rewrite-episodes", is_flag=True, help="Also replace episodes written by a model.")
@json_option
@store_options
def rebuild(
    target: CommandTarget,
    layer: str,
    workspace_name: str | None,
    *,
    rewrite_episodes: bool,
    as_json: bool,
) -> None:
    """Derive memories and indexes again from the ledger.

    The layer knowledge is derived from messages, episodes from knowledge, and keywords, graph and
    vectors from both. Only differences are written, so other processes may use the store
    meanwhile. An interrupted rebuild is completed by the next one.

    \b
        nexus rebuild --layer keywords
        nexus rebuild --workspace acme
    """
    with target.open_nexus() as nexus:
        for name in [workspace_name] if workspace_name else nexus.workspaces():
            with progress_bar(f"{name}: {layer}") as report:
                made = nexus.workspace(name).rebuild(
                    layer, rewrite_episodes=rewrite_episodes, report=report
                )
            rows = [{"workspace": name, "layer": each, **counts} for each, counts in made.items()]
            for row in rows:
                if as_json:
                    print_json(row)
            if not as_json:
                print_table(list(rows[0]), [tuple(row.values()) for row in rows])
