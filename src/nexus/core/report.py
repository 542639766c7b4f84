"""How far something that takes long has come, told while it is done."""

from __future__ import annotations

from collections.abc import Callable

Report = Callable[[int, int], None]  # how much is done, and of how much


def silent(_done: int, _all: int) -> None:
    """Where nobody looks."""
