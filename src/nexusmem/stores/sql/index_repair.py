"""Index repair: compare keywords, links, names and vectors with their memories and fix them.

Repair goes label by label, in parts of one transaction each. First every expected row is
written. Only a label that then has more rows than expected is searched for stray rows.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ...core.access import Label, administrator_grant
from ...core.canonical import format_time
from ...core.derive import is_instruction, is_question, keyword_text, thread_name
from ...core.ids import WorkspaceId
from ...core.json_codec import memory_from_json
from ...core.protocols.index_repair import DerivedLayer, IndexDamage, Json, RepairResult
from ...core.records import Memory
from ...text.terms import extract_terms
from .memories import add_memories, build_name_rows, build_posting_rows, delete_memories
from .readable_labels import NO_LABELS, compile_grant, ensure_label, find_workspace, lock_workspace
from .transactions import Connections, Row, Transaction

EARLIEST_TIME = "0001-01-01T00:00:00.000000Z"  # sorts before every memory
VECTORS_PER_BATCH = 2_000  # vectors read by one query
NO_LIMIT = 1_000_000_000  # more rows than any label has
LENGTH_TOLERANCE = 1e-3  # accepted error of the length of a unit vector

Totals = tuple[int, int, int, int]  # documents, terms, conversations, names


class SqlIndexRepair:
    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def find_damage(self, workspace: WorkspaceId) -> list[IndexDamage]:
        with self._connections.read_transaction() as session:
            number = find_workspace(session, workspace)
            view = compile_grant(session, administrator_grant(workspace))
            rows = [_load_totals(session, number, state.label) for state in view.labels]
            bare, strays = session.execute_query(
                "count_broken_links", {"workspace": number}
            ).fetchone()
            unfit = len(_find_unfit_vectors(session, workspace, number))
        found = {
            (DerivedLayer.KEYWORDS, "labels with wrong keyword counts"): sum(
                not each.has_correct_words for each in rows
            ),
            (DerivedLayer.GRAPH, "labels with wrong name counts"): sum(
                not each.has_correct_names for each in rows
            ),
            (DerivedLayer.GRAPH, "memories without source links"): bare,
            (DerivedLayer.GRAPH, "links of deleted memories"): strays,
            (DerivedLayer.VECTORS, "invalid vectors"): unfit,
        }
        return [
            IndexDamage(layer, f"{what}: {count}")
            for (layer, what), count in found.items()
            if count
        ]

    def repair(
        self, workspace: WorkspaceId, layer: DerivedLayer, *, cursor: Json = None, limit: int
    ) -> RepairResult:
        def repair_part(session: Transaction) -> RepairResult:
            number = lock_workspace(session, workspace)
            if number == NO_LABELS.workspace:
                return RepairResult()
            if layer is DerivedLayer.VECTORS:
                return _delete_unfit_vectors(session, workspace, number)
            return _RepairStep(session, workspace, number, layer).repair_part(
                _RepairCursor.from_json(cursor), limit
            )

        return self._connections.write(repair_part)


class _LabelTotals(NamedTuple):
    """The stored counters of a label, and the numbers counted in its tables."""

    stored: Totals
    counted: Totals
    conversation_terms: int
    posting_terms: int

    @classmethod
    def from_row(cls, row: Row) -> _LabelTotals:
        values = tuple(map(int, row))
        return cls(values[:4], values[4:8], *values[8:])  # type: ignore[arg-type]

    @property
    def has_correct_words(self) -> bool:
        terms = self.counted[1]
        return (
            self.stored[:3] == self.counted[:3]
            and self.conversation_terms == self.posting_terms == terms
        )

    @property
    def has_correct_names(self) -> bool:
        return self.stored[3] == self.counted[3]


def _load_totals(session: Transaction, number: int, label: int) -> _LabelTotals:
    bound = {"workspace": number, "label": label}
    return _LabelTotals.from_row(session.execute_query("label_totals", bound).fetchone())


class _RepairCursor(NamedTuple):
    """Position of a repair: the label, its last repaired memory, and the rows expected so far."""

    label: int
    at: str = EARLIEST_TIME
    id: str = ""
    rows: int = 0
    was_emptied: bool = False  # stray names were found: all names are written again

    @classmethod
    def from_json(cls, cursor: Json) -> _RepairCursor:
        return cls(*cursor) if cursor else cls(0)


class _StoredMemory(NamedTuple):
    """A memory and its row, in the order of the query `memories_of_label`."""

    number: int
    at: str
    id: str
    kind: str
    thread: int
    length: int
    asks: bool
    directs: bool
    memory: Memory


@dataclass(slots=True)
class _RepairStep:
    """One transaction of a repair."""

    session: Transaction
    workspace: WorkspaceId
    number: int
    layer: DerivedLayer
    changed: int = 0
    _label_cache: dict[tuple[Label, bool], int] = field(default_factory=dict)
    _conversations: dict[tuple[int, str], int] = field(default_factory=dict)

    def repair_part(self, cursor: _RepairCursor, limit: int) -> RepairResult:
        checked = 0
        while checked < limit:
            label = self._next_label(cursor.label)
            if label is None:
                self._finish_repair()
                return RepairResult(checked=checked, changed=self.changed)
            cursor = cursor if label == cursor.label else _RepairCursor(label)
            found = self._load_memories(cursor, limit - checked)
            rows = cursor.rows + self._repair_memories(label, found)
            cursor = cursor._replace(rows=rows)
            if found:
                cursor = cursor._replace(at=found[-1].at, id=found[-1].id)
            if len(found) < limit - checked:
                cursor = self._finish_label(cursor)
            checked += max(1, len(found))  # an empty label costs a query, too
        return RepairResult(checked=checked, changed=self.changed, cursor=list(cursor))

    def _next_label(self, least: int) -> int | None:
        bound = {"workspace": self.number, "label": least}
        (label,) = self.session.execute_query("next_label", bound).fetchone()
        return None if label is None else int(label)

    def _load_memories(self, cursor: _RepairCursor, limit: int) -> list[_StoredMemory]:
        bound = {"workspace": self.number, "label": cursor.label, "limit": limit}
        rows = self.session.execute_query(
            "memories_of_label", {**bound, "at": cursor.at, "id": cursor.id}
        )
        return [
            _StoredMemory._make(
                [*row, memory_from_json(json.loads(content), self.workspace, tier, archived)]
            )
            for *row, content, tier, archived in rows.fetchall()
        ]

    def _repair_memories(self, label: int, memories: Sequence[_StoredMemory]) -> int:
        """Repair the rows of these memories in the layer; return the number of expected rows."""
        if not memories:
            return 0
        if self.layer is DerivedLayer.GRAPH:
            return self._repair_names(label, memories)
        misplaced = [each.id for each in memories if not self._has_correct_row(label, each)]
        if misplaced:
            self._rewrite_memories([each.memory for each in memories if each.id in misplaced])
        unchanged = [each for each in memories if each.id not in misplaced]
        rows = [row for each in unchanged for row in self._build_postings(label, each)]
        self._record_changes(label, self.session.execute_batch("repair_posting", rows))
        return len(rows)

    def _has_correct_row(self, label: int, stored: _StoredMemory) -> bool:
        """Return whether the columns of a memory agree with its content."""
        memory = stored.memory
        expected = (
            self._label_for(memory),
            format_time(memory.at),
            memory.kind.value,
            len(extract_terms(keyword_text(memory))),
            bool(is_question(memory.text)),
            bool(is_instruction(memory)),
            self._ensure_conversation(label, thread_name(memory), stored.thread),
        )
        columns = (
            stored.kind,
            stored.length,
            bool(stored.asks),
            bool(stored.directs),
            stored.thread,
        )
        return expected == (label, stored.at, *columns)

    def _label_for(self, memory: Memory) -> int:
        key = (memory.label, memory.learned)
        if key not in self._label_cache:
            number = ensure_label(self.session, self.number, memory.label, learned=memory.learned)
            self._label_cache[key] = number
        return self._label_cache[key]

    def _ensure_conversation(self, label: int, name: str, stored_number: int) -> int:
        """Return the number of a conversation; restore a lost row with its stored number."""
        if (label, name) not in self._conversations:
            named = {"workspace": self.number, "label": label, "name": name}
            if not self.session.execute_query("find_conversation", named).fetchone():
                restored = self.session.execute_query(
                    "restore_conversation", {**named, "thread": stored_number}
                )
                self._record_changes(label, restored.rowcount)
            row = self.session.execute_query("find_conversation", named).fetchone()
            self._conversations[label, name] = int(row[0]) if row else -1
        return self._conversations[label, name]

    def _rewrite_memories(self, memories: Sequence[Memory]) -> None:
        delete_memories(self.session, self.workspace, [memory.id for memory in memories])
        add_memories(self.session, self.number, memories)
        self.changed += len(memories)

    def _build_postings(self, label: int, stored: _StoredMemory) -> list[Row]:
        words = extract_terms(keyword_text(stored.memory))
        return build_posting_rows(self.number, label, stored.number, stored.thread, words)

    def _repair_names(self, label: int, memories: Sequence[_StoredMemory]) -> int:
        """Repair names and source links; return the number of expected names."""
        ids = [each.id for each in memories]
        wanted = {(each.id, source) for each in memories for source in each.memory.sources}
        bound = {"workspace": self.number, "ids": json.dumps(ids)}
        existing = {
            (origin, to)
            for origin, to in self.session.execute_query("links_from", bound).fetchall()
        }
        for query, pairs in (("add_link", wanted - existing), ("drop_link", existing - wanted)):
            rows = [(self.number, origin, "derived_from", to) for origin, to in sorted(pairs)]
            self.changed += self.session.execute_batch(query, rows) if rows else 0
        names = [
            row for each in memories for row in build_name_rows(self.number, label, each.memory)
        ]
        self._record_changes(
            label, self.session.execute_batch("repair_name", names) if names else 0
        )
        return len(names)

    def _record_changes(self, label: int, changed: int) -> None:
        """Count changed rows, and bump the label's generation so that caches are rebuilt."""
        if changed > 0:
            self.changed += changed
            self.session.execute_batch("bump_label_generation", [(self.number, label)])

    def _finish_label(self, cursor: _RepairCursor) -> _RepairCursor:
        """Delete the stray rows of a finished label; return the next cursor."""
        here = {"workspace": self.number, "label": cursor.label}
        if self.layer is DerivedLayer.GRAPH:
            (count,) = self.session.execute_query("count_names", here).fetchone()
            if count > cursor.rows and not cursor.was_emptied:
                self._record_changes(
                    cursor.label, self.session.execute_query("drop_label_names", here).rowcount
                )
                return _RepairCursor(cursor.label, was_emptied=True)
        else:
            (count,) = self.session.execute_query("count_postings", here).fetchone()
            if count > cursor.rows:
                self._delete_stray_postings(cursor.label)
            self._record_changes(
                cursor.label, self.session.execute_query("recount_conversations", here).rowcount
            )
            self._record_changes(
                cursor.label, self.session.execute_query("drop_empty_conversations", here).rowcount
            )
        self._update_totals(cursor.label)
        return _RepairCursor(cursor.label + 1)

    def _delete_stray_postings(self, label: int) -> None:
        here = {"workspace": self.number, "label": label}
        strays = [
            memory for (memory,) in self.session.execute_query("stray_postings", here).fetchall()
        ]
        if not strays:
            return
        bound = {**here, "memories": json.dumps(strays)}
        self._record_changes(
            label, self.session.execute_query("drop_memory_postings", bound).rowcount
        )
        wanted = set(strays)
        left = [
            each
            for each in self._load_memories(_RepairCursor(label), NO_LIMIT)
            if each.number in wanted
        ]
        rows = [row for each in left for row in self._build_postings(label, each)]
        self.session.execute_batch("repair_posting", rows)

    def _update_totals(self, label: int) -> None:
        here = {"workspace": self.number, "label": label}
        sums = _load_totals(self.session, self.number, label)
        if sums.stored != sums.counted:
            names = ("documents", "terms", "threads", "names")
            counted = dict(zip(names, sums.counted, strict=True))
            self.session.execute_query("set_label_totals", {**here, **counted})
            self._record_changes(label, 1)

    def _finish_repair(self) -> None:
        if self.layer is DerivedLayer.GRAPH:
            bound = {"workspace": self.number}
            self.changed += max(0, self.session.execute_query("drop_stray_links", bound).rowcount)


def _delete_unfit_vectors(
    session: Transaction, workspace: WorkspaceId, number: int
) -> RepairResult:
    """Delete invalid vectors. They are computed again later."""
    unfit = _find_unfit_vectors(session, workspace, number)
    session.execute_batch(
        "drop_vector", [(number, profile, memory) for _, profile, memory in unfit]
    )
    session.execute_batch(
        "bump_label_generation", [(number, label) for label in {label for label, *_ in unfit}]
    )
    return RepairResult(changed=len(unfit))


def _find_unfit_vectors(
    session: Transaction, workspace: WorkspaceId, number: int
) -> list[tuple[int, int, int]]:
    """Return label, profile and memory of vectors without a memory or without unit length."""
    bound = {"workspace": number, "limit": VECTORS_PER_BATCH}
    found = [
        (label, *rest) for label, *rest in session.execute_query("stray_vectors", bound).fetchall()
    ]
    sizes = dict(session.execute_query("profile_dimensions").fetchall())
    labels = [
        state.label for state in compile_grant(session, administrator_grant(workspace)).labels
    ]
    for label in labels:
        for profile, size in sizes.items():
            after = 0
            while some := _next_vectors(
                session, (number, label, profile, after, VECTORS_PER_BATCH)
            ):
                found += [(label, profile, each) for each in _find_invalid(session, some, size)]
                after = some[-1][0]
    return list(dict.fromkeys(found))


def _next_vectors(session: Transaction, params: Row) -> list[tuple[int, int, bytes]]:
    return session.fetch_each("vectors_after", [params])[0]


def _find_invalid(
    session: Transaction, rows: Sequence[tuple[int, int, bytes]], dimension: int
) -> list[int]:
    """Return the memories whose vectors have a wrong dimension or no unit length."""
    complete = [row for row in rows if len(row[2]) == 4 * dimension]
    wrong = [memory for _, memory, data in rows if len(data) != 4 * dimension]
    if complete:
        lengths = np.linalg.norm(session.decode_vectors([data for *_, data in complete]), axis=1)
        off = ~(np.abs(lengths - 1.0) < LENGTH_TOLERANCE)  # also true for NaN
        wrong += [row[1] for row, bad in zip(complete, off.tolist(), strict=True) if bad]
    return wrong
