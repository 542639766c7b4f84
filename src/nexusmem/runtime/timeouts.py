"""Deadlines: run blocking calls in threads and stop waiting after a time limit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from contextvars import copy_context
from threading import Thread
from typing import TypeVar

from ..core.errors import ModelUnavailable, NexusError, Unavailable

Answer = TypeVar("Answer")

WAIT_SECONDS = 3.0


def call_with_deadline(
    call: Callable[[], Answer], seconds: float, *, error: type[Unavailable] = Unavailable
) -> Answer:
    """Return the result of `call`; raise `error` if it takes longer than `seconds`."""
    future = _start_call(call)
    wait([future], timeout=seconds)
    if not future.done():
        raise error(f"no answer within {seconds:g} seconds")
    return future.result()


def call_all(
    calls: Mapping[str, Callable[[], Answer]], wait_seconds: float
) -> tuple[dict[str, Answer], dict[str, NexusError]]:
    """Run all calls in parallel; return the results in time and the errors of the others.

    A client's own timeout restarts with each byte, and loading an SDK takes seconds, so neither
    guarantees a deadline. A late call ends in a daemon thread, which does not keep the process
    alive.
    """
    futures = {name: _start_call(call) for name, call in calls.items()}
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


def _start_call(call: Callable[[], Answer]) -> Future[Answer]:
    future: Future[Answer] = Future()
    context = copy_context()  # carries the current trace into the thread

    def run() -> None:
        try:
            future.set_result(context.run(call))
        except BaseException as error:  # noqa: BLE001
            future.set_exception(error)

    Thread(target=run, daemon=True, name="nexus-call").start()
    return future
