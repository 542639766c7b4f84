"""Retries with exponential backoff."""

from __future__ import annotations

import pytest

from nexusmem.core.errors import ModelUnavailable
from nexusmem.runtime.backoff import RetryPolicy, TransientError, retry_call


def failing(times: int, **options):
    """Return a function that fails this many times and then returns the number of calls."""
    calls = []

    def ask() -> int:
        calls.append(None)
        if len(calls) <= times:
            raise TransientError("no answer", **options) from OSError("wire cut")
        return len(calls)

    return ask


def patient(waits: list[float], **options) -> RetryPolicy:
    return RetryPolicy(sleep=waits.append, clock=lambda: sum(waits), **options)


def test_immediate_success_does_not_wait():
    waits: list[float] = []

    assert retry_call(failing(0), patient(waits), ModelUnavailable) == 1
    assert waits == []


def test_waits_double_up_to_the_maximum():
    waits: list[float] = []

    retry_call(failing(6), patient(waits, attempts=7, max_wait_seconds=3), ModelUnavailable)

    assert waits == [0.5, 1, 2, 3, 3, 3]


def test_attempts_are_limited():
    waits: list[float] = []

    with pytest.raises(ModelUnavailable, match="no answer; gave up after 3 attempts") as raised:
        retry_call(failing(9), patient(waits, attempts=3), ModelUnavailable)

    assert isinstance(raised.value.__cause__, OSError)
    assert waits == [0.5, 1]


def test_total_time_is_limited():
    waits: list[float] = []

    with pytest.raises(ModelUnavailable, match="gave up after 3 attempts"):
        retry_call(failing(9), patient(waits, total_seconds=2), ModelUnavailable)

    assert waits == [0.5, 1]


@pytest.mark.parametrize(
    ("header", "wait"),
    [("0", 0), ("1.5", 1.5), ("99", 5), ("-1", 0.5), ("nan", 0.5), ("inf", 0.5), ("soon", 0.5)],
)
def test_only_valid_retry_after_counts(header: str, wait: float):
    waits: list[float] = []

    retry_call(failing(1, retry_after=header), patient(waits), ModelUnavailable)

    assert waits == [wait]


def test_other_errors_are_raised_immediately():
    with pytest.raises(ZeroDivisionError):
        retry_call(lambda: 1 // 0, RetryPolicy(), ModelUnavailable)
