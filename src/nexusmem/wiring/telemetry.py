"""Metrics snapshot: metrics of this and other processes, caches, breakers and the store."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..audit.recorder import AuditRecorder
from ..audit.records import ADMINISTRATOR, AuditEntry, AuditLevel
from ..config.settings import AuditSettings, Settings, require_expanded, require_expanded_or_none
from ..core.access import administrator_grant
from ..core.canonical import canonical_json
from ..core.errors import ConfigError
from ..core.ids import WorkspaceId
from ..core.protocols.jobs import JobState
from ..core.protocols.queue import Backlog
from ..core.protocols.store import Store
from ..core.records import Json, ModelCost
from ..runtime.breaker import BreakerState, breaker_states
from ..telemetry.metrics import (
    MetricsFile,
    MetricsSnapshot,
    Sample,
    make_sample,
    read_others,
    safe_label,
)
from .parts import Parts

Numbers = defaultdict[tuple[str, tuple[str, ...]], float]  # metric name and labels → value
MAX_METRICS = {
    "outbox_lag_seconds",
    "job_lag_seconds",
    "job_last_run_seconds",
}  # maximum, not sum, of the workspaces


def metrics_snapshot(parts: Parts, own_file: MetricsFile | None) -> MetricsSnapshot:
    """Return all metrics, including those that other processes wrote to the shared folder."""
    own = own_file.file if own_file else None
    folder = own.parent if own else _metrics_folder(parts)
    others = read_others(folder, own=own) if folder else []
    samples = [
        *_cache_samples(parts),
        *_breaker_samples(parts),
        *_file_samples(parts),
        *_workspace_samples(parts),
    ]
    return parts.telemetry.metrics.snapshot([*others, *samples])


def share_metrics(parts: Parts) -> MetricsFile | None:
    """Start writing the metrics of this process to the configured folder, if there is one."""
    folder = _metrics_folder(parts)
    if folder is None:
        return None

    def collect() -> list[Sample]:
        return [*parts.telemetry.metrics.list_samples(), *_cache_samples(parts)]

    try:
        return MetricsFile(folder, collect)
    except OSError as error:
        raise ConfigError(f"memory.telemetry.metrics_folder: {error.strerror}") from error


def _metrics_folder(parts: Parts) -> Path | None:
    folder = parts.settings.telemetry.metrics_folder
    if not folder:
        return None
    return Path(require_expanded(folder, "memory.telemetry.metrics_folder")).expanduser().absolute()


def _cache_samples(parts: Parts) -> Iterator[Sample]:
    contexts, questions = parts.context_cache.stats, parts.embedder
    uses = {
        "contexts": (contexts.hits, contexts.misses),
        "questions": (questions.hits, questions.misses),
        **{name: (use.hits, use.misses) for name, use in parts.store.cache_stats().items()},
    }
    for name, (hits, misses) in uses.items():
        yield make_sample("cache_hits_total", name, hits)
        yield make_sample("cache_misses_total", name, misses)


def _breaker_samples(parts: Parts) -> Iterator[Sample]:
    order = list(BreakerState)
    ours = parts.breakers
    states = breaker_states()
    for each in (ours.embedder, ours.model, ours.reranker):
        states.setdefault(each.name, each.state)
    for name, state in states.items():
        yield make_sample("breaker_state", name.removeprefix("the "), order.index(state))


def _file_samples(parts: Parts) -> Iterator[Sample]:
    if files := parts.store.list_files():
        yield make_sample("store_bytes", (), sum(map(_size_bytes, files)))


def _size_bytes(path: Path) -> int:
    """Return the size of a file, or of all files in a folder; 0 if it was just deleted."""
    total = 0
    for file in path.rglob("*") if path.is_dir() else [path]:
        with suppress(OSError):
            total += file.stat().st_size
    return total


def _workspace_samples(parts: Parts) -> Iterator[Sample]:
    """Yield the samples of all workspaces together, or per workspace if enabled."""
    workspaces = parts.store.list_workspaces()
    yield make_sample("workspaces", (), len(workspaces))
    named = parts.settings.telemetry.workspace_names
    totals: defaultdict[str | None, Numbers] = defaultdict(lambda: defaultdict(float))
    for workspace in workspaces:
        total = totals[workspace.value if named else None]
        for key, value in _workspace_numbers(parts, workspace).items():
            total[key] = max(total[key], value) if key[0] in MAX_METRICS else total[key] + value
    for workspace_name, numbers in totals.items():
        for (name, labels), value in numbers.items():
            yield make_sample(name, labels, value, workspace=workspace_name)


def _workspace_numbers(parts: Parts, workspace: WorkspaceId) -> Numbers:
    """Return the numbers of one workspace."""
    store, everything = parts.store, administrator_grant(workspace)
    counted = store.count_records(everything)
    numbers: Numbers = defaultdict(float)
    numbers["events", ()] = counted.pop("events")
    numbers["vectors", ()] = counted.pop("vectors")
    for kind, count in counted.items():
        numbers["memories", (kind,)] = count
    now = parts.now()
    _add_backlog(numbers, store.queue.backlog(everything), now)
    for job in parts.job_runner.job_rows(everything):
        _add_job(numbers, job, now)
    for bill in store.model_costs.list_costs(workspace):
        _add_cost(numbers, bill)
    if parts.settings.telemetry.workspace_names:
        for quota in parts.quotas.list_usage(
            workspace, store.ledger.measure_usage(workspace, now=now)
        ):
            numbers["quota_used", (quota.name,)] = quota.used
            if quota.limit is not None:
                numbers["quota_limit", (quota.name,)] = quota.limit
    return numbers


def _add_backlog(numbers: Numbers, backlog: Backlog, now: datetime) -> None:
    numbers["outbox_waiting", ()] = backlog.waiting
    numbers["outbox_failed", ()] = backlog.failed
    numbers["outbox_dead", ()] = backlog.dead
    # Messages that wait for a pause before a model reads them are due in the future.
    age = max(0.0, (now - backlog.since).total_seconds()) if backlog.since else 0.0
    numbers["outbox_lag_seconds", ()] = max(0.0, age)


def _add_job(numbers: Numbers, job: JobState, now: datetime) -> None:
    """Add a job; jobs of one name with different keys are summed."""
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


def _add_cost(numbers: Numbers, cost: ModelCost) -> None:
    labels = (safe_label(cost.purpose), safe_label(cost.model))
    numbers["model_calls_total", labels] += cost.calls
    numbers["model_tokens_total", (*labels, "input")] += cost.input_tokens
    numbers["model_tokens_total", (*labels, "output")] += cost.output_tokens
    numbers["model_cost_total", labels] += cost.cost


AUDITED_SECTIONS = (
    "search",
    "learning",
    "indexing",
    "compose",
    "audit",
)  # settings that affect results
SECRET_SETTING = re.compile(r"(?:^|_)(?:key|url|command|password|token)(?:_|$)")


def make_audit_recorder(
    settings: Settings,
    store: Store,
    clock: Callable[[], datetime],
    submit: Callable[[Callable[[], None]], None] | None,
) -> AuditRecorder:
    """Return the recorder for these settings, and configure the store's audit log."""
    try:
        level = AuditLevel(settings.audit.level)
    except ValueError:
        accepted = ", ".join(AuditLevel)
        raise ConfigError(
            f"unknown memory.audit.level {settings.audit.level!r:.80}; expected one of {accepted}"
        ) from None
    key = audit_key(settings.audit)
    store.audit.configure(writes=level.records_writes, key=key)
    return AuditRecorder(store, level, clock, submit, lambda: effective_settings(settings))


def record_in_workspaces(
    store: Store, settings: AuditSettings, action: str, workspaces: Sequence[str], **detail: Json
) -> None:
    """Record an action on complete workspaces, such as a migration.

    If the newest entry is the same action with the same detail, it is a continuation and not
    recorded again.
    """
    if not AuditLevel(settings.level).records_writes:
        return
    store.audit.configure(writes=True, key=audit_key(settings))
    for name in map(WorkspaceId, workspaces):
        newest = store.audit.find(administrator_grant(name), limit=1)
        details = [each.entry.detail for each in newest if each.action == action and each.entry]
        if detail not in details:
            now = datetime.now(UTC)
            entry = AuditEntry(at=now, action=action, actor=ADMINISTRATOR, detail=detail)
            store.audit.append(name, [entry])


def audit_key(settings: AuditSettings) -> bytes | None:
    """Return the key that seals links, or None if none is configured."""
    if settings.key is None and settings.key_command is None:
        return None
    from ..runtime.encryption_keys import read_key  # it loads subprocess

    key = read_key(
        require_expanded_or_none(settings.key, "memory.audit.key"),
        require_expanded_or_none(settings.key_command, "memory.audit.key_command"),
        variable="NEXUS_AUDIT_KEY",
        setting="memory.audit.key_command",
    )
    return None if key is None else key.encode()


def effective_settings(settings: Settings) -> dict[str, Json]:
    """Return the settings that affect results, without addresses and secrets."""
    from ..prompts import prompt_hashes

    effective: dict[str, Any] = {
        name: _public_fields(getattr(settings, name)) for name in AUDITED_SECTIONS
    }
    effective["strength"] = asdict(settings.maintain.strength)
    for name in ("embeddings", "llm"):
        section = getattr(settings, name)
        effective[name] = {"provider": section.provider, "model": section.model}
    effective["prompts"] = prompt_hashes() if settings.llm.provider != "none" else {}
    return json.loads(canonical_json(effective))  # type: ignore[no-any-return]  # comparable


def _public_fields(section: Any) -> dict[str, Any]:
    """Return the fields of a section that contain no secret."""
    fields = asdict(section).items()
    return {name: value for name, value in fields if not SECRET_SETTING.search(name)}
