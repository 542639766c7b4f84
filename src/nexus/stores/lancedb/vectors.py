"""LanceDB as an index of vectors beside the records of an SQL store.

The records keep the floats and are searched exactly wherever that is as good: in every label
that is not large, and for all that a table has not got yet. What a table finds is scored again
from the records' floats, so an answer is the same with LanceDB and without it, while it catches
up, after a crash, and when somebody deleted its folder.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

from ...core.access import Grant
from ...core.errors import ConfigError
from ...core.filters import Filter
from ...core.ids import WorkspaceId
from ...core.protocols import Floats, Scored
from ...core.records import EmbeddingProfile, Memory
from ..checks import check_vector, ranked
from ..residue import found_in_file
from ..sql.labels import LabelState, Readable, readable
from ..sql.scoring import scored
from ..sql.store import SqlStore
from ..sql.vectors import SqlVectors, profile_number
from .follower import Follower
from .search import Question, Searcher
from .tables import IndexFailed, Place, Tables

LARGE = 250_000  # memories of a label: fewer fit the default cache, and are searched faster there

log = logging.getLogger(__name__)


class LanceVectors:
    """The records' vectors, with Lance tables to search the large labels."""

    def __init__(
        self, folder: Path, records: SqlStore, *, large: int = LARGE, approximate: bool = False
    ) -> None:
        if not isinstance(records.vectors, SqlVectors):
            raise ConfigError("LanceDB stands beside the plain vectors of SQLite or Postgres")
        if records.encrypted:
            raise ConfigError("LanceDB does not encrypt: leave the key or memory.store.vectors out")
        self._plain = records.vectors
        self._feed = records.feed
        self._large = large
        self._tables = Tables(folder)
        self._follower = Follower(self._feed, self._tables, large=large, approximate=approximate)
        self._searcher = Searcher(self._tables, self._follower, approximate=approximate)

    def put(
        self, workspace: WorkspaceId, profile: EmbeddingProfile, vectors: Mapping[str, Floats]
    ) -> int:
        self._follower.want(workspace)
        return self._plain.put(workspace, profile, vectors)

    def get(self, grant: Grant, profile: EmbeddingProfile, ids: Sequence[str]) -> dict[str, Floats]:
        return self._plain.get(grant, profile, ids)

    def scores(
        self, grant: Grant, profile: EmbeddingProfile, vector: Floats, ids: Sequence[str]
    ) -> dict[str, float]:
        with self._feed.connections.reading() as session:
            labels = readable(session, grant).labels
            if all(state.documents < self._large for state in labels):
                return self._plain.scores(grant, profile, vector, ids)
        return scored(self.get(grant, profile, ids), check_vector(profile, vector))

    def missing(
        self, grant: Grant, profile: EmbeddingProfile, *, limit: int, after: str = ""
    ) -> list[Memory]:
        return self._plain.missing(grant, profile, limit=limit, after=after)

    def coverage(self, grant: Grant, profile: EmbeddingProfile) -> dict[str, int]:
        return self._plain.coverage(grant, profile)

    def profiles(self) -> list[EmbeddingProfile]:
        return self._plain.profiles()

    def in_use(self, workspace: WorkspaceId) -> EmbeddingProfile | None:
        return self._plain.in_use(workspace)

    def use(self, workspace: WorkspaceId, profile: EmbeddingProfile) -> None:
        self._plain.use(workspace, profile)

    def drop(self, workspace: WorkspaceId, profile: EmbeddingProfile, *, limit: int) -> int:
        self._follower.want(workspace)
        return self._plain.drop(workspace, profile, limit=limit)

    def nearest(
        self,
        grant: Grant,
        profile: EmbeddingProfile,
        vector: Floats,
        *,
        where: Filter | None = None,
        limit: int,
        learned: bool = False,
    ) -> list[Scored]:
        asked = check_vector(profile, vector)
        with self._feed.connections.reading() as session:
            view = readable(session, grant).searched(learned=learned)
            number = profile_number(session, profile)
            question = Question(session, grant, view.workspace, number, asked, where, limit)
            found: list[Scored] = []
            rest: list[LabelState] = []
            for state in view.labels:
                best = self._in_table(question, state) if state.documents >= self._large else None
                if best is None:
                    rest.append(state)
                else:
                    found += best
            found += self._plain._nearest_in(  # noqa: SLF001  # public, it would be a way to read
                session,
                Readable(view.workspace, tuple(rest)),
                grant,
                number,
                asked,
                where=where,
                limit=limit,
            )
        return ranked((each.id, each.score) for each in found)[:limit]

    def _in_table(self, question: Question, state: LabelState) -> list[Scored] | None:
        """The best of one label; None where its table is of no use for this question."""
        place = Place(question.workspace, state.label, question.profile)
        try:
            best = self._searcher.best(question, place, state)
        except IndexFailed as error:
            log.warning("a search does without its index: %s", error)
            self._follower.distrust(place)
            best = None
        if best is None:
            self._follower.want(question.grant.workspace)
        return best

    def follow(self) -> bool:
        """Follow the records a little; whether there is more to follow."""
        try:
            return self._follower.step()
        except IndexFailed as error:
            log.warning("an index beside the records will be tried again: %s", error)
            return False

    def rebuild(self) -> None:
        """Drop every table, to be filled again from the records by `follow`."""
        self._follower.rebuild()

    def erase(self, workspace: WorkspaceId, ids: Sequence[str]) -> int:
        """Drop the tables that hold what the records have erased; the rest is filled in again."""
        del ids  # the records tell by their numbers
        return self._follower.erase(workspace)

    def residue(self, workspace: WorkspaceId, pieces: Sequence[bytes]) -> dict[str, int]:
        """As of an eraser, in the tables of this workspace."""
        number = self._feed.labels(workspace).workspace
        found = {file: found_in_file(file, pieces) for file in self._tables.files_of(number)}
        suspects = set().union(*found.values())
        gone = suspects - self._follower.kept(workspace, number, suspects)
        above = self._tables.folder.parent
        return {
            str(file.relative_to(above)): sum(times[piece] for piece in gone)
            for file, times in found.items()
        }

    def files(self) -> list[Path]:
        return self._tables.files()

    def close(self) -> None:
        self._tables.close()
