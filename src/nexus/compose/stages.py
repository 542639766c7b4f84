"""The stages of a flow: each is timed, and one that fails is missed and remarked upon."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from ..core.errors import Unavailable
from ..core.telemetry import step

T = TypeVar("T")


@dataclass(slots=True)
class Stages:
    """How long each took, and what did not take part."""

    seconds: dict[str, float] = field(default_factory=dict)
    degraded: list[str] = field(default_factory=list)

    def stage(self, name: str, call: Callable[[], T], otherwise: T) -> T:
        """What the call gives; if what it needs is away, `otherwise`, and a remark."""
        started = time.perf_counter()
        try:
            with step(f"compose.{name}"):
                try:
                    return call()
                except Unavailable as error:
                    self.degraded.append(f"{name}: {error}")
                    return otherwise
        finally:
            self._took(name, started)

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            with step(f"compose.{name}"):
                yield
        finally:
            self._took(name, started)

    def _took(self, name: str, started: float) -> None:
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - started
