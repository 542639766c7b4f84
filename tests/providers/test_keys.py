"""Where the key of a memory comes from, and what is never said about it."""

from __future__ import annotations

import sys

import pytest

from nexus.core.errors import ConfigError
from nexus.providers import keys
from nexus.providers.keys import read_key

KEY = "correct horse battery staple"


def python(code: str) -> str:
    return f'{sys.executable} -c "{code}"'


def test_a_key_is_taken_as_it_is() -> None:
    assert read_key(KEY, None) == KEY
    assert read_key(None, None) is None


@pytest.mark.parametrize(("key", "command"), [("", None), (None, ""), ("", "pass show nexus")])
def test_an_empty_key_is_not_taken_for_none(key: str | None, command: str | None) -> None:
    with pytest.raises(ConfigError, match="is empty"):
        read_key(key, command)


def test_a_command_prints_the_key_on_its_first_line() -> None:
    assert read_key(None, python(f"print('{KEY}'); print('and more')")) == KEY


def test_two_sources_of_a_key_are_one_too_many() -> None:
    with pytest.raises(ConfigError, match="keep one"):
        read_key(KEY, "pass show nexus")


def test_a_short_key_is_refused_and_not_shown() -> None:
    with pytest.raises(ConfigError, match="needs 16 or more") as refused:
        read_key("hunter2", None)

    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (python("import sys; print('hunter2'); sys.exit(3)"), "exit code 3"),
        (python("print()"), "printed no key"),
        ("/no/such/program", "cannot be run: No such file"),
        ("'unfinished", "cannot be run: it is not a command"),
        (" ", "cannot be run"),
    ],
)
def test_a_command_that_gives_no_key_is_told_without_its_words(command: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why) as refused:
        read_key(None, command)

    assert "hunter2" not in str(refused.value)


def test_a_command_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "PATIENCE_SECONDS", 0.2)

    with pytest.raises(ConfigError, match="said nothing"):
        read_key(None, python("import time; time.sleep(60)"))


def test_a_command_is_not_read_by_a_shell() -> None:
    assert read_key(None, "echo $HOME and enough characters") == "$HOME and enough characters"
