"""Compiled grants: the labels that a grant may read, and the numbers of workspaces and labels."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from operator import itemgetter
from typing import Any, TypeVar

from ...core.access import Grant, Label, check_grant
from ...core.canonical import canonical_json
from ...core.errors import Corrupt
from ...core.hash_chain import GENESIS
from ...core.ids import WorkspaceId, digest
from ...core.records import Event, Memory
from ...core.records.window import WindowItem
from ...core.scope import Scope
from .transactions import Row, Transaction


@dataclass(frozen=True, slots=True)
class LabelState:
    """Counters of one readable label at the time of the read transaction."""

    label: int
    latest: int
    generation: int
    documents: int
    terms: int
    threads: int
    names: int
    learned: int  # 1: label of derived memories; 0: label of events and source memories
    epoch: int


@dataclass(frozen=True)
class ReadableLabels:
    """Result of compiling a grant: one workspace and the labels that may be read."""

    workspace: int
    labels: tuple[LabelState, ...]

    @property
    def parameters(self) -> dict[str, object]:
        return {"workspace": self.workspace, "labels": self._labels_json}

    @cached_property
    def only_source(self) -> ReadableLabels:
        """The labels of events and source memories."""
        return ReadableLabels(self.workspace, tuple(s for s in self.labels if not s.learned))

    @cached_property
    def only_derived(self) -> ReadableLabels:
        """The labels of derived memories."""
        return ReadableLabels(self.workspace, tuple(s for s in self.labels if s.learned))

    @cached_property
    def non_empty(self) -> ReadableLabels:
        """The labels with memories; other labels have only events, or nothing."""
        return ReadableLabels(self.workspace, tuple(s for s in self.labels if s.documents))

    @property
    def epoch(self) -> int:
        """A number that grows with each write to one of these labels."""
        return sum(state.epoch for state in self.labels)

    def rows_per_label(self, *more: object) -> list[Row]:
        """Return one parameter row per label, for `fetch_each`."""
        return [(self.workspace, state.label, *more) for state in self.labels]

    def for_search(self, *, learned: bool) -> ReadableLabels:
        """Return the labels that a search reads; derived memories only if `learned`."""
        return self if learned else self.only_source

    @property
    def name_parameters(self) -> dict[str, object]:
        """Query parameters for a lookup by name, without labels that have no names."""
        return {"workspace": self.workspace, "labels": self._name_labels_json}

    @cached_property
    def labels_with_names(self) -> dict[tuple[int, int], LabelState]:
        """The labels with names, keyed by workspace and label number."""
        return {(self.workspace, state.label): state for state in self.labels if state.names}

    @cached_property
    def _name_labels_json(self) -> str:
        return json.dumps([state.label for state in self.labels_with_names.values()])

    @cached_property
    def _labels_json(self) -> str:
        return json.dumps([state.label for state in self.labels])


NO_LABELS = ReadableLabels(-1, ())


def _scope_digests(scopes: Iterable[Scope]) -> list[str]:
    """Return sorted digests of scopes. A label outlives its records, so it stores no names."""
    return sorted(map(_scope_digest, scopes))


@lru_cache(maxsize=10_000)
def _scope_digest(scope: Scope) -> str:
    return digest("scope", str(scope))


def compile_grant(session: Transaction, grant: Grant) -> ReadableLabels:
    """Compile a grant into the workspace and labels that queries are restricted to."""
    check_grant(grant)
    key = (grant.workspace.value, grant.scopes, grant.everything)
    return session.get_view(key, partial(_query_labels, session, grant))


def _query_labels(session: Transaction, grant: Grant) -> ReadableLabels:
    named: dict[str, object] = {"name": grant.workspace.value}
    if grant.everything:
        rows = session.execute_query("all_labels", named).fetchall()
    else:
        scopes = json.dumps(_scope_digests(grant.scopes))
        rows = session.execute_query("readable_labels", {**named, "scopes": scopes}).fetchall()
    return (
        ReadableLabels(rows[0][0], tuple(LabelState(*row[1:]) for row in rows))
        if rows
        else NO_LABELS
    )


def sort_newest_first(found: Iterable[Sequence[Any]]) -> list[Any]:
    """Merge rows of several labels, each (time, id, …): newest first, ties by id."""
    rows = [row for some in found for row in some]
    rows.sort(key=itemgetter(1))
    rows.sort(key=itemgetter(0), reverse=True)
    return rows


def ensure_workspace(session: Transaction, workspace: WorkspaceId) -> int:
    """Return the number of a workspace; create the workspace on its first write."""
    number, *_ = lock_chain_end(session, workspace)
    return number


def lock_chain_end(session: Transaction, workspace: WorkspaceId) -> tuple[int, int, bytes]:
    """Lock a workspace; return its number, its event count and its chain head."""
    row = session.execute_query("lock_workspace", {"name": workspace.value}).fetchone()
    if row:
        number, length, head, _ = row
        return number, length, head
    session.execute_query("add_workspace", {"name": workspace.value, "head": GENESIS})
    return lock_chain_end(session, workspace)


def find_workspace(session: Transaction, workspace: WorkspaceId) -> int:
    """Return the number of a workspace for reading, or a number without rows."""
    row = session.execute_query("find_workspace", {"name": workspace.value}).fetchone()
    return int(row[0]) if row else NO_LABELS.workspace


def lock_workspace(session: Transaction, workspace: WorkspaceId) -> int:
    """Lock a workspace for writing; return its number, or a number without rows."""
    row = session.execute_query("lock_workspace", {"name": workspace.value}).fetchone()
    return int(row[0]) if row else NO_LABELS.workspace


def find_workspaces(session: Transaction, workspaces: Sequence[WorkspaceId]) -> list[int]:
    """Return the numbers of several workspaces, for reads of an administrator."""
    return _workspace_numbers(session, "find_workspaces", workspaces)


def lock_workspaces(session: Transaction, workspaces: Sequence[WorkspaceId]) -> list[int]:
    """Lock several workspaces for writing and return their numbers."""
    return _workspace_numbers(session, "lock_workspaces", workspaces)


def _workspace_numbers(
    session: Transaction, query: str, workspaces: Sequence[WorkspaceId]
) -> list[int]:
    """Return the numbers in the order of the names; unknown names get a number without rows."""
    names = [workspace.value for workspace in workspaces]
    rows = session.execute_query(query, {"names": json.dumps(names, ensure_ascii=False)})
    found = {name: number for name, number, *_ in rows}
    return [found.get(name, NO_LABELS.workspace) for name in names]


def ensure_label(
    session: Transaction, workspace: int, label: Label, *, learned: bool = False
) -> int:
    """Return the number of a label; create it if it is missing."""
    return ensure_label_by_digests(session, workspace, _scope_digests(label), learned=learned)


def ensure_label_by_digests(
    session: Transaction, workspace: int, scope_digests: list[str], *, learned: bool = False
) -> int:
    """Return the number of the label with these scope digests; create it if it is missing."""
    named = {"workspace": workspace, "scopes": canonical_json(scope_digests), "learned": learned}
    row = session.execute_query("find_label", named).fetchone()
    if row:
        return int(row[0])
    (number,) = session.execute_query("add_label", {**named, "size": len(scope_digests)}).fetchone()
    session.execute_batch(
        "add_label_scope", [(workspace, scope, number) for scope in scope_digests]
    )
    return int(number)


def allocate_numbers(session: Transaction, workspace: int, count: int) -> range:
    """Return the next `count` numbers of a workspace, in the transaction that uses them."""
    if not count:
        return range(0)
    taken = {"workspace": workspace, "count": count}
    (last,) = session.execute_query("allocate_numbers", taken).fetchone()
    return range(last - count + 1, last + 1)


Record = TypeVar("Record", Event, Memory, WindowItem)


def only_granted(grant: Grant, records: Iterable[Record]) -> Iterator[Record]:
    """Final access check: yield the records; raise Corrupt for a record outside the grant."""
    allowed: Scope | Label | None = (
        None  # the previous, allowed one: consecutive records often share it
    )
    for record in records:
        where = record.scope if isinstance(record, Event) else record.label
        if where is not allowed:
            check_granted(grant, record_label(record))
            allowed = where
        yield record


def record_label(record: Event | Memory | WindowItem) -> Label:
    return frozenset({record.scope}) if isinstance(record, Event) else record.label


def check_granted(grant: Grant, label: Label) -> None:
    if not grant.allows(label):
        raise Corrupt(
            "a query returned a record outside its grant: the record has a wrong label"
            " (run `nexus verify`); nothing is returned"
        )
