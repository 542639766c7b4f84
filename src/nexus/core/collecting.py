"""Python's search for garbage, put off until an answer is there.

Whatever nobody holds is freed at once, always; the search is for things that hold each other. It is
begun by counting what is made, so that it comes in the middle of an answer, for which hundreds of
records are made and nearly none of them is garbage.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_held = Lock()


@contextmanager
def collected_later() -> Iterator[None]:
    """Nothing is searched for garbage meanwhile, unless somebody else is doing this already.

    One at a time: with a hundred threads there is a moment between two in which it is made up for.
    Where a program searches when it wants to, and not by counting, nothing is changed.
    """
    if not gc.isenabled() or not _held.acquire(blocking=False):
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        _held.release()
