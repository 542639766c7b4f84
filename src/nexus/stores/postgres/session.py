"""One transaction of Postgres, in which queries are run by their names.

Every transaction is bound: to what a grant lets through, to the workspace it writes to, or to
the little that the background worker asks of everybody. The database itself keeps to it
(`schema.sql`, policies); here it is remembered, so that nothing is bound twice.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any
from uuid import uuid4

import numpy as np
from psycopg import Connection
from psycopg.adapt import Buffer, Loader
from psycopg.pq import Format

from ...core.leases import Lease
from ...core.protocols import Floats
from ..queries import load_queries
from ..sql.held import check_held
from ..sql.labels import Readable
from ..sql.session import Row, Rows
from .rows import LazyRows, in_parts

SQL = {name: text.encode() for name, text in load_queries(__package__).items()}

# What the worker and the operator ask of all workspaces at once. Whoever adds one here must
# have read the policies: this way shows names of workspaces and the work that waits.
EVERYBODYS = frozenset(
    "workspaces numbered_workspaces named_workspaces workspace_counters homes_with_work"
    " any_due_in lock_homes lease_in renew_work last_workspace jobs_to_plant plant_jobs"
    " ask_only_jobs any_due_job claim_jobs keep_jobs finish_jobs drop_jobs fail_jobs".split()
)
BINDING = frozenset(
    "workspace whole_workspaces lock_workspace lock_workspaces readable_labels all_labels"
    " prune_window".split()
)
LOCKING = frozenset({"lock_workspace", "lock_workspaces"})
VECTOR = {"add_vector": 5}  # the place of a vector in a row
ROWS_AT_ONCE = 5_000  # a statement may take only so long, and its JSON has an end as well
# All that a workspace holds, and whoever reads it may stop before the end.
LONG = frozenset("chain trail audit_contents events_by_time memories_by_time".split())
EVERYBODY = object()
LISTS = ("ids", "names")  # of what somebody may ask for


class VectorLoader(Loader):
    """A vector as the bytes of its numbers, little-endian as everywhere in Nexus."""

    format = Format.BINARY

    def load(self, data: Buffer) -> bytes:
        numbers = array("f", bytes(data)[4:])  # after its dimension
        numbers.byteswap()
        return numbers.tobytes()


class Session:
    """One transaction."""

    def __init__(
        self, connection: Connection[Any], *, writes: bool, leases: Sequence[Lease] = ()
    ) -> None:
        self.connection = connection
        self.writes = writes
        self._leases = leases  # that it depends on, and that were not checked yet
        self.mark: str | None = None  # what its commit is known by, once it has locked something
        self.locked: list[str] = []  # names of workspaces
        self._bound: object = None
        self._view: Readable | None = None

    def run(self, name: str, values: Mapping[str, object] = {}, /) -> Rows:  # read only
        if name in EVERYBODYS:
            self._serve_everybody()
        elif name in BINDING:
            self._bound = None
        if name in LOCKING:
            return self._lock(name, values)
        if name in LONG:
            return LazyRows(in_parts(self.connection, SQL[name], _storable(values)))
        rows: Rows = self._execute(name, values)
        return rows

    def _lock(self, name: str, values: Mapping[str, object]) -> Rows:
        """Workspaces before the work in them: whoever locks both does it in this order."""
        before = len(self.locked)
        values = self._marked(values)
        rows: Rows = self._execute(name, values)
        theirs = [each for each in self._leases if each.workspace.value in self.locked[before:]]
        check_held(self, theirs)
        self._leases = [each for each in self._leases if each not in theirs]
        return rows

    def check_leases(self) -> None:
        """Those of workspaces that were not locked: this transaction locks nothing any more."""
        if self._leases:
            self._serve_everybody()
            check_held(self, self._leases)

    def _serve_everybody(self) -> None:
        if self._bound is not EVERYBODY:
            self._execute("serve_everybody", {})
            self._bound = EVERYBODY

    def _marked(self, values: Mapping[str, object]) -> Mapping[str, object]:
        self.mark = self.mark or str(uuid4())
        names = values.get("names")
        self.locked += json.loads(str(names)) if names else [str(values["name"])]
        return {**values, "mark": self.mark}

    def run_many(self, name: str, rows: Sequence[Row], /) -> int:
        if not rows:
            return 0
        if name in EVERYBODYS:
            self._serve_everybody()
        if place := VECTOR.get(name):
            rows = [_with_numbers(row, place) for row in rows]
        changed = 0
        for start in range(0, len(rows), ROWS_AT_ONCE):
            some = rows[start : start + ROWS_AT_ONCE]
            told = json.dumps(some, default=bytes.hex, ensure_ascii=False)
            changed += self._execute(name, {"rows": told}).rowcount
        return changed

    def read_each(self, name: str, rows: Sequence[Row], /) -> list[list[Any]]:
        found: list[list[Any]] = [[] for _ in rows]
        if name in EVERYBODYS:
            self._serve_everybody()
        if rows:
            told = json.dumps(rows, ensure_ascii=False)
            for row in self._execute(name, {"rows": told}).fetchall():
                found[row[0] - 1].append(row[1:])
        return found

    def view(self, key: Hashable, make: Callable[[], Readable], /) -> Readable:
        """Inside one moment nothing changes: a view that is bound already stands."""
        if self._view is None or self._bound != key or self.writes:
            self._view = make()
            self._bound = key
        return self._view

    def floats(self, vectors: Sequence[bytes], /) -> Floats:
        table = np.frombuffer(b"".join(vectors), dtype="<f4")
        return table.reshape(len(vectors), -1) if vectors else table

    def _execute(self, name: str, values: Mapping[str, object]) -> Any:
        cursor = self.connection.cursor(binary=True)
        return cursor.execute(SQL[name], _storable(values), prepare=True)


def _storable(values: Mapping[str, object]) -> Mapping[str, object]:
    """What no text of Postgres can hold equals nothing that is kept in it.

    Texts that are kept were cleaned before; an id that somebody asks for may be anything.
    """
    for name in LISTS:
        asked = values.get(name)
        if isinstance(asked, str) and ("\\u0000" in asked or "\\ud" in asked):
            values = {**values, name: json.dumps([*map(_cleaned, json.loads(asked))])}
    return values


def _cleaned(text: str) -> str:
    return text.replace("\0", "\ufffd").encode(errors="replace").decode()


def _with_numbers(row: Row, place: int) -> Row:
    numbers = np.frombuffer(row[place], dtype="<f4").tolist()
    return (*row[:place], numbers, *row[place + 1 :])
