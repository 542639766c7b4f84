"""`nexus profile`: a person's profile, and the habits of people."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from .options import DEFAULT_NAME, CommandTarget, json_option, viewer_options, workspace_options
from .output import (
    escape_invisible,
    exit_empty,
    is_terminal,
    memory_line,
    print_json,
    print_record,
    print_table,
)

if TYPE_CHECKING:
    from ..recall.views.profile import Profile, ProfileEntry, WritingStyle

SECTIONS = ("about", "preferences", "expertise", "patterns")
Line = tuple[str, str, float | None]  # part, text, confidence


@click.group()
def profile() -> None:
    """Show a person's profile; refresh habits.

    \b
        nexus profile show alice --room design --participant alice
        nexus profile refresh --workspace acme
    """


@profile.command()
@click.argument("person")
@json_option
@viewer_options
def show(target: CommandTarget, person: str, *, as_json: bool) -> None:
    """Show current facts, preferences, expertise and habits of a person, with confidences.

    \b
        nexus profile show alice --room design --participant alice
        nexus profile show alice --dm --user alice --json
    """
    with target.open_place() as place:
        found, home = place.profile(person), place.scope(None)
    if as_json:
        print_json(_profile_json(found))
    if found.is_empty:
        exit_empty(home)
    if as_json:
        return
    if is_terminal():
        _print_panel(found)
    else:
        print_table(
            ["part", "text", "confidence"], [_line_cells(line) for line in _profile_lines(found)]
        )


@profile.command()
@json_option
@workspace_options
def refresh(target: CommandTarget, *, as_json: bool) -> None:
    """Derive people's habits again: usual hours, room, frequency.

    \b
        nexus profile refresh --workspace acme

    Each place has its own habits, derived from its messages. They replace the earlier ones.
    """
    with target.open_nexus() as nexus:
        changed = nexus.workspace(target.workspace or DEFAULT_NAME).refresh_habits()
    (print_json if as_json else print_record)({"changed": changed})


def _profile_lines(found: Profile) -> Iterator[Line]:
    for part in SECTIONS:
        for entry in getattr(found, part):
            times = f" (mentioned {entry.mention_count} times)" if entry.mention_count > 1 else ""
            yield part, memory_line(entry.memory) + times, entry.confidence
    for trait in found.style.traits:
        yield "style", trait, None
    for entry in found.style.stated:
        yield "style, as stated", memory_line(entry.memory), entry.confidence


def _line_cells(line: Line) -> tuple[str, str, str]:
    part, text, confidence = line
    return part, text, "" if confidence is None else f"{confidence:.2f}"


def _print_panel(found: Profile) -> None:
    from rich.console import Console  # slow to load
    from rich.panel import Panel  # slow to load
    from rich.text import Text  # slow to load

    lines: list[Text] = []
    for part, group in groupby(_profile_lines(found), key=lambda line: line[0]):
        lines.append(Text(part, style="bold"))
        for line in group:
            _, text, confidence = _line_cells(line)
            lines.append(Text.assemble(f"  {text}  ", (confidence, "dim")))
    others = ", ".join(map(escape_invisible, found.aliases))
    Console().print(
        Panel(
            Text("\n").join(lines),
            title=Text(escape_invisible(found.person)),
            subtitle=Text(f"also called {others}") if others else None,
        )
    )


def _profile_json(found: Profile) -> dict[str, Any]:
    return {
        "person": found.person,
        "aliases": list(found.aliases),
        **{part: [_entry_json(entry) for entry in getattr(found, part)] for part in SECTIONS},
        "style": _style_json(found.style),
    }


def _entry_json(entry: ProfileEntry) -> dict[str, Any]:
    return {
        "text": entry.text,
        "since": entry.since.isoformat(),
        "confidence": entry.confidence,
        "mentions": entry.mention_count,
        "memory": entry.memory.id,
        "sources": list(entry.sources),
    }


def _style_json(style: WritingStyle) -> dict[str, Any]:
    return {
        "messages": style.messages,
        "words": style.words,
        "questions": style.questions,
        "emoji": style.emoji,
        "polite": style.polite,
        "informal": style.informal,
        "traits": list(style.traits),
        "stated": [_entry_json(entry) for entry in style.stated],
    }
