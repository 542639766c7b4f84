"""Stores chosen by their address."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.servers.postgres import Database

from nexus import Nexus
from nexus.config import EmbeddingSettings, Settings, StoreSettings, load_settings
from nexus.core.errors import ConfigError, MissingExtra, StoreUnavailable
from nexus.stores.beside import CombinedStore
from nexus.stores.inprocess import InProcessStore
from nexus.stores.lancedb.vectors import LanceVectors
from nexus.stores.postgres.store import PostgresStore
from nexus.stores.redis import RedisContexts, RedisWindow
from nexus.stores.sqlite.store import SqliteStore
from nexus.storing import key_of, lance_folder, make_store

KEY = "correct horse battery staple"


@pytest.mark.requirement("C4")
def test_a_store_is_named_by_its_url() -> None:
    assert isinstance(make_store(StoreSettings(url=":memory:")), InProcessStore)
    with pytest.raises(ConfigError, match="no store for mongo://; known are sqlite://"):
        make_store(StoreSettings(url="mongo://x"))


@pytest.mark.parametrize("url", ["{}/a.db", "sqlite:///{}/a.db", "SQLite:///{}/a.db"])
def test_a_file_is_a_store_however_it_is_written(url: str, tmp_path: Path) -> None:
    store = make_store(StoreSettings(url=url.format(tmp_path)))

    assert isinstance(store, SqliteStore)
    assert store.path == tmp_path / "a.db"
    store.close()


def test_an_address_of_sqlite_may_hold_quoted_characters(tmp_path: Path) -> None:
    with closing(make_store(StoreSettings(url=f"sqlite:///{tmp_path}/a%20b%3F.db"))) as store:
        assert isinstance(store, SqliteStore)

    assert (tmp_path / "a b?.db").exists()


@pytest.mark.requirement("C4")
@pytest.mark.parametrize(
    "url",
    [
        "",
        " ",
        "file:y.db",
        "sqlite:one.db",
        "sqlite:///q.db?mode=ro",
        "sqlite:///",
        "postgres//oops",
        "postgresql:nexus",
        " postgresql://app:s3cret@db/nexus",
        "host=db dbname=nexus password=s3cret",
        "dbname = nexus",
    ],
)
def test_what_looks_like_an_address_makes_no_file(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(ConfigError, match=r"sqlite:///memory\.db") as refused:
        make_store(StoreSettings(url=url))

    assert "s3cret" not in str(refused.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["./file:y.db", "a//b.db", "notes host=1.db", "50%20.db"])
def test_a_file_may_have_a_strange_name(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    make_store(StoreSettings(url=name)).close()

    assert (tmp_path / name).stat().st_mode & 0o777 == 0o600
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 1


@pytest.mark.parametrize(
    ("settings", "answer"),
    [
        ({"url": "sqlight:///x"}, "did you mean sqlite://"),
        (
            {"window": "reddis://localhost"},
            r"memory.store.window cannot be reddis://; did you mean redis",
        ),
        (
            {"contexts": "valkey://localhost"},
            r"memory.store.contexts cannot be valkey://; known are redis",
        ),
        ({"contexts": "redis://localhost"}, "beside the records of a SQLite file or of Postgres"),
        ({"window": "localhost:6379"}, r"memory.store.window is an address such as redis://"),
        ({"graph": "neo4js://localhost"}, "did you mean neo4j"),
        ({"window": "${NO_REDIS}"}, "memory.store.window needs .* NO_REDIS"),
        ({"approximate": True}, "approximate needs vectors: lancedb, or a Postgres without a key"),
        ({"vectors": "lancdb"}, "unknown memory.store.vectors 'lancdb'; did you mean lancedb?"),
        ({"vectors": "faiss"}, "unknown memory.store.vectors 'faiss'; known are plain"),
    ],
)
def test_a_wrong_address_is_answered_with_the_nearest_right_one(settings, answer: str) -> None:
    with pytest.raises(ConfigError, match=answer):
        make_store(StoreSettings(**{"url": ":memory:", **settings}))


@pytest.mark.requirement("E33")
@pytest.mark.parametrize(
    "beside",
    [
        {"window": "redis://localhost"},
        {"contexts": "redis://localhost"},
        {"graph": "neo4j://localhost"},
        {"vectors": "lancedb"},
    ],
)
def test_nothing_lies_in_the_clear_beside_an_encrypted_memory(beside, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="key"):
        make_store(StoreSettings(url=str(tmp_path / "a.db"), key=KEY, **beside))


@pytest.mark.requirement("C3")
@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "POSTGRESQL"])
def test_a_postgres_is_a_store(scheme: str, postgres: Database) -> None:
    url = postgres.url.replace("postgresql://", f"{scheme}://")

    store = make_store(StoreSettings(url=url, connections=3))

    assert isinstance(store, PostgresStore)
    assert store.workspaces() == []
    store.close()
    with pytest.raises(ConfigError, match="sqlite-vec is an index of SQLite"):
        make_store(StoreSettings(url=url, vectors="sqlite-vec"))


@pytest.mark.requirement("C2", "C3")
def test_lancedb_and_redis_stand_beside_postgres(
    postgres: Database, redis_url: str, tmp_path: Path
) -> None:
    folder = str(tmp_path / "index")
    chosen = StoreSettings(
        url=postgres.url, vectors="lancedb", vectors_path=folder, window=redis_url
    )
    settings = Settings(store=chosen, embeddings=EmbeddingSettings(provider="hashing"))

    with Nexus.open(settings=settings, background=False) as nexus:
        room = nexus.workspace("acme").room("design")
        room.observe("alice", "The launch is on Tuesday.", key="launch")
        room.note("plan", "ship it")
        (hit,) = room.recall("When is the launch?", limit=1)

        assert hit.event_keys == ("launch",)
        assert [note.value for note in room.notes()] == ["ship it"]


def test_a_server_that_is_away_is_named_without_its_password() -> None:
    with pytest.raises(StoreUnavailable) as away:
        make_store(StoreSettings(url="postgresql://app:s3cret@127.0.0.1:1/nexus"))

    assert "postgresql://app:***@127.0.0.1:1/nexus" in str(away.value)
    assert "s3cret" not in str(away.value)


@pytest.mark.parametrize("setting", ["url", "window", "contexts", "graph"])
def test_a_password_that_would_be_taken_for_a_host_is_refused_unseen(setting: str) -> None:
    schemes = {"url": "postgresql", "window": "redis", "contexts": "redis", "graph": "neo4j"}
    address = f"{schemes[setting]}://app:hunter2@corner/x@db/nexus"

    with pytest.raises(ConfigError, match=f"memory.store.{setting}: write @") as refused:
        make_store(StoreSettings(**{"url": ":memory:", setting: address}))

    assert "corner" not in str(refused.value)


def test_no_password_shows_in_printed_settings() -> None:
    store = StoreSettings(
        url="postgresql://u:s3cret@h/d",
        window="redis://:s3cret@h",
        contexts="redis://:s3cret@h",
        graph="neo4j://n:s3cret@h",
        key="s3cret",
    )

    assert "s3cret" not in repr(Settings(store=store))


def test_the_environment_has_the_last_word_on_the_key() -> None:
    settings = load_settings(None, {"NEXUS_KEY": KEY, "NEXUS_STORE": "postgresql://h/d"})

    assert (settings.store.key, settings.store.url) == (KEY, "postgresql://h/d")
    assert key_of(settings.store) == KEY


def test_a_command_gives_the_key() -> None:
    command = f"{sys.executable} -c \"print('{KEY}')\""

    assert key_of(StoreSettings(key_command=command)) == KEY
    assert key_of(StoreSettings()) is None
    with pytest.raises(ConfigError, match=r"key needs .* NO_KEY"):
        key_of(StoreSettings(key="${NO_KEY}"))


def test_a_window_in_redis_stands_beside_the_records() -> None:
    store = make_store(StoreSettings(url=":memory:", window="redis://localhost:1/0"))

    assert isinstance(store, CombinedStore)
    assert isinstance(store.window, RedisWindow)
    store.close()


@pytest.mark.requirement("A2", "D22")
@pytest.mark.parametrize("window", [None, "redis://localhost:1/0", "redis://localhost:1/1"])
def test_contexts_in_redis_stand_beside_the_records(window: str | None, tmp_path: Path) -> None:
    url = "redis://localhost:1/0"
    settings = StoreSettings(url=str(tmp_path / "m.db"), window=window, contexts=url)

    store: Any = make_store(settings)

    assert isinstance(store.contexts, RedisContexts)
    assert store.contexts._window is store.window
    shared = window is not None and store.contexts._server is store.window._server
    assert shared == (window == url)  # its connections, and what is known of it
    store.close()


def test_a_product_whose_package_is_missing_names_the_pip_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [name for name in sys.modules if name.startswith("nexus.stores.redis")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "redis", None)

    with pytest.raises(MissingExtra, match=r"pip install 'nexus-memory\[redis\]'"):
        make_store(StoreSettings(url=":memory:", window="redis://localhost"))


@pytest.mark.requirement("C2")
@pytest.mark.parametrize("folder", [None, "elsewhere"])
def test_an_index_of_vectors_in_lancedb_stands_beside_the_records(
    folder: str | None, tmp_path: Path
) -> None:
    path = str(tmp_path / folder) if folder else None
    url = str(tmp_path / "memory.db")

    store = make_store(
        StoreSettings(url=url, vectors="lancedb", vectors_path=path, approximate=bool(folder))
    )

    assert isinstance(store.vectors, LanceVectors)
    assert store.vectors._searcher._approximate == bool(folder)
    assert lance_folder(StoreSettings(url=url, vectors_path=path)) == tmp_path / (
        folder or "memory.lance"
    )
    store.close()


def test_an_index_stays_in_its_folder_wherever_the_process_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = make_store(StoreSettings(url="memory.db", vectors="lancedb"))
    assert isinstance(store.vectors, LanceVectors)

    monkeypatch.chdir("/")

    assert store.vectors._tables.folder == tmp_path / "memory.lance"
    store.close()


def test_lancedb_needs_records_it_can_follow_and_a_folder() -> None:
    with pytest.raises(ConfigError, match="SQLite file or of Postgres"):
        make_store(StoreSettings(url=":memory:", vectors="lancedb"))
    with pytest.raises(ConfigError, match=r"vectors_path must name the folder"):
        lance_folder(StoreSettings(url="postgresql://localhost/nexus"))
