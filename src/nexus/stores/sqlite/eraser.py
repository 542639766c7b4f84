"""Erasure in SQLite: out of the tables, out of the log, and then a look into the files."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ...core.canonical import text_time, time_text
from ...core.codec import memory_from_json
from ...core.ids import WorkspaceId
from ...core.records import Erased, Memory, Tombstone
from .connections import Connection, Connections
from .labels import SQL, known_workspace, workspace_number
from .memories import delete_memories
from .residue import found_in_file
from .vec import blank_indexes
from .window import erase_from_window

PATIENCE_SECONDS = 5.0  # for readers that keep the log from being emptied


class SqliteEraser:
    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def derived(self, workspace: WorkspaceId, ids: Iterable[str]) -> list[Memory]:
        with self._connections.reading() as connection:
            number = known_workspace(connection, workspace)
            bound = {"workspace": number, "ids": json.dumps(list(ids))}
            rows = connection.execute(SQL["resting_on"], bound).fetchall()
        return [memory_from_json(json.loads(content), workspace) for (content,) in rows]

    def erase(
        self,
        workspace: WorkspaceId,
        *,
        events: Sequence[str],
        memories: Sequence[str],
        tombstones: Sequence[Tombstone],
    ) -> Erased:
        def erase(connection: Connection) -> Erased:
            number = workspace_number(connection, workspace)
            # Asked here, not before: somebody may just have learned from what is to go.
            given = {"workspace": number, "ids": json.dumps([*events, *memories])}
            found = connection.execute(SQL["resting_on"], given).fetchall()
            resting = [json.loads(content)["id"] for (content,) in found]
            report = delete_memories(connection, workspace, dict.fromkeys([*memories, *resting]))
            blank_indexes(connection)
            gone_ids = [*events, *memories, *resting, *(stone.digest for stone in tombstones)]
            seen = erase_from_window(connection, number, gone_ids)
            rows = [{"workspace": number, "id": id} for id in events]
            queued = connection.executemany(SQL["drop_any_work"], rows).rowcount
            gone = connection.executemany(SQL["erase_event"], rows).rowcount
            connection.executemany(
                SQL["add_tombstone"], [_stone_row(number, stone) for stone in tombstones]
            )
            return replace(report, events=max(gone, 0), queued=max(queued, 0), window=seen)

        return self._connections.write(erase)

    def tombstones(self, workspace: WorkspaceId) -> list[Tombstone]:
        with self._connections.reading() as connection:
            bound = {"workspace": known_workspace(connection, workspace)}
            rows = connection.execute(SQL["tombstones"], bound).fetchall()
        return [Tombstone(kind=kind, digest=what, at=text_time(at)) for kind, what, at in rows]

    def gone(self, workspace: WorkspaceId, ids: Sequence[str]) -> bool:
        with self._connections.reading() as connection:
            number = known_workspace(connection, workspace)
            bound = {"workspace": number, "ids": json.dumps(list(ids))}
            return connection.execute(SQL["any_erased"], bound).fetchone() is not None

    def residue(self, workspace: WorkspaceId, pieces: Sequence[bytes]) -> dict[str, int]:
        del workspace  # one file holds them all
        left = self._search(pieces)
        if any(left.values()):
            # Rows that moved when a page was split leave copies in its unused part, which
            # secure_delete does not reach; writing the file anew does.
            self._connections.vacuum()
            left = self._search(pieces)
        return left

    def _search(self, pieces: Sequence[bytes]) -> dict[str, int]:
        self._empty_log()
        path = self._connections.path
        files = (path, path.with_name(path.name + "-wal"))
        found = {file.name: found_in_file(file, pieces) for file in files if file.exists()}
        with self._connections.reading() as connection:
            suspects = set().union(*found.values())
            gone = {piece for piece in suspects if not _still_kept(connection, piece)}
        return {
            name: sum(times for piece, times in counted.items() if piece in gone)
            for name, counted in found.items()
        }

    def _empty_log(self) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not self._connections.checkpoint() and time.monotonic() < deadline:
            time.sleep(0.01)


def _stone_row(number: int, stone: Tombstone) -> dict[str, object]:
    at = time_text(stone.at)
    return {"workspace": number, "kind": stone.kind, "digest": stone.digest, "at": at}


def _still_kept(connection: Connection, piece: bytes) -> bool:
    """Whether it also stands in a record that is kept: two people may say the same."""
    bound = {"text": piece.decode(errors="replace"), "bytes": piece}
    (kept,) = connection.execute(SQL["still_kept"], bound).fetchone()
    return bool(kept)
