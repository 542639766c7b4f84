"""`nexus remember`: store a note."""

from __future__ import annotations

from typing import Any

import click

from .options import (
    CommandTarget,
    at_option,
    confidential_option,
    json_option,
    key_option,
    make_scope_option,
    text_or_stdin,
    viewer_options,
)
from .output import print_receipt


@click.command()
@click.argument("text")
@make_scope_option("Where to store the note; default: this place")
@key_option
@at_option
@confidential_option
@json_option
@viewer_options
def remember(
    target: CommandTarget, text: str, scope: str | None, *, as_json: bool, **options: Any
) -> None:
    """Store a note, word for word. TEXT "-" is standard input.

    \b
        nexus remember "The staging server is called heron." --scope workspace
    """
    with target.open_place(scope, create=True) as place:
        receipt = place.remember(text_or_stdin(text), scope=scope, **options)
        print_receipt(place, receipt, as_json=as_json)
