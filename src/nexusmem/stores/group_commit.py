"""Group commit: the first thread to arrive commits the jobs of every waiting thread together.

A single thread never waits. 32 concurrent threads share one transaction and one fsync.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Job = TypeVar("Job")
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class JobFailure:
    """The error of one job whose group was committed without it."""

    error: Exception


@dataclass(slots=True, eq=False)
class _PendingJob(Generic[Job]):
    job: Job
    turn: threading.Lock | None = None  # released when the job is done or its thread must lead
    done: bool = False
    value: Any = None
    error: BaseException | None = None


class GroupCommit(Generic[Job, Value]):
    """Queue that runs jobs of many threads in groups.

    `run_jobs` runs a group in one transaction and returns one value a job. If a group fails,
    `retry_jobs` runs it so that only the failing jobs fail. The default runs each job alone.
    """

    def __init__(
        self,
        run_jobs: Callable[[Sequence[Job]], Sequence[Value]],
        *,
        max_group: int | None = None,
        retry_jobs: Callable[[Sequence[Job], Exception], Sequence[Value | JobFailure]]
        | None = None,
    ) -> None:
        self._run_jobs = run_jobs
        self._retry_jobs = retry_jobs or self._run_each_alone
        self._max_group = max_group
        self._mutex = threading.Lock()
        self._pending: list[_PendingJob[Job]] = []
        self._has_leader = False  # a thread is committing, or has been woken to commit

    def __call__(self, job: Job) -> Value:
        """Run `job` with the next group and return its value, or raise its error."""
        own = _PendingJob(job)
        with self._mutex:
            self._pending.append(own)
            if self._has_leader:
                own.turn = threading.Lock()
                own.turn.acquire()
            self._has_leader = True
        if own.turn:
            self._await_turn(own, own.turn)
        if not own.done:
            self._run_as_leader()
        if own.error:
            raise own.error
        value: Value = own.value
        return value

    def _await_turn(self, own: _PendingJob[Job], turn: threading.Lock) -> None:
        try:
            turn.acquire()
        except BaseException:  # interrupted: if this thread was to lead, another one must
            with self._mutex:
                withdrawn = own in self._pending
                if withdrawn:
                    self._pending.remove(own)
            if withdrawn and not turn.locked():
                self._wake_next_leader()
            raise

    def _run_as_leader(self) -> None:
        """Run one group, then wake the first thread that arrived in the meantime."""
        with self._mutex:
            size = self._max_group or len(self._pending)
            group, self._pending = self._pending[:size], self._pending[size:]
        try:
            self._run_group(group)
        except BaseException as error:
            for each in group:
                each.error = error
            if not isinstance(error, Exception):
                raise
        finally:
            for each in group:
                each.done = True
                if each.turn and each.turn.locked():
                    each.turn.release()
            self._wake_next_leader()

    def _run_group(self, group: Sequence[_PendingJob[Job]]) -> None:
        jobs = [each.job for each in group]
        results: Sequence[Value | JobFailure]
        try:
            results = self._run_jobs(jobs)
        except Exception as error:
            if len(group) == 1:
                raise
            results = self._retry_jobs(jobs, error)
        for each, result in zip(group, results, strict=True):
            if isinstance(result, JobFailure):
                each.error = result.error
            else:
                each.value = result

    def _run_each_alone(
        self, jobs: Sequence[Job], _group_error: Exception
    ) -> Sequence[Value | JobFailure]:
        results: list[Value | JobFailure] = []
        for job in jobs:
            try:
                results.extend(self._run_jobs([job]))
            except Exception as error:  # raised in the thread of this job  # noqa: BLE001
                results.append(JobFailure(error))
        return results

    def _wake_next_leader(self) -> None:
        with self._mutex:
            successor = self._pending[0] if self._pending else None
            self._has_leader = successor is not None
            if successor and successor.turn:
                successor.turn.release()
