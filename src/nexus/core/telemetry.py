"""What is being done, timed and (where somebody wants that) traced.

with telemetry.doing("recall") as deed:
    found = …
    deed.tell(hits=len(found))
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar, Token
from time import perf_counter
from types import TracebackType
from typing import Protocol, Self

from .metrics import Metrics

Told = Mapping[str, object]  # what is told of a deed, by our own words


class Span(Protocol):
    """A deed in a trace."""

    def tell(self, told: Told) -> None: ...

    def end(self, error: BaseException | None) -> None:
        """Called once, by the thread that started it."""
        ...


class Tracer(Protocol):
    """Whoever writes traces. Whatever goes wrong there, its callers do not notice."""

    def start(self, name: str, told: Told) -> Span:
        """A deed begins, inside the one this thread is at."""
        ...


class Telemetry:
    """The metrics of a memory, and its traces if there are any."""

    def __init__(self, metrics: Metrics | None = None, tracer: Tracer | None = None) -> None:
        self.metrics = metrics or Metrics()
        self.tracer = tracer

    def doing(self, name: str, **told: object) -> Deed:
        """An operation: it is timed, and counted if it fails."""
        return Deed(self, name, told)


class Deed:
    """Something that is being done."""

    __slots__ = ("_name", "_span", "_started", "_telemetry", "_token", "_told")

    def __init__(self, telemetry: Telemetry, name: str, told: Told) -> None:
        self._telemetry = telemetry
        self._name = name
        self._told = told
        self._span: Span | None = None
        self._token: Token[Tracer | None] | None = None
        self._started = 0.0

    def tell(self, **told: object) -> None:
        if self._span is not None:
            self._span.tell(told)

    def __enter__(self) -> Self:
        tracer = self._telemetry.tracer
        if tracer is not None:
            self._span = tracer.start(self._name, self._told)
            self._token = _tracing.set(tracer)
        self._started = perf_counter()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        metrics = self._telemetry.metrics
        metrics.took("operation_seconds", self._name, perf_counter() - self._started)
        if kind is not None:
            metrics.add("errors_total", (self._name, kind.__name__))
        if self._span is not None and self._token is not None:
            _tracing.reset(self._token)
            self._span.end(error)


_tracing: ContextVar[Tracer | None] = ContextVar("nexus-tracing", default=None)


class _Step:
    """A step that a trace shows."""

    __slots__ = ("_name", "_span", "_tracer")

    def __init__(self, tracer: Tracer | None, name: str) -> None:
        self._tracer = tracer
        self._name = name
        self._span: Span | None = None

    def __enter__(self) -> None:
        if self._tracer is not None:
            self._span = self._tracer.start(self._name, {})

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._span is not None:
            self._span.end(error)


_UNTRACED = _Step(None, "")


def step(name: str) -> _Step:
    """A step of what this thread is doing; where nobody traces that, nothing at all."""
    tracer = _tracing.get()
    return _UNTRACED if tracer is None else _Step(tracer, name)
