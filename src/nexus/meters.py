"""How a memory stands: what its store says, beside what this process counted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from .config import in_use
from .core.access import administrator_grant
from .core.breaker import State, breakers
from .core.errors import ConfigError
from .core.ids import WorkspaceId
from .core.jobs import JobState
from .core.metrics import Sample, Snapshot, label, sample
from .core.queue import Backlog
from .core.records import Spent
from .gathering import Shared, left_in
from .wiring import Parts

Numbers = defaultdict[tuple[str, tuple[str, ...]], float]  # by name and labels
LONGEST = {"outbox_lag_seconds", "job_lag_seconds", "job_last_run_seconds"}  # of all workspaces


def measured(parts: Parts, ours: Shared | None) -> Snapshot:
    """Everything that is known now, with what others have left."""
    own = ours.file if ours else None
    folder = own.parent if own else _folder(parts)
    others = left_in(folder, own=own) if folder else []
    read = [*_caches(parts), *_breakers(parts), *_files(parts), *_workspaces(parts)]
    return parts.telemetry.metrics.snapshot([*others, *read])


def shared(parts: Parts) -> Shared | None:
    """Leave what is counted here for others, where the settings name a folder."""
    folder = _folder(parts)
    if folder is None:
        return None
    read = lambda: [*parts.telemetry.metrics.samples(), *_caches(parts)]  # noqa: E731
    try:
        return Shared(folder, read)
    except OSError as error:
        raise ConfigError(f"memory.telemetry.folder: {error.strerror}") from error


def _folder(parts: Parts) -> Path | None:
    folder = parts.settings.telemetry.folder
    if not folder:
        return None
    return Path(in_use(folder, "memory.telemetry.folder")).expanduser().absolute()


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
            total[key] = max(total[key], value) if key[0] in LONGEST else total[key] + value
    for workspace_name, numbers in totals.items():
        for (name, labels), value in numbers.items():
            yield sample(name, labels, value, workspace=workspace_name)


def _numbers(parts: Parts, workspace: WorkspaceId) -> Numbers:
    """Of one workspace."""
    store, everything = parts.store, administrator_grant(workspace)
    counted = store.count(everything)
    numbers: Numbers = defaultdict(float)
    numbers["events", ()] = counted.pop("events")
    numbers["vectors", ()] = counted.pop("vectors")
    for kind, count in counted.items():
        numbers["memories", (kind,)] = count
    now = parts.now()
    _add_backlog(numbers, store.queue.backlog(everything), now)
    for job in parts.jobs.rows(everything):
        _add_job(numbers, job, now)
    for bill in store.accounts.spent(workspace):
        _add_bill(numbers, bill)
    if parts.settings.telemetry.workspaces:
        for quota in parts.quotas.used(workspace, store.ledger.used(workspace, now=now)):
            numbers["quota_used", (quota.name,)] = quota.used
            if quota.limit is not None:
                numbers["quota_limit", (quota.name,)] = quota.limit
    return numbers


def _add_backlog(numbers: Numbers, left: Backlog, now: datetime) -> None:
    numbers["outbox_waiting", ()] = left.waiting
    numbers["outbox_failed", ()] = left.failed
    numbers["outbox_dead", ()] = left.dead
    age = (now - left.since).total_seconds() if left.since else 0.0
    numbers["outbox_lag_seconds", ()] = max(0.0, age)


def _add_job(numbers: Numbers, job: JobState, now: datetime) -> None:
    """Those with a key of their own are of one kind, whatever the key is."""
    name = (job.name,)
    lag = job.lag(now).total_seconds()
    numbers["jobs_due", name] += lag > 0
    numbers["jobs_dead", name] += job.dead
    numbers["job_lag_seconds", name] = max(numbers["job_lag_seconds", name], lag)
    if job.last_run_at:
        ago = max(0.0, (now - job.last_run_at).total_seconds())
        last = "job_last_run_seconds"
        numbers[last, name] = max(numbers[last, name], ago)
    for result, count in job.last_counts.items():
        numbers["job_last_results", (job.name, result)] += count


def _add_bill(numbers: Numbers, bill: Spent) -> None:
    asked = (label(bill.purpose), label(bill.model))
    numbers["model_calls_total", asked] += bill.calls
    numbers["model_tokens_total", (*asked, "input")] += bill.input_tokens
    numbers["model_tokens_total", (*asked, "output")] += bill.output_tokens
    numbers["model_cost_total", asked] += bill.cost
