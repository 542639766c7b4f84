"""One question on its way through the strategies, and what is measured of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import perf_counter

from ..core.access import Grant
from ..core.errors import Unavailable
from ..core.filters import every
from ..core.ids import WorkspaceId
from ..core.protocols import Floats, Scored
from ..core.records import StrategyReport
from ..core.standing import Standing
from ..core.telemetry import step
from .query import Query
from .rewrite import Question, Rewrite, Rewritten
from .understand import Understood


@dataclass(frozen=True, slots=True)
class Asked:
    """The question, understood, and as a vector if an embedder could make one."""

    query: Query
    understood: Understood
    vector: Floats | None
    depth: int  # how many each strategy may bring


Strategy = Callable[[Grant, Asked], list[Scored]]  # best first; none sees past the grant


@dataclass(frozen=True, slots=True)
class Asker:
    """Turns what was understood of a question into what strategies search by."""

    embed: Callable[[WorkspaceId, str], Floats]
    rewrite: Callable[[WorkspaceId], Rewrite] | None = None  # by a model that the workspace pays
    standing: Callable[[Grant], Standing] = lambda _grant: Standing()

    def ask(
        self, grant: Grant, query: Query, understood: Understood, depth: int, results: Results
    ) -> Asked:
        """No transaction may be open here: an embedder or a model may be far away."""
        said = Rewritten()
        if self.rewrite:
            question = Question(text=query.question, now=query.now, people=query.people)
            with results.measured("rewrite"):
                said = self.rewrite(grant.workspace)(question)
            results.degraded += said.degraded
            results.helped["rewrite"] = said.texts
        vector = None
        with results.measured("meaning"):
            texts = (said.meaning or understood.meaning, *said.beside)
            vector = self._vector(grant, texts, results)
        if said.where is not None:
            query = replace(query, where=every([query.where, said.where]))
        return Asked(query, understood, vector, depth)

    def _vector(self, grant: Grant, texts: Sequence[str], results: Results) -> Floats | None:
        standing = self.standing(grant)
        if standing.remark:
            results.degraded.append(f"meaning: {standing.remark}")
        if not standing.usable:
            return None
        return _direction([self.embed(grant.workspace, text) for text in texts])


def _direction(vectors: Sequence[Floats]) -> Floats:
    """Where they point together."""
    if len(vectors) == 1:
        return vectors[0]
    total: Floats = sum(vectors[1:], start=vectors[0])
    length = float((total * total).sum()) ** 0.5
    return total / total.dtype.type(length) if length else total


@dataclass(slots=True)
class Results:
    """What each strategy brought, how long it took, and what could not take part."""

    lists: dict[str, Sequence[Scored]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    degraded: list[str] = field(default_factory=list)
    helped: dict[str, Sequence[str]] = field(default_factory=dict)  # with what: ids, or texts

    @contextmanager
    def measured(self, name: str) -> Iterator[None]:
        """Take the time; a part that is away is remarked upon and missed, nothing more."""
        started = perf_counter()
        try:
            with step(f"recall.{name}"):
                yield
        except Unavailable as error:
            self.degraded.append(f"{name}: {error}")
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + perf_counter() - started

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
        """Per strategy: time, how many it found, and how many of those shown it had found.

        What only helps comes after them: there it is what it looked at, or the texts it made.
        """
        brought = {name: [hit.id for hit in found] for name, found in self.lists.items()}
        seen = set(shown)
        return tuple(
            StrategyReport(
                name=name,
                seconds=self.seconds.get(name, 0.0),
                found=len(ids),
                shown=len(seen.intersection(ids)),
            )
            for name, ids in {**brought, **self.helped}.items()
        )
