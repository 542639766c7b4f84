"""`nexus observe`: record a message."""

from __future__ import annotations

from typing import Any

import click

from .options import (
    CommandTarget,
    at_option,
    confidential_option,
    json_option,
    key_option,
    text_or_stdin,
    viewer_options,
)
from .output import print_receipt


@click.command()
@click.argument("speaker")
@click.argument("text")
@click.option("--role", help="user, assistant, tool or system; default: by the speaker's name.")
@click.option("--thread", metavar="NAME", help="The thread of the message.")
@key_option
@at_option
@confidential_option
@json_option
@viewer_options
def observe(
    target: CommandTarget, speaker: str, text: str, *, as_json: bool, **options: Any
) -> None:
    """Record a message. TEXT "-" is standard input.

    \b
        nexus observe alice "We decided to use PostgreSQL." --room design --key msg-17
    """
    with target.open_place(create=True) as place:
        receipt = place.observe(speaker, text_or_stdin(text), **options)
        print_receipt(place, receipt, as_json=as_json)
