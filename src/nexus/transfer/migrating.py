"""A whole memory from one store into another: in batches, again after a kill, and compared.

Every batch is one transaction of the target, and writing what is there already changes nothing.
So a migration that was stopped anywhere goes on when it is started again, and at the end both
stores are read once more and must hold the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from ..core.access import administrator_grant
from ..core.errors import Conflict, Corrupt, InvalidInput
from ..core.ids import WorkspaceId
from ..core.moving import Mover, Shelf, Tally
from ..core.protocols import Store
from ..core.report import Report

FIRST_BATCH = 50  # records; how many follow depends on how long these were
LARGEST_BATCH = 2_000
BATCH_CHARACTERS = 4_000_000


@runtime_checkable
class Movable(Protocol):
    """A store whose records can be read and written as they are."""

    @property
    def mover(self) -> Mover: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """One workspace in its new place."""

    workspace: str
    records: dict[str, int]  # shelf → how many there are
    digests: dict[str, str]  # shelf → what they are, the same in both stores
    written: int  # records that were not there before this run
    problems: tuple[str, ...] = ()  # of the chain, as `verify` finds them; the source has the same


def migrate(
    source: Store,
    target: Store,
    *,
    workspaces: Sequence[str] | None = None,
    beside: bool = False,
    report: Report | None = None,
) -> list[Moved]:
    """Move these workspaces, or all. The source is only read.

    A target that holds other workspaces is Conflict, unless they may stand `beside`; one that
    holds something else of the same workspaces is Conflict in any case.
    """
    old, new = _mover(source), _mover(target)
    names = _chosen(old, workspaces)
    _check_target(old, new, names, beside=beside)
    progress = _Progress(sum(sum(_count(old, name).values()) for name in names), report)
    moved = [_Migration(source.moment, old, new, name, progress).run() for name in names]
    for name in names:
        if profile := source.vectors.in_use(name):
            target.vectors.use(name, profile)
    return [replace(each, problems=_problems(target, each)) for each in moved]


def _problems(target: Store, moved: Moved) -> tuple[str, ...]:
    return target.ledger.verify(WorkspaceId(moved.workspace)).problems


def _mover(store: Store) -> Mover:
    if not isinstance(store, Movable):
        raise InvalidInput(
            f"a {type(store).__name__} cannot be moved as it is;"
            " use `nexus memory export --as-admin` and `nexus memory import`"
        )
    return store.mover


def _chosen(old: Mover, workspaces: Sequence[str] | None) -> list[WorkspaceId]:
    known = old.workspaces()
    if workspaces is None:
        return known
    wanted = [WorkspaceId(name) for name in dict.fromkeys(workspaces)]
    for name in wanted:
        if name not in known:
            raise InvalidInput(f"the source has no workspace {name.value!r}")
    return wanted


def _count(mover: Mover, workspace: WorkspaceId) -> dict[Shelf, int]:
    return mover.count(administrator_grant(workspace))


def _check_target(old: Mover, new: Mover, names: Sequence[WorkspaceId], *, beside: bool) -> None:
    """Before anything is written: what is there must be a part of what is to come."""
    there = new.workspaces()
    others = [name.value for name in there if name not in names]
    if others and not beside:
        raise Conflict(
            f"the target holds other workspaces ({', '.join(others[:3])}…);"
            " --beside moves this memory in beside them"
        )
    for name in there:
        if name in names:
            coming, kept = _count(old, name), _count(new, name)
            more = [shelf.value for shelf in Shelf if kept[shelf] > coming[shelf]]
            if more:
                raise Conflict(
                    f"the target's workspace {name.value!r} holds more {more[0]} than the source:"
                    " it is another one, or one in use"
                )


class _Progress:
    def __init__(self, total: int, report: Report | None) -> None:
        self._done = 0
        self._total = 2 * total  # everything is written, and then everything is compared
        self._report = report

    def add(self, records: int) -> None:
        self._done += records
        if self._report:
            self._report(min(self._done, self._total), self._total)


@dataclass(frozen=True, slots=True)
class _Migration:
    """One workspace on its way."""

    moment: Callable[[], AbstractContextManager[object]]
    old: Mover
    new: Mover
    name: WorkspaceId
    progress: _Progress

    def run(self) -> Moved:
        with self.moment():  # whoever writes into the source meanwhile changes nothing here
            moved = {shelf: self._move(shelf) for shelf in Shelf}
        tallies = {shelf: tally for shelf, (tally, _) in moved.items()}
        self._compare(tallies)
        return Moved(
            workspace=self.name.value,
            records={shelf.value: tally.records for shelf, tally in tallies.items()},
            digests={shelf.value: tally.digest for shelf, tally in tallies.items()},
            written=sum(written for _, written in moved.values()),
        )

    def _move(self, shelf: Shelf) -> tuple[Tally, int]:
        tally, written = Tally(), 0
        for lines in self._batches(self.old, shelf):
            for line in lines:
                tally.add(line)
            written += self.new.write(self.name, shelf, lines)
        return tally, written

    def _compare(self, expected: dict[Shelf, Tally]) -> None:
        for shelf, tally in expected.items():
            found = Tally()
            for lines in self._batches(self.new, shelf):
                for line in lines:
                    found.add(line)
            if found != tally:
                raise Corrupt(
                    f"workspace {self.name.value!r}: the source has {tally.records} {shelf.value},"
                    f" the target {found.records}, and they are not the same. If the source was"
                    " written to since the migration began, empty the target and start again"
                )

    def _batches(self, mover: Mover, shelf: Shelf) -> Iterator[list[str]]:
        grant = administrator_grant(self.name)
        after, limit = None, FIRST_BATCH
        while some := mover.read(grant, shelf, after=after, limit=limit):
            lines = [each.line for each in some]
            yield lines
            self.progress.add(len(lines))
            after = some[-1].place
            average = max(1, sum(map(len, lines)) // len(lines))
            limit = max(1, min(LARGEST_BATCH, BATCH_CHARACTERS // average))
