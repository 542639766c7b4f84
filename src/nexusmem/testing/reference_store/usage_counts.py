"""Usage counts of the reference store: how often memories were shown."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from ...core.access import Grant
from ...core.canonical import format_time, parse_time
from ...core.ids import WorkspaceId
from ...core.protocols.bulk_copy import UsageCopy
from ...core.protocols.usage_counts import NewUsage, ScopeUsage, UsageCount, scope_digest, sum_usage
from ...core.records import Memory, ModelCost
from ...runtime.clock import start_of_day
from ...stores.validation import to_daily_cost
from .state import StoredUsage, StorePart, UsageByMemory, as_write, with_lock


def usage_in_label(usage: UsageByMemory, memory: Memory) -> UsageCount:
    """Return the usage in the scopes of the memory's label, which each of its readers may see."""
    return _usage_in_scopes(usage.get(memory.id, {}), set(map(scope_digest, memory.label)))


def visible_usage(usage: UsageByMemory, grant: Grant, id: str) -> UsageCount:
    """Return the usage of memory `id` in the scopes that `grant` allows."""
    rows = usage.get(id, {})
    readable = rows.keys() if grant.everything else set(map(scope_digest, grant.scopes))
    return _usage_in_scopes(rows, readable)


def _usage_in_scopes(usage: Mapping[str, StoredUsage], scopes: Iterable[str]) -> UsageCount:
    return sum_usage([usage[place].usage for place in scopes if place in usage])


def is_used_since(usage: UsageByMemory, memory: Memory, since: datetime) -> bool:
    """Return whether the memory was used in any scope at or after `since`."""
    return any(
        each.usage.last_at is not None and each.usage.last_at >= since
        for each in usage.get(memory.id, {}).values()
    )


def erase_usage(usage: UsageByMemory, ids: Sequence[str]) -> int:
    """Delete rows with a memory, scope or owner digest in `ids`; return their number."""
    gone = set(ids)
    return _drop_where(
        usage, lambda memory, scope, each: memory in gone or scope in gone or each.owner in gone
    )


def drop_orphan_usage(usage: UsageByMemory, memory_ids: Collection[str], before: datetime) -> int:
    """Delete rows of missing memories last used before `before`; return their number."""
    return _drop_where(
        usage,
        lambda memory, _, each: (
            memory not in memory_ids
            and each.usage.last_at is not None
            and each.usage.last_at < before
        ),
    )


def _drop_where(usage: UsageByMemory, condition: Callable[[str, str, StoredUsage], bool]) -> int:
    every = [(id, place, each) for id, rows in usage.items() for place, each in rows.items()]
    gone = [(id, place) for id, place, each in every if condition(id, place, each)]
    for id, place in gone:
        del usage[id][place]
        if not usage[id]:
            del usage[id]
    return len(gone)


def usage_to_lines(usage: UsageByMemory) -> Iterable[str]:
    for id, rows in usage.items():
        for place, each in rows.items():
            if each.usage.last_at is not None:
                yield UsageCopy(
                    memory=id,
                    place=place,
                    owner=each.owner,
                    count=each.usage.count,
                    conversations=list(each.usage.conversations),
                    last_at=format_time(each.usage.last_at),
                ).line


def add_usage_line(usage: UsageByMemory, line: str) -> None:
    copy = UsageCopy.from_line(line)
    usage_in_scope = ScopeUsage(copy.count, tuple(copy.conversations), parse_time(copy.last_at))
    usage.setdefault(copy.memory, {})[copy.place] = StoredUsage(usage_in_scope, copy.owner)


class ReferenceUsageCounts(StorePart):
    """Reference implementation of the protocol `UsageCounts`."""

    @as_write
    def add(self, workspace: WorkspaceId, uses: Sequence[NewUsage]) -> int:
        home = self._state.get_workspace(workspace)
        for use in uses:
            for id in home.memories.keys() & set(use.ids):
                home.uses.setdefault(id, {}).setdefault(scope_digest(use.scope), StoredUsage()).add(
                    use
                )
        return len(home.memories.keys() & {id for use in uses for id in use.ids})

    @with_lock
    def load_usage(self, grant: Grant, ids: Sequence[str]) -> dict[str, UsageCount]:
        uses = self._state.workspace_for(grant).uses
        visible = {m.id for m in self._state.visible_memories(grant)}.intersection(ids)
        usage = {id: visible_usage(uses, grant, id) for id in ids if id in visible}
        return {id: use for id, use in usage.items() if use.count}

    @as_write
    def delete_orphans(self, workspaces: Sequence[WorkspaceId], *, before: datetime) -> list[int]:
        homes = map(self._state.get_workspace, workspaces)
        return [drop_orphan_usage(home.uses, home.memories.keys(), before) for home in homes]


class ReferenceModelCosts(StorePart):
    """Reference implementation of the protocol `ModelCosts`: one row per day, purpose and model."""

    @as_write
    def add(self, workspace: WorkspaceId, cost: ModelCost) -> None:
        costs = self._state.get_workspace(workspace).costs
        daily = to_daily_cost(cost)
        key = (daily.at, daily.purpose, daily.model)
        before = costs.get(key)
        costs[key] = _add_costs(before, daily) if before else daily

    @with_lock
    def list_costs(
        self, workspace: WorkspaceId, *, since: datetime | None = None
    ) -> list[ModelCost]:
        costs = self._state.get_workspace(workspace).costs
        return [costs[p] for p in sorted(costs) if since is None or p[0] >= start_of_day(since)]


def _add_costs(first: ModelCost, second: ModelCost) -> ModelCost:
    return replace(
        first,
        calls=first.calls + second.calls,
        input_tokens=first.input_tokens + second.input_tokens,
        output_tokens=first.output_tokens + second.output_tokens,
        cost=first.cost + second.cost,
    )
