"""`nexus share`: share a memory with more people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .options import DEFAULT_NAME, CommandTarget, json_option, name_place, viewer_options
from .output import print_json, print_record

if TYPE_CHECKING:
    from ..place.place import Place
    from ..workspace import Workspace

ROOM_PREFIX = "room:"


@click.command()
@click.argument("memory", metavar="MEMORY")
@click.option(
    "--to", metavar="SCOPE", required=True, help="user, project, workspace, or room:NAME."
)
@click.option("--key", help="Idempotency key of the copy.")
@json_option
@viewer_options
def share(target: CommandTarget, memory: str, to: str, key: str | None, *, as_json: bool) -> None:
    """Share a memory with more people. MEMORY is its id.

    Readers see the text and who shared it, not its source. When the memory is forgotten, the copy
    is erased, too. Sharing twice has no effect.

    \b
        nexus share 3f2a… --dm --user alice --to room:design
        nexus share 3f2a… --room design --project apollo --to project
    """
    with target.open_nexus() as nexus:
        workspace = nexus.workspace(target.workspace or DEFAULT_NAME)
        place = target.resolve_place(workspace)
        recipient = _resolve_recipient(target, workspace, to)
        with name_place(place):
            receipt = place.share(memory, to=recipient, key=key)
        (print_json if as_json else print_record)(
            {
                "event": receipt.event_id,
                "key": receipt.key,
                "scope": str(receipt.scope),
                "duplicate": receipt.duplicate,
            }
        )
        workspace.flush()


def _resolve_recipient(target: CommandTarget, workspace: Workspace, to: str) -> str | Place:
    """Return the scope, or the room with the user as a participant."""
    name = to.removeprefix(ROOM_PREFIX)
    if name in (to, target.room):
        return to
    people = [target.user, *target.participants]
    return workspace.room(name, agent=target.agent, participants=people, project=target.project)
