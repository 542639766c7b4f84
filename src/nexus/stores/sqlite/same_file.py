"""Whether a file is still the one that was opened: SQLite goes on with one that was deleted."""

from __future__ import annotations

import os
from pathlib import Path

from ...core.errors import StoreUnavailable


class SameFile:
    def __init__(self, path: Path) -> None:
        self._path = str(path)
        self._opened = _identity(self._path)

    def check(self) -> None:
        """Before a promise, and before SQLite would make an empty file in its place."""
        if self._opened != _identity(self._path):
            why = "was deleted or replaced while it was open: what is written now would be lost"
            raise StoreUnavailable(f"{self._path} {why}; open it again")


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116  # asked for each write; a Path takes its time
    except OSError:
        return None
    return found.st_dev, found.st_ino
