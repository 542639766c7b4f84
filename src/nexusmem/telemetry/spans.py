"""Tracing: operations that are timed, counted and, if a tracer is configured, traced.

with telemetry.operation("recall") as operation:
    hits = …
    operation.set_attributes(found=hits)
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar, Token
from time import perf_counter
from types import TracebackType
from typing import Protocol, Self

from .metrics import Metrics

SpanAttributes = Mapping[str, object]  # by the names in `opentelemetry.ATTRIBUTE_READERS`


class Span(Protocol):
    """A span of a trace."""

    def set_attributes(self, attributes: SpanAttributes) -> None: ...

    def end(self, error: BaseException | None) -> None:
        """End the span; called once, by the thread that started it."""
        ...


class Tracer(Protocol):
    """Creates spans. Implementations must not raise."""

    def start_span(self, name: str, attributes: SpanAttributes) -> Span:
        """Start a span inside the current span of this thread."""
        ...


class Telemetry:
    """The metrics of a client, and its tracer if one is configured."""

    def __init__(self, metrics: Metrics | None = None, tracer: Tracer | None = None) -> None:
        self.metrics = metrics or Metrics()
        self.tracer = tracer

    def operation(self, name: str, **attributes: object) -> TracedOperation:
        """Return a context manager that times an operation and counts its failures."""
        return TracedOperation(self, name, attributes)


class TracedOperation:
    """An operation in progress."""

    __slots__ = ("_attributes", "_name", "_span", "_started", "_telemetry", "_token")

    def __init__(self, telemetry: Telemetry, name: str, attributes: SpanAttributes) -> None:
        self._telemetry = telemetry
        self._name = name
        self._attributes = attributes
        self._span: Span | None = None
        self._token: Token[Tracer | None] | None = None
        self._started = 0.0

    def set_attributes(self, **attributes: object) -> None:
        if self._span is not None:
            self._span.set_attributes(attributes)

    def __enter__(self) -> Self:
        tracer = self._telemetry.tracer
        if tracer is not None:
            self._span = tracer.start_span(self._name, self._attributes)
            self._token = _current_tracer.set(tracer)
        self._started = perf_counter()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        metrics = self._telemetry.metrics
        metrics.observe_seconds("operation_seconds", self._name, perf_counter() - self._started)
        if kind is not None:
            metrics.add("errors_total", (self._name, kind.__name__))
        if self._span is not None and self._token is not None:
            _current_tracer.reset(self._token)
            self._span.end(error)


_current_tracer: ContextVar[Tracer | None] = ContextVar("nexus-tracing", default=None)


class _TraceStep:
    """A step within an operation, shown in traces only."""

    __slots__ = ("_name", "_span", "_tracer")

    def __init__(self, tracer: Tracer | None, name: str) -> None:
        self._tracer = tracer
        self._name = name
        self._span: Span | None = None

    def __enter__(self) -> None:
        if self._tracer is not None:
            self._span = self._tracer.start_span(self._name, {})

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._span is not None:
            self._span.end(error)


_NO_STEP = _TraceStep(None, "")


def trace_step(name: str) -> _TraceStep:
    """Return a context manager for a step; it does nothing without an active trace."""
    tracer = _current_tracer.get()
    return _NO_STEP if tracer is None else _TraceStep(tracer, name)
