"""Showing what a search found."""

from __future__ import annotations

from typing import Any

import click

from ..core.canonical import time_text
from ..core.codec import memory_json
from ..core.records import Found, Hit
from .output import for_person, message, one_line, print_json, print_table, visible

SHOWN = 200  # characters of a text, as in seed 002


def print_hits(found: Found, *, as_json: bool, full: bool) -> None:
    if as_json:
        for hit in found:
            print_json(hit_json(hit))
    elif for_person():
        rows = [(f"{hit.score:.2f}", _text(hit, full=full), _origin(hit)) for hit in found]
        if rows:
            print_table(["score", "text", "from"], rows)
    else:
        for number, hit in enumerate(found, start=1):
            click.echo(f"{number}. [{hit.score:.2f}] {_text(hit, full=full)}")
            click.echo(f"   {_origin(hit)}")
    message(f"{len(found)} of {found.total} in {found.seconds * 1000:.1f} ms")


def hit_json(hit: Hit) -> dict[str, Any]:
    return {
        **memory_json(hit.memory),
        "score": hit.score,
        "highlights": hit.highlights,
        "reasons": hit.reasons,
        "event_keys": hit.event_keys,
    }


def _text(hit: Hit, *, full: bool) -> str:
    """A whole text keeps its lines, indented so that none can pose as another hit."""
    return visible(hit.text).replace("\n", "\n   ") if full else one_line(hit.text, SHOWN)


def _origin(hit: Hit) -> str:
    memory = hit.memory
    at = time_text(memory.at)[:19] + "Z"
    told = (str(memory.scope), memory.kind.value, memory.speaker, at, memory.id)
    return " · ".join(one_line(part) for part in told if part)
