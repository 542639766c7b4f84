"""Bars that are drawn by whoever has done a step, and by no thread beside it.

Those of `rich` are drawn ten times a second by one of their own: whoever is measured then waits
for the interpreter.
"""

from __future__ import annotations

import time

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

PAUSE = 0.2  # seconds


class Bars(Progress):
    """How far each part of a benchmark has come."""

    def __init__(self, console: Console) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        super().__init__(*columns, TimeElapsedColumn(), console=console, auto_refresh=False)
        self._drawn = 0.0

    def advance(self, task_id: TaskID, advance: float = 1) -> None:
        super().advance(task_id, advance)
        if time.monotonic() - self._drawn > PAUSE:
            self.refresh()
            self._drawn = time.monotonic()
