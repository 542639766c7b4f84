"""Which labels a grant may read, and the numbers of workspaces and labels."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from operator import itemgetter
from typing import Any

from ...core.access import Grant, Label, check_grant
from ...core.canonical import canonical_json
from ...core.chain import GENESIS
from ...core.ids import WorkspaceId, digest
from ...core.scope import Scope
from .session import Row, Session


@dataclass(frozen=True, slots=True)
class LabelState:
    """One readable label as it is now."""

    label: int
    latest: int
    generation: int
    documents: int
    terms: int
    threads: int
    names: int
    learned: int  # 1: it holds what was learned; 0: what was told
    epoch: int


@dataclass(frozen=True)
class Readable:
    """What a grant lets through here: one workspace and some of its labels."""

    workspace: int
    labels: tuple[LabelState, ...]

    @property
    def parameters(self) -> dict[str, object]:
        return {"workspace": self.workspace, "labels": self._labels}

    @cached_property
    def told(self) -> Readable:
        """The shelf of what was told."""
        return Readable(self.workspace, tuple(s for s in self.labels if not s.learned))

    @cached_property
    def learned(self) -> Readable:
        """The shelf of what was learned."""
        return Readable(self.workspace, tuple(s for s in self.labels if s.learned))

    @cached_property
    def filled(self) -> Readable:
        """The labels in which there are memories: some hold events alone, or nothing any more."""
        return Readable(self.workspace, tuple(s for s in self.labels if s.documents))

    @property
    def epoch(self) -> int:
        """It grows with every write into one of these labels."""
        return sum(state.epoch for state in self.labels)

    def places(self, *more: object) -> list[Row]:
        """A row of values for each label, for what is read label by label."""
        return [(self.workspace, state.label, *more) for state in self.labels]

    def searched(self, *, learned: bool) -> Readable:
        """What a search looks at: what was told, or both shelves."""
        return self if learned else self.told

    @property
    def with_names(self) -> dict[str, object]:
        """The parameters of what is looked up by name: labels without names are not asked."""
        return {"workspace": self.workspace, "labels": self._named_labels}

    @cached_property
    def named(self) -> dict[tuple[int, int], LabelState]:
        """The labels in which there are names, by where they are."""
        return {(self.workspace, state.label): state for state in self.labels if state.names}

    @cached_property
    def _named_labels(self) -> str:
        return json.dumps([state.label for state in self.named.values()])

    @cached_property
    def _labels(self) -> str:
        return json.dumps([state.label for state in self.labels])


NOTHING = Readable(-1, ())


def _digests(scopes: Iterable[Scope]) -> list[str]:
    """Scopes as labels are known by: a label outlives what it held, and must not keep a name."""
    return sorted(map(_digest, scopes))


@lru_cache(maxsize=10_000)
def _digest(scope: Scope) -> str:
    return digest("scope", str(scope))


def readable(session: Session, grant: Grant) -> Readable:
    """Compile a grant into what every query below it is bound to."""
    check_grant(grant)
    key = (grant.workspace.value, grant.scopes, grant.everything)
    return session.view(key, partial(_compiled, session, grant))


def _compiled(session: Session, grant: Grant) -> Readable:
    named: dict[str, object] = {"name": grant.workspace.value}
    if grant.everything:
        rows = session.run("all_labels", named).fetchall()
    else:
        scopes = json.dumps(_digests(grant.scopes))
        rows = session.run("readable_labels", {**named, "scopes": scopes}).fetchall()
    return Readable(rows[0][0], tuple(LabelState(*row[1:]) for row in rows)) if rows else NOTHING


def newest_first(found: Iterable[Sequence[Any]]) -> list[Any]:
    """What was found label by label: rows of a time, an id and more, the newest first."""
    rows = [row for some in found for row in some]
    rows.sort(key=itemgetter(1))
    rows.sort(key=itemgetter(0), reverse=True)
    return rows


def workspace_number(session: Session, workspace: WorkspaceId) -> int:
    """The workspace's number, given to it with its first write."""
    number, *_ = chain_end(session, workspace)
    return number


def chain_end(session: Session, workspace: WorkspaceId) -> tuple[int, int, bytes]:
    """Where the workspace's next event goes: its number, its length and the newest hash."""
    row = session.run("lock_workspace", {"name": workspace.value}).fetchone()
    if row:
        number, length, head, _ = row
        return number, length, head
    session.run("add_workspace", {"name": workspace.value, "head": GENESIS})
    return chain_end(session, workspace)


def known_workspace(session: Session, workspace: WorkspaceId) -> int:
    """The number of a workspace that is read, or one that no row has."""
    row = session.run("workspace", {"name": workspace.value}).fetchone()
    return int(row[0]) if row else NOTHING.workspace


def locked_workspace(session: Session, workspace: WorkspaceId) -> int:
    """The number of a workspace that is written to, or one that no row has."""
    row = session.run("lock_workspace", {"name": workspace.value}).fetchone()
    return int(row[0]) if row else NOTHING.workspace


def known_workspaces(session: Session, workspaces: Sequence[WorkspaceId]) -> list[int]:
    """The numbers of workspaces that are read together, for whoever administers all of them."""
    return _numbers(session, "whole_workspaces", workspaces)


def locked_workspaces(session: Session, workspaces: Sequence[WorkspaceId]) -> list[int]:
    """The numbers of workspaces that are written to together."""
    return _numbers(session, "lock_workspaces", workspaces)


def _numbers(session: Session, query: str, workspaces: Sequence[WorkspaceId]) -> list[int]:
    """As they were given; where there is none, one that no row has."""
    names = [workspace.value for workspace in workspaces]
    rows = session.run(query, {"names": json.dumps(names, ensure_ascii=False)})
    found = {name: number for name, number, *_ in rows}
    return [found.get(name, NOTHING.workspace) for name in names]


def label_number(session: Session, workspace: int, label: Label, *, learned: bool = False) -> int:
    """The number of a label on one of its two shelves."""
    return label_of(session, workspace, _digests(label), learned=learned)


def label_of(session: Session, workspace: int, scopes: list[str], *, learned: bool = False) -> int:
    """The number of the label of these scopes, which are known by their digests."""
    named = {"workspace": workspace, "scopes": canonical_json(scopes), "learned": learned}
    row = session.run("label", named).fetchone()
    if row:
        return int(row[0])
    (number,) = session.run("add_label", {**named, "size": len(scopes)}).fetchone()
    session.run_many("add_label_scope", [(workspace, scope, number) for scope in scopes])
    return int(number)


def take_numbers(session: Session, workspace: int, count: int) -> range:
    """The next `count` numbers of this workspace, inside the transaction that uses them."""
    if not count:
        return range(0)
    taken = {"workspace": workspace, "count": count}
    (last,) = session.run("take_numbers", taken).fetchone()
    return range(last - count + 1, last + 1)
