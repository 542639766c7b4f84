"""Progress bars that the measured thread redraws.

The bars of `rich` are redrawn ten times a second by a background thread. That thread would
compete with the measured code for the interpreter lock.
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

REFRESH_SECONDS = 0.2


class ProgressBars(Progress):
    """Progress bars that refresh only when a step advances, at most every 0.2 seconds."""

    def __init__(self, console: Console) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        super().__init__(*columns, TimeElapsedColumn(), console=console, auto_refresh=False)
        self._refreshed_at = 0.0

    def advance(self, task_id: TaskID, advance: float = 1) -> None:
        super().advance(task_id, advance)
        if time.monotonic() - self._refreshed_at > REFRESH_SECONDS:
            self.refresh()
            self._refreshed_at = time.monotonic()
