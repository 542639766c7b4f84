"""Unusable files: each is rejected with a Nexus error that gives the reason, and unchanged."""

from __future__ import annotations

import os
import sqlite3
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from nexusmem import Nexus
from nexusmem.config.settings import Settings
from nexusmem.core.errors import Corrupt, StoreUnavailable
from nexusmem.embedders.feature_hash import HashingEmbedder
from nexusmem.stores.sqlite.store import SqliteStore

NOBODY = 65534


def opened(path: Path) -> Nexus:
    return Nexus.open(path, settings=Settings(), embedder=HashingEmbedder(), background=False)


def filled(path: Path) -> Path:
    """Create a closed file with fifty messages."""
    with opened(path) as nexus:
        room = nexus.workspace("acme").room("design", participants=["alice"])
        room.observe_many(
            {"speaker": "alice", "text": f"message {n} about herons", "key": str(n)}
            for n in range(50)
        )
        room.flush()
    return path


def cut(share: float) -> Callable[[Path], None]:
    return lambda path: os.truncate(path, int(path.stat().st_size * share))


def overwrite(start: int, data: bytes) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        with path.open("r+b") as file:
            file.seek(start)
            file.write(data)

    return damage


@pytest.mark.parametrize(
    "damage",
    [
        cut(0.9),
        cut(0.5),
        cut(0.01),
        overwrite(0, b"not a database at all"),
        overwrite(100, b"x" * 99),
    ],
    ids=["a tenth cut off", "half cut off", "almost all cut off", "no header", "no first page"],
)
@pytest.mark.requirement("X3")
def test_damaged_file_is_rejected_and_never_empty(
    damage: Callable[[Path], None], tmp_path: Path
) -> None:
    path = filled(tmp_path / "memory.db")
    damage(path)
    before = path.read_bytes()

    with pytest.raises(Corrupt, match=r"memory\.db is .*damaged"), opened(path) as nexus:
        nexus.workspace("acme").verify()

    assert path.read_bytes() == before


def test_file_of_another_format_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.write_text("Dear diary, " * 1_000)
    before = path.read_bytes()

    with pytest.raises(Corrupt, match="not a database"):
        opened(path)

    assert path.read_bytes() == before


def test_foreign_database_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with sqlite3.connect(path) as theirs:
        theirs.execute("CREATE TABLE bookmarks (url TEXT)")
    theirs.close()
    before = path.read_bytes()

    with pytest.raises(StoreUnavailable, match="another program"):
        opened(path)

    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["memory.db"]


def test_newer_schema_is_rejected(tmp_path: Path) -> None:
    path = filled(tmp_path / "memory.db")
    with sqlite3.connect(path) as newer:
        newer.execute("INSERT INTO schema_version VALUES (9999, 'from the future', '2099')")
    newer.close()

    with pytest.raises(StoreUnavailable, match=r"newer Nexus.*pip install -U"):
        opened(path)

    with sqlite3.connect(path) as after:
        assert after.execute("SELECT count(*) FROM events").fetchone() == (50,)
    after.close()


def test_folder_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="is a folder"):
        opened(tmp_path)

    assert list(tmp_path.iterdir()) == []


def test_file_as_parent_folder_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")

    with pytest.raises(StoreUnavailable, match="cannot create"):
        opened(tmp_path / "file" / "memory.db")


@contextmanager
def as_nobody() -> Iterator[None]:
    """Drop root privileges: root may write everywhere."""
    if os.geteuid():
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter."""
    with TemporaryDirectory(dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder
        folder.chmod(0o755)


def test_read_only_file_is_rejected(open_folder: Path) -> None:
    path = filled(open_folder / "memory.db")
    path.chmod(0o444)
    open_folder.chmod(0o555)
    before = path.read_bytes()

    with as_nobody(), pytest.raises(StoreUnavailable, match=str(path)):
        opened(path)

    open_folder.chmod(0o755)
    assert path.read_bytes() == before


def test_unreadable_file_is_rejected(open_folder: Path) -> None:
    path = filled(open_folder / "memory.db")
    path.chmod(0o000)

    with as_nobody(), pytest.raises(StoreUnavailable, match=str(path)):
        opened(path)


def test_read_only_folder_is_rejected(open_folder: Path) -> None:
    open_folder.chmod(0o555)

    with as_nobody(), pytest.raises(StoreUnavailable, match="cannot create"):
        opened(open_folder / "memory.db")


def test_new_file_has_mode_600(tmp_path: Path) -> None:
    path = filled(tmp_path / "deep" / "memory.db")

    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.requirement("X3")
def test_path_survives_chdir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    nexus = opened(Path("memory.db"))
    room = nexus.workspace("acme").room("design", participants=["alice"])
    room.observe("alice", "The heron stands by the weir.", key="1")
    room.flush()
    monkeypatch.chdir(tmp_path / "other")

    with ThreadPoolExecutor(4) as threads:  # several readers, each with a connection
        found = list(threads.map(lambda _: room.recall("Where is the heron?"), range(8)))
    erased = nexus.workspace("acme").forget(user="alice")
    nexus.close()

    assert all(hits[0].event_keys == ("1",) for hits in found)
    assert erased.residue == 0
    assert list((tmp_path / "other").iterdir()) == []
    assert b"heron" not in (tmp_path / "memory.db").read_bytes()


def test_path_survives_changed_symlink(tmp_path: Path) -> None:
    link = tmp_path / "memory.db"
    link.symlink_to(tmp_path / "old.db")
    nexus = opened(link)
    room = nexus.workspace("acme").room("design", participants=["alice"])
    room.observe("alice", "The heron stands by the weir.", key="1")
    link.unlink()
    link.symlink_to(tmp_path / "new.db")

    assert len(room.recent()) == 1
    nexus.close()
    assert not (tmp_path / "new.db").exists()


@pytest.mark.requirement("X3")
@pytest.mark.parametrize("replaced", [False, True])
def test_write_to_deleted_file_is_rejected(replaced: bool, tmp_path: Path) -> None:
    path = filled(tmp_path / "memory.db")
    nexus = opened(path)
    room = nexus.workspace("acme").room("design", participants=["alice"])
    path.unlink()
    if replaced:
        filled(tmp_path / "other.db").rename(path)

    with pytest.raises(StoreUnavailable, match="was deleted or replaced while it was open"):
        room.observe("alice", "Where does this go?")

    nexus.close()
    assert path.exists() == replaced


def test_read_of_deleted_file_is_rejected(tmp_path: Path) -> None:
    store = SqliteStore(filled(tmp_path / "memory.db"))
    store.path.unlink()

    with pytest.raises(StoreUnavailable, match="deleted or replaced"):
        store.list_workspaces()  # opens the first reader

    store.close()
    assert not store.path.exists()


def test_closed_store_is_rejected(tmp_path: Path) -> None:
    nexus = opened(tmp_path / "memory.db")
    room = nexus.workspace("acme").room("design", participants=["alice"])
    nexus.close()

    with pytest.raises(StoreUnavailable, match="was closed"):
        room.observe("alice", "anybody there?")
    with pytest.raises(StoreUnavailable, match="was closed"):
        room.recall("anybody")


@pytest.mark.requirement("X3")
def test_use_after_fork_is_rejected(tmp_path: Path) -> None:
    nexus = opened(tmp_path / "memory.db")
    room = nexus.workspace("acme").room("design", participants=["alice"])
    room.observe("alice", "before the fork", key="1")

    answers = [
        in_a_child(lambda: room.observe("alice", "in the child")),
        in_a_child(lambda: room.recall("fork")),
        in_a_child(nexus.close),
    ]

    assert ["opened before a fork" in answer for answer in answers] == [True, True, False]
    room.observe("alice", "after the fork", key="2")
    assert len(room.recent()) == 2
    assert nexus.workspace("acme").verify().is_intact
    nexus.close()


def in_a_child(work: Callable[[], object]) -> str:
    """Return the result or the error of `work` in a forked child."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python 3.12 warns of forks among threads
        child = os.fork()
    if not child:
        try:
            answer = repr(work())
        except StoreUnavailable as error:
            answer = str(error)
        except BaseException as error:  # reported by the parent  # noqa: BLE001
            answer = f"unexpected {error!r}"
        os.write(writing, answer.encode()[:4000])
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answer = pipe.read().decode()
    os.waitpid(child, 0)
    return answer


def test_child_process_can_open_the_file(tmp_path: Path) -> None:
    path = filled(tmp_path / "memory.db")
    parent = SqliteStore(path)

    def read() -> int:
        with opened(path) as nexus:
            return nexus.workspace("acme").stats()["events"]

    assert in_a_child(read) == "50"
    parent.close()
