"""Many threads, one piece of work: whoever finds nobody at it takes along all that waits.

A single thread waits for nobody; 32 of them share one transaction.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

Job = TypeVar("Job")
Value = TypeVar("Value")


def _taken_lock() -> threading.Lock:
    lock = threading.Lock()
    lock.acquire()
    return lock


@dataclass(slots=True)
class _Waiting(Generic[Job]):
    job: Job
    turn: threading.Lock = field(default_factory=_taken_lock)  # free: it is done, or shall lead
    done: bool = False
    value: Any = None
    error: BaseException | None = None


class Together(Generic[Job, Value]):
    """Does jobs in groups. What fails in a group is done again alone, and fails alone."""

    def __init__(self, do: Callable[[Sequence[Job]], Sequence[Value]], *, most: int) -> None:
        self._do = do
        self._most = most
        self._mutex = threading.Lock()
        self._waiting: list[_Waiting[Job]] = []
        self._led = False  # whether somebody is at it, or about to be

    def __call__(self, job: Job) -> Value:
        own = _Waiting(job)
        with self._mutex:
            self._waiting.append(own)
            leads, self._led = not self._led, True
        if not leads:
            self._await_turn(own)
        if not own.done:
            self._lead()
        if own.error:
            raise own.error
        value: Value = own.value
        return value

    def _await_turn(self, own: _Waiting[Job]) -> None:
        try:
            own.turn.acquire()
        except BaseException:  # interrupted: nobody may be left waiting for this thread
            with self._mutex:
                withdrawn = own in self._waiting
                if withdrawn:
                    self._waiting.remove(own)
            if withdrawn and not own.turn.locked():
                self._hand_over()
            raise

    def _lead(self) -> None:
        with self._mutex:
            group, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
        try:
            self._do_group(group)
        except BaseException as error:
            for each in group:
                each.error = each.error or error
            if not isinstance(error, Exception):
                raise
        finally:
            for each in group:
                each.done = True
                if each.turn.locked():
                    each.turn.release()
            self._hand_over()

    def _do_group(self, group: Sequence[_Waiting[Job]]) -> None:
        try:
            values = self._do([each.job for each in group])
        except Exception:
            if len(group) == 1:
                raise
            for each in group:
                try:
                    (each.value,) = self._do([each.job])
                except Exception as error:  # noqa: BLE001  # handed to the thread that asked
                    each.error = error
        else:
            for each, value in zip(group, values, strict=True):
                each.value = value

    def _hand_over(self) -> None:
        with self._mutex:
            heir = self._waiting[0] if self._waiting else None
            self._led = heir is not None
            if heir:
                heir.turn.release()
