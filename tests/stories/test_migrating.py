"""A whole memory moves into another store, and answers there as it did before."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.servers.databases import EmptiedStore
from tests.servers.postgres import Postgres

from nexus import Nexus
from nexus.config import EmbeddingSettings, Settings
from nexus.core.access import administrator_grant
from nexus.core.errors import Conflict, Corrupt, InvalidInput
from nexus.core.ids import WorkspaceId
from nexus.core.moving import Shelf
from nexus.core.protocols import Store
from nexus.core.records import Spent
from nexus.stores.inprocess import InProcessStore
from nexus.stores.inprocess_mover import InProcessMover
from nexus.stores.sqlite.store import SqliteStore
from nexus.transfer import migrating
from nexus.transfer.archive import export_archive
from nexus.transfer.migrating import migrate

SETTINGS = Settings(embeddings=EmbeddingSettings(provider="hashing"))
WORKSPACES = ("acme", "other")
QUESTIONS = ("Which database did we choose?", "Who likes tea?", "When is the release?")


def opened(store: Store) -> Nexus:
    return Nexus.open(store, settings=SETTINGS, background=False)


def lived_in(store: Store, *, messages: int = 30) -> Store:
    """A memory of two workspaces in which people talked, took notes, forgot and left work."""
    nexus = opened(store)
    for name in WORKSPACES:
        workspace = nexus.workspace(name)
        room = workspace.room("design", participants=["alice", "bob"])
        for number in range(messages):
            room.observe("alice", f"Decision {number}: we use PostgreSQL, release {number}.")
        room.observe("bob", "I like green tea, and alice likes coffee.")
        workspace.dm("bob").observe("bob", "My secret is a garden behind the mill.")
        workspace.flush()
        room.note("plan", {"step": 1})
        workspace.forget(user="bob")
        room.recall("Which release?")  # what it shows is counted
        workspace.run_job("patterns")
        room.observe("alice", "This is still to be learned: tea at four.")
        at = room.observe("carol", "Who likes tea? I like tea.").workspace
        bill = {"calls": 1, "input_tokens": 10, "output_tokens": 3, "cost": 0.1}
        now = nexus._parts.now()
        store.accounts.add(at, Spent(at=now, purpose="extract", model="small", **bill))
    return store


def everything(store: Store, name: str) -> dict[str, object]:
    """What an administrator sees of a workspace."""
    grant = administrator_grant(WorkspaceId(name))
    archive = io.StringIO()
    export_archive(store, grant, archive, vectors=True)
    return {
        "archive": archive.getvalue(),
        "report": store.ledger.verify(grant.workspace),
        "work": store.queue.waiting(grant, limit=1000),
        "spent": store.accounts.spent(grant.workspace),
        "count": store.count(grant),
        "profiles": (store.vectors.profiles(), store.vectors.in_use(grant.workspace)),
    }


def answers(store: Store) -> list[object]:
    """What people get for their questions: ids, order and scores."""
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
    """An empty store to move into, of each kind."""
    store: Store = InProcessStore()
    if request.param == "sqlite":
        store = SqliteStore(tmp_path / "new.db")
    elif request.param == "postgres":
        store = EmptiedStore(request.getfixturevalue("postgres_server"))
    yield store
    store.close()


@pytest.mark.slow
@pytest.mark.requirement("X10", "E31")
def test_there_and_back_again_nothing_has_changed(place: Store) -> None:
    source, back = lived_in(InProcessStore()), InProcessStore()
    before = [everything(source, name) for name in WORKSPACES]

    there = migrate(source, place)
    again = migrate(place, back)

    assert [each.digests for each in there] == [each.digests for each in again]
    assert [everything(place, name) for name in WORKSPACES] == before
    assert [everything(back, name) for name in WORKSPACES] == before
    assert answers(place) == answers(source) == answers(back)


@pytest.mark.slow
@pytest.mark.requirement("X10", "E31", "C3")
def test_from_a_file_into_postgres_and_back_into_a_file(
    tmp_path: Path, postgres_server: Postgres
) -> None:
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


def test_the_report_counts_everything_that_was_moved(place: Store) -> None:
    source = lived_in(InProcessStore())
    grant = administrator_grant(WorkspaceId("acme"))

    acme, _ = migrate(source, place)

    assert acme.records == {shelf.value: n for shelf, n in source.mover.count(grant).items()}
    assert min(acme.records.values()) > 0
    assert acme.written == sum(acme.records.values())


def test_progress_goes_from_nothing_to_all() -> None:
    told: list[tuple[int, int]] = []

    migrate(lived_in(InProcessStore()), InProcessStore(), report=lambda *said: told.append(said))

    assert told == sorted(told)
    assert told[-1][0] == told[-1][1]
    assert len({total for _, total in told}) == 1


@pytest.mark.slow
def test_a_migration_that_was_interrupted_goes_on(place: Store, monkeypatch) -> None:
    source = lived_in(InProcessStore())
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
        each.records for each in migrate(source, InProcessStore())
    ]
    assert [everything(place, n) for n in WORKSPACES] == [everything(source, n) for n in WORKSPACES]


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def test_whoever_writes_meanwhile_changes_nothing_of_what_is_moved(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    source: Store = SqliteStore(tmp_path / "old.db")
    if kind == "postgres":
        source = EmptiedStore(request.getfixturevalue("postgres_server"))
    target = InProcessStore()
    room = opened(lived_in(source, messages=3)).workspace("acme").room("design")
    before = everything(source, "acme")

    def meanwhile(_done: int, _total: int) -> None:
        if not source.mover.count(administrator_grant(WorkspaceId("acme")))[Shelf.EVENTS] > 9:
            room.observe("alice", "Written while the memory moves.")

    migrate(source, target, workspaces=["acme"], report=meanwhile)

    assert everything(target, "acme") == before
    assert everything(source, "acme") != before
    source.close()


@pytest.mark.slow
def test_batches_of_long_texts_are_short(monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = InProcessStore(), InProcessStore()
    monkeypatch.setattr(migrating, "BATCH_CHARACTERS", 100_000)
    room = opened(source).workspace("acme").room("design")
    room.observe_many({"speaker": "alice", "text": f"{n} " + "long " * 10_000} for n in range(60))
    sizes: list[int] = []
    real = InProcessMover.write

    def write(mover: Any, workspace: WorkspaceId, shelf: Shelf, lines: list[str]) -> int:
        sizes.append(sum(map(len, lines)))
        return real(mover, workspace, shelf, lines)

    monkeypatch.setattr(InProcessMover, "write", write)

    migrate(source, target)

    assert len([size for size in sizes if size > 200_000]) == 1  # the first one guesses


def test_a_target_in_use_is_refused_before_anything_is_written(place: Store) -> None:
    source, stranger = lived_in(InProcessStore(), messages=3), InProcessStore()
    opened(place).workspace("third").room("lobby").observe("eve", "Here I live.")
    opened(stranger).workspace("third").room("lobby").observe("eve", "So do I.")

    with pytest.raises(Conflict, match="other workspaces"):
        migrate(source, place)
    assert [name.value for name in place.mover.workspaces()] == ["third"]
    migrate(source, place, beside=True)
    with pytest.raises(Conflict, match="event 1 "):
        migrate(stranger, place, beside=True)
    assert [name.value for name in place.workspaces()] == ["acme", "other", "third"]


def test_a_target_that_went_on_by_itself_is_refused(place: Store) -> None:
    source = lived_in(InProcessStore(), messages=3)
    migrate(source, place)
    opened(place).workspace("acme").room("design").observe("alice", "One more.")

    with pytest.raises(Conflict, match="holds more events"):
        migrate(source, place)


def test_what_was_forgotten_since_a_first_attempt_is_noticed(place: Store) -> None:
    source = lived_in(InProcessStore(), messages=3)
    migrate(source, place)
    opened(source).workspace("acme").forget(user="carol")

    with pytest.raises((Conflict, Corrupt)):
        migrate(source, place)


def test_a_record_that_was_lost_on_the_way_is_found_by_the_comparison(place: Store) -> None:
    source = lived_in(InProcessStore(), messages=3)
    lossy = Losing(place)

    with pytest.raises(Corrupt, match="the source has 1 window, the target 0"):
        migrate(source, lossy)


class Losing:
    """A store that acknowledges notes and keeps none."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.mover = self

    def write(self, workspace: WorkspaceId, shelf: Shelf, lines: list[str]) -> int:
        if shelf is Shelf.WINDOW:
            return len(lines)
        return self._store.mover.write(workspace, shelf, lines)

    def __getattr__(self, name: str) -> Any:
        mine = name in ("read", "count", "workspaces")
        return getattr(self._store.mover if mine else self._store, name)


def test_an_unknown_workspace_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no workspace 'nowhere'"):
        migrate(lived_in(InProcessStore(), messages=1), InProcessStore(), workspaces=["nowhere"])


def test_a_store_that_cannot_be_moved_says_what_can_be_done() -> None:
    with pytest.raises(InvalidInput, match="nexus memory export"):
        migrate(object(), InProcessStore())
