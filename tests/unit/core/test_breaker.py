"""A part that is away is left alone for a while."""

from __future__ import annotations

import threading
import time

import pytest

from nexus.core.breaker import REST_SECONDS, WITHIN_SECONDS, Breaker, State, breaker, breakers
from nexus.core.errors import (
    BadOutput,
    BudgetSpent,
    EmbedderUnavailable,
    ModelUnavailable,
    Unavailable,
)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Part:
    """Says what it is told to say, and counts how often it was asked."""

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
def guard(clock: Clock) -> Breaker:
    return Breaker("the part", clock)


def fail(guard: Breaker, part: Part, times: int) -> None:
    for _ in range(times):
        with pytest.raises(type(part.error)):
            guard.call(part)


@pytest.mark.requirement("D22")
def test_three_failures_open_it_and_then_nobody_asks(guard: Breaker) -> None:
    part = Part(EmbedderUnavailable("away"))

    fail(guard, part, 2)
    assert guard.state is State.CLOSED
    fail(guard, part, 1)
    assert guard.state is State.OPEN
    with pytest.raises(EmbedderUnavailable, match="the part is away and not asked"):
        guard.call(part, error=EmbedderUnavailable)

    assert part.asked == 3


@pytest.mark.requirement("D22")
def test_an_open_one_refuses_at_once(guard: Breaker) -> None:
    fail(guard, Part(Unavailable("away")), 3)

    started = time.perf_counter()
    for _ in range(100):
        with pytest.raises(Unavailable):
            guard.call(time.sleep, seconds=5)

    assert (time.perf_counter() - started) / 100 < 0.001


def test_failures_far_apart_are_no_reason(guard: Breaker, clock: Clock) -> None:
    part = Part(Unavailable("away"))

    for _ in range(6):
        fail(guard, part, 1)
        clock.now += WITHIN_SECONDS / 2 + 1

    assert guard.state is State.CLOSED


def test_a_success_in_between_starts_the_count_anew(guard: Breaker) -> None:
    part = Part(Unavailable("away"))

    fail(guard, part, 2)
    assert guard.call(Part()) == "here"
    fail(guard, part, 2)

    assert guard.state is State.CLOSED


def test_after_its_rest_one_call_tries_it_and_its_success_closes_it(
    guard: Breaker, clock: Clock
) -> None:
    fail(guard, Part(Unavailable("away")), 3)
    clock.now += REST_SECONDS
    assert guard.state is State.HALF_OPEN

    def tried() -> str:
        with pytest.raises(Unavailable):  # meanwhile the others are refused
            guard.call(Part())
        return "back"

    assert guard.call(tried) == "back"
    assert guard.state is State.CLOSED


def test_a_try_that_fails_is_one_more_rest(guard: Breaker, clock: Clock) -> None:
    part = Part(Unavailable("away"))
    fail(guard, part, 3)
    clock.now += REST_SECONDS

    fail(guard, part, 1)

    assert guard.state is State.OPEN
    clock.now += REST_SECONDS
    assert guard.call(Part()) == "here"


def test_a_try_that_never_comes_back_is_followed_by_another(guard: Breaker, clock: Clock) -> None:
    fail(guard, Part(Unavailable("away")), 3)
    clock.now += REST_SECONDS
    with pytest.raises(KeyboardInterrupt):
        guard.call(Part(KeyboardInterrupt()))  # type: ignore[arg-type]  # no failure, no success

    clock.now += REST_SECONDS

    assert guard.call(Part()) == "here"


def test_whoever_answers_works_even_with_nonsense(guard: Breaker) -> None:
    fail(guard, Part(BadOutput("nonsense")), 5)

    assert guard.state is State.CLOSED


def test_a_spent_budget_says_nothing_of_the_model(guard: Breaker, clock: Clock) -> None:
    fail(guard, Part(BudgetSpent("spent")), 5)
    assert guard.state is State.CLOSED

    fail(guard, Part(ModelUnavailable("away")), 3)
    clock.now += REST_SECONDS
    fail(guard, Part(BudgetSpent("spent")), 1)  # it was not tried: the next one may
    assert guard.call(Part()) == "here"


def test_what_takes_too_long_is_a_failure(guard: Breaker) -> None:
    released = threading.Event()
    for _ in range(3):
        with pytest.raises(EmbedderUnavailable, match=r"no answer within 0\.01 seconds"):
            guard.call(released.wait, seconds=0.01, error=EmbedderUnavailable)
    released.set()

    assert guard.state is State.OPEN


def test_several_questions_at_once_are_one_failure(guard: Breaker) -> None:
    part = Part(ModelUnavailable("away"))
    calls = {"a": part, "b": part, "c": part}

    for _ in range(2):
        guard.ask_all(calls, 5)
    assert guard.state is State.CLOSED
    guard.ask_all(calls, 5)
    answers, errors = guard.ask_all(calls, 5)

    assert part.asked == 9
    assert answers == {}
    assert {name: "not asked" in str(error) for name, error in errors.items()} == dict.fromkeys(
        "abc", True
    )


def test_one_answer_of_several_is_an_answer(guard: Breaker) -> None:
    for _ in range(4):
        guard.ask_all({"a": Part(ModelUnavailable("away")), "b": Part()}, 5)

    assert guard.state is State.CLOSED


def test_many_threads_ask_a_broken_part_few_times(guard: Breaker) -> None:
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

    assert part.asked <= 2 + 8  # each thread may have been on its way when it opened


@pytest.mark.requirement("D22")
def test_one_part_has_one_breaker_in_the_process() -> None:
    one = breaker("the test part", "http://one")

    assert breaker("the test part", "http://one") is one
    assert breaker("the test part", "http://two") is not one
    assert breakers()["the test part"] is State.CLOSED
    fail(one, Part(Unavailable("away")), 3)
    assert breakers()["the test part"] is State.OPEN
