"""Migration: copy all workspaces from one store into another, in batches, and compare both.

Each batch is one transaction of the target, and writing an existing record has no effect. An
interrupted migration therefore continues when it is started again. At the end both stores are read
and must contain the same records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from ..core.access import administrator_grant
from ..core.errors import Conflict, Corrupt, InvalidInput
from ..core.ids import WorkspaceId
from ..core.protocols.bulk_copy import BulkCopy, RecordChecksum, RecordType
from ..core.protocols.store import Store
from ..runtime.progress import ProgressCallback

FIRST_BATCH = 50  # records in the first batch; the size of later batches depends on record lengths
LARGEST_BATCH = 2_000
BATCH_CHARACTERS = 4_000_000


@runtime_checkable
class SupportsBulkCopy(Protocol):
    """A store whose records can be exported and imported unchanged."""

    @property
    def bulk_copy(self) -> BulkCopy: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationReport:
    """Result for one migrated workspace."""

    workspace: str
    records: dict[str, int]  # record type → count
    digests: dict[str, str]  # record type → digest, equal in both stores
    written: int  # records that this run copied
    problems: tuple[str, ...] = ()  # in the hash chain of both stores


def migrate(
    source: Store,
    target: Store,
    *,
    workspaces: Sequence[str] | None = None,
    allow_others: bool = False,
    report: ProgressCallback | None = None,
) -> list[MigrationReport]:
    """Copy these workspaces, or all of them, and return a report for each. The source is only read.

    Raise Conflict if the target contains other workspaces, unless `allow_others` is set.
    Raise Conflict if it contains other data of the same workspaces, Corrupt if both stores differ
    in the end.
    """
    old, new = _get_bulk_copy(source), _get_bulk_copy(target)
    names = _choose_workspaces(old, workspaces)
    _check_target(old, new, names, allow_others=allow_others)
    progress = _ProgressCounter(
        sum(sum(_count_records(old, name).values()) for name in names), report
    )
    reports = [
        _WorkspaceMigration(source.snapshot, old, new, name, progress).run() for name in names
    ]
    for name in names:
        if profile := source.vectors.active_profile(name):
            target.vectors.activate_profile(name, profile)
    return [replace(each, problems=_verify_target(target, each)) for each in reports]


def _verify_target(target: Store, report: MigrationReport) -> tuple[str, ...]:
    return target.ledger.verify(WorkspaceId(report.workspace)).problems


def _get_bulk_copy(store: Store) -> BulkCopy:
    if not isinstance(store, SupportsBulkCopy):
        raise InvalidInput(
            f"a {type(store).__name__} does not support bulk copy;"
            " use `nexus memory export --as-admin` and `nexus memory import`"
        )
    return store.bulk_copy


def _choose_workspaces(old: BulkCopy, workspaces: Sequence[str] | None) -> list[WorkspaceId]:
    existing = old.list_workspaces()
    if workspaces is None:
        return existing
    wanted = [WorkspaceId(name) for name in dict.fromkeys(workspaces)]
    for name in wanted:
        if name not in existing:
            raise InvalidInput(f"the source has no workspace {name.value!r}")
    return wanted


def _count_records(copier: BulkCopy, workspace: WorkspaceId) -> dict[RecordType, int]:
    return copier.count_records(administrator_grant(workspace))


def _check_target(
    old: BulkCopy, new: BulkCopy, names: Sequence[WorkspaceId], *, allow_others: bool
) -> None:
    """Raise Conflict unless the target contains a subset of the source. Nothing is written."""
    existing = new.list_workspaces()
    others = [name.value for name in existing if name not in names]
    if others and not allow_others:
        raise Conflict(
            f"the target contains other workspaces ({', '.join(others[:3])}…);"
            " use --allow-other-workspaces to keep them"
        )
    for name in existing:
        if name in names:
            source, target = _count_records(old, name), _count_records(new, name)
            more = [
                record_type.value
                for record_type in RecordType
                if target[record_type] > source[record_type]
            ]
            if more:
                raise Conflict(
                    f"the target's workspace {name.value!r} has more {more[0]} than the source:"
                    " it is another workspace, or it is in use"
                )


class _ProgressCounter:
    def __init__(self, total: int, report: ProgressCallback | None) -> None:
        self._done = 0
        self._total = 2 * total  # all records are written first, then all are compared
        self._report = report

    def add(self, records: int) -> None:
        self._done += records
        if self._report:
            self._report(min(self._done, self._total), self._total)


@dataclass(frozen=True, slots=True)
class _WorkspaceMigration:
    """Migration of one workspace."""

    snapshot: Callable[[], AbstractContextManager[object]]
    old: BulkCopy
    new: BulkCopy
    name: WorkspaceId
    progress: _ProgressCounter

    def run(self) -> MigrationReport:
        with self.snapshot():  # later writes to the source are not copied
            copied = {record_type: self._copy_records(record_type) for record_type in RecordType}
        checksums = {record_type: checksum for record_type, (checksum, _) in copied.items()}
        self._compare_records(checksums)
        return MigrationReport(
            workspace=self.name.value,
            records={
                record_type.value: checksum.records for record_type, checksum in checksums.items()
            },
            digests={
                record_type.value: checksum.digest for record_type, checksum in checksums.items()
            },
            written=sum(written for _, written in copied.values()),
        )

    def _copy_records(self, record_type: RecordType) -> tuple[RecordChecksum, int]:
        checksum, written = RecordChecksum(), 0
        for lines in self._read_batches(self.old, record_type):
            for line in lines:
                checksum.add(line)
            written += self.new.write_rows(self.name, record_type, lines)
        return checksum, written

    def _compare_records(self, expected: dict[RecordType, RecordChecksum]) -> None:
        for record_type, checksum in expected.items():
            actual = RecordChecksum()
            for lines in self._read_batches(self.new, record_type):
                for line in lines:
                    actual.add(line)
            if actual != checksum:
                raise Corrupt(
                    f"workspace {self.name.value!r}: the source has {checksum.records}"
                    f" {record_type.value}, the target {actual.records}, and they differ. If the"
                    " source was written to since the migration began, empty the target and start"
                    " again"
                )

    def _read_batches(self, copier: BulkCopy, record_type: RecordType) -> Iterator[list[str]]:
        grant = administrator_grant(self.name)
        after, limit = None, FIRST_BATCH
        while rows := copier.read_rows(grant, record_type, after=after, limit=limit):
            lines = [each.line for each in rows]
            yield lines
            self.progress.add(len(lines))
            after = rows[-1].position
            average = max(1, sum(map(len, lines)) // len(lines))
            limit = max(1, min(LARGEST_BATCH, BATCH_CHARACTERS // average))
