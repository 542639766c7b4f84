"""Erasure in SQL: delete records and everything derived from them from all tables.

Each database then searches its own files for residue.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from ...core.canonical import format_time
from ...core.ids import WorkspaceId
from ...core.json_codec import memory_from_json
from ...core.protocols.eraser import add_shared_tombstones
from ...core.records import ErasureCounts, Memory, Tombstone
from ...core.records.links import share_event_ids
from ...core.scope import Scope
from .caches.record_cache import clear_record_caches
from .memories import delete_memories
from .readable_labels import ensure_workspace, find_workspace
from .tombstones import any_erased, scope_tombstones, tombstone_from_row
from .transactions import Connections, Row, Transaction
from .usage import erase_uses
from .window import erase_from_window


class SqlEraser:
    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def list_derived(self, workspace: WorkspaceId, ids: Iterable[str]) -> list[Memory]:
        with self._connections.read_transaction() as session:
            number = find_workspace(session, workspace)
            bound = {"workspace": number, "ids": json.dumps(list(ids))}
            return _decode_memories(
                workspace, session.execute_query("derived_memories", bound).fetchall()
            )

    def erase(
        self,
        workspace: WorkspaceId,
        *,
        events: Sequence[str],
        memories: Sequence[str],
        tombstones: Sequence[Tombstone],
    ) -> ErasureCounts:
        def erase_rows(session: Transaction) -> ErasureCounts:
            number = ensure_workspace(session, workspace)
            # Inside the transaction: a worker may just have derived memories from these events.
            derived, event_ids = _find_derived(session, number, workspace, events, memories)
            report = delete_memories(session, workspace, dict.fromkeys([*memories, *derived]))
            self._erase_product_data(session)
            erased_ids = [*event_ids, *memories, *derived, *(each.digest for each in tombstones)]
            window_items = erase_from_window(session, number, erased_ids)
            uses = erase_uses(session, number, erased_ids)
            rows = [(number, id) for id in event_ids]
            bound = {"workspace": number, "ids": json.dumps(list(dict.fromkeys(event_ids)))}
            (size,) = session.execute_query("sum_event_bytes", bound).fetchone()
            session.execute_query("subtract_text_bytes", {"workspace": number, "bytes": size})
            queued = session.execute_batch("drop_any_work", rows)
            session.execute_query("clear_job_errors", {"workspace": number})
            erased_events = session.execute_batch("erase_event", rows)
            all_tombstones = add_shared_tombstones(tombstones, events, event_ids)
            session.execute_batch(
                "add_tombstone", [_tombstone_row(number, each) for each in all_tombstones]
            )
            return replace(
                report, events=erased_events, queued=queued, window=window_items, uses=uses
            )

        erased = self._connections.write(erase_rows)
        clear_record_caches()
        return erased

    def list_tombstones(self, workspace: WorkspaceId) -> list[Tombstone]:
        with self._connections.read_transaction() as session:
            bound = {"workspace": find_workspace(session, workspace)}
            return [tombstone_from_row(row) for row in session.execute_query("tombstones", bound)]

    def scope_tombstones(
        self, workspace: WorkspaceId, scopes: Iterable[Scope]
    ) -> frozenset[Tombstone]:
        with self._connections.read_transaction() as session:
            return scope_tombstones(session, find_workspace(session, workspace), scopes)

    def any_erased(
        self, workspace: WorkspaceId, ids: Sequence[str], *, since: datetime | None = None
    ) -> bool:
        with self._connections.read_transaction() as session:
            return any_erased(session, find_workspace(session, workspace), ids, since)

    def _erase_product_data(self, session: Transaction) -> None:
        """Erase data outside the shared tables in the same transaction; for subclasses."""


def _find_derived(
    session: Transaction,
    number: int,
    workspace: WorkspaceId,
    events: Sequence[str],
    memories: Sequence[str],
) -> tuple[dict[str, Memory], dict[str, None]]:
    """Return derived memories, and all event ids to erase: these and their share events."""
    derived: dict[str, Memory] = {}
    event_ids = dict.fromkeys(events)
    fresh = [*events, *memories]
    while fresh:
        bound = {"workspace": number, "ids": json.dumps(fresh)}
        found = _decode_memories(
            workspace, session.execute_query("derived_memories", bound).fetchall()
        )
        derived |= {memory.id: memory for memory in found}
        fresh = [id for id in share_event_ids(found) if id not in event_ids]
        event_ids |= dict.fromkeys(fresh)
    return derived, event_ids


def _decode_memories(workspace: WorkspaceId, rows: Iterable[Row]) -> list[Memory]:
    return [memory_from_json(json.loads(content), workspace, *state) for content, *state in rows]


def _tombstone_row(number: int, tombstone: Tombstone) -> Row:
    return number, tombstone.kind, tombstone.digest, format_time(tombstone.at)


def is_still_stored(session: Transaction, piece: bytes) -> bool:
    """Return whether a stored record contains the piece too: two people may say the same."""
    bound = {"text": piece.decode(errors="replace"), "bytes": piece}
    (is_stored,) = session.execute_query("is_still_stored", bound).fetchone()
    return bool(is_stored)
