"""Bringing the Lance tables up to where the records are, a batch at a time.

It may be killed at any moment: what a table has reached is noted after its rows are on disk, and
the next look goes on from there. Nothing waits for it, because a search takes what is not there
yet from the records.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from functools import partial
from typing import Protocol

import numpy as np

from ...core.errors import NexusError, StoreUnavailable
from ...core.ids import WorkspaceId
from ..sql.feed import Feed, NewVectors
from ..sql.labels import LabelState, Readable
from .tables import PATIENCE_SECONDS, IndexFailed, Place, Reached, Tables

BATCH = 10_000  # vectors read and written at once
APPENDED_FROM = 100  # a hundredth of a table: fewer new ones wait, so that files are not many
COMPACTED_AFTER = 20  # times that something was appended
LOOK_SECONDS = 30.0  # between looks at what other processes may have written or erased
GONE_SHARE = 0.1  # of a table that is worth writing it anew
GONE_SECONDS = 3_600.0  # after which it is written anew in any case

log = logging.getLogger(__name__)


class Read(Protocol):
    """Reads the next vectors of a place."""

    def __call__(self, *, after: int, limit: int) -> NewVectors: ...


class Follower:
    """Follows the labels that are large enough to be worth a table."""

    def __init__(self, feed: Feed, tables: Tables, *, large: int, approximate: bool) -> None:
        self._feed = feed
        self._tables = tables
        self._large = large
        self._approximate = approximate
        self._wanted: set[WorkspaceId] = set()
        self._trusted: set[Place] = set()
        self._next_look = 0.0
        self._gone_since: dict[Place, float] = {}
        self._builder: threading.Thread | None = None

    def want(self, workspace: WorkspaceId) -> None:
        """Look at this workspace the next time."""
        self._wanted.add(workspace)

    def distrust(self, place: Place) -> None:
        """Something is wrong with this table: compare it before it is used again."""
        self._trusted.discard(place)

    def step(self) -> bool:
        """Do a little; whether there may be more to do."""
        if not self._wanted and time.monotonic() < self._next_look:
            return False
        try:
            with self._tables.alone() as alone:
                return alone and self._step()
        except OSError as error:
            raise IndexFailed(f"{self._tables.folder}: {error}") from error

    def _step(self) -> bool:
        for workspace in self._workspaces():
            self._wanted.discard(workspace)  # before the look: it may be written to meanwhile
            view = self._feed.labels(workspace)
            if any(self._guarded_follow(workspace, *place) for place in self._places(view)):
                self._wanted.add(workspace)
                return True
        return False

    def _workspaces(self) -> Iterator[WorkspaceId]:
        """Those that were searched or written to; now and then all of which there is a table."""
        yield from sorted(self._wanted)
        if time.monotonic() < self._next_look:
            return
        self._next_look = time.monotonic() + LOOK_SECONDS
        names = self._feed.workspaces()
        for place in self._tables.places():
            if place.workspace not in names:
                self._drop(place)
        numbers = {place.workspace for place in self._tables.places()}
        self._wanted.update(names[number] for number in numbers)
        yield from sorted(self._wanted)

    def _places(self, view: Readable) -> Iterator[tuple[Place, LabelState]]:
        tables = set(self._tables.places())
        for profile in self._feed.profiles():
            for state in view.labels:
                place = Place(view.workspace, state.label, profile)
                if state.documents >= self._large or place in tables:
                    yield place, state

    def _guarded_follow(self, workspace: WorkspaceId, place: Place, state: LabelState) -> bool:
        """A table that cannot be used is made anew from the records, the next time."""
        try:
            return self._follow(workspace, place, state)
        except IndexFailed as error:
            log.warning("an index beside the records is made anew: %s", error)
            self._drop(place)
            self._wanted.add(workspace)
            return False

    def _follow(self, workspace: WorkspaceId, place: Place, state: LabelState) -> bool:
        reached = self._tables.reached(place)
        if reached is None and state.documents < self._large:
            self._drop(place)  # it was never finished
            return False
        if reached and not self._worth_keeping(workspace, place, state, reached):
            self._drop(place)
            return True
        reached = self._tables.reached(place)
        after = reached.number if reached else 0
        vectors = self._feed.vectors(
            workspace, place.label, place.profile, after=after, limit=BATCH
        )
        if reached and len(vectors) <= reached.rows // APPENDED_FROM:
            return self._tidy(place, reached)
        if not len(vectors):
            return False
        self._tables.append(place, reached, vectors, state.generation)
        self._trusted.add(place)
        return True

    def _worth_keeping(
        self, workspace: WorkspaceId, place: Place, state: LabelState, reached: Reached
    ) -> bool:
        read = partial(self._feed.vectors, workspace, place.label, place.profile)
        if 2 * state.documents < self._large or not self.trusts(place, state, reached, read):
            return False
        gone = self._gone(workspace, place, state, reached)
        if not gone:
            self._gone_since.pop(place, None)
            return True
        since = self._gone_since.setdefault(place, time.monotonic())
        return gone < GONE_SHARE * reached.rows and time.monotonic() - since < GONE_SECONDS

    def _gone(
        self, workspace: WorkspaceId, place: Place, state: LabelState, reached: Reached
    ) -> int:
        """How many vectors of the table the records have no more."""
        if state.generation == reached.generation:
            return 0
        kept = self._feed.vector_numbers(workspace, place.label, place.profile, reached.number)
        gone = np.setdiff1d(self._tables.numbers(place, reached), kept)
        if not len(gone):
            self._tables.compared(place, reached, state.generation)
        return len(gone)

    def trusts(self, place: Place, state: LabelState, reached: Reached, read: Read) -> bool:
        """Whether it is a table of these records, and not of others or of a backup's future."""
        if state.latest < reached.number or state.generation < reached.generation:
            return False
        if place not in self._trusted:
            told = read(after=reached.number - 1, limit=1)
            if len(told) and told.numbers[0] == reached.number:
                same = np.array_equal(told.table[0], self._tables.newest(place, reached))
            else:  # what it came to was removed since
                same = state.generation > reached.generation
            if not same:
                return False
            self._trusted.add(place)
        return True

    def _tidy(self, place: Place, reached: Reached) -> bool:
        if reached.appended >= COMPACTED_AFTER:
            self._tables.compact(place, reached)
            return True
        if self._approximate and not reached.indexed and reached.rows >= self._large:
            self._build(place)
        return False

    def _build(self, place: Place) -> None:
        """In a thread of its own: it takes minutes, and learning must not wait for it."""
        if self._builder is None or not self._builder.is_alive():
            self._builder = threading.Thread(
                target=self._index, args=(place,), name="nexus-lancedb", daemon=True
            )
            self._builder.start()

    def _index(self, place: Place) -> None:
        try:
            with self._tables.alone(patience_seconds=PATIENCE_SECONDS) as alone:
                reached = self._tables.reached(place)
                if alone and reached and not reached.indexed:
                    self._tables.index(place, reached)
        except (NexusError, OSError) as error:
            log.warning("no approximate index was built: %s", error)

    def erase(self, workspace: WorkspaceId) -> int:
        """Drop every table that holds what the records have no more; how many that were."""
        dropped = 0
        with self._tables.alone(patience_seconds=PATIENCE_SECONDS) as alone:
            if not alone:
                raise StoreUnavailable(f"{self._tables.folder} was being written for too long")
            for place, state in self._places(self._feed.labels(workspace)):
                if self._holds_gone(workspace, place, state):
                    self._drop(place)
                    dropped += 1
            self.want(workspace)
        return dropped

    def _holds_gone(self, workspace: WorkspaceId, place: Place, state: LabelState) -> bool:
        reached = self._tables.reached(place)
        try:
            return reached is None or bool(self._gone(workspace, place, state, reached))
        except IndexFailed:
            return True

    def kept(self, workspace: WorkspaceId, number: int, pieces: set[bytes]) -> set[bytes]:
        """Those of these pieces that are of vectors the records still have: two may be the same."""
        found: set[bytes] = set()
        for place in self._tables.places():
            after = 0
            while place.workspace == number and found != pieces:
                some = self._feed.vectors(
                    workspace, place.label, place.profile, after=after, limit=BATCH
                )
                if not len(some):
                    break
                data = some.table.astype("<f4").tobytes()
                found |= {piece for piece in pieces if piece in data}
                after = int(some.numbers[-1])
        return found

    def rebuild(self) -> None:
        """Drop every table; they are filled again from the records."""
        with self._tables.alone(patience_seconds=PATIENCE_SECONDS) as alone:
            if not alone:
                raise StoreUnavailable(f"{self._tables.folder} was being written for too long")
            self._wanted.update(self._feed.workspaces().values())
            for place in self._tables.places():
                self._drop(place)

    def _drop(self, place: Place) -> None:
        self._trusted.discard(place)
        self._gone_since.pop(place, None)
        self._tables.drop(place)
