"""Encryption keys: read from a setting or from the output of a command."""

from __future__ import annotations

import shlex
import subprocess

from ..core.errors import ConfigError

MIN_KEY_LENGTH = 16  # characters; `openssl rand -base64 32` makes a good one of 44
COMMAND_TIMEOUT_SECONDS = 30.0  # a password manager may wait for a fingerprint


def read_key(
    key: str | None,
    command: str | None,
    *,
    variable: str = "NEXUS_KEY",
    setting: str = "memory.store.key_command",
) -> str | None:
    """Return the key, or the output of the command; None if neither is configured.

    Raise ConfigError if a value is empty, too short, or both are given. No error contains the key
    or the output of the command.
    """
    if key == "" or command == "":  # for example from an environment variable left empty
        name = f"{variable} or {setting.removesuffix('_command')}" if key == "" else setting
        raise ConfigError(f"{name} is empty; set a key or remove the setting")
    if key and command:
        raise ConfigError(f"{variable} and {setting} are both set; keep one of them")
    found = key or (_run_key_command(command, setting) if command else None)
    if found is not None and len(found) < MIN_KEY_LENGTH:
        raise ConfigError(
            f"the key of {setting.rpartition('.')[0]} must have at least {MIN_KEY_LENGTH}"
            f" characters, got {len(found)}"
        )
    return found


def _run_key_command(command: str, setting: str) -> str:
    """Return the first line that a command prints. It runs without a shell: use `sh -c '…'`."""
    try:
        words = shlex.split(command)
        done = subprocess.run(  # the operator configured this command  # noqa: S603
            words, stdout=subprocess.PIPE, timeout=COMMAND_TIMEOUT_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        why = f"did not end within {COMMAND_TIMEOUT_SECONDS:.0f} seconds"
        raise ConfigError(f"{setting} {why}") from None
    except (OSError, ValueError, IndexError) as error:
        why = getattr(error, "strerror", None) or "not a valid command"
        raise ConfigError(f"{setting} cannot be run: {why}") from None
    if done.returncode:
        raise ConfigError(f"{setting} failed with exit code {done.returncode}")
    line = done.stdout.decode(errors="replace").partition("\n")[0].strip()
    if not line:
        raise ConfigError(f"{setting} printed no key")
    return line
