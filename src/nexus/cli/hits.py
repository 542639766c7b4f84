"""Showing what a search found."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from ..core.canonical import time_text
from ..core.codec import memory_json
from ..core.records import Found, Hit
from .output import Row, for_person, message, one_line, print_json, print_table, visible

SHOWN = 200  # characters of a text, as in seed 002
MOST_PARTS = 4  # of a sum


def print_hits(found: Found, *, as_json: bool, full: bool, explain: bool = False) -> None:
    if as_json:
        _print_objects(found, explain=explain)
    elif for_person():
        _print_tables(found, full=full, explain=explain)
    else:
        _print_lines(found, full=full, explain=explain)
    message(f"{len(found)} of {found.total} in {found.seconds * 1000:.1f} ms")


def _print_objects(found: Found, *, explain: bool) -> None:
    for hit in found:
        print_json(hit_json(hit))
    if explain:
        strategies = [asdict(report) for report in found.strategies]
        print_json({"strategies": strategies, "total": found.total, "seconds": found.seconds})


def _print_tables(found: Found, *, full: bool, explain: bool) -> None:
    columns = ["", "score", "text", "from"]
    if explain:
        columns = ["", "score", "text", "found by", "largest parts", "sources"]
    rows: list[Row] = []
    for number, hit in enumerate(found, start=1):
        last = _why(hit) if explain else (_origin(hit),)
        rows.append((number, f"{hit.score:.2f}", _text(hit, full=full), *last))
    if rows:
        print_table(columns, rows)
    if explain:
        print_table(["strategy", "time", "found", "shown"], _reports(found))


def _print_lines(found: Found, *, full: bool, explain: bool) -> None:
    for number, hit in enumerate(found, start=1):
        click.echo(f"{number}. [{hit.score:.2f}] {_text(hit, full=full)}")
        click.echo(f"   {_origin(hit)}")
        if explain:
            click.echo(f"   {' · '.join(_why(hit))}")
    if explain:
        print_table(["strategy", "time", "found", "shown"], _reports(found))


def _why(hit: Hit) -> tuple[str, str, str]:
    """Where each strategy had it, what weighed most, and the keys of what it rests on."""
    sources = one_line(", ".join(hit.event_keys))
    told = hit.explanation
    if told is None:
        return "", "", sources
    found_by = ", ".join(f"{strategy} {place}" for strategy, place in told.found_by.items())
    largest = sorted(told.parts.items(), key=lambda part: -abs(part[1]))[:MOST_PARTS]
    parts = ", ".join(f"{signal} {amount:+.2g}" for signal, amount in largest if amount)
    return found_by or "stands beside a find", f"{parts} of {told.total:.3g}", sources


def _reports(found: Found) -> list[Row]:
    return [
        (report.name, f"{report.seconds * 1000:.2f} ms", report.found, report.shown)
        for report in found.strategies
    ]


def hit_json(hit: Hit) -> dict[str, Any]:
    return {
        **memory_json(hit.memory),
        "score": hit.score,
        "highlights": hit.highlights,
        "reasons": hit.reasons,
        "event_keys": hit.event_keys,
        **({"explanation": asdict(hit.explanation)} if hit.explanation else {}),
    }


def _text(hit: Hit, *, full: bool) -> str:
    """A whole text keeps its lines, indented so that none can pose as another hit."""
    return visible(hit.text).replace("\n", "\n   ") if full else one_line(hit.text, SHOWN)


def _origin(hit: Hit) -> str:
    memory = hit.memory
    at = time_text(memory.at)[:19] + "Z"
    told = (str(memory.scope), memory.kind.value, memory.speaker, at, memory.id)
    return " · ".join(one_line(part) for part in told if part)
