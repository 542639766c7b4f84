"""Which labels a grant may read, and the numbers of workspaces and labels."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

from ...core.access import Grant, Label, check_grant
from ...core.canonical import canonical_json
from ...core.chain import GENESIS
from ...core.ids import WorkspaceId, digest
from ...core.scope import Scope
from ..queries import load_queries
from .connections import Connection

SQL = load_queries(__package__)


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

    def searched(self, *, learned: bool) -> Readable:
        """What a search looks at: what was told, or both shelves."""
        return self if learned else self.told

    @property
    def with_names(self) -> dict[str, object]:
        """The parameters of what is looked up by name: labels without names are not asked."""
        labels = json.dumps([state.label for state in self.labels if state.names])
        return {"workspace": self.workspace, "labels": labels}

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


MOST_VIEWS = 100  # of one connection


def readable(connection: Connection, grant: Grant) -> Readable:
    """Compile a grant into what every query below it is bound to.

    One question compiles the same grant several times; while nobody has written anything in
    between (SQLite's data version tells), the first answer stands.
    """
    check_grant(grant)
    (version,) = connection.execute("PRAGMA data_version").fetchone()
    views: dict[object, tuple[int, Readable]] = vars(connection).setdefault("views", {})
    key = (grant.workspace, grant.scopes, grant.everything)
    known = views.get(key)
    if known and known[0] == version:
        return known[1]
    if len(views) >= MOST_VIEWS:
        views.clear()
    view = _compiled(connection, grant)
    views[key] = (version, view)
    return view


def _compiled(connection: Connection, grant: Grant) -> Readable:
    row = connection.execute(SQL["workspace"], {"name": grant.workspace.value}).fetchone()
    if not row:
        return NOTHING
    parameters = {"workspace": row[0], "scopes": json.dumps(_digests(grant.scopes))}
    query = SQL["all_labels"] if grant.everything else SQL["readable_labels"]
    states = connection.execute(query, parameters)
    return Readable(row[0], tuple(LabelState(*state) for state in states))


def workspace_number(connection: Connection, workspace: WorkspaceId) -> int:
    """The workspace's number, given to it with its first write."""
    named = {"name": workspace.value}
    row = connection.execute(SQL["workspace"], named).fetchone()
    if row:
        return int(row[0])
    added = connection.execute(SQL["add_workspace"], {**named, "head": GENESIS})
    return int(added.lastrowid or 0)


def known_workspace(connection: Connection, workspace: WorkspaceId) -> int:
    """The workspace's number, or one that no row has."""
    row = connection.execute(SQL["workspace"], {"name": workspace.value}).fetchone()
    return int(row[0]) if row else NOTHING.workspace


def label_number(
    connection: Connection, workspace: int, label: Label, *, learned: bool = False
) -> int:
    """The number of a label on one of its two shelves."""
    scopes = _digests(label)
    named = {"workspace": workspace, "scopes": canonical_json(scopes), "learned": learned}
    row = connection.execute(SQL["label"], named).fetchone()
    if row:
        return int(row[0])
    (number,) = connection.execute(SQL["add_label"], {**named, "size": len(scopes)}).fetchone()
    connection.executemany(
        SQL["add_label_scope"],
        [{"workspace": workspace, "scope": scope, "label": number} for scope in scopes],
    )
    return int(number)


def take_numbers(connection: Connection, workspace: int, name: WorkspaceId, count: int) -> range:
    """The next `count` numbers of this workspace, inside the transaction that uses them."""
    row = connection.execute(SQL["workspace"], {"name": name.value}).fetchone()
    last = row[3] + count
    connection.execute(SQL["set_counter"], {"workspace": workspace, "counter": last})
    return range(row[3] + 1, last + 1)
