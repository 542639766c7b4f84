"""One question on its way through the strategies, and what is measured of each."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from ..core.access import Grant
from ..core.errors import Unavailable
from ..core.protocols import Floats, Scored
from ..core.records import StrategyReport
from .query import Query
from .understand import Understood


@dataclass(frozen=True, slots=True)
class Asked:
    """The question, understood, and as a vector if an embedder could make one."""

    query: Query
    understood: Understood
    vector: Floats | None
    depth: int  # how many each strategy may bring


Strategy = Callable[[Grant, Asked], list[Scored]]  # best first; none sees past the grant


@dataclass(slots=True)
class Results:
    """What each strategy brought, how long it took, and what could not take part."""

    lists: dict[str, Sequence[Scored]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    degraded: list[str] = field(default_factory=list)

    @contextmanager
    def measured(self, name: str) -> Iterator[None]:
        """Take the time; a part that is away is remarked upon and missed, nothing more."""
        started = time.perf_counter()
        try:
            yield
        except Unavailable as error:
            self.degraded.append(f"{name}: {error}")
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - started

    def run(self, strategies: Mapping[str, Strategy], grant: Grant, asked: Asked) -> None:
        for name, strategy in strategies.items():
            with self.measured(name):
                self.lists[name] = strategy(grant, asked)

    @property
    def ids(self) -> list[str]:
        """Everything that was found, each once."""
        return list(dict.fromkeys(hit.id for found in self.lists.values() for hit in found))

    def places(self, id: str) -> dict[str, int]:
        """Where each strategy has it, counted from 1."""
        return {
            name: place
            for name, found in self.lists.items()
            for place, hit in enumerate(found, start=1)
            if hit.id == id
        }

    def reports(self, shown: Sequence[str]) -> tuple[StrategyReport, ...]:
        """Per strategy: time, how many it found, and how many of those shown it had found."""
        return tuple(
            StrategyReport(
                name=name,
                seconds=self.seconds.get(name, 0.0),
                found=len(found),
                shown=len({hit.id for hit in found} & set(shown)),
            )
            for name, found in self.lists.items()
        )
