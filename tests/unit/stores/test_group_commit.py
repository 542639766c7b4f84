"""GroupCommit: jobs of waiting threads run together, and fail separately."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from nexusmem.stores.group_commit import GroupCommit, JobFailure


class Recorder:
    """Runs jobs, notes the groups, and blocks the first one until `go` is set."""

    def __init__(self) -> None:
        self.groups: list[list[int]] = []
        self.started, self.go = threading.Event(), threading.Event()

    def __call__(self, jobs: Sequence[int]) -> list[int]:
        self.groups.append(list(jobs))
        if not self.started.is_set():
            self.started.set()
            assert self.go.wait(10)
        if any(job < 0 for job in jobs):
            raise ValueError(str(jobs))
        return [10 * job for job in jobs]


def run_together(commit: GroupCommit[int, int], recorder: Recorder, jobs: Sequence[int]) -> list:
    """Run job 0 alone, and the others while it runs; return values and errors."""
    with ThreadPoolExecutor(len(jobs) + 1) as pool:
        first = pool.submit(commit, 0)
        assert recorder.started.wait(10)
        others = [pool.submit(commit, job) for job in jobs]
        while len(commit._pending) < len(jobs):
            pass
        recorder.go.set()
        return [each.exception() or each.result() for each in (first, *others)]


def test_waiting_jobs_run_in_one_group() -> None:
    recorder = Recorder()

    assert run_together(GroupCommit(recorder), recorder, [1, 2, 3]) == [0, 10, 20, 30]
    assert [sorted(group) for group in recorder.groups] == [[0], [1, 2, 3]]


def test_group_size_is_limited() -> None:
    recorder = Recorder()

    run_together(GroupCommit(recorder, max_group=2), recorder, [1, 2, 3])

    assert [len(group) for group in recorder.groups] == [1, 2, 1]


def test_failing_job_fails_alone() -> None:
    recorder = Recorder()

    zero, one, failed, two = run_together(GroupCommit(recorder), recorder, [1, -1, 2])

    assert (zero, one, two) == (0, 10, 20)
    assert isinstance(failed, ValueError)


def test_retry_function_replaces_single_runs() -> None:
    recorder = Recorder()

    def retry(jobs: Sequence[int], error: Exception) -> list[int | JobFailure]:
        return [JobFailure(error) if job < 0 else job for job in jobs]

    commit: GroupCommit[int, int] = GroupCommit(recorder, retry_jobs=retry)
    zero, one, failed = run_together(commit, recorder, [1, -1])

    assert (zero, one) == (0, 1)
    assert isinstance(failed, ValueError)
    assert len(recorder.groups) == 2


def test_error_of_a_single_job_is_raised() -> None:
    def fail(jobs: Sequence[int]) -> list[int]:
        raise ValueError(str(jobs))

    commit: GroupCommit[int, int] = GroupCommit(fail)

    for _ in range(2):
        with pytest.raises(ValueError, match="1"):
            commit(1)
