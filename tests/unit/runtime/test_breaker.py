"""Circuit breaker: opening, cool-down, trial calls and shared instances."""

from __future__ import annotations

import threading
import time

import pytest

from nexusmem.core.errors import (
    BadOutput,
    BudgetSpent,
    EmbedderUnavailable,
    ModelUnavailable,
    Unavailable,
)
from nexusmem.runtime.breaker import (
    COOLDOWN_SECONDS,
    WITHIN_SECONDS,
    BreakerState,
    CircuitBreaker,
    breaker_states,
    get_breaker,
)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Part:
    """A service that returns or raises the configured outcome and counts its calls."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.asked = 0

    def __call__(self) -> str:
        self.asked += 1
        if self.error:
            raise self.error
        return "here"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def guard(clock: Clock) -> CircuitBreaker:
    return CircuitBreaker("the part", clock)


def fail(guard: CircuitBreaker, part: Part, times: int) -> None:
    for _ in range(times):
        with pytest.raises(type(part.error)):
            guard.call(part)


@pytest.mark.requirement("D22")
def test_three_failures_open_the_breaker(guard: CircuitBreaker) -> None:
    part = Part(EmbedderUnavailable("away"))

    fail(guard, part, 2)
    assert guard.state is BreakerState.CLOSED
    fail(guard, part, 1)
    assert guard.state is BreakerState.OPEN
    with pytest.raises(EmbedderUnavailable, match="the part is unavailable"):
        guard.call(part, error=EmbedderUnavailable)

    assert part.asked == 3


@pytest.mark.requirement("D22")
def test_open_breaker_fails_immediately(guard: CircuitBreaker) -> None:
    fail(guard, Part(Unavailable("away")), 3)

    started = time.perf_counter()
    for _ in range(100):
        with pytest.raises(Unavailable):
            guard.call(time.sleep, seconds=5)

    assert (time.perf_counter() - started) / 100 < 0.001


def test_distant_failures_do_not_open_the_breaker(guard: CircuitBreaker, clock: Clock) -> None:
    part = Part(Unavailable("away"))

    for _ in range(6):
        fail(guard, part, 1)
        clock.now += WITHIN_SECONDS / 2 + 1

    assert guard.state is BreakerState.CLOSED


def test_success_resets_the_failure_count(guard: CircuitBreaker) -> None:
    part = Part(Unavailable("away"))

    fail(guard, part, 2)
    assert guard.call(Part()) == "here"
    fail(guard, part, 2)

    assert guard.state is BreakerState.CLOSED


def test_successful_trial_after_cooldown_closes_the_breaker(
    guard: CircuitBreaker, clock: Clock
) -> None:
    fail(guard, Part(Unavailable("away")), 3)
    clock.now += COOLDOWN_SECONDS
    assert guard.state is BreakerState.HALF_OPEN

    def tried() -> str:
        with pytest.raises(Unavailable):  # other calls fail meanwhile
            guard.call(Part())
        return "back"

    assert guard.call(tried) == "back"
    assert guard.state is BreakerState.CLOSED


def test_failed_trial_starts_another_cooldown(guard: CircuitBreaker, clock: Clock) -> None:
    part = Part(Unavailable("away"))
    fail(guard, part, 3)
    clock.now += COOLDOWN_SECONDS

    fail(guard, part, 1)

    assert guard.state is BreakerState.OPEN
    clock.now += COOLDOWN_SECONDS
    assert guard.call(Part()) == "here"


def test_hanging_trial_is_followed_by_another(guard: CircuitBreaker, clock: Clock) -> None:
    fail(guard, Part(Unavailable("away")), 3)
    clock.now += COOLDOWN_SECONDS
    with pytest.raises(KeyboardInterrupt):
        guard.call(Part(KeyboardInterrupt()))  # type: ignore[arg-type]  # no failure, no success

    clock.now += COOLDOWN_SECONDS

    assert guard.call(Part()) == "here"


def test_error_response_counts_as_success(guard: CircuitBreaker) -> None:
    fail(guard, Part(BadOutput("nonsense")), 5)

    assert guard.state is BreakerState.CLOSED


def test_spent_budget_counts_neither_as_success_nor_failure(
    guard: CircuitBreaker, clock: Clock
) -> None:
    fail(guard, Part(BudgetSpent("spent")), 5)
    assert guard.state is BreakerState.CLOSED

    fail(guard, Part(ModelUnavailable("away")), 3)
    clock.now += COOLDOWN_SECONDS
    fail(guard, Part(BudgetSpent("spent")), 1)  # no trial happened: the next call is the trial
    assert guard.call(Part()) == "here"


def test_timeout_counts_as_failure(guard: CircuitBreaker) -> None:
    released = threading.Event()
    for _ in range(3):
        with pytest.raises(EmbedderUnavailable, match=r"no answer within 0\.01 seconds"):
            guard.call(released.wait, seconds=0.01, error=EmbedderUnavailable)
    released.set()

    assert guard.state is BreakerState.OPEN


def test_parallel_failures_count_once(guard: CircuitBreaker) -> None:
    part = Part(ModelUnavailable("away"))
    calls = {"a": part, "b": part, "c": part}

    for _ in range(2):
        guard.call_all(calls, 5)
    assert guard.state is BreakerState.CLOSED
    guard.call_all(calls, 5)
    answers, errors = guard.call_all(calls, 5)

    assert part.asked == 9
    assert answers == {}
    assert {name: "circuit open" in str(error) for name, error in errors.items()} == dict.fromkeys(
        "abc", True
    )


def test_one_success_of_several_counts_as_success(guard: CircuitBreaker) -> None:
    for _ in range(4):
        guard.call_all({"a": Part(ModelUnavailable("away")), "b": Part()}, 5)

    assert guard.state is BreakerState.CLOSED


def test_many_threads_make_few_calls_to_a_failing_service(guard: CircuitBreaker) -> None:
    part = Part(Unavailable("away"))
    fail(guard, part, 2)

    def ask() -> None:
        for _ in range(200):
            with pytest.raises(Unavailable):
                guard.call(part)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert part.asked <= 2 + 8  # each thread may have passed the check before it opened


@pytest.mark.requirement("D22")
def test_service_has_one_breaker_per_process() -> None:
    one = get_breaker("the test part", "http://one")

    assert get_breaker("the test part", "http://one") is one
    assert get_breaker("the test part", "http://two") is not one
    assert breaker_states()["the test part"] is BreakerState.CLOSED
    fail(one, Part(Unavailable("away")), 3)
    assert breaker_states()["the test part"] is BreakerState.OPEN
