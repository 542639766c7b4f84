"""The tree of errors: one root, drawn at the top of its module, docstrings as messages."""

from __future__ import annotations

import inspect
import re

import pytest

from nexus.core import errors
from nexus.core.errors import InvalidInput, MissingExtra, NexusError, NotFound

CLASSES = [each for _, each in inspect.getmembers(errors, inspect.isclass)]


@pytest.mark.parametrize("error", CLASSES)
def test_every_error_has_one_root_and_its_docstring_as_message(error: type[NexusError]) -> None:
    assert issubclass(error, NexusError)
    if error is not MissingExtra:
        assert str(error()) == error.__doc__
        assert str(error("no luck")) == "no luck"


def test_the_drawing_shows_every_error() -> None:
    drawn = set(re.findall(r"[├└]── (\w+)", errors.__doc__ or "")) | {"NexusError"}

    assert drawn == {error.__name__ for error in CLASSES}


def test_a_missing_extra_says_what_to_install() -> None:
    assert "pip install 'nexus-memory[local]'" in str(MissingExtra("MiniLM", "local"))


def test_errors_are_also_what_python_calls_them() -> None:
    assert issubclass(InvalidInput, ValueError)
    assert issubclass(NotFound, LookupError)
    assert issubclass(MissingExtra, ImportError)


@pytest.mark.requirement("A12")
def test_there_is_no_error_that_confirms_a_secret() -> None:
    assert not [e for e in CLASSES if re.search("Denied|Forbidden|Permission", e.__name__)]
