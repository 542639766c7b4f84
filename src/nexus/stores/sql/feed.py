"""What an index beside the records reads to follow them.

Every memory and every vector has a number that grows with each write, and every label a
generation that grows with each removal, both written in the transaction of the write itself.
Whoever keeps how far it has come needs no other outbox: it asks for what has a larger number,
and where the generation is another one it looks for what is gone.

The feed reads a whole workspace, as its administrator. Nothing of it may reach an answer.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.access import Grant, administrator_grant
from ...core.codec import memory_from_json
from ...core.derive import NAMES
from ...core.ids import WorkspaceId
from ...core.protocols import Floats
from ...core.records import Memory, MemoryKind
from .codes import Ints
from .labels import Readable, readable
from .session import Connections, Session

NAMED_KINDS = json.dumps(sorted(NAMES))


@dataclass(frozen=True, slots=True)
class NewVectors:
    """Vectors of one label and profile, in the order of their numbers."""

    numbers: Ints
    memories: Ints  # whose they are
    table: Floats

    def __len__(self) -> int:
        return len(self.numbers)


@dataclass(frozen=True, slots=True)
class Feed:
    """The records of an SQL store, in the order they were written."""

    connections: Connections

    def workspaces(self) -> dict[int, WorkspaceId]:
        """Every workspace by its number."""
        with self.connections.reading() as session:
            rows = session.run("numbered_workspaces").fetchall()
        return {number: WorkspaceId(name) for number, name in rows}

    def labels(self, workspace: WorkspaceId) -> Readable:
        """Every label of a workspace as it is now."""
        with self.connections.reading() as session:
            return readable(session, administrator_grant(workspace))

    def profiles(self) -> dict[int, int]:
        """The dimension of every profile, by its number."""
        with self.connections.reading() as session:
            return dict(session.run("numbered_profiles").fetchall())

    def vectors(
        self, workspace: WorkspaceId, label: int, profile: int, *, after: int, limit: int
    ) -> NewVectors:
        """The next vectors of a label after this number."""
        with self.connections.reading() as session:
            number = readable(session, administrator_grant(workspace)).workspace
            return next_vectors(session, number, label, profile, after=after, limit=limit)

    def vector_numbers(self, workspace: WorkspaceId, label: int, profile: int, upto: int) -> Ints:
        """The numbers of all vectors of a label up to this one that are still there."""
        with self.connections.reading() as session:
            number = readable(session, administrator_grant(workspace)).workspace
            place = {"workspace": number, "label": label, "profile": profile}
            rows = session.run("vector_numbers", {**place, "upto": upto}).fetchall()
        return np.array([number for (number,) in rows], dtype=np.int64)

    def made_at(self) -> str:
        """When these records were made: others have other numbers for the same things."""
        with self.connections.reading() as session:
            return str(session.run("made_at").fetchone()[0])

    def counters(self) -> dict[WorkspaceId, int]:
        """The last number that each workspace has given to anything."""
        with self.connections.reading() as session:
            rows = session.run("workspace_counters").fetchall()
        return {WorkspaceId(name): counter for name, counter in rows}

    def counter(self, workspace: WorkspaceId) -> int:
        """The last number that this workspace has given."""
        with self.connections.reading() as session:
            row = session.run("workspace", {"name": workspace.value}).fetchone()
        return int(row[3]) if row else 0

    def named(
        self,
        workspace: WorkspaceId,
        *,
        kinds: Sequence[MemoryKind] = tuple(NAMES),
        after: int,
        limit: int,
    ) -> list[tuple[int, int, Memory]]:
        """The next memories of kinds that have names: the number, the label and the memory."""
        with self.connections.reading() as session:
            number = readable(session, administrator_grant(workspace)).workspace
            wanted = json.dumps(sorted(kinds))
            place = {"workspace": number, "kinds": wanted, "after": after, "limit": limit}
            rows = session.run("next_named", place).fetchall()
        return [
            (each, label, _memory(text, workspace, *state)) for each, label, text, *state in rows
        ]

    def named_in(self, workspace: WorkspaceId, label: int) -> set[str]:
        """The ids of all memories of a label that have names."""
        with self.connections.reading() as session:
            number = readable(session, administrator_grant(workspace)).workspace
            rows = session.run("named_in_label", {"workspace": number, "label": label})
            return {id for (id,) in rows}


def named_since(session: Session, view: Readable, grant: Grant, after: int) -> list[Memory]:
    """What this view shows of kinds that have names, with larger numbers than this one."""
    bound = {**view.parameters, "kinds": NAMED_KINDS, "after": after}
    rows = session.run("named_since", bound).fetchall()
    return [_memory(text, grant.workspace, *state) for text, *state in rows]


def _memory(text: str, workspace: WorkspaceId, *state: Any) -> Memory:
    return memory_from_json(json.loads(text), workspace, *state)


def next_vectors(
    session: Session, workspace: int, label: int, profile: int, *, after: int, limit: int
) -> NewVectors:
    """The next vectors of a label that this session may read."""
    place = {"workspace": workspace, "label": label, "profile": profile}
    rows = session.run("next_vectors", {**place, "after": after, "limit": limit}).fetchall()
    numbers = np.array([number for number, *_ in rows], dtype=np.int64)
    memories = np.array([memory for _, memory, _ in rows], dtype=np.int64)
    return NewVectors(numbers, memories, session.floats([data for *_, data in rows]))
