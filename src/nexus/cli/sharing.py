"""`nexus share`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .options import HERE, Door, json_option, viewer_options
from .output import print_json, print_record

if TYPE_CHECKING:
    from ..place import Place
    from ..workspace import Workspace

ROOM = "room:"


@click.command()
@click.argument("memory", metavar="MEMORY")
@click.option("--to", metavar="SCOPE", required=True, help="user, project, global, or room:NAME.")
@click.option("--key", help="Your id of the copy: sharing it twice is once in any case.")
@json_option
@viewer_options
def share(door: Door, memory: str, to: str, key: str | None, *, as_json: bool) -> None:
    """Let more people read a memory, in your name. MEMORY is its id.

    They see its text and who shared it, and not where it comes from. When it is forgotten, so is
    what was shared.

    \b
        nexus share 3f2a… --dm --user alice --to room:design
        nexus share 3f2a… --room design --project apollo --to project
    """
    with door.open() as nexus:
        workspace = nexus.workspace(door.workspace or HERE)
        place = door.place(workspace)
        receipt = place.share(memory, to=_target(door, workspace, to), key=key)
        (print_json if as_json else print_record)(
            {
                "event": receipt.event_id,
                "key": receipt.key,
                "scope": str(receipt.scope),
                "repeated": receipt.repeated,
            }
        )
        workspace.flush()


def _target(door: Door, workspace: Workspace, to: str) -> str | Place:
    """A room the user is in: whoever types here says so, as for every place."""
    name = to.removeprefix(ROOM)
    if name in (to, door.room):
        return to
    people = [door.user, *door.participants]
    return workspace.room(name, agent=door.agent, participants=people, project=door.project)
