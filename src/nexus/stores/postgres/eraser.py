"""Erasure in Postgres: out of every table, and then a look into every row of the workspace.

What no query can reach is not looked at: the space of deleted rows, which VACUUM gives back, and
what the server keeps of its past, which are the write-ahead log and backups.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from ...core.errors import StoreUnavailable
from ...core.ids import WorkspaceId
from ...core.records import Erased, Tombstone
from ..sql.eraser import SqlEraser
from ..sql.labels import known_workspace
from ..sql.session import Connections as Sessions
from .connections import Connections
from .tidying import Tidying
from .traces import traces

SMALL = ("keys", "labels", "outbox", "window_items", "uses", "archive", "audit")
LARGE = ("events", "memories", "threads", "links", "names", "postings", "vectors")  # in parts


class PostgresEraser(SqlEraser):
    def __init__(self, sessions: Sessions, server: Connections) -> None:
        super().__init__(sessions)
        self._server = server
        self._tidy = Tidying(server.vacuum)

    def erase(
        self,
        workspace: WorkspaceId,
        *,
        events: Sequence[str],
        memories: Sequence[str],
        tombstones: Sequence[Tombstone],
    ) -> Erased:
        people = [stone.digest for stone in tombstones if stone.kind == "user"]
        keys = self._keys(workspace, people)
        erased = super().erase(workspace, events=events, memories=memories, tombstones=tombstones)
        return replace(erased, keys=keys - self._keys(workspace, people))

    def _keys(self, workspace: WorkspaceId, owners: Sequence[str]) -> int:
        """How many of these people have a key."""
        if not owners:
            return 0
        with self._server.reading() as session:
            number = known_workspace(session, workspace)
            bound = {"workspace": number, "owners": json.dumps(owners)}
            return len(session.run("keys_of_owners", bound).fetchall())

    def residue(self, workspace: WorkspaceId, pieces: Sequence[bytes]) -> dict[str, int]:
        with self._server.reading() as session:
            number = known_workspace(session, workspace)
            bound = {"workspace": number}
            (part,) = session.run("part_of", bound).fetchone()
            found = traces(session, number, [piece for piece in pieces if _is_text(piece)])
            (orphans,) = session.run("orphaned_vectors", bound).fetchone()
        with suppress(StoreUnavailable):  # it takes as long as it takes
            self._tidy([*SMALL, *(f"{table}_{part}" for table in LARGE)])
        return {**found, "vectors": orphans}


def _is_text(piece: bytes) -> bool:
    """Pieces of vectors are none."""
    try:
        piece.decode()
    except UnicodeDecodeError:
        return False
    return True
