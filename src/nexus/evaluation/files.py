"""Files of others: found by the names they are published under, refused in words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..core.errors import InvalidInput


def find_file(given: Path, names: Sequence[str], benchmark: str) -> Path:
    """The file itself, or the first of these names the folder holds."""
    for file in (given, *(given / name for name in names)):
        if file.is_file():
            return file
    known = " or ".join(names)
    raise InvalidInput(f"no {benchmark} at {given}; give the file, or a folder with {known}")


def load_json(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInput(f"cannot read {file}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{file} is not JSON: {error}") from error


@contextmanager
def shaped_like(benchmark: str, file: Path) -> Iterator[None]:
    """Whatever goes wrong while a loaded file is taken apart, it was not that benchmark."""
    try:
        yield
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        detail = f"{type(error).__name__}: {error}"
        raise InvalidInput(f"{file} is not as {benchmark} is published ({detail})") from error
