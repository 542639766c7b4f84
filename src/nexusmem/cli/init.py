"""`nexus init`: write nexus.yaml and create the store."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from ..text.urls import mask_passwords
from .options import CommandTarget, json_option, store_options
from .output import print_json, print_message, print_record


@click.command()
@click.option("--force", is_flag=True, help="Replace an existing file.")
@click.option("--print", "printed", is_flag=True, help="Print the settings file and write nothing.")
@json_option
@store_options
def init(target: CommandTarget, force: bool, printed: bool, as_json: bool) -> None:
    """Write nexus.yaml and create the store.

    \b
        nexus init
        nexus init --store ./memory.db
        nexus init --print
    """
    from ..config.example_file import example_yaml  # loaded on first use
    from ..config.settings import DEFAULT_FILE, Settings, find_settings_file  # loaded on first use

    settings = Settings()
    if target.store:
        settings = replace(
            settings, store=replace(settings.store, url=_hide_password(target.store))
        )
    if printed:
        click.echo(example_yaml(settings), nl=False)
        return
    file = find_settings_file(target.config) or Path(DEFAULT_FILE)
    _write_settings(file, example_yaml(settings), force=force)
    with replace(target, config=str(file)).open_nexus(create=True):
        pass
    used = replace(target, config=str(file)).settings.store.url
    (print_json if as_json else print_record)({"config": str(file), "store": mask_passwords(used)})


def _hide_password(url: str) -> str:
    """Return the URL without its password: passwords belong in the environment."""
    if mask_passwords(url) == url:
        return url
    print_message("the password in the URL is not written to the file; set NEXUS_STORE instead")
    return "${NEXUS_STORE}"


def _write_settings(file: Path, text: str, *, force: bool) -> None:
    from ..core.errors import InvalidInput  # loaded on first use

    try:
        if file.is_file() and file.read_bytes() == text.encode():
            return  # the same command again
        with file.open("w" if force else "x", encoding="utf-8") as out:
            out.write(text)
    except FileExistsError:
        raise InvalidInput(f"{file} already exists; use --force to replace it") from None
    except OSError as error:
        raise InvalidInput(f"cannot write {file}: {error.strerror}") from error
