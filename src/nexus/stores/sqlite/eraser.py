"""Erasure in SQLite: out of the tables, out of the log, and then a look into the files."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from ...core.ids import WorkspaceId
from ..residue import Reader, found_in
from ..sql.eraser import SqlEraser, still_kept
from ..sql.session import Connections as Sessions
from ..sql.session import Session
from .connections import Connection, Connections
from .vec import blank_indexes

PATIENCE_SECONDS = 5.0  # for readers that keep the log from being emptied


class SqliteEraser(SqlEraser):
    def __init__(self, sessions: Sessions, file: Connections, open_file: Reader) -> None:
        super().__init__(sessions)
        self._file = file
        self._open = open_file

    def _also_erase(self, session: Session) -> None:
        blank_indexes(cast("Connection", session))

    def residue(self, workspace: WorkspaceId, pieces: Sequence[bytes]) -> dict[str, int]:
        del workspace  # one file holds them all
        left = self._search(pieces)
        if any(left.values()):
            # Rows that moved when a page was split leave copies in its unused part, which
            # secure_delete does not reach; writing the file anew does.
            self._file.vacuum()
            left = self._search(pieces)
        return left

    def _search(self, pieces: Sequence[bytes]) -> dict[str, int]:
        self._empty_log()
        path = self._file.path
        files = (path, path.with_name(path.name + "-wal"))
        found = {file.name: self._found(file, pieces) for file in files if file.exists()}
        with self._file.reading() as session:
            suspects = set().union(*found.values())
            gone = {piece for piece in suspects if not still_kept(session, piece)}
        return {
            name: sum(times for piece, times in counted.items() if piece in gone)
            for name, counted in found.items()
        }

    def _found(self, path: Path, pieces: Sequence[bytes]) -> Counter[bytes]:
        with self._open(path) as file:
            return found_in(file, pieces)

    def _empty_log(self) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not self._file.checkpoint() and time.monotonic() < deadline:
            time.sleep(0.01)
