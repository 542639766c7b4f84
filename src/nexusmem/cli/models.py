"""`nexus models`: install models that run on this machine."""

from __future__ import annotations

import click

from .options import json_option
from .output import print_json, print_message, print_record


@click.group()
def models() -> None:
    """Install models that run on this machine.

    \b
        nexus models install minilm
    """


@models.command()
@click.argument("name", type=click.Choice(["minilm"]))
@json_option
def install(name: str, as_json: bool) -> None:
    """Download a model, verify it, and store it in the cache folder.

    Then set `memory.embeddings.provider: minilm` in nexus.yaml and run `nexus reembed`.

    \b
        nexus models install minilm
    """
    from ..embedders import minilm  # loads numpy

    print_message(f"installing {name} …")
    (print_json if as_json else print_record)(
        {"model": name, "folder": str(minilm.install_model())}
    )
