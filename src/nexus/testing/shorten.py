"""Making a failing script short: half of it, a quarter, then one step at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def shortened(script: Sequence[T], fails: Callable[[list[T]], bool], *, seconds: float) -> list[T]:
    """A part of the script that still fails and, if time suffices, no step of which is idle."""
    deadline = time.monotonic() + seconds
    kept = list(script)
    size = max(1, len(kept) // 2)
    while size:
        start, shrank = 0, False
        while start < len(kept) and time.monotonic() < deadline:
            without = kept[:start] + kept[start + size :]
            if fails(without):
                kept, shrank = without, True
            else:
                start += size
        size = size if shrank and size == 1 else size // 2
    return kept
