"""LanceDB beside the records: the same answers at every moment, and nothing left of the erased."""

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

from nexus import Nexus
from nexus.core.access import Grant, Viewer
from nexus.core.errors import ConfigError, MissingExtra
from nexus.core.filters import parse_filter
from nexus.core.ids import AgentId, UserId, WorkspaceId
from nexus.core.protocols import Floats, Scored
from nexus.core.records import EmbeddingProfile
from nexus.core.scope import Scope
from nexus.embedders.hashing import HashingEmbedder
from nexus.stores.beside import CombinedStore
from nexus.stores.lancedb import follower, search, tables
from nexus.stores.lancedb.vectors import LanceVectors
from nexus.stores.sql.store import SqlStore
from nexus.stores.sqlite.store import SqliteStore
from nexus.testing.samples import ACME, ADMIN, ALICE, ALICE_DM, ROOM, draft, event, tell

if not find_spec("lancedb"):  # loading it takes seconds, which the fast run need not wait for
    pytest.skip("the extra lancedb is not installed", allow_module_level=True)
pytestmark = pytest.mark.slow  # its tables are files that are written again and again

SPACE = EmbeddingProfile(provider="test", model="many", dimension=16)
LIMIT = 10


def unit(rows: Floats) -> Floats:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / lengths).astype(np.float32)


class World:
    """Records in a file, the tables beside them, and questions to both."""

    def __init__(self, folder: Path, records: SqlStore | None = None, **options: Any) -> None:
        self.folder = folder / "vectors"
        self.records = records or SqliteStore(folder / "memory.db")
        self.lance = LanceVectors(self.folder, self.records, **{"large": 50, **options})
        self.store = CombinedStore(self.records, vectors=self.lance)
        self.chance = np.random.default_rng(3)
        self.told = 0

    def fill(self, count: int, scope: Scope = ROOM, profile: EmbeddingProfile = SPACE) -> list[str]:
        """So many memories with vectors; their ids."""
        numbers = range(self.told, self.told + count)
        self.told += count
        sources = tell(self.records, *(event(str(n), scope=scope) for n in numbers))
        drafts = [
            draft(id, text=f"number {n % 7}", scope=scope, at=event("x").at + timedelta(n))
            for n, id in zip(numbers, sources, strict=True)
        ]
        ids = [memory.id for memory in self.records.memories.put(ACME, drafts)]
        rows = unit(self.chance.normal(size=(count, profile.dimension)))
        self.lance.put(ACME, profile, dict(zip(ids, rows, strict=True)))
        return ids

    def follow(self) -> None:
        self.lance.put(ACME, SPACE, {})  # as after any write
        while self.lance.follow():
            pass

    def again(self, **options: Any) -> World:
        """The same files, opened by another process, as it were."""
        self.store.close()
        other = World(self.folder.parent, **options)
        other.told = self.told
        return other

    def tables(self) -> list[str]:
        return sorted(path.name for path in self.folder.glob("*.lance"))

    def check(self, grant: Grant = ADMIN) -> list[Scored]:
        """Ask both the same, in many ways; the last answer."""
        found: list[Scored] = []
        filters = (None, {"text": "number 3"}, {"text": "number 8"})
        for limit in (1, LIMIT, 400):
            for where in map(parse_filter, filters):
                for asked in unit(self.chance.normal(size=(2, SPACE.dimension))):
                    rest: dict[str, Any] = {"where": where, "limit": limit, "learned": True}
                    found = self.lance.nearest(grant, SPACE, asked, **rest)
                    expected = self.records.vectors.nearest(grant, SPACE, asked, **rest)
                    assert [hit.id for hit in found] == [hit.id for hit in expected]
                    scores = [hit.score for hit in expected]
                    assert [hit.score for hit in found] == pytest.approx(scores, abs=1e-6)
        return found


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """In memory where there is such a folder: these tests are not about disks."""
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
    for module in (follower, search):
        monkeypatch.setattr(module, "BATCH", 100)


def asked_of_tables(monkeypatch: pytest.MonkeyPatch) -> list[tables.Place]:
    """The places that tables are asked about from now on."""
    asked: list[tables.Place] = []
    original = tables.Tables.neighbours

    def neighbours(self: tables.Tables, place: tables.Place, *rest: Any, **more: Any) -> Any:
        asked.append(place)
        return original(self, place, *rest, **more)

    monkeypatch.setattr(tables.Tables, "neighbours", neighbours)
    return asked


@pytest.mark.requirement("C2")
def test_answers_are_the_records_own_at_every_step(
    world: World, small_batches: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = asked_of_tables(monkeypatch)
    world.fill(330)
    world.fill(70, ALICE_DM)
    world.check()
    assert not asked  # nothing was followed yet

    steps = 0
    while world.lance.follow():
        world.check()
        steps += 1

    assert steps >= 5
    assert asked
    world.fill(30)  # behind the tables
    world.check()


@pytest.mark.requirement("X2")
def test_a_grant_reads_its_own_labels_only(world: World) -> None:
    theirs = world.fill(60, Scope.room("other"))
    own = world.fill(60, ALICE_DM)
    world.follow()

    found = world.check(ALICE.grant())

    assert world.tables() == ["w1_l1_p1.lance", "w1_l2_p1.lance"]
    assert {hit.id for hit in found} <= set(own)
    assert not {hit.id for hit in found} & set(theirs)


def test_a_small_label_needs_no_table(world: World) -> None:
    world.fill(49)
    world.follow()
    assert world.tables() == []

    world.fill(1)
    world.follow()
    assert world.tables() == ["w1_l1_p1.lance"]


def test_what_is_gone_is_not_found_and_the_table_is_written_anew(world: World) -> None:
    ids = world.fill(200)
    world.follow()

    world.records.memories.delete(ACME, ids[:3])
    world.check()
    world.follow()
    assert rows_in(world) == 200  # so few can wait
    world.records.memories.delete(ACME, ids[3:60])
    world.check()
    world.follow()

    assert rows_in(world) == 140
    world.check()


def test_the_few_that_are_gone_do_not_stay_for_long(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = world.fill(200)
    world.follow()
    monkeypatch.setattr(follower, "GONE_SECONDS", 0.0)

    world.records.memories.delete(ACME, ids[:3])
    world.follow()

    assert rows_in(world) == 197


def rows_in(world: World, place: tables.Place = tables.Place(1, 1, 1)) -> int:  # noqa: B008
    reached = tables.Tables(world.folder).reached(place)
    assert reached
    return reached.rows


def test_vectors_that_changed_are_found_where_they_are_now(world: World) -> None:
    ids = world.fill(120)
    world.follow()

    moved = dict(zip(ids, unit(world.chance.normal(size=(15, SPACE.dimension))), strict=False))
    world.lance.put(ACME, SPACE, moved)
    world.check()
    world.follow()
    world.check()


def test_a_label_that_shrank_loses_its_table(world: World) -> None:
    ids = world.fill(60)
    world.follow()

    world.records.memories.delete(ACME, ids[:40])
    world.follow()

    assert world.tables() == []


@pytest.mark.requirement("X3")
def test_a_deleted_folder_is_filled_again(world: World) -> None:
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
def test_damaged_files_change_no_answer_and_are_made_anew(
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

    world.follow()  # drops it
    world.follow()

    assert rows_in(world) == 120
    world.check()
    world.store.close()


def test_following_goes_on_where_another_process_stopped(world: World, small_batches: None) -> None:
    world.fill(330)
    assert world.lance.follow()
    assert rows_in(world) == 100

    world = world.again()
    assert world.lance.follow()
    assert rows_in(world) == 200
    world.follow()

    assert rows_in(world) == 330
    world.check()


def test_rows_that_were_not_noted_are_written_once(world: World, small_batches: None) -> None:
    world.fill(330)
    world.lance.follow()
    note = (world.folder / "w1_l1_p1.json").read_bytes()
    world.lance.follow()
    (world.folder / "w1_l1_p1.json").write_bytes(note)  # as if killed before it was replaced

    world = world.again()
    world.check()
    world.follow()

    assert rows_in(world) == 330
    world.check()


def test_two_at_once_follow_like_one(world: World, small_batches: None) -> None:
    world.fill(950)
    others = [
        LanceVectors(world.folder, world.records, large=50),
        LanceVectors(world.folder, world.records, large=50),
    ]

    def follow(lance: LanceVectors) -> None:
        lance.put(ACME, SPACE, {})
        for _ in range(40):
            lance.follow()

    threads = [threading.Thread(target=follow, args=(other,)) for other in others]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert rows_in(world) == 950
    world.check()


@pytest.mark.slow
def test_many_small_files_become_few(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follower, "BATCH", 50)
    world.fill(1_250)
    world.follow()

    assert len(list((world.folder / "w1_l1_p1.lance" / "data").iterdir())) == 1
    assert len(list((world.folder / "w1_l1_p1.lance" / "_versions").glob("*.manifest"))) == 1
    world.check()


def test_tables_of_other_records_are_not_believed(tmp_path: Path) -> None:
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
def test_tables_that_are_ahead_of_a_backup_are_not_believed(world: World) -> None:
    world.fill(100)
    world.records.optimize()
    file = world.records.files()[0]
    backup = file.with_suffix(".backup")
    shutil.copy(file, backup)
    world.fill(100)
    world.follow()
    world.store.close()
    for each in world.records.files():
        each.unlink()
    shutil.copy(backup, file)

    world = world.again()
    world.chance = np.random.default_rng(99)
    world.fill(90)  # their numbers were others' before
    world.check()
    world.follow()

    assert rows_in(world) == 190
    world.check()


@pytest.mark.requirement("X3")
def test_tables_can_be_dropped_and_made_again(world: World) -> None:
    world.fill(120)
    world.follow()

    world.lance.rebuild()
    assert world.tables() == []
    world.check()
    world.follow()

    assert rows_in(world) == 120
    world.check()


@pytest.mark.requirement("X3", "X6")
def test_nothing_of_the_erased_is_left_in_the_tables(tmp_path: Path) -> None:
    records = SqliteStore(tmp_path / "memory.db")
    lance = LanceVectors(tmp_path / "vectors", records, large=5)
    store = CombinedStore(records, vectors=lance)
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
        assert vector in contents(tmp_path / "vectors")  # the search below can find something

        report = acme.forget(user="alice")

        assert report.residue == 0
        assert vector not in contents(tmp_path)
        acme.flush()
        assert vector not in contents(tmp_path)
        assert vector_of(store, "teapot") in contents(tmp_path / "vectors")
        assert "teapot" in room.recall("blue handles")[0].text


def test_the_search_for_residue_looks_into_the_tables(world: World) -> None:
    ids = world.fill(120)
    world.follow()
    (vector,) = world.records.vectors.get(ADMIN, SPACE, ids[:1]).values()
    piece = vector.tobytes()[:24]
    assert sum(world.store.eraser.residue(ACME, [piece]).values()) == 0  # it is still kept

    world.records.memories.delete(ACME, ids[:1])  # past the store that knows of the tables

    left = world.store.eraser.residue(ACME, [piece])
    assert sum(left.values()) == 1
    assert next(name for name, times in left.items() if times).startswith("vectors/w1_l1_p1.lance/")
    world.store.eraser.erase(ACME, events=[], memories=[], tombstones=[])
    assert sum(world.store.eraser.residue(ACME, [piece]).values()) == 0


def vector_of(store: CombinedStore, word: str) -> bytes:
    memories = store.memories.find(ADMIN, where=parse_filter({"text": {"contains": word}}))
    (profile,) = store.vectors.profiles()
    vectors = store.vectors.get(ADMIN, profile, [memory.id for memory in memories])
    return next(iter(vectors.values())).tobytes()


def contents(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())


@pytest.mark.requirement("C2", "X3")
def test_it_stands_beside_postgres_as_well(tmp_path: Path, postgres_server: Postgres) -> None:
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
    assert sum(world.store.eraser.residue(ACME, [piece]).values()) == 0
    world.check()
    world.follow()
    assert piece not in contents(world.folder)
    assert rows_of(world.folder) == [169]
    world.check()
    world.store.close()


def rows_of(folder: Path) -> list[int]:
    found = tables.Tables(folder)
    return [reached.rows for place in found.places() if (reached := found.reached(place))]


@pytest.mark.slow
@pytest.mark.requirement("C23")
def test_an_approximate_index_finds_nearly_all(tmp_path: Path) -> None:
    world = World(tmp_path, large=1_000, approximate=True)
    profile = EmbeddingProfile(provider="test", model="wide", dimension=64)
    world.fill(3_000, profile=profile)
    wait_for_index(world)
    world.fill(20, profile=profile)
    questions = unit(world.chance.normal(size=(50, 64)))  # near to nothing: the hardest there are

    hits = 0
    for asked in questions:
        found = world.lance.nearest(ADMIN, profile, asked, limit=LIMIT)
        exact = world.records.vectors.nearest(ADMIN, profile, asked, limit=LIMIT)
        assert len(found) == LIMIT
        same = {hit.id: hit.score for hit in exact}
        hits += sum(same.get(hit.id) == hit.score for hit in found)
    seldom = parse_filter({"text": "number 3"})
    assert len(world.lance.nearest(ADMIN, profile, asked, where=seldom, limit=400)) == 400

    assert hits / (LIMIT * len(questions)) >= 0.99
    world.store.close()


def wait_for_index(world: World) -> None:
    deadline = threading.Event()
    for _ in range(3_000):
        world.follow()
        reached = tables.Tables(world.folder).reached(tables.Place(1, 1, 1))
        if reached and reached.indexed:
            return
        deadline.wait(0.02)
    pytest.fail("no index was built")


def test_no_name_or_text_of_anybody_reaches_the_folder(tmp_path: Path) -> None:
    records = SqliteStore(tmp_path / "memory.db")
    lance = LanceVectors(tmp_path / "vectors", records, large=1)
    nasty = "x' OR 1=1; --"
    viewer = Viewer(workspace=WorkspaceId(nasty), agent=AgentId(nasty), user=UserId(nasty))
    home = Scope.dm(nasty, nasty)
    (source,) = tell(
        records, event(nasty, nasty, scope=home, speaker=nasty), workspace=viewer.workspace
    )
    (memory,) = records.memories.put(viewer.workspace, [draft(source, text=nasty, scope=home)])
    asked = unit(np.ones((1, SPACE.dimension), dtype=np.float32))[0]
    lance.put(viewer.workspace, SPACE, {memory.id: asked})
    while lance.follow():
        pass

    found = lance.nearest(
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


def test_it_stands_beside_plain_vectors_only(tmp_path: Path) -> None:
    pytest.importorskip("sqlite_vec", reason="the extra sqlite-vec is not installed")
    records = SqliteStore(tmp_path / "memory.db", vectors="sqlite-vec")

    with pytest.raises(ConfigError, match="plain vectors"):
        LanceVectors(tmp_path / "vectors", records)
    records.close()


def test_without_the_package_one_is_told_what_to_install(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "find_spec", lambda _: None)

    with pytest.raises(MissingExtra, match=r"nexus-memory\[lancedb\]"):
        LanceVectors(world.folder, world.records)


def test_the_tables_follow_in_the_background(tmp_path: Path) -> None:
    records = SqliteStore(tmp_path / "memory.db")
    lance = LanceVectors(tmp_path / "vectors", records, large=5)
    store = CombinedStore(records, vectors=lance)
    with Nexus.open(store=store, embedder=HashingEmbedder()) as nexus:
        room = nexus.workspace("acme").room("design", participants=["alice"])
        for number in range(10):
            room.observe("alice", f"The heron has {number} red feathers.")
        deadline = time.monotonic() + 60
        while not (tmp_path / "vectors" / "w1_l1_p1.json").exists():
            assert time.monotonic() < deadline
            time.sleep(0.02)
