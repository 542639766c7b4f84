"""`nexus dossier`: documents about a person or thing, and standing questions."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from . import EXIT_NEGATIVE
from .options import CommandTarget, json_option, viewer_options
from .output import escape_invisible, one_line, print_json, print_message, print_record, print_table

if TYPE_CHECKING:
    from ..maintain.dossiers import Dossier


@click.group()
def dossier() -> None:
    """Documents about a person or thing, with sources.

    A dossier is rewritten when the memories behind it change. A standing question is answered
    the same way: its answer is kept up to date.

    \b
        nexus dossier show "Sarah Chen" --room design
        nexus dossier add-question "When does the Petrel leave?" --room design
        nexus dossier refresh --room design
    """


@dossier.command()
@click.argument("name")
@json_option
@viewer_options
def show(target: CommandTarget, name: str, *, as_json: bool) -> None:
    """Show the dossier of a person, thing or standing question; write it if it is outdated.

    \b
        nexus dossier show mom --dm
    """
    with target.open_place() as place:
        _print_dossier(place.dossiers.get(name), as_json=as_json)


@dossier.command()
@click.argument("name")
@click.option("--version", type=int, metavar="N", help="Show this version instead of the list.")
@json_option
@viewer_options
def history(target: CommandTarget, name: str, *, version: int | None, as_json: bool) -> None:
    """List the versions of a dossier, oldest first, or show one of them.

    \b
        nexus dossier history "Sarah Chen" --room design
        nexus dossier history "Sarah Chen" --version 1 --room design
    """
    from ..core.errors import NotFound  # loaded on first use

    with target.open_place() as place:
        found = place.dossiers.history(name)
    if version is not None:
        chosen = [each for each in found if each.version == version]
        if not chosen:
            raise NotFound(f"no version {version} of {name!r} here")
        _print_dossier(chosen[0], as_json=as_json)
    elif as_json:
        for each in found:
            print_json(_dossier_json(each))
    else:
        rows = [
            (
                each.version,
                f"{each.made_at:%Y-%m-%d %H:%M}",
                f"{each.replaced_at:%Y-%m-%d %H:%M}" if each.replaced_at else "current",
                len(each.citations),
            )
            for each in found
        ]
        print_table(["version", "written", "replaced", "sources"], rows)


@dossier.command("list")
@json_option
@viewer_options
def list_(target: CommandTarget, *, as_json: bool) -> None:
    """List the dossiers of this place, and which of them are outdated.

    \b
        nexus dossier list --room design
    """
    with target.open_place() as place:
        found = place.dossiers.list()
    if as_json:
        for each in found:
            print_json(_dossier_json(each))
    elif found:
        rows = [
            (each.name, "outdated" if each.stale else "", f"{each.made_at:%Y-%m-%d}")
            for each in found
        ]
        print_table(["name", "", "written"], rows)
    if not found:
        print_message("no dossier in this place")
        sys.exit(EXIT_NEGATIVE)


@dossier.command()
@json_option
@viewer_options
def refresh(target: CommandTarget, *, as_json: bool) -> None:
    """Rewrite the outdated dossiers of this place.

    \b
        nexus dossier refresh --room design
    """
    with target.open_place() as place:
        rewritten = place.dossiers.refresh()
    (print_json if as_json else print_record)({"rewritten": rewritten})


@dossier.command("add-question")
@click.argument("question")
@json_option
@viewer_options
def add_question(target: CommandTarget, question: str, *, as_json: bool) -> None:
    """Add a standing question and show its answer. Exits with 1 while nothing answers it.

    \b
        nexus dossier add-question "When does the Petrel leave?" --room design
    """
    with target.open_place() as place:
        answer = place.dossiers.add_question(question)
    if answer is None:
        print_message("no answer yet")
        sys.exit(EXIT_NEGATIVE)
    _print_dossier(answer, as_json=as_json)


@dossier.command("remove-question")
@click.argument("question")
@json_option
@viewer_options
def remove_question(target: CommandTarget, question: str, *, as_json: bool) -> None:
    """Remove a standing question and its answer.

    \b
        nexus dossier remove-question "When does the Petrel leave?" --room design
    """
    with target.open_place() as place:
        place.dossiers.remove_question(question)
    (print_json if as_json else print_record)({"removed": question})


def _print_dossier(found: Dossier, *, as_json: bool) -> None:
    if as_json:
        print_json(_dossier_json(found))
        return
    from ..maintain.dossiers import format_citation  # loaded on first use

    click.echo(escape_invisible(found.text))
    click.echo("\n## Sources\n")
    for each in found.citations:
        click.echo(one_line(format_citation(each)))


def _dossier_json(found: Dossier) -> dict[str, Any]:
    from ..core.canonical import format_time  # loaded on first use

    return {
        **asdict(found),
        "made_at": format_time(found.made_at),
        "replaced_at": format_time(found.replaced_at) if found.replaced_at else None,
        "citations": [
            {**asdict(each), "at": format_time(each.at), "scope": str(each.scope)}
            for each in found.citations
        ],
    }
