"""Circuit breaker: after repeated failures, fail fast until a cool-down has passed.

    breaker = get_breaker("embedder", "openai", "https://…")
    breaker.call(lambda: embed(text), seconds=3.0)

Three failures within half a minute open a breaker: calls fail immediately. After ten seconds
one trial call is admitted; its success closes the breaker. All users of a service in this
process share its breaker.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from threading import Lock
from typing import TypeVar

from ..core.errors import BudgetSpent, ModelUnavailable, NexusError, Unavailable
from ..core.ids import digest
from .timeouts import call_all, call_with_deadline

Answer = TypeVar("Answer")
Call = Callable[[], Answer]

FAILURE_LIMIT = 3
WITHIN_SECONDS = 30.0
COOLDOWN_SECONDS = 10.0


class BreakerState(StrEnum):
    """State of a circuit breaker."""

    CLOSED = "closed"  # calls are admitted
    HALF_OPEN = "half open"  # the cool-down has passed; the next call is a trial
    OPEN = "open"  # calls fail immediately


@dataclass(slots=True)
class CircuitBreaker:
    """Counts the failures of one service; thread-safe."""

    name: str
    clock: Callable[[], float] = time.monotonic
    failure_limit: int = FAILURE_LIMIT
    cooldown_seconds: float = COOLDOWN_SECONDS
    _failures: deque[float] = field(init=False)
    _open_until: float | None = None  # None: closed
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self._failures = deque(maxlen=self.failure_limit)

    @property
    def state(self) -> BreakerState:
        with self._lock:
            if self._open_until is None:
                return BreakerState.CLOSED
            return BreakerState.OPEN if self.clock() < self._open_until else BreakerState.HALF_OPEN

    def call(
        self,
        call: Call[Answer],
        *,
        seconds: float | None = None,
        error: type[Unavailable] = Unavailable,
    ) -> Answer:
        """Return the result of `call`, within `seconds` if given.

        Raise `error` if the breaker is open or the deadline passes.
        """
        self._admit_call(error)
        try:
            answer = call() if seconds is None else call_with_deadline(call, seconds, error=error)
        except Exception as problem:
            self._record_outcome([problem])
            raise
        self._record_outcome([])
        return answer

    def call_all(
        self,
        calls: Mapping[str, Call[Answer]],
        seconds: float,
        *,
        error: type[Unavailable] = ModelUnavailable,
    ) -> tuple[dict[str, Answer], dict[str, NexusError]]:
        """Run several calls to the same service in parallel; count a failure only if all fail."""
        try:
            self._admit_call(error)
        except Unavailable as rejection:
            return {}, dict.fromkeys(calls, rejection)
        answers, errors = call_all(calls, seconds)
        self._record_outcome([] if answers else list(errors.values()))
        return answers, errors

    def _admit_call(self, error: type[Unavailable]) -> None:
        with self._lock:
            if self._open_until is None:
                return
            left = self._open_until - self.clock()
            if left <= 0:  # a trial call; if it never returns, a later call is the next trial
                self._open_until = self.clock() + self.cooldown_seconds
                return
        raise error(
            f"{self.name} is unavailable (circuit open); next attempt in {left:.0f} seconds"
        )

    def _record_outcome(self, problems: list[NexusError] | list[Exception]) -> None:
        """Update the state; an error response is a success, and a spent budget is neither."""
        failures = [each for each in problems if isinstance(each, Unavailable)]
        if len(failures) < len(problems) or not problems:
            self._on_success()
        elif not all(isinstance(each, BudgetSpent) for each in failures):
            self._on_failure()
        else:
            self._on_skipped()

    def _on_success(self) -> None:
        with self._lock:
            self._failures.clear()
            self._open_until = None

    def _on_failure(self) -> None:
        with self._lock:
            now = self.clock()
            self._failures.append(now)
            is_over_limit = (
                len(self._failures) == self.failure_limit
                and now - self._failures[0] <= WITHIN_SECONDS
            )
            if is_over_limit or self._open_until is not None:
                self._open_until = now + self.cooldown_seconds

    def _on_skipped(self) -> None:
        """End the trial, because the service was not called; the next call is the trial."""
        with self._lock:
            if self._open_until is not None:
                self._open_until = self.clock()


@dataclass(frozen=True, slots=True, kw_only=True)
class CircuitBreakers:
    """The breakers of all network services; a remote store has its own."""

    embedder: CircuitBreaker
    model: CircuitBreaker
    reranker: CircuitBreaker


_shared: dict[tuple[str, str], CircuitBreaker] = {}
_shared_lock = Lock()


def get_breaker(
    name: str,
    *identity: str,
    failure_limit: int = FAILURE_LIMIT,
    cooldown_seconds: float = COOLDOWN_SECONDS,
) -> CircuitBreaker:
    """Return the shared breaker of a service; `identity` distinguishes services of one name."""
    key = (name, digest(*identity) if identity else "")
    new = CircuitBreaker(name, failure_limit=failure_limit, cooldown_seconds=cooldown_seconds)
    with _shared_lock:
        return _shared.setdefault(key, new)


def breaker_states() -> dict[str, BreakerState]:
    """Return the state of each shared breaker by name; for equal names, the worst."""
    with _shared_lock:
        breakers = [(name, each) for (name, _), each in _shared.items()]
    order = list(BreakerState)
    states: dict[str, BreakerState] = {}
    for name, each in breakers:
        states[name] = max(each.state, states.get(name, BreakerState.CLOSED), key=order.index)
    return states
