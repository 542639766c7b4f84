"""`nexus notebook`: versioned documents, synchronized with a folder."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import EXIT_NEGATIVE
from .options import CommandTarget, json_option, make_scope_option, open_stdin, viewer_options
from .output import escape_invisible, print_json, print_message, print_table

if TYPE_CHECKING:
    from ..core.records.notebook import Document
    from ..place.notebook import Notebook

notebook_option = make_scope_option("The notebook of this scope; default: this place")


@click.group()
def notebook() -> None:
    """Versioned documents, synchronized with a folder.

    \b
        nexus notebook write how-to/release.md < release.md
        nexus notebook read how-to/release.md
        nexus notebook sync notes/
    """


@notebook.command("list")
@notebook_option
@json_option
@viewer_options
def list_(target: CommandTarget, *, scope: str | None, as_json: bool) -> None:
    """List the documents.

    \b
        nexus notebook list --scope workspace
    """
    with _open_notebook(target, scope) as documents:
        found = documents.list()
    _print_documents(found, as_json=as_json)


@notebook.command()
@click.argument("path")
@click.option("--version", type=int, metavar="N", help="An earlier version.")
@notebook_option
@json_option
@viewer_options
def read(
    target: CommandTarget, path: str, *, version: int | None, scope: str | None, as_json: bool
) -> None:
    """Print a document.

    \b
        nexus notebook read how-to/release.md --version 2
    """
    with _open_notebook(target, scope) as documents:
        found = documents.read(path, version=version)
    if as_json:
        print_json(_document_json(found))
    else:
        click.echo(escape_invisible(found.text), nl=False)


@notebook.command()
@click.argument("path")
@click.option("--if-hash", metavar="HASH", help="Only if the newest version has this hash.")
@notebook_option
@json_option
@viewer_options
def write(
    target: CommandTarget, path: str, *, if_hash: str | None, scope: str | None, as_json: bool
) -> None:
    """Write a new version, from standard input.

    \b
        nexus notebook write how-to/release.md < release.md
    """
    from ..place.notebook import ANY_VERSION  # loaded on first use

    text = open_stdin().read()
    with _open_notebook(target, scope, create=True) as documents:
        written = documents.write(path, text, expected=ANY_VERSION if if_hash is None else if_hash)
    _print_documents([written], as_json=as_json)


@notebook.command()
@click.argument("path")
@notebook_option
@json_option
@viewer_options
def delete(target: CommandTarget, path: str, *, scope: str | None, as_json: bool) -> None:
    """Delete a document; its earlier versions stay in the history.

    \b
        nexus notebook delete how-to/release.md
    """
    with _open_notebook(target, scope) as documents:
        _print_documents([documents.delete(path)], as_json=as_json)


@notebook.command()
@click.argument("path")
@notebook_option
@json_option
@viewer_options
def history(target: CommandTarget, path: str, *, scope: str | None, as_json: bool) -> None:
    """List every version of a document, oldest first.

    \b
        nexus notebook history how-to/release.md
    """
    with _open_notebook(target, scope) as documents:
        found = documents.history(path)
    _print_documents(found, as_json=as_json)


@notebook.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@notebook_option
@json_option
@viewer_options
def sync(target: CommandTarget, folder: Path, *, scope: str | None, as_json: bool) -> None:
    """Synchronize the notebook with a folder, in both directions.

    If both sides changed a document, the folder keeps both versions as two files.

    \b
        nexus notebook sync notes/
    """
    with _open_notebook(target, scope, create=True) as documents:
        did = documents.sync(folder)
    if as_json:
        print_json(asdict(did))
    else:
        named = {"to the folder": did.to_folder, "to the notebook": did.to_notebook}
        named |= {"deleted": did.deleted, "conflict": did.conflicts}
        rows = [(what, path) for what, paths in named.items() for path in paths]
        print_table(
            ["", "path"], [*rows, *(("skipped", f"{p}: {w}") for p, w in did.skipped.items())]
        )
    print_message(
        f"{did.change_count} changed, {len(did.conflicts)} conflicts, {len(did.skipped)} skipped"
    )
    if did.conflicts or did.skipped:
        sys.exit(EXIT_NEGATIVE)


@contextmanager
def _open_notebook(
    target: CommandTarget, scope: str | None, *, create: bool = False
) -> Iterator[Notebook]:
    with target.open_place(create=create) as place:
        yield place.notebook if scope is None else place.notebook.in_scope(scope)


def _print_documents(documents: list[Document], *, as_json: bool) -> None:
    if as_json:
        for each in documents:
            print_json(_document_json(each))
    elif documents:
        rows = [(d.path, d.version, d.hash[:12], d.by, f"{d.at:%Y-%m-%d %H:%M}") for d in documents]
        print_table(["path", "version", "hash", "by", "when"], rows)
    if not documents:
        print_message("no documents")
        sys.exit(EXIT_NEGATIVE)


def _document_json(found: Document) -> dict[str, Any]:
    from ..core.canonical import format_time  # loaded on first use

    return {**asdict(found), "at": format_time(found.at)}
