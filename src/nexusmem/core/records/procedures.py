"""Procedures: tools used for a task, their order and their success.

A tool call and the outcome of a task are events. A strategy combines the outcomes that a viewer may
see: the same steps for the same type of task, with their success rate.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import ceil, sqrt
from typing import Any

from ..errors import InvalidInput
from ..ids import check_name, digest
from . import Event, EventKind, Memory, MemoryKind

TOOL = "tool"  # metadata key of a tool call
OUTCOME = "outcome"  # metadata key of the outcome of a task
CALL_ID = "tool_call"  # metadata keys of a tool result in a chat
ARGUMENTS = "arguments"
IS_ERROR = "is_error"  # True, or absent
MAX_STEPS = 50
MIN_SHARED_TOPIC = 0.5  # of the terms of two tasks, for tasks that are learned from messages
Z_SCORE_95 = 1.96  # standard deviations of a 95 % confidence interval


@dataclass(frozen=True, slots=True, kw_only=True)
class SuccessRate:
    """A number of attempts and successes, with its Wilson confidence interval."""

    total: int
    successes: int

    @property
    def lower_bound(self) -> float:
        """Lower bound of the Wilson interval; one success in one attempt gives a low value."""
        return self._wilson_bound(-1)

    @property
    def upper_bound(self) -> float:
        """Upper bound of the Wilson interval."""
        return self._wilson_bound(+1)

    @property
    def estimate(self) -> float:
        """Expected success of the next attempt (rule of succession); 0.5 without attempts."""
        return (self.successes + 1) / (self.total + 2)

    def _wilson_bound(self, side: int) -> float:
        if not self.total:
            return 0.0 if side < 0 else 1.0
        share, n, z2 = self.successes / self.total, self.total, Z_SCORE_95**2
        spread = Z_SCORE_95 * sqrt(share * (1 - share) / n + z2 / (4 * n * n))
        return min(1.0, max(0.0, (share + z2 / (2 * n) + side * spread) / (1 + z2 / n)))


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStatistics:
    """Success and duration of a tool, for one type of task."""

    tool: str
    task_type: str | None
    calls: SuccessRate
    p50_seconds: float | None
    p95_seconds: float | None
    last_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """Steps taken for a type of task, with their success rate."""

    id: str
    task: str  # name of the latest successful task, or else of the latest
    task_type: str | None
    steps: tuple[str, ...]
    success_rate: SuccessRate
    last_at: datetime
    memories: tuple[str, ...]  # ids of its outcomes, newest first
    relevance: float = 0.0  # to the task of the caller

    @property
    def confidence(self) -> float:
        return self.success_rate.lower_bound

    @property
    def summary(self) -> str:
        """The task, its steps and its success rate in one line."""
        steps = " → ".join(self.steps)
        rate = self.success_rate
        return f"{self.task}: {steps} (worked {rate.successes} of {rate.total})"


def build_strategies(memories: Iterable[Memory]) -> list[Strategy]:
    """Return the strategies of these outcomes, those with the highest confidence first.

    Outcomes of one strategy have the same steps and type of task. Those that were learned from
    messages have no type, so their tasks must share a topic.
    """
    groups: dict[tuple[str | None, tuple[str, ...]], list[Memory]] = defaultdict(list)
    for memory in memories:
        if memory.kind is MemoryKind.PROCEDURE and memory.body.get("steps"):
            groups[memory.body.get("task_type"), tuple(memory.body["steps"])].append(memory)
    found = [
        _build_strategy(*key, topic, group)
        for key, same_steps in groups.items()
        for topic, group in _group_by_topic(same_steps)
    ]
    return sorted(found, key=lambda each: (-each.confidence, -each.success_rate.total, each.id))


def _group_by_topic(memories: Sequence[Memory]) -> list[tuple[tuple[str, ...], list[Memory]]]:
    """Return groups with the topic of their oldest task; outcomes without a topic are one group."""
    groups: list[tuple[tuple[str, ...], list[Memory]]] = []
    for memory in sorted(memories, key=lambda each: (each.at, each.id)):
        topic = tuple(memory.body.get("topic") or ())
        same = next((group for known, group in groups if _is_same_topic(known, topic)), None)
        if same is None:
            groups.append((topic, [memory]))
        else:
            same.append(memory)
    return groups


def _is_same_topic(one: Sequence[str], other: Sequence[str]) -> bool:
    if not one or not other:
        return not one and not other
    shared = len(frozenset(one) & frozenset(other))
    return shared >= MIN_SHARED_TOPIC * min(len(one), len(other))


def _build_strategy(
    task_type: str | None, steps: tuple[str, ...], topic: tuple[str, ...], group: Sequence[Memory]
) -> Strategy:
    newest = sorted(group, key=lambda memory: (memory.at, memory.id), reverse=True)
    worked = [memory for memory in newest if memory.body["success"]]
    return Strategy(
        id=digest("strategy", task_type or "", *steps, *(("", *topic) if topic else ())),
        task=(worked or newest)[0].body["task"],
        task_type=task_type,
        steps=steps,
        success_rate=SuccessRate(total=len(newest), successes=len(worked)),
        last_at=newest[0].at,
        memories=tuple(memory.id for memory in newest),
    )


def build_statistics(
    events: Iterable[Event], *, by_type: bool, task_type: str | None = None
) -> list[ToolStatistics]:
    """Return the statistics of each tool by name, per type of task if `by_type`."""
    groups: dict[tuple[str, str | None], list[Event]] = defaultdict(list)
    for event in events:
        use = event.metadata.get(TOOL)
        if event.kind is EventKind.TOOL and isinstance(use, Mapping):
            kind = use.get("task_type")
            if task_type in (None, kind):
                groups[use["name"], kind if by_type else None].append(event)
    return [
        _build_tool_statistics(*key, groups[key])
        for key in sorted(groups, key=lambda k: (k[0], k[1] or ""))
    ]


def _build_tool_statistics(
    tool: str, task_type: str | None, events: Sequence[Event]
) -> ToolStatistics:
    uses = [event.metadata[TOOL] for event in events]
    seconds = sorted(use["seconds"] for use in uses if use.get("seconds") is not None)
    return ToolStatistics(
        tool=tool,
        task_type=task_type,
        calls=SuccessRate(total=len(uses), successes=sum(bool(use["success"]) for use in uses)),
        p50_seconds=_percentile(seconds, 0.5),
        p95_seconds=_percentile(seconds, 0.95),
        last_at=max(event.at for event in events),
    )


def _percentile(ordered: Sequence[float], share: float) -> float | None:
    return ordered[ceil(share * len(ordered)) - 1] if ordered else None


def is_tool_result(event: Event) -> bool:
    """Return whether an event is the output of a tool, not a call that `procedures` recorded."""
    return event.kind is EventKind.TOOL and TOOL not in event.metadata


def extract_steps(uses: Iterable[Mapping[str, Any]], *, success: bool) -> tuple[str, ...]:
    """Return the tools in order of use, without immediate repetitions.

    After a success only the successful calls count, after a failure all calls.
    """
    names = [use["name"] for use in uses if use["success"] or not success]
    steps = [name for n, name in enumerate(names) if n == 0 or names[n - 1] != name]
    return tuple(steps[:MAX_STEPS])


def check_tool_use(data: Mapping[str, Any]) -> None:
    """Raise InvalidInput unless `data` is a valid tool call."""
    check_name(data.get("name", ""), "the tool")
    _check_task(data)
    seconds = data.get("seconds")
    if seconds is not None and not _is_number(seconds):
        raise InvalidInput(f"seconds must be a number of at least 0, got {seconds!r:.80}")


def check_outcome(data: Mapping[str, Any]) -> None:
    """Raise InvalidInput unless `data` is a valid outcome of a task."""
    if data.get("task") is None:
        raise InvalidInput("an outcome needs a task, got none")
    _check_task(data)
    steps = data.get("steps", [])
    if not isinstance(steps, Sequence) or isinstance(steps, str) or len(steps) > MAX_STEPS:
        raise InvalidInput(f"steps must be a list of at most {MAX_STEPS} names")
    for step in steps:
        check_name(step, "a step")


def _check_task(data: Mapping[str, Any]) -> None:
    if not isinstance(data.get("success"), bool):
        raise InvalidInput(f"success must be true or false, got {data.get('success')!r:.80}")
    for name in ("task", "task_type"):
        if data.get(name) is not None:
            check_name(data[name], name.replace("_", " "))


def _is_number(value: object) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and 0 <= float(value) < float("inf")  # type: ignore[arg-type]
