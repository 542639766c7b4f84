"""Patience, and its end."""

from __future__ import annotations

import pytest

from nexus.core.errors import ModelUnavailable
from nexus.providers.retry import Patience, Transient, persist


def failing(times: int, **options):
    """Fails so often, then answers with the number of calls."""
    calls = []

    def ask() -> int:
        calls.append(None)
        if len(calls) <= times:
            raise Transient("no answer", **options) from OSError("wire cut")
        return len(calls)

    return ask


def patient(waits: list[float], **options) -> Patience:
    return Patience(sleep=waits.append, clock=lambda: sum(waits), **options)


def test_an_answer_at_once_waits_for_nothing():
    waits: list[float] = []

    assert persist(failing(0), patient(waits), ModelUnavailable) == 1
    assert waits == []


def test_waits_double_up_to_the_longest():
    waits: list[float] = []

    persist(failing(6), patient(waits, attempts=7, longest_wait_seconds=3), ModelUnavailable)

    assert waits == [0.5, 1, 2, 3, 3, 3]


def test_patience_ends_with_the_attempts():
    waits: list[float] = []

    with pytest.raises(ModelUnavailable, match="no answer; asked 3 times") as raised:
        persist(failing(9), patient(waits, attempts=3), ModelUnavailable)

    assert isinstance(raised.value.__cause__, OSError)
    assert waits == [0.5, 1]


def test_patience_ends_before_a_wait_that_is_too_long():
    waits: list[float] = []

    with pytest.raises(ModelUnavailable, match="asked 3 times"):
        persist(failing(9), patient(waits, total_seconds=2), ModelUnavailable)

    assert waits == [0.5, 1]


@pytest.mark.parametrize(
    ("header", "wait"),
    [("0", 0), ("1.5", 1.5), ("99", 5), ("-1", 0.5), ("nan", 0.5), ("inf", 0.5), ("soon", 0.5)],
)
def test_only_a_sensible_retry_after_counts(header: str, wait: float):
    waits: list[float] = []

    persist(failing(1, retry_after=header), patient(waits), ModelUnavailable)

    assert waits == [wait]


def test_other_errors_pass_at_once():
    with pytest.raises(ZeroDivisionError):
        persist(lambda: 1 // 0, Patience(), ModelUnavailable)
