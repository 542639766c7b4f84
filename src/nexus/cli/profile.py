"""`nexus profile` and `nexus patterns`: who somebody is, and what they usually do."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from .lazy import FOUND_NOTHING
from .options import HERE, Door, json_option, viewer_options, workspace_options
from .output import for_person, one_line, print_json, print_record, print_table, visible

if TYPE_CHECKING:
    from ..recall.profile import Entry, Profile, Style

PARTS = ("about", "preferences", "expertise", "patterns")
Line = tuple[str, str, float | None]  # part, text, confidence


@click.command()
@click.argument("person")
@json_option
@viewer_options
def profile(door: Door, person: str, *, as_json: bool) -> None:
    """Show what is known of a person. From here, what holds now, and how sure that is.

    \b
        nexus profile alice --room design --participant alice
        nexus profile alice --dm --user alice --json
    """
    with door.enter() as place:
        found = place.profile(person)
    if as_json:
        print_json(_record(found))
    elif for_person():
        _print_panel(found)
    else:
        print_table(["part", "text", "confidence"], [_cells(line) for line in _lines(found)])
    sys.exit(FOUND_NOTHING if found.empty else 0)


@click.command()
@json_option
@workspace_options
def patterns(door: Door, *, as_json: bool) -> None:
    """Work out people's habits again: usual hours, channel, frequency.

    \b
        nexus patterns --workspace acme

    Each place has its own, read from what was said there. They take the place of the ones before.
    """
    with door.open() as nexus:
        changed = nexus.workspace(door.workspace or HERE).learn_patterns()
    (print_json if as_json else print_record)({"new_or_different": changed})


def _lines(found: Profile) -> Iterator[Line]:
    for part in PARTS:
        for entry in getattr(found, part):
            times = f" (said {entry.said} times)" if entry.said > 1 else ""
            yield part, one_line(entry.text) + times, entry.confidence
    for trait in found.style.traits:
        yield "style", trait, None
    for entry in found.style.stated:
        yield "style, as stated", one_line(entry.text), entry.confidence


def _cells(line: Line) -> tuple[str, str, str]:
    part, text, confidence = line
    return part, text, "" if confidence is None else f"{confidence:.2f}"


def _print_panel(found: Profile) -> None:
    from rich.console import Console  # noqa: PLC0415  # slow, and only for people
    from rich.panel import Panel  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    lines: list[Text] = []
    for part, group in groupby(_lines(found), key=lambda line: line[0]):
        lines.append(Text(part, style="bold"))
        for line in group:
            _, text, confidence = _cells(line)
            lines.append(Text.assemble(f"  {text}  ", (confidence, "dim")))
    others = ", ".join(map(visible, found.aliases))
    Console().print(
        Panel(
            Text("\n").join(lines or [Text("nothing is known here")]),
            title=Text(visible(found.person)),
            subtitle=Text(f"also known as {others}") if others else None,
        )
    )


def _record(found: Profile) -> dict[str, Any]:
    return {
        "person": found.person,
        "aliases": list(found.aliases),
        **{part: [_entry(entry) for entry in getattr(found, part)] for part in PARTS},
        "style": _style(found.style),
    }


def _entry(entry: Entry) -> dict[str, Any]:
    return {
        "text": entry.text,
        "since": entry.since.isoformat(),
        "confidence": entry.confidence,
        "said": entry.said,
        "memory": entry.memory.id,
        "sources": list(entry.sources),
    }


def _style(style: Style) -> dict[str, Any]:
    return {
        "messages": style.messages,
        "words": style.words,
        "questions": style.questions,
        "emoji": style.emoji,
        "polite": style.polite,
        "informal": style.informal,
        "traits": list(style.traits),
        "stated": [_entry(entry) for entry in style.stated],
    }
