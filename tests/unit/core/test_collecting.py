"""The search for garbage is put off while an answer is made, and not for good."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from threading import Event, Thread

import pytest

from nexus.core.collecting import collected_later


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    enabled = gc.isenabled()
    gc.enable()
    yield
    if not enabled:
        gc.disable()


def test_nothing_is_searched_for_meanwhile() -> None:
    with collected_later():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_an_error_does_not_leave_it_off() -> None:
    with pytest.raises(ZeroDivisionError), collected_later():
        raise ZeroDivisionError
    assert gc.isenabled()
    with collected_later():
        assert not gc.isenabled()


def test_a_program_that_has_it_off_keeps_it_off() -> None:
    gc.disable()
    with collected_later():
        assert not gc.isenabled()
    assert not gc.isenabled()


def test_one_inside_another_changes_nothing() -> None:
    with collected_later():
        with collected_later():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_of_several_threads_one_puts_it_off_and_ends_it() -> None:
    """Else there would always be somebody who does, and garbage would pile up."""
    begun, end = Event(), Event()

    def other() -> None:
        gc.enable()  # as it is between two answers
        with collected_later():
            begun.set()
            end.wait(5)

    with collected_later():
        thread = Thread(target=other)
        thread.start()
        assert begun.wait(5)
        assert gc.isenabled()  # the other one has found somebody at it
        gc.disable()
    assert gc.isenabled()  # although the other one is not done
    end.set()
    thread.join()
    assert gc.isenabled()
