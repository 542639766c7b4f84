"""Asking several at once, and not waiting longer than promised."""

from __future__ import annotations

import threading
import time

import pytest

from nexus.core.bounded import ask_all, bounded
from nexus.core.errors import EmbedderUnavailable, ModelUnavailable, Unavailable


@pytest.fixture
def released():
    """What hangs until the test is over."""
    event = threading.Event()
    yield event
    event.set()


def fails(error: Exception):
    def call() -> None:
        raise error

    return call


def test_answers_come_in_the_order_they_were_asked_for():
    answers, errors = ask_all({"b": lambda: 1, "a": lambda: 2}, 5)

    assert list(answers.items()) == [("b", 1), ("a", 2)]
    assert errors == {}


def test_one_that_is_slow_keeps_nobody_waiting(released):
    started = time.monotonic()

    answers, errors = ask_all({"slow": released.wait, "quick": lambda: 1}, 0.1)

    assert time.monotonic() - started < 20
    assert answers == {"quick": 1}
    assert isinstance(errors["slow"], ModelUnavailable)
    assert str(errors["slow"]) == "no answer within 0.1 seconds"


def test_all_are_asked_at_the_same_time():
    together = threading.Barrier(3, timeout=30)

    answers, _ = ask_all(dict.fromkeys("abc", lambda: together.wait() >= 0), 30)

    assert answers == {"a": True, "b": True, "c": True}


def test_an_error_of_ours_is_a_reason():
    away = Unavailable("away")

    assert ask_all({"a": fails(away)}, 5) == ({}, {"a": away})


def test_a_mistake_in_the_code_is_not_swallowed():
    with pytest.raises(ZeroDivisionError):
        ask_all({"a": fails(ZeroDivisionError())}, 5)


def test_what_comes_too_late_does_not_keep_the_process(released):
    ask_all({"slow": released.wait}, 0.01)

    [thread] = [each for each in threading.enumerate() if each.name == "nexus-ask"]
    assert thread.daemon


def test_one_call_is_answered_or_given_up(released):
    assert bounded(lambda: 7, 5) == 7

    started = time.monotonic()
    with pytest.raises(EmbedderUnavailable, match=r"no answer within 0\.05 seconds"):
        bounded(released.wait, 0.05, error=EmbedderUnavailable)
    assert time.monotonic() - started < 20


def test_what_one_call_raises_is_raised():
    with pytest.raises(ZeroDivisionError):
        bounded(fails(ZeroDivisionError()), 5)
