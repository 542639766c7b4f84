"""Usage counts in SQL: how often each memory was returned, per scope."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from ...core.access import Grant
from ...core.canonical import format_time, parse_time
from ...core.ids import WorkspaceId
from ...core.protocols.usage_counts import (
    NO_USAGE,
    NewUsage,
    ScopeUsage,
    UsageCount,
    conversation_digest,
    owner_digest,
    sum_usage,
)
from ...core.records import ModelCost
from ...runtime.clock import start_of_day
from ..validation import to_daily_cost
from .readable_labels import (
    compile_grant,
    ensure_label,
    ensure_workspace,
    find_workspace,
    find_workspaces,
    lock_workspace,
)
from .transactions import Connections, Row, Transaction

FULL_SCAN_LIMIT = 500  # rows of a workspace that are read without a filter by id
NO_USE = ScopeUsage()


class SqlUsageCounts:
    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def add(self, workspace: WorkspaceId, uses: Sequence[NewUsage]) -> int:
        if not uses:
            return 0
        return self._connections.write(
            lambda session: _add_uses(session, workspace, uses), lazily=True
        )

    def load_usage(self, grant: Grant, ids: Sequence[str]) -> dict[str, UsageCount]:
        with self._connections.read_transaction() as session:
            bound = {**compile_grant(session, grant).parameters, "ids": json.dumps(ids)}
            found = group_by_memory(session.execute_query("readable_uses", bound))
        return {id: sum_usage([*by_label.values()]) for id, by_label in found.items()}

    def delete_orphans(self, workspaces: Sequence[WorkspaceId], *, before: datetime) -> list[int]:
        with self._connections.read_transaction() as session:
            rows = [(n, format_time(before)) for n in find_workspaces(session, workspaces)]
            strays = session.fetch_each("any_stray_uses", rows)
        return [  # a read first: mostly there are none to delete
            self._delete_stray_uses(workspace, before) if some else 0
            for workspace, some in zip(workspaces, strays, strict=True)
        ]

    def _delete_stray_uses(self, workspace: WorkspaceId, before: datetime) -> int:
        def delete_rows(session: Transaction) -> int:
            number = lock_workspace(session, workspace)
            bound = {"workspace": number, "before": format_time(before)}
            return int(session.execute_query("drop_stray_uses", bound).rowcount)

        return self._connections.write(delete_rows)


def _add_uses(session: Transaction, workspace: WorkspaceId, uses: Sequence[NewUsage]) -> int:
    number = ensure_workspace(session, workspace)
    wanted = json.dumps(list(dict.fromkeys(id for use in uses for id in use.ids)))
    bound = {"workspace": number, "ids": wanted}
    existing = {id for (id,) in session.execute_query("existing_memory_ids", bound)}
    stored = group_by_memory(session.execute_query("uses_by_id", bound))
    labels = {use.scope: ensure_label(session, number, frozenset({use.scope})) for use in uses}
    owners = {label: owner_digest(key) for key, label in labels.items()}
    changed: dict[tuple[int, str], ScopeUsage] = {}
    for use in uses:
        label, conversation = labels[use.scope], conversation_digest(use)
        for id in existing.intersection(use.ids):
            before = changed.get((label, id)) or stored.get(id, {}).get(label, NO_USE)
            changed[label, id] = before.add_use(conversation, use.at)
    rows = [
        (number, *key, *_use_columns(use), owners[key[0]]) for key, use in sorted(changed.items())
    ]
    session.execute_batch("put_use", rows)
    return len({id for _, id in changed})


def _use_columns(use: ScopeUsage) -> Row:
    return use.count, " ".join(use.conversations), format_time(use.last_at) if use.last_at else ""


def group_by_memory(rows: Iterable[Row]) -> dict[str, dict[int, ScopeUsage]]:
    """Return usage by memory id and label number of the scope."""
    found: dict[str, dict[int, ScopeUsage]] = defaultdict(dict)
    for id, label, count, conversations, last_at in rows:
        last = parse_time(last_at) if isinstance(last_at, str) else last_at
        found[id][label] = ScopeUsage(count, tuple(conversations.split()), last)
    return found


@dataclass(frozen=True, slots=True)
class CommonUsage:
    """Usage counts that every reader of a memory may see.

    These are the counts of scopes in the memory's label: a reader of the memory has all scopes
    of its label.
    """

    uses: Mapping[str, Mapping[int, ScopeUsage]]
    scopes: Mapping[int, frozenset[str]]  # scope digests of each label
    derived_labels: frozenset[int]  # labels of derived memories

    def get_use(self, id: str, label: int) -> UsageCount:
        by_label = self.uses.get(id)
        if not by_label:
            return NO_USAGE
        scopes = self.scopes[label]
        return sum_usage(
            [use for scope_label, use in by_label.items() if self.scopes[scope_label] <= scopes]
        )


def load_common_usage(session: Transaction, ids: Mapping[int, Sequence[str]]) -> list[CommonUsage]:
    """Return the common usage of these memories, one result per workspace."""
    found = session.fetch_each("some_uses", [(number, FULL_SCAN_LIMIT) for number in ids])
    labels = session.fetch_each("label_scope_sets", [(number,) for number in ids])
    return [
        _build_common_usage(_select_uses(session, number, some, ids[number]), sets)
        for number, some, sets in zip(ids, found, labels, strict=True)
    ]


def _select_uses(
    session: Transaction, number: int, first_rows: Sequence[Row], ids: Sequence[str]
) -> dict[str, dict[int, ScopeUsage]]:
    if len(first_rows) == FULL_SCAN_LIMIT:  # probably more rows: read only those of `ids`
        first_rows = session.execute_query(
            "uses_by_id", {"workspace": number, "ids": json.dumps(ids)}
        ).fetchall()
    wanted = set(ids)
    return group_by_memory(row for row in first_rows if row[0] in wanted)


def _build_common_usage(
    uses: Mapping[str, Mapping[int, ScopeUsage]], labels: Sequence[Row]
) -> CommonUsage:
    learned = frozenset(label for label, learned, _ in labels if learned)
    sets = labels if uses else []
    return CommonUsage(uses, {label: frozenset(json.loads(s)) for label, _, s in sets}, learned)


def erase_uses(session: Transaction, number: int, ids: Sequence[str]) -> int:
    """Delete usage of these memories, and usage in scopes or of owners with these digests."""
    bound = {"workspace": number, "ids": json.dumps(list(ids))}
    return int(session.execute_query("erase_uses", bound).rowcount)


class SqlModelCosts:
    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def add(self, workspace: WorkspaceId, cost: ModelCost) -> None:
        bill = to_daily_cost(cost)
        row = {
            "day": format_time(bill.at),
            "purpose": bill.purpose,
            "model": bill.model,
            "calls": bill.calls,
            "input_tokens": bill.input_tokens,
            "output_tokens": bill.output_tokens,
            "cost": float(bill.cost),
        }

        def add_row(session: Transaction) -> None:
            number = ensure_workspace(session, workspace)
            session.execute_query("add_model_cost", {"workspace": number, **row})

        self._connections.write(add_row)

    def list_costs(
        self, workspace: WorkspaceId, *, since: datetime | None = None
    ) -> list[ModelCost]:
        first = None if since is None else format_time(start_of_day(since))
        with self._connections.read_transaction() as session:
            bound = {"workspace": find_workspace(session, workspace), "since": first}
            rows = session.execute_query("model_costs", bound).fetchall()
        return [
            ModelCost(
                at=parse_time(day),
                purpose=purpose,
                model=model,
                calls=calls,
                input_tokens=input_tokens,
                output_tokens=output_tokens,
                cost=cost,
            )
            for day, purpose, model, calls, input_tokens, output_tokens, cost in rows
        ]
