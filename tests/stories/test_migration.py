"""Migration of a complete memory into another store."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.servers.databases import EmptiedStore
from tests.servers.postgres import Postgres

from nexusmem import Nexus
from nexusmem.config.settings import EmbeddingSettings, Settings
from nexusmem.core.access import administrator_grant
from nexusmem.core.errors import Conflict, Corrupt, InvalidInput
from nexusmem.core.ids import WorkspaceId
from nexusmem.core.protocols.bulk_copy import RecordType
from nexusmem.core.protocols.store import Store
from nexusmem.core.records import ModelCost
from nexusmem.stores.sqlite.store import SqliteStore
from nexusmem.testing.reference_store.bulk_copy import ReferenceBulkCopy
from nexusmem.testing.reference_store.store import ReferenceStore
from nexusmem.transfer import migrate as migrating
from nexusmem.transfer.archive import export_archive
from nexusmem.transfer.migrate import migrate

SETTINGS = Settings(embeddings=EmbeddingSettings(provider="hashing"))
WORKSPACES = ("acme", "other")
QUESTIONS = ("Which database did we choose?", "Who likes tea?", "When is the release?")


def opened(store: Store) -> Nexus:
    return Nexus.open(store, settings=SETTINGS, background=False)


def lived_in(store: Store, *, messages: int = 30) -> Store:
    """Return a memory of two workspaces with messages, notes, deletions and queued work."""
    nexus = opened(store)
    for name in WORKSPACES:
        workspace = nexus.workspace(name)
        room = workspace.room("design", participants=["alice", "bob"])
        for number in range(messages):
            room.observe("alice", f"Decision {number}: we use PostgreSQL, release {number}.")
        room.observe("bob", "I like green tea, and alice likes coffee.")
        workspace.dm("bob").observe("bob", "My secret is a garden behind the mill.")
        workspace.flush()
        room.set_note("plan", {"step": 1})
        workspace.forget(user="bob")
        room.recall("Which release?")  # writes usage counts
        workspace.run_job("habits")
        room.observe("alice", "This is still to be learned: tea at four.")
        at = room.observe("carol", "Who likes tea? I like tea.").workspace
        bill = {"calls": 1, "input_tokens": 10, "output_tokens": 3, "cost": 0.1}
        now = nexus._parts.now()
        store.model_costs.add(at, ModelCost(at=now, purpose="extract", model="small", **bill))
    return store


def everything(store: Store, name: str) -> dict[str, object]:
    """Return everything an administrator can read of a workspace."""
    grant = administrator_grant(WorkspaceId(name))
    archive = io.StringIO()
    export_archive(store, grant, archive, vectors=True)
    return {
        "archive": archive.getvalue(),
        "report": store.ledger.verify(grant.workspace),
        "work": store.queue.list_pending(grant, limit=1000),
        "spent": store.model_costs.list_costs(grant.workspace),
        "count": store.count_records(grant),
        "profiles": (store.vectors.list_profiles(), store.vectors.active_profile(grant.workspace)),
    }


def answers(store: Store) -> list[object]:
    """Return ids and scores of the hits of some questions."""
    told: list[object] = []
    nexus = opened(store)
    for name in WORKSPACES:
        workspace = nexus.workspace(name)
        room = workspace.room("design", participants=["alice", "bob"])
        for question in QUESTIONS:
            told += [(hit.memory.id, round(hit.score, 6)) for hit in room.recall(question)]
        told.append(sorted(note.key for note in room.notes()))
    return told


@pytest.fixture(params=["inprocess", "sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An empty target store, of each kind."""
    store: Store = ReferenceStore()
    if request.param == "sqlite":
        store = SqliteStore(tmp_path / "new.db")
    elif request.param == "postgres":
        store = EmptiedStore(request.getfixturevalue("postgres_server"))
    yield store
    store.close()


@pytest.mark.slow
@pytest.mark.requirement("X10", "E31")
def test_migration_and_back_changes_nothing(place: Store) -> None:
    source, back = lived_in(ReferenceStore()), ReferenceStore()
    before = [everything(source, name) for name in WORKSPACES]

    there = migrate(source, place)
    again = migrate(place, back)

    assert [each.digests for each in there] == [each.digests for each in again]
    assert [everything(place, name) for name in WORKSPACES] == before
    assert [everything(back, name) for name in WORKSPACES] == before
    assert answers(place) == answers(source) == answers(back)


@pytest.mark.slow
@pytest.mark.requirement("X10", "E31", "C3")
def test_sqlite_to_postgres_and_back(tmp_path: Path, postgres_server: Postgres) -> None:
    old, new = SqliteStore(tmp_path / "old.db"), SqliteStore(tmp_path / "new.db")
    server = EmptiedStore(postgres_server)
    lived_in(old)
    before = [everything(old, name) for name in WORKSPACES]

    migrate(old, server)
    migrate(server, new)

    for store in (old, server, new):
        assert [everything(store, name) for name in WORKSPACES] == before
    assert answers(old) == answers(server) == answers(new)
    for store in (old, server, new):
        store.close()


def test_report_counts_all_copied_records(place: Store) -> None:
    source = lived_in(ReferenceStore())
    grant = administrator_grant(WorkspaceId("acme"))

    acme, _ = migrate(source, place)

    assert acme.records == {
        shelf.value: n for shelf, n in source.bulk_copy.count_records(grant).items()
    }
    assert min(acme.records.values()) > 0
    assert acme.written == sum(acme.records.values())


def test_progress_goes_from_zero_to_total() -> None:
    told: list[tuple[int, int]] = []

    migrate(lived_in(ReferenceStore()), ReferenceStore(), report=lambda *said: told.append(said))

    assert told == sorted(told)
    assert told[-1][0] == told[-1][1]
    assert len({total for _, total in told}) == 1


@pytest.mark.slow
def test_interrupted_migration_continues(place: Store, monkeypatch) -> None:
    source = lived_in(ReferenceStore())
    monkeypatch.setattr(migrating, "FIRST_BATCH", 3)
    monkeypatch.setattr(migrating, "LARGEST_BATCH", 3)
    interruptions = 0
    for after in range(2, 60, 9):
        said = 0

        def interrupt(done: int, total: int, after: int = after) -> None:
            nonlocal said
            said += 1
            if said == after:
                raise KeyboardInterrupt

        try:
            migrate(source, place, report=interrupt)
        except KeyboardInterrupt:
            interruptions += 1

    moved = migrate(source, place)

    assert interruptions >= 5
    assert [each.records for each in moved] == [
        each.records for each in migrate(source, ReferenceStore())
    ]
    assert [everything(place, n) for n in WORKSPACES] == [everything(source, n) for n in WORKSPACES]


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def test_concurrent_writes_are_not_copied(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    source: Store = SqliteStore(tmp_path / "old.db")
    if kind == "postgres":
        source = EmptiedStore(request.getfixturevalue("postgres_server"))
    target = ReferenceStore()
    room = opened(lived_in(source, messages=3)).workspace("acme").room("design")
    before = everything(source, "acme")

    def meanwhile(_done: int, _total: int) -> None:
        if (
            not source.bulk_copy.count_records(administrator_grant(WorkspaceId("acme")))[
                RecordType.EVENTS
            ]
            > 9
        ):
            room.observe("alice", "Written while the memory moves.")

    migrate(source, target, workspaces=["acme"], report=meanwhile)

    assert everything(target, "acme") == before
    assert everything(source, "acme") != before
    source.close()


@pytest.mark.slow
def test_batches_of_long_texts_are_small(monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = ReferenceStore(), ReferenceStore()
    monkeypatch.setattr(migrating, "BATCH_CHARACTERS", 100_000)
    room = opened(source).workspace("acme").room("design")
    room.observe_many({"speaker": "alice", "text": f"{n} " + "long " * 10_000} for n in range(60))
    sizes: list[int] = []
    real = ReferenceBulkCopy.write_rows

    def write(mover: Any, workspace: WorkspaceId, shelf: RecordType, lines: list[str]) -> int:
        sizes.append(sum(map(len, lines)))
        return real(mover, workspace, shelf, lines)

    monkeypatch.setattr(ReferenceBulkCopy, "write_rows", write)

    migrate(source, target)

    assert (
        len([size for size in sizes if size > 200_000]) == 1
    )  # the size of the first batch is a guess


def test_target_in_use_is_refused_before_writing(place: Store) -> None:
    source, stranger = lived_in(ReferenceStore(), messages=3), ReferenceStore()
    opened(place).workspace("third").room("lobby").observe("eve", "Here I live.")
    opened(stranger).workspace("third").room("lobby").observe("eve", "So do I.")

    with pytest.raises(Conflict, match="other workspaces"):
        migrate(source, place)
    assert [name.value for name in place.bulk_copy.list_workspaces()] == ["third"]
    migrate(source, place, allow_others=True)
    with pytest.raises(Conflict, match="event 1 "):
        migrate(stranger, place, allow_others=True)
    assert [name.value for name in place.list_workspaces()] == ["acme", "other", "third"]


def test_diverged_target_is_refused(place: Store) -> None:
    source = lived_in(ReferenceStore(), messages=3)
    migrate(source, place)
    opened(place).workspace("acme").room("design").observe("alice", "One more.")

    with pytest.raises(Conflict, match="has more events"):
        migrate(source, place)


def test_deletion_after_a_first_attempt_is_detected(place: Store) -> None:
    source = lived_in(ReferenceStore(), messages=3)
    migrate(source, place)
    opened(source).workspace("acme").forget(user="carol")

    with pytest.raises((Conflict, Corrupt)):
        migrate(source, place)


def test_lost_record_is_detected_by_the_comparison(place: Store) -> None:
    source = lived_in(ReferenceStore(), messages=3)
    lossy = Losing(place)

    with pytest.raises(Corrupt, match="the source has 1 window, the target 0"):
        migrate(source, lossy)


class Losing:
    """A store that acknowledges window items without storing them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.bulk_copy = self

    def write_rows(self, workspace: WorkspaceId, shelf: RecordType, lines: list[str]) -> int:
        if shelf is RecordType.WINDOW:
            return len(lines)
        return self._store.bulk_copy.write_rows(workspace, shelf, lines)

    def __getattr__(self, name: str) -> Any:
        mine = name in ("read_rows", "count_records", "list_workspaces")
        return getattr(self._store.bulk_copy if mine else self._store, name)


def test_unknown_workspace_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no workspace 'nowhere'"):
        migrate(lived_in(ReferenceStore(), messages=1), ReferenceStore(), workspaces=["nowhere"])


def test_store_without_bulk_copy_names_the_alternative() -> None:
    with pytest.raises(InvalidInput, match="nexus memory export"):
        migrate(object(), ReferenceStore())
