"""`nexus layers`: what lies in each layer of a place."""

from __future__ import annotations

import sys
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from ..compose.layers import LAYERS
from ..core.canonical import format_time
from . import EXIT_NEGATIVE
from .options import CommandTarget, json_option, viewer_options
from .output import one_line, print_json, print_table

if TYPE_CHECKING:
    from ..compose.layers import Layer, LayerItem

EXAMPLES = 3  # of each layer in the overview
MAX_TEXT_CHARACTERS = 100


@click.command()
@click.argument("name", required=False, type=click.Choice(tuple(LAYERS)))
@click.option(
    "--examples",
    type=int,
    metavar="N",
    help=f"Number of examples; {EXAMPLES} of each layer, or 20 of one layer by default.",
)
@json_option
@viewer_options
def layers(target: CommandTarget, *, name: str | None, examples: int | None, as_json: bool) -> None:
    """Show what lies in each layer: contexts to documents.

    \b
        nexus layers --room design
        nexus layers L3 --room design --examples 50
        nexus layers --json

    L0 is what the last context showed, L1 the window, L2 and L3 the memories of tier short and
    long, L4 the documents.
    """
    number = examples or (20 if name else EXAMPLES)
    with target.open_place() as place:
        found = [place.layer(each, examples=number) for each in ([name] if name else LAYERS)]
    if as_json:
        for layer in found:
            print_json(_layer_json(layer))
    else:
        print_table(["layer", "items", "oldest", "newest"], [*map(_layer_row, found)], header=True)
        shown = [(layer.name, *_item_row(item)) for layer in found for item in layer.examples]
        if shown:
            click.echo()
            print_table(["layer", "at", "kind", "example"], shown, header=True)
    if not any(layer.count for layer in found):
        sys.exit(EXIT_NEGATIVE)


def _layer_row(layer: Layer) -> tuple[str, ...]:
    return (
        f"{layer.name} {layer.title}",
        str(layer.count),
        _minute(layer.oldest),
        _minute(layer.newest),
    )


def _item_row(item: LayerItem) -> tuple[str, ...]:
    return _minute(item.at), item.kind, one_line(item.text, MAX_TEXT_CHARACTERS)


def _minute(at: datetime | None) -> str:
    return f"{at:%Y-%m-%d %H:%M}" if at else ""


def _layer_json(layer: Layer) -> dict[str, Any]:
    return {
        "layer": layer.name,
        "title": layer.title,
        "count": layer.count,
        "oldest": layer.oldest and format_time(layer.oldest),
        "newest": layer.newest and format_time(layer.newest),
        "examples": [
            {"id": each.id, "kind": each.kind, "at": format_time(each.at), "text": each.text}
            for each in layer.examples
        ],
    }
