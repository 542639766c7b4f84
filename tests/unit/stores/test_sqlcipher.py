"""Encrypted SQLite file: nothing is readable without the key."""

from __future__ import annotations

import secrets
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from nexusmem import Nexus
from nexusmem.core.errors import ConfigError, Corrupt, MissingExtra, StoreUnavailable
from nexusmem.embedders.feature_hash import HashingEmbedder
from nexusmem.stores.external.lancedb.vectors import LanceVectors
from nexusmem.stores.residue_search import count_occurrences
from nexusmem.stores.sqlite import sqlcipher
from nexusmem.stores.sqlite.store import SqliteStore

pytest.importorskip("sqlcipher3", reason="the extra encryption is not installed")

PASSPHRASE = "correct horse ' OR '1'='1 battery \" staple"
RAW = "0123456789abcdef" * 4
SECRET = "The heron of Alice has red feathers."


def opened(path: Path, key: str | None) -> Nexus:
    store = SqliteStore(path, key=key)
    return Nexus.open(store=store, embedder=HashingEmbedder(), background=False)


def filled(path: Path, key: str | None) -> Path:
    """Files with a secret, created once per key: key derivation is slow."""
    path.write_bytes(_file(key))
    return path


@cache
def _file(key: str | None) -> bytes:
    with TemporaryDirectory() as folder:
        return written(Path(folder) / "memory.db", key).read_bytes()


def written(path: Path, key: str | None) -> Path:
    with opened(path, key) as nexus:
        room = nexus.workspace("acme").room("design", participants=["alice"])
        room.observe("alice", SECRET, key="secret")
        nexus.workspace("acme").flush()
    return path


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.fixture(params=[PASSPHRASE, RAW], ids=["passphrase", "raw"])
def key(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.mark.requirement("E33")
def test_no_file_contains_plain_text_while_open(tmp_path: Path, key: str) -> None:
    with opened(tmp_path / "memory.db", key) as nexus:
        room = nexus.workspace("acme").room("design", participants=["alice"])
        for number in range(40):
            room.observe("alice", f"{SECRET} {number}", key=str(number))
        nexus.workspace("acme").flush()
        assert room.recall("red feathers")[0].text.startswith(SECRET)
        files = contents(tmp_path)
        assert files.keys() >= {"memory.db", "memory.db-wal"}
        assert len(files["memory.db-wal"]) > 10_000

        for readable in (b"heron", b"alice", b"acme", b"CREATE TABLE", b"SQLite format"):
            assert not [name for name, data in files.items() if readable in data]
    assert b"heron" not in b"".join(contents(tmp_path).values())
    filled(tmp_path / "plain.db", None)
    assert b"heron" in (tmp_path / "plain.db").read_bytes()  # the search can find it


@pytest.mark.requirement("E33")
def test_file_reopens_with_its_key(tmp_path: Path, key: str) -> None:
    path = filled(tmp_path / "memory.db", key)

    with opened(path, key) as nexus:
        room = nexus.workspace("acme").room("design", participants=["alice"])
        assert room.recall("red feathers")[0].text == SECRET
        assert nexus.workspace("acme").verify().is_intact


@pytest.mark.requirement("E33")
@pytest.mark.parametrize("wrong", [PASSPHRASE + "!", "f" * 64, "short and quite wrong"])
def test_wrong_key_is_rejected_unchanged(
    tmp_path: Path, key: str, wrong: str, capfd: pytest.CaptureFixture[str]
) -> None:
    path = filled(tmp_path / "memory.db", key)
    before = contents(tmp_path)

    with pytest.raises(ConfigError, match="cannot be read with this key") as refused:
        SqliteStore(path, key=wrong)

    assert contents(tmp_path) == before
    assert wrong not in str(refused.value)
    assert capfd.readouterr().err == ""
    written(path, key)  # the file is unchanged


@pytest.mark.requirement("E33")
def test_missing_key_is_rejected_unchanged(tmp_path: Path, key: str) -> None:
    path = filled(tmp_path / "memory.db", key)
    before = contents(tmp_path)

    with pytest.raises(Corrupt, match=r"is encrypted, .* set NEXUS_KEY"):
        SqliteStore(path)

    assert contents(tmp_path) == before


@pytest.mark.requirement("E33")
def test_plain_file_with_key_is_rejected(tmp_path: Path, key: str) -> None:
    path = filled(tmp_path / "memory.db", None)
    before = contents(tmp_path)

    with pytest.raises(ConfigError, match="is not encrypted, but a key is configured"):
        SqliteStore(path, key=key)

    assert contents(tmp_path) == before


@pytest.mark.requirement("E33")
def test_passphrase_derivation_matches_sqlcipher(tmp_path: Path) -> None:
    path = filled(tmp_path / "memory.db", "correct horse battery staple")

    connection = sqlcipher.load_driver().connect(path)
    connection.execute("PRAGMA key = 'correct horse battery staple'")
    (count,) = connection.execute("SELECT count(*) FROM events").fetchone()
    connection.close()

    assert count == 1


@pytest.mark.requirement("E33", "X6")
def test_residue_search_decrypts_the_file(tmp_path: Path, key: str) -> None:
    path = tmp_path / "memory.db"
    with opened(path, key) as nexus:
        acme = nexus.workspace("acme")
        room = acme.room("design", participants=["alice", "bob"])
        room.observe("alice", SECRET, key="secret")
        room.observe("bob", "The teapot of Bob has blue handles.", key="other")
        acme.flush()
        log = path.with_name("memory.db-wal")
        assert found(log, key, path, b"heron of Alice")  # the search below can find it
        assert not found(log, key, path, b"dragon of Alice")

        report = acme.forget(user="alice")

        assert report.residue == 0
        assert report.files_searched == ("memory.db", "memory.db-wal")
    assert not found(path, key, path, b"heron of Alice")
    assert found(path, key, path, b"teapot of Bob")


def found(file: Path, key: str, memory: Path, piece: bytes) -> int:
    if not memory.stat().st_size:  # all pages are still in the log, with the salt
        memory = memory.with_name("salt")
        memory.write_bytes(log_salt(file))
    with sqlcipher.FileKey(memory, key).open_decrypted(file) as plain:
        return sum(count_occurrences(plain, [piece]).values())


def log_salt(log: Path) -> bytes:
    data = log.read_bytes()
    step = sqlcipher.FRAME_HEADER_BYTES + sqlcipher.PAGE_BYTES
    for start in range(sqlcipher.LOG_HEADER_BYTES, len(data), step):
        if int.from_bytes(data[start : start + 4], "big") == 1:
            return data[start + sqlcipher.FRAME_HEADER_BYTES :][: sqlcipher.SALT_BYTES]
    raise AssertionError("no first page")


@pytest.mark.requirement("E33")
def test_key_can_be_changed(tmp_path: Path, key: str) -> None:
    path = filled(tmp_path / "memory.db", key)

    sqlcipher.change_key(path, key, "another passphrase of mine")

    with pytest.raises(ConfigError, match="cannot be read with this key"):
        SqliteStore(path, key=key)
    with opened(path, "another passphrase of mine") as nexus:
        room = nexus.workspace("acme").room("design", participants=["alice"])
        assert room.recall("red feathers")[0].text == SECRET
        assert nexus.workspace("acme").verify().is_intact


def test_key_change_of_open_file_is_rejected(tmp_path: Path) -> None:
    path = filled(tmp_path / "memory.db", RAW)
    with opened(path, RAW), pytest.raises(StoreUnavailable, match="close every program"):
        sqlcipher.change_key(path, RAW, "f" * 64)

    SqliteStore(path, key=RAW).close()


def test_key_change_needs_the_old_key(tmp_path: Path) -> None:
    path = filled(tmp_path / "memory.db", RAW)
    before = contents(tmp_path)

    with pytest.raises(ConfigError, match="cannot be read with this key"):
        sqlcipher.change_key(path, "e" * 64, "f" * 64)

    assert contents(tmp_path) == before


@pytest.mark.slow
@pytest.mark.requirement("E33", "X3")
def test_kill_during_key_change_leaves_one_valid_key(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    store = SqliteStore(path, key=RAW)
    store._connections.write(lambda session: session.execute("CREATE TABLE bulk (data BLOB)"))
    for _ in range(20):
        rows = [(secrets.token_bytes(3_000),) for _ in range(500)]
        store._connections.write(
            lambda session, rows=rows: session.executemany("INSERT INTO bulk VALUES (?)", rows)
        )
    store.close()
    keys = [RAW, "f" * 64]
    code = (
        "import sys; from pathlib import Path; from nexusmem.stores.sqlite import sqlcipher;"
        "sqlcipher.load_driver(); print('ready', flush=True);"
        "sqlcipher.change_key(Path(sys.argv[1]), sys.argv[2], sys.argv[3])"
    )
    interrupted = 0
    for run in range(8):
        command = [sys.executable, "-c", code, str(path), *keys]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as program:
            assert program.stdout
            program.stdout.readline()
            try:
                program.wait(timeout=0.01 * (run + 1))
            except subprocess.TimeoutExpired:
                program.kill()
                interrupted += 1
        try:
            SqliteStore(path, key=keys[0]).close()
        except ConfigError:
            keys.reverse()
            SqliteStore(path, key=keys[0]).close()
        connection = sqlcipher.load_driver().connect(path)
        connection.execute(f"PRAGMA key = \"x'{keys[0]}'\"")
        assert connection.execute("SELECT count(*) FROM bulk").fetchone() == (10_000,)
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        connection.close()
    assert interrupted


@pytest.mark.slow
def test_concurrent_creation_uses_one_salt(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    code = (
        "import sys; from nexusmem.stores.sqlite.store import SqliteStore;"
        "print('ready', flush=True); sys.stdin.readline();"
        "SqliteStore(sys.argv[1], key=sys.argv[2]).close()"
    )
    command = [sys.executable, "-c", code, str(path), PASSPHRASE]
    programs = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(4)
    ]
    for program in programs:
        assert program.stdout
        program.stdout.readline()
    for program in programs:
        program.communicate(b"\n", timeout=60)

    assert [program.returncode for program in programs] == [0] * 4
    SqliteStore(path, key=PASSPHRASE).close()


def test_sqlite_vec_is_rejected_with_a_key(tmp_path: Path) -> None:
    pytest.importorskip("lancedb", reason="the extra lancedb is not installed")
    with pytest.raises(ConfigError, match="exact vectors only"):
        SqliteStore(tmp_path / "one.db", vectors="sqlite-vec", key=RAW)
    store = SqliteStore(tmp_path / "two.db", key=RAW)

    with pytest.raises(ConfigError, match="LanceDB does not encrypt"):
        LanceVectors(tmp_path / "vectors", store)
    store.close()


def test_second_sqlite_library_is_rejected(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "memory.db", key=RAW)

    with pytest.raises(ConfigError, match="a second SQLite library"):
        SqliteStore(tmp_path / "memory.db")
    store.close()


def test_missing_package_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlcipher, "find_spec", lambda _: None)

    with pytest.raises(MissingExtra, match=r"nexusmem\[encryption\]"):
        SqliteStore(tmp_path / "memory.db", key=RAW)


def test_sqlcipher_build_supports_the_schema() -> None:
    version = tuple(map(int, sqlcipher.load_driver().sqlite_version.split(".")))

    assert version >= (3, 38)  # STRICT tables and ->>
