"""Asking a provider again, for a while."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from ..core.errors import Unavailable

Answer = TypeVar("Answer")


class Transient(Exception):
    """It may work next time. The provider may have said how long to wait."""

    def __init__(self, what: str, *, retry_after: str | None = None) -> None:
        super().__init__(what)
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long to go on asking. Waits double from the first to the longest one."""

    attempts: int = 5
    total_seconds: float = 30.0
    first_wait_seconds: float = 0.5
    longest_wait_seconds: float = 5.0  # also for what a Retry-After asks: somebody is waiting
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic

    def wait_seconds(self, attempt: int, retry_after: str | None) -> float:
        asked = _seconds(retry_after)
        wait = self.first_wait_seconds * 2.0**attempt if asked is None else asked
        return min(wait, self.longest_wait_seconds)


def persist(ask: Callable[[], Answer], patience: Patience, gave_up: type[Unavailable]) -> Answer:
    """Ask until there is an answer, an error that will stay, or no patience left."""
    ends_at = patience.clock() + patience.total_seconds
    attempt = 0
    while True:
        try:
            return ask()
        except Transient as failure:
            wait = patience.wait_seconds(attempt, failure.retry_after)
            attempt += 1
            if attempt >= patience.attempts or patience.clock() + wait > ends_at:
                message = f"{failure}; asked {attempt} times"
                raise gave_up(message) from (failure.__cause__ or failure)
        patience.sleep(wait)


def _seconds(retry_after: str | None) -> float | None:
    """Seconds as providers send them. The other form of the header, a date, is not used by any."""
    try:
        seconds = float(retry_after or "")
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None
