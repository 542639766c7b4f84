"""LanceDB vectors: equal results at every step of replication, and erasure."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from tests.servers.databases import EmptiedStore
from tests.servers.postgres import Postgres

from nexusmem import Nexus
from nexusmem.core.access import Grant, Viewer
from nexusmem.core.errors import ConfigError, MissingExtra
from nexusmem.core.filters import parse_filter
from nexusmem.core.ids import AgentId, UserId, WorkspaceId
from nexusmem.core.protocols.embedder import Floats
from nexusmem.core.protocols.memories import ScoredId
from nexusmem.core.records import EmbeddingProfile
from nexusmem.core.scope import Scope
from nexusmem.embedders.feature_hash import HashingEmbedder
from nexusmem.stores.external.composite_store import CompositeStore
from nexusmem.stores.external.lancedb import tables
from nexusmem.stores.external.lancedb import tables as replicator
from nexusmem.stores.external.lancedb import vectors as search
from nexusmem.stores.external.lancedb.vectors import LanceVectors
from nexusmem.stores.sql.store import SqlStore
from nexusmem.stores.sqlite.store import SqliteStore
from nexusmem.testing.samples import (
    ACME,
    ADMIN,
    ALICE,
    ALICE_DM,
    ROOM,
    append_events,
    make_draft,
    make_event,
)

if not find_spec("lancedb"):  # importing lancedb takes seconds
    pytest.skip("the extra lancedb is not installed", allow_module_level=True)
pytestmark = pytest.mark.slow  # its tables are files that are rewritten often

SPACE = EmbeddingProfile(provider="test", model="many", dimension=16)
LIMIT = 10


def unit(rows: Floats) -> Floats:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / lengths).astype(np.float32)


class World:
    """A store with LanceDB tables, and comparisons of both searches."""

    def __init__(self, folder: Path, records: SqlStore | None = None, **options: Any) -> None:
        self.folder = folder / "vectors"
        self.records = records or SqliteStore(folder / "memory.db")
        self.lance = LanceVectors(self.folder, self.records, **{"min_documents": 50, **options})
        self.store = CompositeStore(self.records, vectors=self.lance)
        self.chance = np.random.default_rng(3)
        self.told = 0

    def fill(self, count: int, scope: Scope = ROOM, profile: EmbeddingProfile = SPACE) -> list[str]:
        """Write `count` memories with vectors; return their ids."""
        numbers = range(self.told, self.told + count)
        self.told += count
        sources = append_events(self.records, *(make_event(str(n), scope=scope) for n in numbers))
        drafts = [
            make_draft(
                id, text=f"number {n % 7}", scope=scope, at=make_event("x").at + timedelta(n)
            )
            for n, id in zip(numbers, sources, strict=True)
        ]
        ids = [memory.id for memory in self.records.memories.put(ACME, drafts)]
        rows = unit(self.chance.normal(size=(count, profile.dimension)))
        self.lance.put(ACME, profile, dict(zip(ids, rows, strict=True)))
        return ids

    def follow(self) -> None:
        self.lance.put(ACME, SPACE, {})  # like any write
        while self.lance.catch_up():
            pass

    def again(self, **options: Any) -> World:
        """Open the same files again, like another process."""
        self.store.close()
        other = World(self.folder.parent, **options)
        other.told = self.told
        return other

    def tables(self) -> list[str]:
        return sorted(path.name for path in self.folder.glob("*.lance"))

    def check(self, grant: Grant = ADMIN) -> list[ScoredId]:
        """Compare both searches with many queries; return the last result."""
        found: list[ScoredId] = []
        filters = (None, {"text": "number 3"}, {"text": "number 8"})
        for limit in (1, LIMIT, 400):
            for where in map(parse_filter, filters):
                for asked in unit(self.chance.normal(size=(2, SPACE.dimension))):
                    rest: dict[str, Any] = {"where": where, "limit": limit, "learned": True}
                    found = self.lance.find_nearest(grant, SPACE, asked, **rest)
                    expected = self.records.vectors.find_nearest(grant, SPACE, asked, **rest)
                    assert [hit.id for hit in found] == [hit.id for hit in expected]
                    scores = [hit.score for hit in expected]
                    assert [hit.score for hit in found] == pytest.approx(scores, abs=1e-6)
        return found


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """Use /dev/shm if it exists: these tests do not need a disk."""
    shared = Path("/dev/shm")
    with TemporaryDirectory(dir=shared if shared.is_dir() else None) as name:
        yield Path(name)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World(tmp_path)
    yield world
    world.store.close()


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (replicator, search):
        monkeypatch.setattr(module, "BATCH", 100)


def searched_tables(monkeypatch: pytest.MonkeyPatch) -> list[tables.Place]:
    """Return a list that collects the searched tables from now on."""
    asked: list[tables.Place] = []
    original = tables.LanceTables.find_neighbours

    def neighbours(self: tables.Tables, place: tables.Place, *rest: Any, **more: Any) -> Any:
        asked.append(place)
        return original(self, place, *rest, **more)

    monkeypatch.setattr(tables.LanceTables, "find_neighbours", neighbours)
    return asked


@pytest.mark.requirement("C2")
def test_results_equal_records_at_every_step(
    world: World, small_batches: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = searched_tables(monkeypatch)
    world.fill(330)
    world.fill(70, ALICE_DM)
    world.check()
    assert not asked  # before replication

    steps = 0
    while world.lance.catch_up():
        world.check()
        steps += 1

    assert steps >= 5
    assert asked
    world.fill(30)  # not replicated yet
    world.check()


@pytest.mark.requirement("X2")
def test_grant_reads_only_its_labels(world: World) -> None:
    theirs = world.fill(60, Scope.room("other"))
    own = world.fill(60, ALICE_DM)
    world.follow()

    found = world.check(ALICE.grant())

    assert world.tables() == ["w1_l1_p1.lance", "w1_l2_p1.lance"]
    assert {hit.id for hit in found} <= set(own)
    assert not {hit.id for hit in found} & set(theirs)


def test_small_label_has_no_table(world: World) -> None:
    world.fill(49)
    world.follow()
    assert world.tables() == []

    world.fill(1)
    world.follow()
    assert world.tables() == ["w1_l1_p1.lance"]


def test_removed_vectors_are_not_found_and_table_is_rewritten(world: World) -> None:
    ids = world.fill(200)
    world.follow()

    world.records.memories.delete(ACME, ids[:3])
    world.check()
    world.follow()
    assert rows_in(world) == 200  # below MAX_REMOVED_SHARE
    world.records.memories.delete(ACME, ids[3:60])
    world.check()
    world.follow()

    assert rows_in(world) == 140
    world.check()


def test_few_removed_vectors_are_dropped_after_a_while(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = world.fill(200)
    world.follow()
    monkeypatch.setattr(replicator, "MAX_REMOVED_SECONDS", 0.0)

    world.records.memories.delete(ACME, ids[:3])
    world.follow()

    assert rows_in(world) == 197


def rows_in(world: World, place: tables.Place = tables.TableId(1, 1, 1)) -> int:  # noqa: B008
    reached = tables.LanceTables(world.folder).load_progress(place)
    assert reached
    return reached.rows


def test_changed_vectors_are_found(world: World) -> None:
    ids = world.fill(120)
    world.follow()

    moved = dict(zip(ids, unit(world.chance.normal(size=(15, SPACE.dimension))), strict=False))
    world.lance.put(ACME, SPACE, moved)
    world.check()
    world.follow()
    world.check()


def test_table_of_shrunken_label_is_dropped(world: World) -> None:
    ids = world.fill(60)
    world.follow()

    world.records.memories.delete(ACME, ids[:40])
    world.follow()

    assert world.tables() == []


@pytest.mark.requirement("X3")
def test_deleted_folder_is_rebuilt(world: World) -> None:
    world.fill(120)
    world.follow()
    before = world.tables()
    shutil.rmtree(world.folder)
    world.check()

    world.follow()

    assert world.tables() == before
    world.check()


@pytest.mark.requirement("X3")
@pytest.mark.parametrize("ending", ["lance", "manifest", "json"])
@pytest.mark.parametrize("left", [0, 0.5])
def test_damaged_files_are_rebuilt_without_changing_results(
    tmp_path: Path, ending: str, left: float
) -> None:
    world = World(tmp_path)
    world.fill(120)
    world.follow()
    for file in world.folder.rglob(f"*.{ending}"):
        if file.is_file():
            data = file.read_bytes()
            file.write_bytes(data[: int(len(data) * left)])
    world = world.again()
    world.check()

    world.follow()  # drops the table
    world.follow()

    assert rows_in(world) == 120
    world.check()
    world.store.close()


def test_replication_resumes_after_restart(world: World, small_batches: None) -> None:
    world.fill(330)
    assert world.lance.catch_up()
    assert rows_in(world) == 100

    world = world.again()
    assert world.lance.catch_up()
    assert rows_in(world) == 200
    world.follow()

    assert rows_in(world) == 330
    world.check()


def test_rows_without_saved_progress_are_written_once(world: World, small_batches: None) -> None:
    world.fill(330)
    world.lance.catch_up()
    note = (world.folder / "w1_l1_p1.json").read_bytes()
    world.lance.catch_up()
    (world.folder / "w1_l1_p1.json").write_bytes(
        note
    )  # like a kill before the progress file was replaced

    world = world.again()
    world.check()
    world.follow()

    assert rows_in(world) == 330
    world.check()


def test_concurrent_replicators_write_each_row_once(world: World, small_batches: None) -> None:
    world.fill(950)
    others = [
        LanceVectors(world.folder, world.records, min_documents=50),
        LanceVectors(world.folder, world.records, min_documents=50),
    ]

    def follow(lance: LanceVectors) -> None:
        lance.put(ACME, SPACE, {})
        for _ in range(40):
            lance.catch_up()

    threads = [threading.Thread(target=follow, args=(other,)) for other in others]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert rows_in(world) == 950
    world.check()


@pytest.mark.slow
def test_small_files_are_compacted(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replicator, "BATCH", 50)
    world.fill(1_250)
    world.follow()

    assert len(list((world.folder / "w1_l1_p1.lance" / "data").iterdir())) == 1
    assert len(list((world.folder / "w1_l1_p1.lance" / "_versions").glob("*.manifest"))) == 1
    world.check()


def test_tables_of_other_records_are_rebuilt(tmp_path: Path) -> None:
    first = World(tmp_path / "first")
    first.fill(120)
    first.follow()
    first.store.close()
    second = World(tmp_path / "second")
    second.chance = np.random.default_rng(99)
    second.fill(150)
    shutil.copytree(first.folder, second.folder)
    second.check()

    second.follow()

    assert rows_in(second) == 150
    second.check()
    second.store.close()


@pytest.mark.requirement("X3")
def test_tables_newer_than_restored_backup_are_rebuilt(world: World) -> None:
    world.fill(100)
    world.records.optimize()
    file = world.records.list_files()[0]
    backup = file.with_suffix(".backup")
    shutil.copy(file, backup)
    world.fill(100)
    world.follow()
    world.store.close()
    for each in world.records.list_files():
        each.unlink()
    shutil.copy(backup, file)

    world = world.again()
    world.chance = np.random.default_rng(99)
    world.fill(90)  # the same numbers belonged to other vectors before
    world.check()
    world.follow()

    assert rows_in(world) == 190
    world.check()


@pytest.mark.requirement("X3")
def test_rebuild_drops_and_refills_tables(world: World) -> None:
    world.fill(120)
    world.follow()

    world.lance.rebuild()
    assert world.tables() == []
    world.check()
    world.follow()

    assert rows_in(world) == 120
    world.check()


@pytest.mark.requirement("X3", "X6")
def test_erased_vectors_are_not_in_files(tmp_path: Path) -> None:
    records = SqliteStore(tmp_path / "memory.db")
    lance = LanceVectors(tmp_path / "vectors", records, min_documents=5)
    store = CompositeStore(records, vectors=lance)
    with Nexus.open(store=store, embedder=HashingEmbedder(), background=False) as nexus:
        acme = nexus.workspace("acme")
        room = acme.room("design", participants=["alice", "bob"])
        for number in range(10):
            room.observe(
                "alice", f"The heron of Alice has {number} red feathers.", key=f"a{number}"
            )
            room.observe("bob", f"The teapot of Bob has {number} blue handles.", key=f"b{number}")
        acme.flush()
        vector = vector_of(store, "heron")
        assert vector in contents(
            tmp_path / "vectors"
        )  # proves that the search below can find pieces

        report = acme.forget(user="alice")

        assert report.residue == 0
        assert vector not in contents(tmp_path)
        acme.flush()
        assert vector not in contents(tmp_path)
        assert vector_of(store, "teapot") in contents(tmp_path / "vectors")
        assert "teapot" in room.recall("blue handles")[0].text


def test_residue_search_covers_tables(world: World) -> None:
    ids = world.fill(120)
    world.follow()
    (vector,) = world.records.vectors.get(ADMIN, SPACE, ids[:1]).values()
    piece = vector.tobytes()[:24]
    assert (
        sum(world.store.eraser.find_residue(ACME, [piece]).values()) == 0
    )  # the record still exists

    world.records.memories.delete(ACME, ids[:1])  # bypasses the composite store

    left = world.store.eraser.find_residue(ACME, [piece])
    assert sum(left.values()) == 1
    assert next(name for name, times in left.items() if times).startswith("vectors/w1_l1_p1.lance/")
    world.store.eraser.erase(ACME, events=[], memories=[], tombstones=[])
    assert sum(world.store.eraser.find_residue(ACME, [piece]).values()) == 0


def vector_of(store: CompositeStore, word: str) -> bytes:
    memories = store.memories.find(ADMIN, where=parse_filter({"text": {"contains": word}}))
    (profile,) = store.vectors.list_profiles()
    vectors = store.vectors.get(ADMIN, profile, [memory.id for memory in memories])
    return next(iter(vectors.values())).tobytes()


def contents(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())


@pytest.mark.requirement("C2", "X3")
def test_results_with_postgres_records(tmp_path: Path, postgres_server: Postgres) -> None:
    world = World(tmp_path, EmptiedStore(postgres_server))
    ids = world.fill(150)
    world.follow()
    world.fill(20)
    world.check()
    (vector,) = world.records.vectors.get(ADMIN, SPACE, ids[:1]).values()
    piece = vector.tobytes()[:24]
    assert piece in contents(world.folder)

    world.store.eraser.erase(ACME, events=[], memories=ids[:1], tombstones=[])

    assert piece not in contents(world.folder)
    assert sum(world.store.eraser.find_residue(ACME, [piece]).values()) == 0
    world.check()
    world.follow()
    assert piece not in contents(world.folder)
    assert rows_of(world.folder) == [169]
    world.check()
    world.store.close()


def rows_of(folder: Path) -> list[int]:
    found = tables.LanceTables(folder)
    return [
        reached.rows for place in found.list_tables() if (reached := found.load_progress(place))
    ]


@pytest.mark.slow
@pytest.mark.requirement("C23")
def test_approximate_index_recall(tmp_path: Path) -> None:
    world = World(tmp_path, min_documents=1_000, approximate=True)
    profile = EmbeddingProfile(provider="test", model="wide", dimension=64)
    world.fill(3_000, profile=profile)
    wait_for_index(world)
    world.fill(20, profile=profile)
    questions = unit(
        world.chance.normal(size=(50, 64))
    )  # random vectors without near neighbours are the hardest case

    hits = 0
    for asked in questions:
        found = world.lance.find_nearest(ADMIN, profile, asked, limit=LIMIT)
        exact = world.records.vectors.find_nearest(ADMIN, profile, asked, limit=LIMIT)
        assert len(found) == LIMIT
        same = {hit.id: hit.score for hit in exact}
        hits += sum(same.get(hit.id) == hit.score for hit in found)
    seldom = parse_filter({"text": "number 3"})
    assert len(world.lance.find_nearest(ADMIN, profile, asked, where=seldom, limit=400)) == 400

    assert hits / (LIMIT * len(questions)) >= 0.99
    world.store.close()


def wait_for_index(world: World) -> None:
    deadline = threading.Event()
    for _ in range(3_000):
        world.follow()
        reached = tables.LanceTables(world.folder).load_progress(tables.TableId(1, 1, 1))
        if reached and reached.indexed:
            return
        deadline.wait(0.02)
    pytest.fail("no index was built")


def test_files_contain_no_names_or_texts(tmp_path: Path) -> None:
    records = SqliteStore(tmp_path / "memory.db")
    lance = LanceVectors(tmp_path / "vectors", records, min_documents=1)
    nasty = "x' OR 1=1; --"
    viewer = Viewer(workspace=WorkspaceId(nasty), agent=AgentId(nasty), user=UserId(nasty))
    home = Scope.dm(nasty, nasty)
    (source,) = append_events(
        records, make_event(nasty, nasty, scope=home, speaker=nasty), workspace=viewer.workspace
    )
    (memory,) = records.memories.put(viewer.workspace, [make_draft(source, text=nasty, scope=home)])
    asked = unit(np.ones((1, SPACE.dimension), dtype=np.float32))[0]
    lance.put(viewer.workspace, SPACE, {memory.id: asked})
    while lance.catch_up():
        pass

    found = lance.find_nearest(
        viewer.grant(), SPACE, asked, where=parse_filter({"text": nasty}), limit=1
    )

    assert [hit.id for hit in found] == [memory.id]
    assert sorted(path.name for path in (tmp_path / "vectors").iterdir()) == [
        "lock",
        "w1_l1_p1.json",
        "w1_l1_p1.lance",
    ]
    assert b"OR 1=1" not in contents(tmp_path / "vectors")
    records.close()


def test_sqlite_vec_records_are_rejected(tmp_path: Path) -> None:
    pytest.importorskip("sqlite_vec", reason="the extra sqlite-vec is not installed")
    records = SqliteStore(tmp_path / "memory.db", vectors="sqlite-vec")

    with pytest.raises(ConfigError, match="built-in vectors"):
        LanceVectors(tmp_path / "vectors", records)
    records.close()


def test_missing_package_names_extra(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "find_spec", lambda _: None)

    with pytest.raises(MissingExtra, match=r"nexusmem\[lancedb\]"):
        LanceVectors(world.folder, world.records)


def test_background_worker_replicates(tmp_path: Path) -> None:
    records = SqliteStore(tmp_path / "memory.db")
    lance = LanceVectors(tmp_path / "vectors", records, min_documents=5)
    store = CompositeStore(records, vectors=lance)
    with Nexus.open(store=store, embedder=HashingEmbedder()) as nexus:
        room = nexus.workspace("acme").room("design", participants=["alice"])
        for number in range(10):
            room.observe("alice", f"The heron has {number} red feathers.")
        deadline = time.monotonic() + 60
        while not (tmp_path / "vectors" / "w1_l1_p1.json").exists():
            assert time.monotonic() < deadline
            time.sleep(0.02)
