"""A part that is away is left alone for a while, so that nobody waits for it in vain.

    embedder = breaker("embedder", "openai", "https://…")
    embedder.call(lambda: embed(text), seconds=3.0)

Three failures within half a minute open a breaker: calls are refused at once. After ten seconds
one call is let through; when it works, all are. A breaker is shared by everybody in the process
who uses the same part.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from threading import Lock
from typing import TypeVar

from .bounded import ask_all, bounded
from .errors import BudgetSpent, ModelUnavailable, NexusError, Unavailable
from .ids import digest

Answer = TypeVar("Answer")
Call = Callable[[], Answer]

FAILURES = 3
WITHIN_SECONDS = 30.0
REST_SECONDS = 10.0


class State(StrEnum):
    CLOSED = "closed"  # it works
    HALF_OPEN = "half open"  # it rested; the next call tries it
    OPEN = "open"  # it is not asked


@dataclass(slots=True)
class Breaker:
    """Counts the failures of one part. Every method may be called by many threads at once."""

    name: str
    clock: Callable[[], float] = time.monotonic
    failures: int = FAILURES
    rest_seconds: float = REST_SECONDS
    _failures: deque[float] = field(init=False)
    _resting_until: float | None = None  # None: closed
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self._failures = deque(maxlen=self.failures)

    @property
    def state(self) -> State:
        with self._lock:
            if self._resting_until is None:
                return State.CLOSED
            return State.OPEN if self.clock() < self._resting_until else State.HALF_OPEN

    def call(
        self,
        call: Call[Answer],
        *,
        seconds: float | None = None,
        error: type[Unavailable] = Unavailable,
    ) -> Answer:
        """The answer, within this time if one is given. `error` says that it is away."""
        self._admit(error)
        try:
            answer = call() if seconds is None else bounded(call, seconds, error=error)
        except Exception as problem:
            self._judge([problem])
            raise
        self._judge([])
        return answer

    def ask_all(
        self,
        calls: Mapping[str, Call[Answer]],
        seconds: float,
        *,
        error: type[Unavailable] = ModelUnavailable,
    ) -> tuple[dict[str, Answer], dict[str, NexusError]]:
        """Several questions to the same part at once; that all fail counts as one failure."""
        try:
            self._admit(error)
        except Unavailable as refused:
            return {}, dict.fromkeys(calls, refused)
        answers, errors = ask_all(calls, seconds)
        self._judge([] if answers else list(errors.values()))
        return answers, errors

    def _admit(self, error: type[Unavailable]) -> None:
        with self._lock:
            if self._resting_until is None:
                return
            left = self._resting_until - self.clock()
            if left <= 0:  # this call tries it; if it never comes back, another one will
                self._resting_until = self.clock() + self.rest_seconds
                return
        raise error(f"{self.name} is away and not asked; tried again in {left:.0f} seconds")

    def _judge(self, problems: list[NexusError] | list[Exception]) -> None:
        """Whoever answers works, even with an error; a spent budget says nothing of the part."""
        away = [each for each in problems if isinstance(each, Unavailable)]
        if len(away) < len(problems) or not problems:
            self._worked()
        elif not all(isinstance(each, BudgetSpent) for each in away):
            self._failed()
        else:
            self._spared()

    def _worked(self) -> None:
        with self._lock:
            self._failures.clear()
            self._resting_until = None

    def _failed(self) -> None:
        with self._lock:
            now = self.clock()
            self._failures.append(now)
            many = (
                len(self._failures) == self.failures and now - self._failures[0] <= WITHIN_SECONDS
            )
            if many or self._resting_until is not None:
                self._resting_until = now + self.rest_seconds

    def _spared(self) -> None:
        """It was not asked after all: the next one may try it."""
        with self._lock:
            if self._resting_until is not None:
                self._resting_until = self.clock()


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakers:
    """One for each part that is asked over a network; a store far away brings its own."""

    embedder: Breaker
    model: Breaker
    reranker: Breaker


_shared: dict[tuple[str, str], Breaker] = {}
_shared_lock = Lock()


def breaker(
    name: str, *identity: str, failures: int = FAILURES, rest_seconds: float = REST_SECONDS
) -> Breaker:
    """The one breaker of this process for a part; `identity` tells two of the same name apart."""
    key = (name, digest(*identity) if identity else "")
    made = Breaker(name, failures=failures, rest_seconds=rest_seconds)
    with _shared_lock:
        return _shared.setdefault(key, made)


def breakers() -> dict[str, State]:
    """Every shared breaker by name; of several with one name, the worst."""
    with _shared_lock:
        every = [(name, each) for (name, _), each in _shared.items()]
    order = list(State)
    states: dict[str, State] = {}
    for name, each in every:
        states[name] = max(each.state, states.get(name, State.CLOSED), key=order.index)
    return states
