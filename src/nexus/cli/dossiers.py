"""`nexus dossier`: a document about somebody or something."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from ..core.errors import InvalidInput
from .lazy import FOUND_NOTHING
from .options import Door, json_option, viewer_options
from .output import message, one_line, print_json, print_table, visible

if TYPE_CHECKING:
    from ..maintain.dossiers import Dossier


@click.command()
@click.argument("name", required=False)
@click.option("--refresh", is_flag=True, help="Make the stale ones anew.")
@click.option("--ask", is_flag=True, help="NAME is a question: keep its answer fresh from now on.")
@click.option("--drop", is_flag=True, help="Keep the answer to this question fresh no more.")
@json_option
@viewer_options
def dossier(
    door: Door, name: str | None, *, refresh: bool, ask: bool, drop: bool, as_json: bool
) -> None:
    """What is known of somebody or something in one document, with its sources.

    Without a name: the dossiers that were made here, and which are stale.

    \b
        nexus dossier mom
        nexus dossier "When does the Petrel leave?" --ask
        nexus dossier --refresh
    """
    if not name and (ask or drop):
        raise InvalidInput("which question? nexus dossier QUESTION --ask, or --drop")
    with door.enter() as place:
        dossiers = place.dossiers()
        if refresh:
            message(f"{dossiers.refresh()} made anew")
        if name and drop:
            dossiers.drop(name)
            message(f"not kept fresh any more: {one_line(name)}")
            return
        if name and ask:
            found = [each for each in [dossiers.ask(name)] if each]
        else:
            found = [dossiers.get(name)] if name else dossiers.list()
    _print_all(found, whole=bool(name), as_json=as_json)
    if not found:
        message("nothing answers that yet" if name else "no dossier was made here yet")
        sys.exit(FOUND_NOTHING)


def _print_all(found: list[Dossier], *, whole: bool, as_json: bool) -> None:
    if as_json:
        for each in found:
            print_json(_shown(each))
    elif whole and found:
        _print(found[0])
    elif found:
        rows = [
            (each.name, "stale" if each.stale else "", f"{each.made_at:%Y-%m-%d}") for each in found
        ]
        print_table(["name", "", "made"], rows)


def _print(found: Dossier) -> None:
    click.echo(visible(found.text))
    click.echo("\n## Sources\n")
    for each in found.citations:
        who = f"{each.speaker}, " if each.speaker else ""
        keys = f" ({', '.join(each.event_keys)})" if each.event_keys else ""
        click.echo(one_line(f"[{each.number}] {who}{each.at:%Y-%m-%d}, {each.scope}{keys}"))


def _shown(found: Dossier) -> dict[str, Any]:
    from ..core.canonical import time_text  # noqa: PLC0415

    told = asdict(found)
    told["made_at"] = time_text(found.made_at)
    told["citations"] = [
        {**asdict(each), "at": time_text(each.at), "scope": str(each.scope)}
        for each in found.citations
    ]
    return told
