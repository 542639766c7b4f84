"""Output of commands: tables for a terminal, tab-separated lines or JSON for programs.

Memories may contain text of an attacker. Control characters, bidirectional overrides and other
invisible characters are printed as visible escapes, so that they cannot affect the terminal.
"""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import click

from ..core.canonical import format_time
from ..core.json_codec import memory_to_json
from ..core.records import Hit, Hits, Memory, MemoryKind
from ..core.strength import Strength
from . import EXIT_NEGATIVE

if TYPE_CHECKING:
    from ..core.access import VisibilityReason
    from ..core.records import Receipt
    from ..place.place import Place
    from ..runtime.progress import ProgressCallback


JOINERS = "\u200c\u200d"  # needed by Persian and by emoji; they hide nothing
LINE_CHARACTERS = "\n\t"
INVISIBLE_CATEGORIES = ("Cc", "Cf", "Cs", "Zl", "Zp")
ID_PATTERN = re.compile(r"[0-9a-f]{16,}")  # ids and hashes
Row = Sequence[object]


def escape_invisible(text: str) -> str:
    """Return the text with every invisible character as a visible escape."""
    return "".join(map(_escape_character, text))


def one_line(text: str, width: int | None = None) -> str:
    """Return the escaped text on one line, cut to `width` characters."""
    line = escape_invisible(" ".join(text.split()))
    return line if width is None or len(line) <= width else line[: width - 1] + "…"


def memory_line(memory: Memory) -> str:
    """Return the text of a memory on one line; an exact value (JSON) literally."""
    if memory.body.get("exact") is True:
        return escape_invisible(memory.text)
    return one_line(memory.text)


def _escape_character(character: str) -> str:
    if character in LINE_CHARACTERS or not _is_invisible(character):
        return character
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)  # Unicode's pictures of control characters
    return "\u2421" if code == 0x7F else f"<U+{code:04X}>"


def _is_invisible(character: str) -> bool:
    return unicodedata.category(character) in INVISIBLE_CATEGORIES and character not in JOINERS


def print_json(record: object) -> None:
    """Print one JSON object on one line."""
    click.echo(escape_json(json.dumps(record, ensure_ascii=False, default=str)))


def escape_json(text: str) -> str:
    """Return JSON with invisible characters as \\u escapes; the values stay the same."""
    return "".join(json.dumps(c)[1:-1] if _is_invisible(c) and c != "\n" else c for c in text)


def print_archive(text: str) -> None:
    """Print an archive unchanged in UTF-8; on a terminal with escaped invisible characters."""
    click.echo(escape_json(text) if is_terminal() else text.encode(), nl=False)


def print_message(text: str) -> None:
    """Print a message for the user on standard error."""
    click.echo(escape_invisible(text), err=True)


def exit_empty(place: object) -> NoReturn:
    """Print on standard error that a place contains no result, and exit with 1."""
    print_message(f"nothing found in {one_line(str(place))}")
    sys.exit(EXIT_NEGATIVE)


def is_terminal() -> bool:
    """Return whether standard output is a terminal."""
    return sys.stdout.isatty()


def print_table(columns: Sequence[str], rows: Sequence[Row], *, header: bool = False) -> None:
    """Print a table on a terminal, else tab-separated rows, with `header` also the column names.

    Nothing is cut: wide cells wrap, between words if all words fit. Ids are wrapped last, because
    users copy them.
    """
    cells = [[escape_invisible(str(cell)) for cell in row] for row in rows]
    if not is_terminal():
        _print_rows([columns, *cells] if header else cells)
        return
    from rich.console import Console  # slow to load
    from rich.table import Table  # loaded on first use
    from rich.text import Text  # loaded on first use

    console, table = Console(), Table(header_style="bold", show_header=any(columns))
    widths = column_widths([columns, *cells], console.width)
    for number, name in enumerate(columns):
        has_ids = any(ID_PATTERN.fullmatch(row[number]) for row in cells)
        width = widths[number] if widths else None
        table.add_column(Text(name), overflow="fold", no_wrap=has_ids and not widths, width=width)
    for row in cells:
        table.add_row(*map(Text, row))  # Text: brackets are not markup
    console.print(table)


def column_widths(rows: Sequence[Sequence[str]], max_width: int) -> list[int] | None:
    """Return column widths that break no word, or None if they do not fit."""
    from rich.cells import cell_len  # slow to load

    columns = list(zip(*rows, strict=True))
    widths = [max(cell_len(w) for cell in each for w in cell.split() or [""]) for each in columns]
    wanted = [max(cell_len(line) for cell in each for line in cell.split("\n")) for each in columns]
    room = max_width - sum(widths) - 3 * len(columns) - 1  # frame and padding
    while room > 0 and widths != wanted:
        missing = [wish - width for wish, width in zip(wanted, widths, strict=True)]
        widths[missing.index(max(missing))] += 1
        room -= 1
    return widths if room >= 0 else None


def _print_rows(cells: Sequence[Sequence[str]]) -> None:
    for row in cells:
        click.echo("\t".join(cell.replace("\t", " ").replace("\n", " ") for cell in row))


class TreeBranch(NamedTuple):
    """A line of a tree; `key` names the node that further branches are below."""

    parent: str
    key: str | None
    label: str


def print_tree(root: str, branches: Sequence[TreeBranch]) -> None:
    """Print a tree on a terminal, else one tab-separated row (depth, parent, label) per branch.

    A branch comes after the branch of its parent.
    """
    depths = {root: 0}
    if not is_terminal():
        for branch in branches:
            depth = depths.get(branch.parent, 0) + 1
            _print_rows([[str(depth), one_line(branch.parent), branch.label]])
            if branch.key is not None:
                depths[branch.key] = depth
        return
    from rich.console import Console  # slow to load
    from rich.text import Text  # loaded on first use
    from rich.tree import Tree  # loaded on first use

    tree = Tree(Text(one_line(root), style="bold"))
    nodes = {root: tree}
    for branch in branches:
        added = nodes.get(branch.parent, tree).add(Text(branch.label))
        if branch.key is not None:
            nodes[branch.key] = added
    Console().print(tree)


def print_record(record: dict[str, Any]) -> None:
    """Print names and values, one per line, without a frame and without cutting values."""
    rows = [
        (name.replace("_", " "), escape_invisible(str(value))) for name, value in record.items()
    ]
    if not is_terminal():
        _print_rows(rows)
        return
    width = max((len(name) for name, _ in rows), default=0)
    for name, value in rows:
        below = value.replace("\n", "\n" + " " * (width + 2))
        click.echo(f"{click.style(escape_invisible(name).ljust(width), bold=True)}  {below}")


@contextmanager
def progress_bar(label: str, *, is_bytes: bool = False) -> Iterator[ProgressCallback]:
    """Show a progress bar if standard error is a terminal; it counts items or bytes."""
    if not sys.stderr.isatty():
        from ..runtime.progress import ignore_progress  # loaded on first use

        yield ignore_progress
        return
    from rich.console import Console  # loaded on first use
    from rich.progress import (  # loaded on first use
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    label_column = TextColumn("{task.description}", markup=False)
    amount_column = DownloadColumn() if is_bytes else MofNCompleteColumn()
    columns = (label_column, BarColumn(), amount_column, TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(one_line(label), total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


MAX_TEXT_CHARACTERS = 200  # as in specification 002
MAX_PARTS = 4  # shown parts of a score
MAX_MAKER_CHARACTERS = 40  # of a prompt's name, version and hash


def print_hits(hits: Hits, *, as_json: bool, full: bool, explain: bool = False) -> None:
    """Print search hits as JSON, as a table or as lines."""
    if as_json:
        _print_json_hits(hits, explain=explain)
    elif is_terminal():
        _print_hit_tables(hits, full=full, explain=explain)
    else:
        _print_hit_lines(hits, full=full, explain=explain)
    if hits.empty_period:
        print_message(f"nothing was recorded {hits.empty_period}")
    if hits:
        print_message(f"{len(hits)} of {hits.total} in {hits.seconds * 1000:.1f} ms")


def _print_json_hits(hits: Hits, *, explain: bool) -> None:
    for hit in hits:
        print_json(hit_json(hit))
    if explain:
        strategies = [asdict(report) for report in hits.strategies]
        print_json({"strategies": strategies, "total": hits.total, "seconds": hits.seconds})


def _print_hit_tables(hits: Hits, *, full: bool, explain: bool) -> None:
    columns = ["", "score", "text", "from"]
    if explain:
        columns = ["", "score", "text", "found by", "largest parts", "sources"]
    rows: list[Row] = []
    for number, hit in enumerate(hits, start=1):
        last = _explanation_cells(hit) if explain else (_hit_origin(hit),)
        rows.append((number, f"{hit.score:.2f}", _hit_text(hit, full=full), *last))
    if rows:
        print_table(columns, rows)
    if explain:
        print_table(["strategy", "time", "found", "shown"], _strategy_rows(hits))


def _print_hit_lines(hits: Hits, *, full: bool, explain: bool) -> None:
    for number, hit in enumerate(hits, start=1):
        click.echo(f"{number}. [{hit.score:.2f}] {_hit_text(hit, full=full)}")
        click.echo(f"   {_hit_origin(hit)}")
        if explain:
            click.echo(f"   {' · '.join(_explanation_cells(hit))}")
    if explain:
        print_table(["strategy", "time", "found", "shown"], _strategy_rows(hits))


def _explanation_cells(hit: Hit) -> tuple[str, str, str]:
    """Return the ranks by strategy, the largest parts of the score, and the event keys."""
    sources = one_line(", ".join(hit.event_keys))
    explanation = hit.explanation
    if explanation is None:
        return "", "", sources
    found_by = ", ".join(f"{strategy} {rank}" for strategy, rank in explanation.found_by.items())
    largest = sorted(explanation.parts.items(), key=lambda part: -abs(part[1]))[:MAX_PARTS]
    parts = ", ".join(f"{signal} {amount:+.2g}" for signal, amount in largest if amount)
    return found_by or "neighbour of a hit", f"{parts} of {explanation.total:.3g}", sources


def _strategy_rows(hits: Hits) -> list[Row]:
    return [
        (report.name, f"{report.seconds * 1000:.2f} ms", report.found, report.shown)
        for report in hits.strategies
    ]


def hit_json(hit: Hit) -> dict[str, Any]:
    return {
        **memory_to_json(hit.memory),
        "score": hit.score,
        **({"relevance": hit.relevance} if hit.relevance is not None else {}),
        "highlights": hit.highlights,
        "reasons": hit.reasons,
        "event_keys": hit.event_keys,
        **({"validity": asdict(hit.validity)} if hit.validity else {}),
        **({"explanation": asdict(hit.explanation)} if hit.explanation else {}),
    }


def _hit_text(hit: Hit, *, full: bool) -> str:
    """Return the text; lines of a full text are indented, so that none looks like a hit."""
    return (
        escape_invisible(hit.text).replace("\n", "\n   ")
        if full
        else one_line(hit.text, MAX_TEXT_CHARACTERS)
    )


def _hit_origin(hit: Hit) -> str:
    memory = hit.memory
    at = format_time(memory.at)[:19] + "Z"
    mark = hit.validity.mark if hit.validity else None
    parts = (mark, str(memory.scope), memory.kind.value, memory.speaker, at, memory.id)
    return " · ".join(one_line(part) for part in parts if part)


def print_memory(
    memory: Memory, strength: Strength, reason: VisibilityReason | None, *, as_json: bool
) -> None:
    """Print a memory, how its strength is computed, and why the viewer can read it."""
    if as_json:
        details = {"why_visible": asdict(reason)} if reason else {}
        print_json({**memory_to_json(memory), "strength": asdict(strength), **details})
        return
    why = {"visible because": f"{reason.text} ({reason.rule})"} if reason else {}
    print_record(
        {**_memory_record(memory), **_reader_record(memory), **_strength_record(strength), **why}
    )


def _memory_record(memory: Memory) -> dict[str, Any]:
    return {
        "id": memory.id,
        "kind": memory.kind.value,
        "scope": str(memory.scope),
        "at": memory.at.isoformat(timespec="seconds"),
        "text": memory_line(memory),
    }


def _fact_meaning(memory: Memory) -> str:
    """Return the derived fields of a fact: "alice WORKS_AT Google"."""
    body = memory.body
    if memory.kind is not MemoryKind.FACT or body.get("exact"):
        return ""
    value = body.get("object") or body.get("value")
    denied = "not " if body.get("negated") else ""
    return f"{denied}{body['subject']} {body['predicate']} {value} ({body['tense']})"


def _landmark_meaning(memory: Memory) -> str:
    """Return the derived fields of a landmark: "action item of alice, due 2026-03-06"."""
    from ..core.canonical import parse_time  # loaded on first use
    from ..core.records.landmarks import last_due_day  # loaded on first use

    if memory.kind is not MemoryKind.LANDMARK:
        return ""
    body = memory.body
    owner = f" of {body['owner']}" if body.get("owner") else ""
    due = f", due {last_due_day(parse_time(body['due']))}" if body.get("due") else ""
    return f"{body['kind'].replace('_', ' ')}{owner}{due}"


def _validity(memory: Memory) -> str:
    """Return the period in which a fact holds, if its message or its caller named one."""
    if memory.kind is not MemoryKind.FACT:
        return ""
    since = f"from {memory.valid_from:%Y-%m-%d}" if memory.valid_from else ""
    until = f"until {memory.valid_to:%Y-%m-%d}" if memory.valid_to else ""
    return " ".join(filter(None, (since, until)))


def _reader_record(memory: Memory) -> dict[str, Any]:
    """Return who read the memory in which words: the rules, a plug-in, or a model and a prompt."""
    if not memory.learned:
        return {}
    makers = [maker[:MAX_MAKER_CHARACTERS] for maker in memory.metadata.get("made_by", ())]
    details = {
        "read by": one_line(", ".join(makers)),
        "rule": one_line(str(memory.metadata.get("rule") or "")),
        "means": one_line(_fact_meaning(memory) or _landmark_meaning(memory)),
        "holds": _validity(memory),
        "model": one_line(str(memory.metadata.get("model") or "")),
        "in the words": one_line(str(memory.metadata.get("words") or "")),
        "told by": one_line(str(memory.metadata.get("told_by") or "")),
        "confidence": f"{memory.confidence:.2f}",
    }
    return {name: value for name, value in details.items() if value}


def _strength_record(strength: Strength) -> dict[str, Any]:
    parts = " + ".join(f"{value:.2f} {name}" for name, value in strength.parts.items())
    return {
        "strength": f"{strength.value:.2f} ({strength.curve})",
        "importance": f"{strength.importance:.2f} = {parts}",
        "age": f"{strength.age_days:.1f} days since the last use or event",
        "confidence": f"{strength.confidence:.2f}",
        "uses": f"{strength.uses} in {strength.conversations} conversations",
        "tier": strength.tier.value,
        **({"promoted to": strength.promoted_to} if strength.promoted_to else {}),
        "archived": strength.archived,
        "pinned": strength.pinned,
    }


def print_receipt(place: Place, receipt: Receipt, *, as_json: bool) -> None:
    """Print the receipt first, then learn the event; warn if learning is stuck."""
    (print_json if as_json else print_record)(receipt_json(receipt))
    place.flush()
    error = place.progress(receipt).error
    if error:
        print_message(f"warning: stored; a step of learning failed and is retried: {error}")


def receipt_json(receipt: Receipt) -> dict[str, Any]:
    return {
        "event": receipt.event_id,
        "key": receipt.key,
        "workspace": receipt.workspace.value,
        "scope": str(receipt.scope),
        "duplicate": receipt.duplicate,
        "stage": receipt.stage.value,
    }
