"""Asking outside while somebody waits, but not for long."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from contextvars import copy_context
from threading import Thread
from typing import TypeVar

from .errors import ModelUnavailable, NexusError, Unavailable

Answer = TypeVar("Answer")

WAIT_SECONDS = 3.0


def bounded(
    call: Callable[[], Answer], seconds: float, *, error: type[Unavailable] = Unavailable
) -> Answer:
    """What the call answers, or the error when it takes longer than this."""
    future = _started(call)
    wait([future], timeout=seconds)
    if not future.done():
        raise error(f"no answer within {seconds:g} seconds")
    return future.result()


def ask_all(
    calls: Mapping[str, Callable[[], Answer]], wait_seconds: float
) -> tuple[dict[str, Answer], dict[str, NexusError]]:
    """Ask all at once: what each answered in time, and why the others did not.

    A client's own timeout counts from the last byte, and loading an SDK for the first time takes
    seconds, so neither can keep this promise. What comes too late ends by itself, in a thread
    that does not keep the process alive.
    """
    futures = {name: _started(call) for name, call in calls.items()}
    wait(futures.values(), timeout=wait_seconds)
    answers: dict[str, Answer] = {}
    errors: dict[str, NexusError] = {}
    for name, future in futures.items():
        if not future.done():
            errors[name] = ModelUnavailable(f"no answer within {wait_seconds:g} seconds")
            continue
        try:
            answers[name] = future.result()
        except NexusError as error:
            errors[name] = error
    return answers, errors


def _started(call: Callable[[], Answer]) -> Future[Answer]:
    future: Future[Answer] = Future()
    around = copy_context()  # a trace goes on in the thread

    def run() -> None:
        try:
            future.set_result(around.run(call))
        except BaseException as error:  # noqa: BLE001 - raised again where somebody waits for it
            future.set_exception(error)

    Thread(target=run, daemon=True, name="nexus-ask").start()
    return future
