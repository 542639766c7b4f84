"""Deadlines: parallel calls, and callers that never wait longer than promised."""

from __future__ import annotations

import threading
import time

import pytest

from nexusmem.core.errors import EmbedderUnavailable, ModelUnavailable, Unavailable
from nexusmem.runtime.timeouts import call_all, call_with_deadline


@pytest.fixture
def released():
    """An event that blocks calls until the test ends."""
    event = threading.Event()
    yield event
    event.set()


def fails(error: Exception):
    def call() -> None:
        raise error

    return call


def test_results_keep_the_order_of_calls():
    answers, errors = call_all({"b": lambda: 1, "a": lambda: 2}, 5)

    assert list(answers.items()) == [("b", 1), ("a", 2)]
    assert errors == {}


def test_slow_call_does_not_delay_the_others(released):
    started = time.monotonic()

    answers, errors = call_all({"slow": released.wait, "quick": lambda: 1}, 0.1)

    assert time.monotonic() - started < 20
    assert answers == {"quick": 1}
    assert isinstance(errors["slow"], ModelUnavailable)
    assert str(errors["slow"]) == "no answer within 0.1 seconds"


def test_calls_run_in_parallel():
    together = threading.Barrier(3, timeout=30)

    answers, _ = call_all(dict.fromkeys("abc", lambda: together.wait() >= 0), 30)

    assert answers == {"a": True, "b": True, "c": True}


def test_nexus_error_is_returned_as_the_reason():
    away = Unavailable("away")

    assert call_all({"a": fails(away)}, 5) == ({}, {"a": away})


def test_programming_error_is_raised():
    with pytest.raises(ZeroDivisionError):
        call_all({"a": fails(ZeroDivisionError())}, 5)


def test_late_call_does_not_keep_the_process_alive(released):
    call_all({"slow": released.wait}, 0.01)

    [thread] = [each for each in threading.enumerate() if each.name == "nexus-call"]
    assert thread.daemon


def test_single_call_returns_or_times_out(released):
    assert call_with_deadline(lambda: 7, 5) == 7

    started = time.monotonic()
    with pytest.raises(EmbedderUnavailable, match=r"no answer within 0\.05 seconds"):
        call_with_deadline(released.wait, 0.05, error=EmbedderUnavailable)
    assert time.monotonic() - started < 20


def test_exception_of_a_single_call_is_raised():
    with pytest.raises(ZeroDivisionError):
        call_with_deadline(fails(ZeroDivisionError()), 5)
