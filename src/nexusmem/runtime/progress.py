"""Progress callbacks of long operations."""

from __future__ import annotations

from collections.abc import Callable

ProgressCallback = Callable[[int, int], None]  # items done, items in total


def ignore_progress(_done: int, _all: int) -> None:
    """Do nothing: the default callback."""
