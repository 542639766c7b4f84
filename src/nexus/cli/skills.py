"""`nexus skills export`: files that teach an agent with a shell to use the memory."""

from __future__ import annotations

from pathlib import Path

import click

from .options import Door, json_option, viewer_options
from .output import message, print_json, print_table

NAMED = ("workspace", "room", "session", "user", "agent", "project")


@click.group()
def skills() -> None:
    """Files that teach an agent with a shell to use the memory.

    \b
        nexus skills export .agent/skills/nexus-memory --room design --agent scribe
    """


@skills.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@json_option
@viewer_options
def export(door: Door, folder: Path, *, as_json: bool) -> None:
    """Write schema, query patterns and scripts for the place named by the options.

    \b
        nexus skills export .agent/skills/nexus-memory --room design --agent scribe
    """
    from ..transfer.skills import export as write  # noqa: PLC0415

    written = [str(path) for path in write(folder, _words(door))]
    if as_json:
        print_json({"files": written})
    else:
        print_table(["file"], [(path,) for path in written])
    message(f"{len(written)} files; an agent that may run them sees what this place may see")


def _words(door: Door) -> list[str]:
    """The viewer again, as options. A store may hold a password: the environment names it."""
    words = [f"--{name}={value}" for name in NAMED if (value := getattr(door, name))]
    words += ["--dm"] if door.dm else []
    return [*words, *(f"--participant={name}" for name in door.participants)]
