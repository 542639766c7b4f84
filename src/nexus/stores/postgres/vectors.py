"""Vectors in Postgres: in this process's memory as everywhere, and where a label is too large for
that, on the server.

The server compares a question with all vectors of a label: the answer is exact. For very large
labels an index can be made (`memory.store.approximate`). It is of one label and one profile, so
that what others keep neither slows it down nor changes its answers; it finds most of the best and
not always all. There is no index over everything on purpose: the planner would take it for small
labels, too, and miss most of what is in them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, cast

import numpy as np
from psycopg import sql

from ...core.access import Grant
from ...core.filters import Filter
from ...core.protocols import Floats, Scored
from ...core.records import EmbeddingProfile
from ..checks import ranked
from ..sql.best import best_first
from ..sql.cards import CardBox
from ..sql.codes import Codes
from ..sql.labels import LabelState, Readable, readable
from ..sql.scoring import exact_scores
from ..sql.session import Connections as Sessions
from ..sql.session import Session as AnySession
from ..sql.vectors import SqlVectors
from .connections import Connections
from .session import Session

BYTES_A_VECTOR = 2_000  # in memory, with all that belongs to it
FEW_MORE = 16  # than asked for: those that are as near as the last one
CLOSE = 1e-5  # distances of single precision that may be in the wrong order
VERY_LARGE = 100_000  # vectors of a label
LEAST_SAMPLE, OVERSAMPLED, MOST_EFFORT = 100, 4, 1_000


class _Question(NamedTuple):
    session: AnySession
    workspace: int
    profile: int
    grant: Grant
    asked: Floats
    where: Filter | None
    limit: int


class PostgresVectors(SqlVectors):
    def __init__(
        self,
        sessions: Sessions,
        server: Connections,
        cards: CardBox,
        cache_bytes: int,
        *,
        approximate: bool = False,
    ) -> None:
        super().__init__(sessions, cards, cache_bytes)
        self.approximate = approximate  # whether such indexes are made and used
        self._server = server
        self._most = cache_bytes // 2 // BYTES_A_VECTOR
        self._indexes: set[str] | None = None  # by name; others' are known at the next opening

    def _nearest_in(
        self,
        session: AnySession,
        view: Readable,
        grant: Grant,
        profile: int,
        asked: Floats,
        *,
        where: Filter | None,
        limit: int,
    ) -> list[Scored]:
        found = super()._nearest_in(session, view, grant, profile, asked, where=where, limit=limit)
        question = _Question(session, view.workspace, profile, grant, asked, where, limit)
        large = [state for state in view.labels if self._is_large(state)]
        for state in large:
            found += self._on_the_server(question, state)
        return ranked((each.id, each.score) for each in found)[:limit] if large else found

    def _is_large(self, state: LabelState) -> bool:
        return state.documents > self._most

    def _blocks(self, session: AnySession, view: Readable, profile: int) -> Iterator[Codes]:
        small = tuple(state for state in view.labels if not self._is_large(state))
        return super()._blocks(session, Readable(view.workspace, small), profile)

    def _on_the_server(self, question: _Question, state: LabelState) -> list[Scored]:
        """In growing portions, until nothing left could beat what passed the filter."""
        name = _index_name(question.workspace, state.label, question.profile)
        session = question.session
        exact = not (
            self.approximate
            and isinstance(session, Session)
            and name in self._known_indexes(session)
        )
        portion = question.limit + FEW_MORE
        if not exact:
            portion = max(LEAST_SAMPLE, OVERSAMPLED * question.limit)
        while True:
            rows = (_compared if exact else _guessed)(question, state, portion)
            best = _chosen(question, state, [(state.label, number, 0) for number, _ in rows])
            furthest = max(0.0, 1 - rows[-1][1]) if rows else 0.0
            enough = len(best) == question.limit
            if len(rows) < portion or (enough and (not exact or best[-1].score > furthest + CLOSE)):
                return best
            portion *= 4

    def _known_indexes(self, session: AnySession) -> set[str]:
        if self._indexes is None:
            self._indexes = {name for (name,) in session.run("vector_indexes")}
        return self._indexes

    def index_large_labels(
        self, grant: Grant, profile: EmbeddingProfile, *, at_least: int = VERY_LARGE
    ) -> int:
        """Make an approximate index for each label of the grant with so many vectors.

        It takes a while and needs the owner's rights; others go on reading and writing. Returns
        how many were made.
        """
        with self._server.reading() as session:
            view = readable(session, grant)
            number = self._profile(session, profile)
            (part,) = session.run("part_of", {"workspace": view.workspace}).fetchone()
            known = self._known_indexes(session)
        made = [
            state.label
            for state in view.labels
            if state.documents >= at_least
            and _index_name(view.workspace, state.label, number) not in known
        ]
        for label in made:
            self._server.administer(_index(view.workspace, label, number, profile.dimension, part))
        self._indexes = None
        return len(made)


def _compared(question: _Question, state: LabelState, portion: int) -> list[tuple[int, float]]:
    """The nearest of all vectors of a label."""
    bound = {
        "workspace": question.workspace,
        "label": state.label,
        "profile": question.profile,
        "asked": str(question.asked.tolist()),
        "limit": portion,
    }
    return question.session.run("nearest_in_label", bound).fetchall()


def _guessed(question: _Question, state: LabelState, portion: int) -> list[tuple[int, float]]:
    """The nearest by the label's own index, which wants its values in the text: our own numbers."""
    size = len(question.asked)
    connection = cast("Session", question.session).connection
    effort = sql.Literal(min(2 * portion, MOST_EFFORT))
    connection.execute(sql.SQL("SET LOCAL hnsw.ef_search = {}").format(effort))
    nearest = sql.SQL(
        "SELECT number, (data::vector({size})) <=> %s::vector({size}) FROM vectors"
        " WHERE workspace = {workspace} AND label = {label} AND profile = {profile}"
        " ORDER BY (data::vector({size})) <=> %s::vector({size}) LIMIT {portion}"
    ).format(
        size=sql.Literal(size),
        workspace=sql.Literal(question.workspace),
        label=sql.Literal(state.label),
        profile=sql.Literal(question.profile),
        portion=sql.Literal(portion),
    )
    asked = str(question.asked.tolist())
    return connection.execute(nearest, (asked, asked), prepare=False).fetchall()


def _chosen(
    question: _Question, state: LabelState, rows: list[tuple[int, int, int]]
) -> list[Scored]:
    """Scored again from the floats, as everywhere."""
    if not rows:
        return []
    table = np.array(rows, dtype=np.int64)
    memories, scores = exact_scores(
        question.session, question.workspace, question.profile, table, question.asked
    )
    return best_first(
        question.session,
        Readable(question.workspace, (state,)),
        question.grant,
        memories,
        scores,
        where=question.where,
        limit=question.limit,
    )


def _index_name(workspace: int, label: int, profile: int) -> str:
    return f"vectors_near_{workspace:d}_{label:d}_{profile:d}"


def _index(workspace: int, label: int, profile: int, size: int, part: int) -> sql.Composed:
    return sql.SQL(
        "CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON {table}"
        " USING hnsw ((data::vector({size})) vector_cosine_ops)"
        " WHERE workspace = {workspace} AND label = {label} AND profile = {profile}"
    ).format(
        name=sql.Identifier(_index_name(workspace, label, profile)),
        table=sql.Identifier("nexus", f"vectors_{part}"),
        size=sql.Literal(size),
        workspace=sql.Literal(workspace),
        label=sql.Literal(label),
        profile=sql.Literal(profile),
    )
