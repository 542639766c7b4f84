"""What a person or a program reads: tables for a terminal, stable lines for everything else.

Memories hold what anybody wrote, so nothing of them reaches a terminal unchecked: characters
that move the cursor, colour the screen or turn the line around are shown, not obeyed.
"""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from ..core.report import Report

JOINERS = "\u200c\u200d"  # Persian needs one, emoji the other; neither hides anything
LINES = "\n\t"
INVISIBLE = ("Cc", "Cf", "Cs", "Zl", "Zp")
COPIED = re.compile(r"[0-9a-f]{16,}")  # ids and hashes
Row = Sequence[object]


def visible(text: str) -> str:
    """The text with every control, bidi and other invisible character spelt out."""
    return "".join(map(_visible, text))


def one_line(text: str, width: int | None = None) -> str:
    """The same on one line, and cut if it is longer than `width`."""
    line = visible(" ".join(text.split()))
    return line if width is None or len(line) <= width else line[: width - 1] + "…"


def _visible(character: str) -> str:
    if character in LINES or not _hidden(character):
        return character
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)  # Unicode's pictures of control characters
    return "\u2421" if code == 0x7F else f"<U+{code:04X}>"


def _hidden(character: str) -> bool:
    return unicodedata.category(character) in INVISIBLE and character not in JOINERS


def print_json(record: object) -> None:
    """One object on one line."""
    click.echo(safe_json(json.dumps(record, ensure_ascii=False, default=str)))


def safe_json(text: str) -> str:
    """JSON whose invisible characters are escaped, which changes no value."""
    return "".join(json.dumps(c)[1:-1] if _hidden(c) and c != "\n" else c for c in text)


def print_archive(text: str) -> None:
    """An archive byte for byte in UTF-8; on a terminal the same JSON, made safe to look at."""
    click.echo(safe_json(text) if for_person() else text.encode(), nl=False)


def message(text: str) -> None:
    """For the person, beside the result."""
    click.echo(visible(text), err=True)


def for_person() -> bool:
    return sys.stdout.isatty()


def print_table(columns: Sequence[str], rows: Sequence[Row]) -> None:
    """A table for a person; for a program, one row a line with tabs between.

    Nothing is cut: what is too wide goes on below, between two words where there is room for
    every word, and last of all an id, which somebody copies.
    """
    cells = [[visible(str(cell)) for cell in row] for row in rows]
    if not for_person():
        _print_rows(cells)
        return
    from rich.console import Console  # noqa: PLC0415  # slow, and only for people
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    console, table = Console(), Table(header_style="bold", show_header=any(columns))
    widths = column_widths([columns, *cells], console.width)
    for place, name in enumerate(columns):
        whole = any(COPIED.fullmatch(row[place]) for row in cells)
        width = widths[place] if widths else None
        table.add_column(Text(name), overflow="fold", no_wrap=whole and not widths, width=width)
    for row in cells:
        table.add_row(*map(Text, row))  # as Text, [brackets] are text and not markup
    console.print(table)


def column_widths(rows: Sequence[Sequence[str]], most: int) -> list[int] | None:
    """How wide columns are in which no word is broken; None, if there is no room for that."""
    from rich.cells import cell_len  # noqa: PLC0415  # slow, and only for people

    columns = list(zip(*rows, strict=True))
    widths = [max(cell_len(w) for cell in each for w in cell.split() or [""]) for each in columns]
    wanted = [max(cell_len(line) for cell in each for line in cell.split("\n")) for each in columns]
    room = most - sum(widths) - 3 * len(columns) - 1  # a frame, and a space on both sides
    while room > 0 and widths != wanted:
        missing = [wish - width for wish, width in zip(wanted, widths, strict=True)]
        widths[missing.index(max(missing))] += 1
        room -= 1
    return widths if room >= 0 else None


def _print_rows(cells: Sequence[Sequence[str]]) -> None:
    for row in cells:
        click.echo("\t".join(cell.replace("\t", " ").replace("\n", " ") for cell in row))


def print_record(record: dict[str, Any]) -> None:
    """Names and values, one below the other; a value is never cut, and no frame is in it."""
    rows = [(name.replace("_", " "), visible(str(value))) for name, value in record.items()]
    if not for_person():
        _print_rows(rows)
        return
    width = max((len(name) for name, _ in rows), default=0)
    for name, value in rows:
        below = value.replace("\n", "\n" + " " * (width + 2))
        click.echo(f"{click.style(visible(name).ljust(width), bold=True)}  {below}")


@contextmanager
def progress(label: str) -> Iterator[Report]:
    """A bar on a terminal; nothing where nobody looks."""
    if not sys.stderr.isatty():
        from ..core.report import silent  # noqa: PLC0415

        yield silent
        return
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    told, left = TextColumn("{task.description}", markup=False), TimeRemainingColumn()
    columns = (told, BarColumn(), MofNCompleteColumn(), left)
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(one_line(label), total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
