"""`nexus init`, `nexus models` and `nexus completion`: before the first message."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from ..core.urls import masked
from .options import Door, json_option, store_options
from .output import message, print_json, print_record


@click.command()
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@click.option("--print", "printed", is_flag=True, help="Only show the settings file.")
@json_option
@store_options
def init(door: Door, force: bool, printed: bool, as_json: bool) -> None:
    """Write nexus.yaml and create the memory.

    \b
        nexus init
        nexus init --store ./memory.db
        nexus init --print
    """
    from ..config import DEFAULT_FILE, Settings, settings_file  # noqa: PLC0415
    from .example import example_yaml  # noqa: PLC0415

    settings = Settings()
    if door.store:
        settings = replace(
            settings, store=replace(settings.store, url=_written_address(door.store))
        )
    if printed:
        click.echo(example_yaml(settings), nl=False)
        return
    file = settings_file(door.config) or Path(DEFAULT_FILE)
    _write(file, example_yaml(settings), force=force)
    with replace(door, config=str(file)).open(create=True):
        pass
    used = replace(door, config=str(file)).settings.store.url
    (print_json if as_json else print_record)({"config": str(file), "store": masked(used)})


def _written_address(url: str) -> str:
    """The address as it may stand in a file: a password belongs into the environment."""
    if masked(url) == url:
        return url
    message("the address holds a password: it is not written down; set NEXUS_STORE to it")
    return "${NEXUS_STORE}"


def _write(file: Path, text: str, *, force: bool) -> None:
    from ..core.errors import InvalidInput  # noqa: PLC0415

    try:
        with file.open("w" if force else "x", encoding="utf-8") as out:
            out.write(text)
    except FileExistsError:
        raise InvalidInput(f"{file} is there already; --force replaces it") from None
    except OSError as error:
        raise InvalidInput(f"cannot write {file}: {error.strerror}") from error


@click.group()
def models() -> None:
    """Models that run on this machine.

    \b
        nexus models install minilm
    """


@models.command()
@click.argument("name", type=click.Choice(["minilm"]))
@json_option
def install(name: str, as_json: bool) -> None:
    """Fetch a model once, check it, and keep it in your cache.

    Then `memory.embeddings.provider: minilm` in nexus.yaml and `nexus reembed` put it to use.

    \b
        nexus models install minilm
    """
    from ..embedders import minilm  # noqa: PLC0415  # pulls in numpy

    message(f"installing {name} …")
    (print_json if as_json else print_record)({"model": name, "folder": str(minilm.install())})


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of your shell.

    \b
        nexus completion bash > ~/.local/share/bash-completion/completions/nexus
        nexus completion zsh > ~/.zfunc/_nexus
        nexus completion fish > ~/.config/fish/completions/nexus.fish
    """
    from click.shell_completion import get_completion_class  # noqa: PLC0415

    from . import nexus  # noqa: PLC0415

    script = get_completion_class(shell)
    if script is None:
        raise click.UsageError(f"click knows no completion for {shell}")
    click.echo(script(nexus, {}, "nexus", "_NEXUS_COMPLETE").source())
