"""The keys of a memory: given as they are, or printed by a command of yours."""

from __future__ import annotations

import shlex
import subprocess

from ..core.errors import ConfigError

SHORTEST_KEY = 16  # characters; `openssl rand -base64 32` makes a good one of 44
PATIENCE_SECONDS = 30.0  # a password manager may ask for a finger


def read_key(
    key: str | None,
    command: str | None,
    *,
    variable: str = "NEXUS_KEY",
    setting: str = "memory.store.key_command",
) -> str | None:
    """The key, or what the command prints; None where neither is configured, and not if empty.

    Neither the key nor anything the command says is ever part of an error.
    """
    if key == "" or command == "":  # as from a variable that somebody forgot to fill
        name = f"{variable} or {setting.removesuffix('_command')}" if key == "" else setting
        raise ConfigError(f"{name} is empty; give a key, or leave it out altogether")
    if key and command:
        raise ConfigError(f"{variable} and {setting} say the same; keep one")
    found = key or (_printed(command, setting) if command else None)
    if found is not None and len(found) < SHORTEST_KEY:
        raise ConfigError(
            f"the key of {setting.rpartition('.')[0]} has {len(found)} characters; it needs"
            f" {SHORTEST_KEY} or more"
        )
    return found


def _printed(command: str, setting: str) -> str:
    """The first line a command prints. No shell reads it: write `sh -c '…'` for one."""
    try:
        words = shlex.split(command)
        done = subprocess.run(  # noqa: S603  # it is the operator's own command
            words, stdout=subprocess.PIPE, timeout=PATIENCE_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        why = f"said nothing for {PATIENCE_SECONDS:.0f} seconds"
        raise ConfigError(f"{setting} {why}") from None
    except (OSError, ValueError, IndexError) as error:
        why = getattr(error, "strerror", None) or "it is not a command"
        raise ConfigError(f"{setting} cannot be run: {why}") from None
    if done.returncode:
        raise ConfigError(f"{setting} failed with exit code {done.returncode}")
    line = done.stdout.decode(errors="replace").partition("\n")[0].strip()
    if not line:
        raise ConfigError(f"{setting} printed no key")
    return line
