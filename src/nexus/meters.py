"""How a memory stands: what its store says, beside what this process counted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from .core.access import administrator_grant
from .core.breaker import State, breakers
from .core.ids import WorkspaceId
from .core.metrics import Sample, Snapshot, label, sample
from .wiring import Parts

Numbers = defaultdict[tuple[str, tuple[str, ...]], float]  # by name and labels


def measured(parts: Parts) -> Snapshot:
    """Everything that is known now."""
    read = [*_caches(parts), *_breakers(parts), *_files(parts), *_workspaces(parts)]
    return parts.telemetry.metrics.snapshot(read)


def _caches(parts: Parts) -> Iterator[Sample]:
    contexts, questions = parts.contexts.stats, parts.embedder
    uses = {
        "contexts": (contexts.hits, contexts.misses),
        "questions": (questions.hits, questions.misses),
        **{name: (use.hits, use.misses) for name, use in parts.store.caches().items()},
    }
    for name, (hits, misses) in uses.items():
        yield sample("cache_hits_total", name, hits)
        yield sample("cache_misses_total", name, misses)


def _breakers(parts: Parts) -> Iterator[Sample]:
    order = list(State)
    ours = parts.breakers
    states = breakers()
    for each in (ours.embedder, ours.model, ours.reranker):
        states.setdefault(each.name, each.state)
    for name, state in states.items():
        yield sample("breaker_state", name.removeprefix("the "), order.index(state))


def _files(parts: Parts) -> Iterator[Sample]:
    if files := parts.store.files():
        yield sample("store_bytes", (), sum(map(_size, files)))


def _size(path: Path) -> int:
    """Of a file, or of all in a folder; what has just gone has none."""
    total = 0
    for file in path.rglob("*") if path.is_dir() else [path]:
        with suppress(OSError):
            total += file.stat().st_size
    return total


def _workspaces(parts: Parts) -> Iterator[Sample]:
    """All together, or each by its name."""
    every = parts.store.workspaces()
    yield sample("workspaces", (), len(every))
    named = parts.settings.telemetry.workspaces
    totals: defaultdict[str | None, Numbers] = defaultdict(lambda: defaultdict(float))
    for workspace in every:
        total = totals[workspace.value if named else None]
        for key, value in _numbers(parts, workspace).items():
            total[key] += value
    for workspace_name, numbers in totals.items():
        for (name, labels), value in numbers.items():
            yield sample(name, labels, value, workspace=workspace_name)


def _numbers(parts: Parts, workspace: WorkspaceId) -> Numbers:
    """What adds up over workspaces."""
    store, everything = parts.store, administrator_grant(workspace)
    counted = store.count(everything)
    numbers: Numbers = defaultdict(float)
    numbers["events", ()] = counted.pop("events")
    numbers["vectors", ()] = counted.pop("vectors")
    numbers["outbox_waiting", ()] = store.queue.pending(everything)
    for kind, count in counted.items():
        numbers["memories", (kind,)] = count
    for bill in store.accounts.spent(workspace):
        asked = (label(bill.purpose), label(bill.model))
        numbers["model_calls_total", asked] += bill.calls
        numbers["model_tokens_total", (*asked, "input")] += bill.input_tokens
        numbers["model_tokens_total", (*asked, "output")] += bill.output_tokens
        numbers["model_cost_total", asked] += bill.cost
    return numbers
