"""`nexus observe` and `nexus remember`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from .options import Door, given_text, json_option, scope_option, time, viewer_options
from .output import message, print_json, print_record

if TYPE_CHECKING:
    from ..core.records import Receipt
    from ..place import Place

key_option = click.option("--key", help="Your id of this message: telling it twice is once.")
at_option = click.option("--at", type=time, help="When it was said, if not now.")


@click.command()
@click.argument("speaker")
@click.argument("text")
@click.option("--role", help="user, assistant, tool or system; told by the speaker if not said.")
@click.option("--thread", metavar="NAME", help="The thread it belongs to.")
@key_option
@at_option
@json_option
@viewer_options
def observe(door: Door, speaker: str, text: str, *, as_json: bool, **told: Any) -> None:
    """Write down what somebody said. TEXT "-" is standard input.

    \b
        nexus observe alice "We decided to use PostgreSQL." --room design --key msg-17
    """
    with door.enter(create=True) as place:
        _acknowledge(place, place.observe(speaker, given_text(text), **told), as_json=as_json)


@click.command()
@click.argument("text")
@scope_option
@key_option
@at_option
@json_option
@viewer_options
def remember(door: Door, text: str, scope: str | None, *, as_json: bool, **told: Any) -> None:
    """Keep exactly this. TEXT "-" is standard input.

    \b
        nexus remember "The staging server is called heron." --scope global
    """
    with door.enter(scope, create=True) as place:
        receipt = place.remember(given_text(text), scope=scope, **told)
        _acknowledge(place, receipt, as_json=as_json)


def _acknowledge(place: Place, receipt: Receipt, *, as_json: bool) -> None:
    """What is on disk is said at once; learning from it comes after."""
    (print_json if as_json else print_record)(
        {
            "event": receipt.event_id,
            "key": receipt.key,
            "workspace": receipt.workspace.value,
            "scope": str(receipt.scope),
            "repeated": receipt.repeated,
            "stage": receipt.stage.value,
        }
    )
    place.flush()
    stuck = place.progress(receipt).stuck
    if stuck:
        message(f"warning: kept, and found by its words; the rest waits: {stuck}")
