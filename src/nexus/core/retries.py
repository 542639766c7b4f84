"""When work that did not succeed is tried again, and what is kept of the reason."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

LONGEST_ERROR = 500
MOST_DOUBLED = 20  # beyond, the numbers are larger than any time


@dataclass(frozen=True, slots=True)
class Waits:
    """From the first to the longest, each twice as long as the one before."""

    first: timedelta
    longest: timedelta

    def after(self, attempts: int) -> timedelta:
        times: int = 2 ** min(attempts, MOST_DOUBLED)
        return min(self.first * times, self.longest)


def kept_error(error: str) -> str:
    """Errors quote: what somebody said, or the key a provider refuses."""
    from .secrets import redacted  # noqa: PLC0415  # its patterns load with the first

    return redacted(error)[:LONGEST_ERROR]
