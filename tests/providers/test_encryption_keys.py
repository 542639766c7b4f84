"""Encryption keys: sources, validation, and errors that never contain the key."""

from __future__ import annotations

import sys

import pytest

from nexusmem.core.errors import ConfigError
from nexusmem.runtime import encryption_keys
from nexusmem.runtime.encryption_keys import read_key

KEY = "correct horse battery staple"


def python(code: str) -> str:
    return f'{sys.executable} -c "{code}"'


def test_key_is_returned_unchanged() -> None:
    assert read_key(KEY, None) == KEY
    assert read_key(None, None) is None


@pytest.mark.parametrize(("key", "command"), [("", None), (None, ""), ("", "pass show nexus")])
def test_empty_key_is_rejected(key: str | None, command: str | None) -> None:
    with pytest.raises(ConfigError, match="is empty"):
        read_key(key, command)


def test_key_is_the_first_line_of_the_command() -> None:
    assert read_key(None, python(f"print('{KEY}'); print('and more')")) == KEY


def test_two_sources_are_rejected() -> None:
    with pytest.raises(ConfigError, match="keep one"):
        read_key(KEY, "pass show nexus")


def test_short_key_is_rejected_and_not_shown() -> None:
    with pytest.raises(ConfigError, match="at least 16") as refused:
        read_key("hunter2", None)

    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (python("import sys; print('hunter2'); sys.exit(3)"), "exit code 3"),
        (python("print()"), "printed no key"),
        ("/no/such/program", "cannot be run: No such file"),
        ("'unfinished", "cannot be run: not a valid command"),
        (" ", "cannot be run"),
    ],
)
def test_failed_command_is_reported_without_its_output(command: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why) as refused:
        read_key(None, command)

    assert "hunter2" not in str(refused.value)


def test_hanging_command_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encryption_keys, "COMMAND_TIMEOUT_SECONDS", 0.2)

    with pytest.raises(ConfigError, match="did not end within"):
        read_key(None, python("import time; time.sleep(60)"))


def test_command_runs_without_a_shell() -> None:
    assert read_key(None, "echo $HOME and enough characters") == "$HOME and enough characters"
