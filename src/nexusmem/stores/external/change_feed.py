"""Change feed: lets an external index replicate the records of an SQL store.

Each memory and vector has a number that grows with each write. Each label has a generation that
grows with each removal. Both are written in the transaction of the change, so a replicator needs
no outbox: it reads rows with larger numbers, and compares a label after a change of its generation.

The feed reads all data of a workspace as its administrator. Search results must not use it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.access import Grant, administrator_grant
from ...core.derive import NAME_FIELDS
from ...core.ids import WorkspaceId
from ...core.json_codec import memory_from_json
from ...core.protocols.embedder import Floats
from ...core.records import Memory, MemoryKind
from ..sql.readable_labels import ReadableLabels, compile_grant
from ..sql.transactions import Connections, Transaction
from ..sql.vectors.vector_codes import Ints

KINDS_WITH_NAMES = json.dumps(sorted(NAME_FIELDS))


@dataclass(frozen=True, slots=True)
class VectorBatch:
    """Vectors of one label and profile, sorted by number."""

    numbers: Ints
    memories: Ints  # numbers of their memories
    table: Floats

    def __len__(self) -> int:
        return len(self.numbers)


@dataclass(frozen=True, slots=True)
class ChangeFeed:
    """Reads the records of an SQL store in the order of writes."""

    connections: Connections

    def workspace_ids(self) -> dict[int, WorkspaceId]:
        """Return every workspace by number."""
        with self.connections.read_transaction() as session:
            rows = session.execute_query("workspace_numbers").fetchall()
        return {number: WorkspaceId(name) for number, name in rows}

    def all_labels(self, workspace: WorkspaceId) -> ReadableLabels:
        """Return the current state of every label of a workspace."""
        with self.connections.read_transaction() as session:
            return compile_grant(session, administrator_grant(workspace))

    def profile_dimensions(self) -> dict[int, int]:
        """Return the dimension of every profile by number."""
        with self.connections.read_transaction() as session:
            return dict(session.execute_query("profile_dimensions").fetchall())

    def read_vectors(
        self, workspace: WorkspaceId, label: int, profile: int, *, after: int, limit: int
    ) -> VectorBatch:
        """Return up to `limit` vectors of a label with numbers above `after`."""
        with self.connections.read_transaction() as session:
            number = compile_grant(session, administrator_grant(workspace)).workspace
            return read_next_vectors(session, number, label, profile, after=after, limit=limit)

    def vector_numbers(self, workspace: WorkspaceId, label: int, profile: int, upto: int) -> Ints:
        """Return the numbers of the existing vectors of a label up to `upto`."""
        with self.connections.read_transaction() as session:
            number = compile_grant(session, administrator_grant(workspace)).workspace
            bound = {"workspace": number, "label": label, "profile": profile}
            rows = session.execute_query("vector_numbers", {**bound, "upto": upto}).fetchall()
        return np.array([number for (number,) in rows], dtype=np.int64)

    def store_created_at(self) -> str:
        """Return the creation time of the store, which identifies its numbering."""
        with self.connections.read_transaction() as session:
            return str(session.execute_query("store_created_at").fetchone()[0])

    def workspace_counters(self) -> dict[WorkspaceId, int]:
        """Return the highest number assigned in each workspace."""
        with self.connections.read_transaction() as session:
            rows = session.execute_query("workspace_counters").fetchall()
        return {WorkspaceId(name): counter for name, counter in rows}

    def workspace_counter(self, workspace: WorkspaceId) -> int:
        """Return the highest number assigned in this workspace."""
        with self.connections.read_transaction() as session:
            row = session.execute_query("find_workspace", {"name": workspace.value}).fetchone()
        return int(row[3]) if row else 0

    def read_named_memories(
        self,
        workspace: WorkspaceId,
        *,
        kinds: Sequence[MemoryKind] = tuple(NAME_FIELDS),
        after: int,
        limit: int,
    ) -> list[tuple[int, int, Memory]]:
        """Return up to `limit` (number, label, memory) of kinds with names, above `after`."""
        with self.connections.read_transaction() as session:
            number = compile_grant(session, administrator_grant(workspace)).workspace
            wanted = json.dumps(sorted(kinds))
            bound = {"workspace": number, "kinds": wanted, "after": after, "limit": limit}
            rows = session.execute_query("next_named_memories", bound).fetchall()
        return [
            (each, label, _decode_memory(text, workspace, *state))
            for each, label, text, *state in rows
        ]

    def ids_with_names(self, workspace: WorkspaceId, label: int) -> set[str]:
        """Return the ids of all memories of a label that have names."""
        with self.connections.read_transaction() as session:
            number = compile_grant(session, administrator_grant(workspace)).workspace
            rows = session.execute_query("ids_with_names", {"workspace": number, "label": label})
            return {id for (id,) in rows}


def read_named_since(
    session: Transaction, view: ReadableLabels, grant: Grant, after: int
) -> list[Memory]:
    """Return the memories of kinds with names in this view, with numbers above `after`."""
    bound = {**view.parameters, "kinds": KINDS_WITH_NAMES, "after": after}
    rows = session.execute_query("named_memories_since", bound).fetchall()
    return [_decode_memory(text, grant.workspace, *state) for text, *state in rows]


def _decode_memory(text: str, workspace: WorkspaceId, *state: Any) -> Memory:
    return memory_from_json(json.loads(text), workspace, *state)


def read_next_vectors(
    session: Transaction, workspace: int, label: int, profile: int, *, after: int, limit: int
) -> VectorBatch:
    """Return up to `limit` vectors of a label with numbers above `after`, in this transaction."""
    bound = {"workspace": workspace, "label": label, "profile": profile}
    rows = session.execute_query(
        "next_vectors", {**bound, "after": after, "limit": limit}
    ).fetchall()
    numbers = np.array([number for number, *_ in rows], dtype=np.int64)
    memories = np.array([memory for _, memory, _ in rows], dtype=np.int64)
    return VectorBatch(numbers, memories, session.decode_vectors([data for *_, data in rows]))
