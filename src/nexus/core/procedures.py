"""How something is done: which tools were used for a task, in which order, and whether it worked.

A tool's use and the outcome of a task are events. A strategy is what the outcomes one may see make
of it: the same steps for the same type of task, with how often they worked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import ceil, sqrt
from typing import Any

from .errors import InvalidInput
from .ids import check_name, digest
from .records import Event, EventKind, Memory, MemoryKind

TOOL = "tool"  # where a tool's use stands in an event's metadata,
OUTCOME = "outcome"  # and the outcome of a task
MOST_STEPS = 50
SURE = 1.96  # standard deviations: 95 times of a hundred


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """How often something worked, and between which bounds that lies in truth, most likely."""

    of: int
    worked: int

    @property
    def low(self) -> float:
        """Wilson's lower bound: once of once is no proof."""
        return self._bound(-1)

    @property
    def high(self) -> float:
        return self._bound(+1)

    @property
    def expected(self) -> float:
        """The next time, as far as one can say: untried is one half."""
        return (self.worked + 1) / (self.of + 2)

    def _bound(self, side: int) -> float:
        if not self.of:
            return 0.0 if side < 0 else 1.0
        share, n, z2 = self.worked / self.of, self.of, SURE**2
        spread = SURE * sqrt(share * (1 - share) / n + z2 / (4 * n * n))
        return min(1.0, max(0.0, (share + z2 / (2 * n) + side * spread) / (1 + z2 / n)))


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStatistics:
    """How a tool did, for one type of task."""

    tool: str
    task_type: str | None
    calls: Share
    p50_seconds: float | None
    p95_seconds: float | None
    last_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """Steps that were taken for a type of task, and how often they worked."""

    id: str
    task: str  # as it was called the last time it worked, or else the last time
    task_type: str | None
    steps: tuple[str, ...]
    record: Share
    last_at: datetime
    memories: tuple[str, ...]  # what it is made of, newest first
    relevance: float = 0.0  # for the task that was asked about

    @property
    def confidence(self) -> float:
        return self.record.low

    @property
    def told(self) -> str:
        """In a line."""
        steps = " → ".join(self.steps)
        return f"{self.task}: {steps} (worked {self.record.worked} of {self.record.of})"


def strategies_of(memories: Iterable[Memory]) -> list[Strategy]:
    """What these outcomes make, the surest first."""
    groups: dict[tuple[str | None, tuple[str, ...]], list[Memory]] = defaultdict(list)
    for memory in memories:
        if memory.kind is MemoryKind.PROCEDURE and memory.body.get("steps"):
            groups[memory.body.get("task_type"), tuple(memory.body["steps"])].append(memory)
    found = [_strategy(*key, group) for key, group in groups.items()]
    return sorted(found, key=lambda each: (-each.confidence, -each.record.of, each.id))


def _strategy(task_type: str | None, steps: tuple[str, ...], group: Sequence[Memory]) -> Strategy:
    newest = sorted(group, key=lambda memory: (memory.at, memory.id), reverse=True)
    worked = [memory for memory in newest if memory.body["success"]]
    return Strategy(
        id=digest("strategy", task_type or "", *steps),
        task=(worked or newest)[0].body["task"],
        task_type=task_type,
        steps=steps,
        record=Share(of=len(newest), worked=len(worked)),
        last_at=newest[0].at,
        memories=tuple(memory.id for memory in newest),
    )


def statistics_of(
    events: Iterable[Event], *, by_type: bool, task_type: str | None = None
) -> list[ToolStatistics]:
    """How each tool did, by its name; apart for each type of task, or altogether."""
    groups: dict[tuple[str, str | None], list[Event]] = defaultdict(list)
    for event in events:
        use = event.metadata.get(TOOL)
        if event.kind is EventKind.TOOL and isinstance(use, Mapping):
            kind = use.get("task_type")
            if task_type in (None, kind):
                groups[use["name"], kind if by_type else None].append(event)
    return [
        _statistics(*key, groups[key]) for key in sorted(groups, key=lambda k: (k[0], k[1] or ""))
    ]


def _statistics(tool: str, task_type: str | None, events: Sequence[Event]) -> ToolStatistics:
    uses = [event.metadata[TOOL] for event in events]
    seconds = sorted(use["seconds"] for use in uses if use.get("seconds") is not None)
    return ToolStatistics(
        tool=tool,
        task_type=task_type,
        calls=Share(of=len(uses), worked=sum(bool(use["success"]) for use in uses)),
        p50_seconds=_at_share(seconds, 0.5),
        p95_seconds=_at_share(seconds, 0.95),
        last_at=max(event.at for event in events),
    )


def _at_share(ordered: Sequence[float], share: float) -> float | None:
    return ordered[ceil(share * len(ordered)) - 1] if ordered else None


def steps_of(uses: Iterable[Mapping[str, Any]], *, success: bool) -> tuple[str, ...]:
    """Which tools, in which order; again and again is once.

    What led to success is what worked; when it failed, all that was tried.
    """
    names = [use["name"] for use in uses if use["success"] or not success]
    steps = [name for place, name in enumerate(names) if place == 0 or names[place - 1] != name]
    return tuple(steps[:MOST_STEPS])


def check_use(told: Mapping[str, Any]) -> None:
    """Whether this can be read as a tool's use."""
    check_name(told.get("name", ""), "the tool")
    _check_task(told)
    seconds = told.get("seconds")
    if seconds is not None and not _is_number(seconds):
        raise InvalidInput(f"seconds is a number, and not below 0: {seconds!r:.80}")


def check_outcome(told: Mapping[str, Any]) -> None:
    """Whether this can be read as the outcome of a task."""
    if told.get("task") is None:
        raise InvalidInput("an outcome is that of a task: say which")
    _check_task(told)
    steps = told.get("steps", [])
    if not isinstance(steps, Sequence) or isinstance(steps, str) or len(steps) > MOST_STEPS:
        raise InvalidInput(f"steps is a list of at most {MOST_STEPS} names")
    for step in steps:
        check_name(step, "a step")


def _check_task(told: Mapping[str, Any]) -> None:
    if not isinstance(told.get("success"), bool):
        raise InvalidInput("say whether it worked: success is true or false")
    for name in ("task", "task_type"):
        if told.get(name) is not None:
            check_name(told[name], name.replace("_", " "))


def _is_number(value: object) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and 0 <= float(value) < float("inf")  # type: ignore[arg-type]
