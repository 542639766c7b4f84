"""`nexus notebook …`: documents with a path, and the folder they are edited in."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .lazy import FOUND_NOTHING
from .options import Door, json_option, standard_input, viewer_options
from .output import message, print_json, print_table, visible

if TYPE_CHECKING:
    from ..core.notebook import Document
    from ..notebook import Notebook

scope_option = click.option(
    "--of",
    "scope",
    metavar="SCOPE",
    help='Whose: "workspace", "agent", "project"; else the place\'s.',
)


@click.group()
def notebook() -> None:
    """Documents with a path, every version kept; people may edit them as files.

    \b
        nexus notebook write how-to/release.md < release.md
        nexus notebook read how-to/release.md
        nexus notebook sync notes/
    """


@notebook.command("list")
@scope_option
@json_option
@viewer_options
def list_(door: Door, *, scope: str | None, as_json: bool) -> None:
    """What there is.

    \b
        nexus notebook list --of workspace
    """
    with _notebook(door, scope) as pages:
        found = pages.list()
    _print(found, as_json=as_json)


@notebook.command()
@click.argument("path")
@click.option("--version", type=int, metavar="N", help="An earlier one.")
@scope_option
@json_option
@viewer_options
def read(door: Door, path: str, *, version: int | None, scope: str | None, as_json: bool) -> None:
    """Print a document.

    \b
        nexus notebook read how-to/release.md --version 2
    """
    with _notebook(door, scope) as pages:
        found = pages.read(path, version=version)
    if as_json:
        print_json(_shown(found))
    else:
        click.echo(visible(found.text), nl=False)


@notebook.command()
@click.argument("path")
@click.option("--expected", metavar="HASH", help="Only if the newest version has this hash.")
@scope_option
@json_option
@viewer_options
def write(door: Door, path: str, *, expected: str | None, scope: str | None, as_json: bool) -> None:
    """Write a new version, from standard input.

    \b
        nexus notebook write how-to/release.md < release.md
    """
    from ..notebook import ANY  # noqa: PLC0415

    text = standard_input().read()
    with _notebook(door, scope, create=True) as pages:
        written = pages.write(path, text, expected=ANY if expected is None else expected)
    _print([written], as_json=as_json)


@notebook.command()
@click.argument("path")
@scope_option
@json_option
@viewer_options
def delete(door: Door, path: str, *, scope: str | None, as_json: bool) -> None:
    """Take a document away; its history stays.

    \b
        nexus notebook delete how-to/release.md
    """
    with _notebook(door, scope) as pages:
        _print([pages.delete(path)], as_json=as_json)


@notebook.command()
@click.argument("path")
@scope_option
@json_option
@viewer_options
def history(door: Door, path: str, *, scope: str | None, as_json: bool) -> None:
    """Every version, oldest first.

    \b
        nexus notebook history how-to/release.md
    """
    with _notebook(door, scope) as pages:
        found = pages.history(path)
    _print(found, as_json=as_json)


@notebook.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@scope_option
@json_option
@viewer_options
def sync(door: Door, folder: Path, *, scope: str | None, as_json: bool) -> None:
    """Make the notebook and a folder the same, in both directions; nothing is lost.

    \b
        nexus notebook sync notes/
    """
    with _notebook(door, scope, create=True) as pages:
        did = pages.sync(folder)
    if as_json:
        print_json(asdict(did))
    else:
        named = {"to the folder": did.to_folder, "to the notebook": did.to_notebook}
        named |= {"deleted": did.deleted, "kept beside": did.conflicts}
        rows = [(what, path) for what, paths in named.items() for path in paths]
        print_table(
            ["", "path"], [*rows, *(("skipped", f"{p}: {w}") for p, w in did.skipped.items())]
        )
    message(f"{did.changed} changed, {len(did.conflicts)} conflicts, {len(did.skipped)} skipped")
    if did.conflicts or did.skipped:
        sys.exit(FOUND_NOTHING)


@contextmanager
def _notebook(door: Door, scope: str | None, *, create: bool = False) -> Iterator[Notebook]:
    with door.enter(create=create) as place:
        yield place.notebook(scope)


def _print(found: list[Document], *, as_json: bool) -> None:
    if as_json:
        for each in found:
            print_json(_shown(each))
    elif found:
        rows = [(d.path, d.version, d.hash[:12], d.by, f"{d.at:%Y-%m-%d %H:%M}") for d in found]
        print_table(["path", "version", "hash", "by", "when"], rows)
    if not found:
        message("no document here")
        sys.exit(FOUND_NOTHING)


def _shown(found: Document) -> dict[str, Any]:
    from ..core.canonical import time_text  # noqa: PLC0415

    return {**asdict(found), "at": time_text(found.at)}
