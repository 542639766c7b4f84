"""`nexus skills`: export files that teach an agent to use Nexus."""

from __future__ import annotations

from pathlib import Path

import click

from .options import CommandTarget, json_option, viewer_options
from .output import print_json, print_message, print_table

VIEWER_FIELDS = ("workspace", "room", "session", "user", "agent", "project")


@click.group()
def skills() -> None:
    """Export files that teach an agent to use Nexus.

    \b
        nexus skills export .agent/skills/nexus-memory --room design --agent scribe
    """


@skills.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@json_option
@viewer_options
def export(target: CommandTarget, folder: Path, *, as_json: bool) -> None:
    """Write the schema, example queries and scripts for one place.

    \b
        nexus skills export .agent/skills/nexus-memory --room design --agent scribe
    """
    from ..transfer.skills import export_skills  # loaded on first use

    written = [str(path) for path in export_skills(folder, _viewer_arguments(target))]
    if as_json:
        print_json({"files": written})
    else:
        print_table(["file"], [(path,) for path in written])
    print_message(
        f"{len(written)} files; an agent that runs them can read what this place can read"
    )


def _viewer_arguments(target: CommandTarget) -> list[str]:
    """Return the viewer as options, without the store: its URL may contain a password."""
    options = [f"--{name}={value}" for name in VIEWER_FIELDS if (value := getattr(target, name))]
    options += ["--dm"] if target.dm else []
    return [*options, *(f"--participant={name}" for name in target.participants)]
