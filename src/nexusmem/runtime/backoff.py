"""Retries with exponential backoff, and redaction of stored errors."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

from ..core.errors import Unavailable

MAX_ERROR_LENGTH = 500
MAX_DOUBLINGS = 20  # limits the power of two; delays are capped long before


@dataclass(frozen=True, slots=True)
class Backoff:
    """Delays that double from the first to the longest one."""

    first_delay: timedelta
    max_delay: timedelta

    def delay_after(self, attempts: int) -> timedelta:
        """Return the delay after this number of failed attempts."""
        factor: int = 2 ** min(attempts, MAX_DOUBLINGS)
        return min(self.first_delay * factor, self.max_delay)


def redact_error(error: str) -> str:
    """Return an error text of at most MAX_ERROR_LENGTH characters, without secrets."""
    from ..text.secrets import redact_secrets  # compiling its patterns is slow

    return redact_secrets(error)[:MAX_ERROR_LENGTH]


Answer = TypeVar("Answer")


class TransientError(Exception):
    """A failure that may succeed on retry, with the provider's Retry-After header."""

    def __init__(self, message: str, *, retry_after: str | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """Limits of retries; waits double from the first to the longest one."""

    attempts: int = 5
    total_seconds: float = 30.0
    first_wait_seconds: float = 0.5
    max_wait_seconds: float = 5.0  # caps a Retry-After header, too: a caller is waiting
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic

    def wait_seconds(self, attempt: int, retry_after: str | None) -> float:
        """Return the seconds to wait before the next attempt."""
        requested = _parse_seconds(retry_after)
        wait = self.first_wait_seconds * 2.0**attempt if requested is None else requested
        return min(wait, self.max_wait_seconds)


def retry_call(call: Callable[[], Answer], policy: RetryPolicy, error: type[Unavailable]) -> Answer:
    """Call until there is a result or a permanent error, or the policy is exhausted.

    Raise `error` when the attempts or the total time are used up.
    """
    ends_at = policy.clock() + policy.total_seconds
    attempt = 0
    while True:
        try:
            return call()
        except TransientError as failure:
            wait = policy.wait_seconds(attempt, failure.retry_after)
            attempt += 1
            if attempt >= policy.attempts or policy.clock() + wait > ends_at:
                message = f"{failure}; gave up after {attempt} attempts"
                raise error(message) from (failure.__cause__ or failure)
        policy.sleep(wait)


def _parse_seconds(retry_after: str | None) -> float | None:
    """Return the seconds of a Retry-After header; None if missing or invalid.

    The date form of the header is ignored, since no provider sends it.
    """
    try:
        seconds = float(retry_after or "")
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None
