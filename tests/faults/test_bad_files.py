"""A file that cannot be used says why, with an error of ours, and is left as it was."""

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

from nexus import Nexus
from nexus.config import Settings
from nexus.core.errors import Corrupt, StoreUnavailable
from nexus.embedders.hashing import HashingEmbedder
from nexus.stores.sqlite.store import SqliteStore

NOBODY = 65534


def opened(path: Path) -> Nexus:
    return Nexus.open(path, settings=Settings(), embedder=HashingEmbedder(), background=False)


def filled(path: Path) -> Path:
    """A memory with fifty messages, closed."""
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
def test_a_damaged_file_is_refused_and_never_empty(
    damage: Callable[[Path], None], tmp_path: Path
) -> None:
    path = filled(tmp_path / "memory.db")
    damage(path)
    before = path.read_bytes()

    with pytest.raises(Corrupt, match=r"memory\.db is .*damaged"), opened(path) as nexus:
        nexus.workspace("acme").verify()

    assert path.read_bytes() == before


def test_a_file_that_is_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.write_text("Dear diary, " * 1_000)
    before = path.read_bytes()

    with pytest.raises(Corrupt, match="not a database"):
        opened(path)

    assert path.read_bytes() == before


def test_somebody_elses_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with sqlite3.connect(path) as theirs:
        theirs.execute("CREATE TABLE bookmarks (url TEXT)")
    theirs.close()
    before = path.read_bytes()

    with pytest.raises(StoreUnavailable, match="something else"):
        opened(path)

    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["memory.db"]


def test_a_file_of_a_newer_nexus_is_refused(tmp_path: Path) -> None:
    path = filled(tmp_path / "memory.db")
    with sqlite3.connect(path) as newer:
        newer.execute("INSERT INTO schema_version VALUES (9999, 'from the future', '2099')")
    newer.close()

    with pytest.raises(StoreUnavailable, match=r"newer Nexus.*pip install -U"):
        opened(path)

    with sqlite3.connect(path) as after:
        assert after.execute("SELECT count(*) FROM events").fetchone() == (50,)
    after.close()


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="is a folder"):
        opened(tmp_path)

    assert list(tmp_path.iterdir()) == []


def test_a_file_where_a_folder_should_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")

    with pytest.raises(StoreUnavailable, match="cannot create"):
        opened(tmp_path / "file" / "memory.db")


@contextmanager
def as_nobody() -> Iterator[None]:
    """Root may write everywhere, so these tests are done by somebody who may not."""
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
    """A folder everybody may enter."""
    with TemporaryDirectory(dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder
        folder.chmod(0o755)


def test_a_file_that_may_not_be_written_is_refused(open_folder: Path) -> None:
    path = filled(open_folder / "memory.db")
    path.chmod(0o444)
    open_folder.chmod(0o555)
    before = path.read_bytes()

    with as_nobody(), pytest.raises(StoreUnavailable, match=str(path)):
        opened(path)

    open_folder.chmod(0o755)
    assert path.read_bytes() == before


def test_a_file_that_may_not_be_read_is_refused(open_folder: Path) -> None:
    path = filled(open_folder / "memory.db")
    path.chmod(0o000)

    with as_nobody(), pytest.raises(StoreUnavailable, match=str(path)):
        opened(path)


def test_a_folder_that_may_not_be_written_is_refused(open_folder: Path) -> None:
    open_folder.chmod(0o555)

    with as_nobody(), pytest.raises(StoreUnavailable, match="cannot create"):
        opened(open_folder / "memory.db")


def test_a_new_file_is_its_owners_alone(tmp_path: Path) -> None:
    path = filled(tmp_path / "deep" / "memory.db")

    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.requirement("X3")
def test_a_memory_stays_in_its_file_wherever_the_process_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    nexus = opened(Path("memory.db"))
    room = nexus.workspace("acme").room("design", participants=["alice"])
    room.observe("alice", "The heron stands by the weir.", key="1")
    room.flush()
    monkeypatch.chdir(tmp_path / "other")

    with ThreadPoolExecutor(4) as threads:  # more than one reader, each with its connection
        found = list(threads.map(lambda _: room.recall("Where is the heron?"), range(8)))
    erased = nexus.workspace("acme").forget(user="alice")
    nexus.close()

    assert all(hits[0].event_keys == ("1",) for hits in found)
    assert erased.residue == 0
    assert list((tmp_path / "other").iterdir()) == []
    assert b"heron" not in (tmp_path / "memory.db").read_bytes()


def test_a_memory_stays_in_its_file_though_a_link_is_turned(tmp_path: Path) -> None:
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
def test_nothing_is_acknowledged_in_a_file_that_is_gone(replaced: bool, tmp_path: Path) -> None:
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


def test_no_empty_file_is_read_in_the_place_of_one_that_is_gone(tmp_path: Path) -> None:
    store = SqliteStore(filled(tmp_path / "memory.db"))
    store.path.unlink()

    with pytest.raises(StoreUnavailable, match="deleted or replaced"):
        store.workspaces()  # the first reader opens its own connection

    store.close()
    assert not store.path.exists()


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    nexus = opened(tmp_path / "memory.db")
    room = nexus.workspace("acme").room("design", participants=["alice"])
    nexus.close()

    with pytest.raises(StoreUnavailable, match="was closed"):
        room.observe("alice", "anybody there?")
    with pytest.raises(StoreUnavailable, match="was closed"):
        room.recall("anybody")


@pytest.mark.requirement("X3")
def test_a_forked_child_is_told_to_open_its_own(tmp_path: Path) -> None:
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
    assert nexus.workspace("acme").verify().sound
    nexus.close()


def in_a_child(work: Callable[[], object]) -> str:
    """What this gives, or raises, in a forked child."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python 3.12 warns of forks among threads
        child = os.fork()
    if not child:
        try:
            answer = repr(work())
        except StoreUnavailable as error:
            answer = str(error)
        except BaseException as error:  # noqa: BLE001  # to be told in the parent
            answer = f"unexpected {error!r}"
        os.write(writing, answer.encode()[:4000])
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answer = pipe.read().decode()
    os.waitpid(child, 0)
    return answer


def test_a_child_opens_its_own(tmp_path: Path) -> None:
    path = filled(tmp_path / "memory.db")
    parent = SqliteStore(path)

    def read() -> int:
        with opened(path) as nexus:
            return nexus.workspace("acme").stats()["events"]

    assert in_a_child(read) == "50"
    parent.close()
