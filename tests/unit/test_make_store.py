"""make_store: the store that the settings name."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.servers.postgres import Database

from nexusmem import Nexus
from nexusmem.config.settings import EmbeddingSettings, Settings, StoreSettings, load_settings
from nexusmem.core.errors import ConfigError, InvalidInput, MissingExtra, StoreUnavailable
from nexusmem.stores.external.composite_store import CompositeStore
from nexusmem.stores.external.lancedb.vectors import LanceVectors
from nexusmem.stores.external.redis import RedisContextCache, RedisWindow
from nexusmem.stores.postgres.store import PostgresStore
from nexusmem.stores.sqlite.store import SqliteStore
from nexusmem.wiring.stores import lance_folder, make_store, store_key

KEY = "correct horse battery staple"


@pytest.mark.requirement("C4")
def test_url_selects_the_store() -> None:
    with closing(make_store(StoreSettings(url=":memory:"))) as in_memory:
        assert isinstance(in_memory, SqliteStore)
        assert in_memory.is_in_memory
        assert in_memory.list_files() == []
    with pytest.raises(ConfigError, match="no store for mongo://; expected one of sqlite://"):
        make_store(StoreSettings(url="mongo://x"))
    with pytest.raises(ConfigError, match=r"only working memory: set memory\.store\.window_url"):
        Nexus.open("redis://localhost")


@pytest.mark.parametrize(
    ("arguments", "accepted"),
    [
        ({"store": 5}, "a file name, a URL such as postgresql://host/database, or a Store"),
        ({"store": ":memory:", "settings": "nexus.yaml"}, "a Settings object"),
        ({"store": ":memory:", "embedder": "minilm"}, "memory.embeddings.provider"),
    ],
)
def test_wrong_argument_of_open_names_what_is_accepted(
    arguments: dict[str, Any], accepted: str
) -> None:
    with pytest.raises(InvalidInput, match=accepted):
        Nexus.open(**arguments)


def test_progress_takes_only_a_receipt() -> None:
    with Nexus.open(":memory:") as nexus, pytest.raises(InvalidInput, match="Receipt is required"):
        nexus.progress("x")  # type: ignore[arg-type]


@pytest.mark.parametrize("url", ["{}/a.db", "sqlite:///{}/a.db", "SQLite:///{}/a.db"])
def test_path_and_sqlite_urls_open_a_file(url: str, tmp_path: Path) -> None:
    store = make_store(StoreSettings(url=url.format(tmp_path)))

    assert isinstance(store, SqliteStore)
    assert store.path == tmp_path / "a.db"
    store.close()


def test_sqlite_url_is_percent_decoded(tmp_path: Path) -> None:
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
def test_malformed_url_creates_no_file(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(ConfigError, match=r"sqlite:///memory\.db") as refused:
        make_store(StoreSettings(url=url))

    assert "s3cret" not in str(refused.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["./file:y.db", "a//b.db", "notes host=1.db", "50%20.db"])
def test_unusual_file_names_are_accepted(
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
            {"window_url": "reddis://localhost"},
            r"memory.store.window_url cannot be reddis://; did you mean redis",
        ),
        (
            {"context_cache_url": "valkey://localhost"},
            r"memory.store.context_cache_url cannot be valkey://; expected one of redis",
        ),
        (
            {"context_cache_url": "redis://localhost"},
            "needs the records in a SQLite file or in Postgres",
        ),
        (
            {"window_url": "localhost:6379"},
            r"memory.store.window_url must be a URL such as redis://",
        ),
        ({"graph_url": "neo4js://localhost"}, "did you mean neo4j"),
        ({"window_url": "${NO_REDIS}"}, "memory.store.window_url needs .* NO_REDIS"),
        (
            {"approximate_search": True},
            "approximate_search needs vector_index: lancedb, or Postgres without a key",
        ),
        (
            {"vector_index": "lancdb"},
            "unknown memory.store.vector_index 'lancdb'; did you mean lancedb?",
        ),
        (
            {"vector_index": "faiss"},
            "unknown memory.store.vector_index 'faiss'; expected one of exact",
        ),
    ],
)
def test_invalid_setting_is_rejected_with_a_hint(settings, answer: str) -> None:
    with pytest.raises(ConfigError, match=answer):
        make_store(StoreSettings(**{"url": ":memory:", **settings}))


@pytest.mark.requirement("E33")
@pytest.mark.parametrize(
    "external",
    [
        {"window_url": "redis://localhost"},
        {"context_cache_url": "redis://localhost"},
        {"graph_url": "neo4j://localhost"},
        {"vector_index": "lancedb"},
    ],
)
def test_encrypted_store_rejects_unencrypted_external_stores(external, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="key"):
        make_store(StoreSettings(url=str(tmp_path / "a.db"), key=KEY, **external))


@pytest.mark.requirement("C3")
@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "POSTGRESQL"])
def test_postgres_url_opens_postgres(scheme: str, postgres: Database) -> None:
    url = postgres.url.replace("postgresql://", f"{scheme}://")

    store = make_store(StoreSettings(url=url, max_connections=3))

    assert isinstance(store, PostgresStore)
    assert store.list_workspaces() == []
    store.close()
    with pytest.raises(ConfigError, match="sqlite-vec needs SQLite"):
        make_store(StoreSettings(url=url, vector_index="sqlite-vec"))


@pytest.mark.requirement("C2", "C3")
def test_postgres_with_lancedb_and_redis(
    postgres: Database, redis_url: str, tmp_path: Path
) -> None:
    folder = str(tmp_path / "index")
    chosen = StoreSettings(
        url=postgres.url, vector_index="lancedb", vector_index_path=folder, window_url=redis_url
    )
    settings = Settings(store=chosen, embeddings=EmbeddingSettings(provider="hashing"))

    with Nexus.open(settings=settings, background=False) as nexus:
        room = nexus.workspace("acme").room("design")
        room.observe("alice", "The launch is on Tuesday.", key="launch")
        room.set_note("plan", "ship it")
        (hit,) = room.recall("When is the launch?", limit=1)

        assert hit.event_keys == ("launch",)
        assert [note.value for note in room.notes()] == ["ship it"]


def test_unreachable_server_is_named_without_password() -> None:
    with pytest.raises(StoreUnavailable) as error:
        make_store(StoreSettings(url="postgresql://app:s3cret@127.0.0.1:1/nexus"))

    assert "postgresql://app:***@127.0.0.1:1/nexus" in str(error.value)
    assert "s3cret" not in str(error.value)


@pytest.mark.parametrize("setting", ["url", "window_url", "context_cache_url", "graph_url"])
def test_unquoted_password_is_rejected_and_not_shown(setting: str) -> None:
    schemes = {
        "url": "postgresql",
        "window_url": "redis",
        "context_cache_url": "redis",
        "graph_url": "neo4j",
    }
    address = f"{schemes[setting]}://app:hunter2@corner/x@db/nexus"

    with pytest.raises(ConfigError, match=f"memory.store.{setting}: write @") as refused:
        make_store(StoreSettings(**{"url": ":memory:", setting: address}))

    assert "corner" not in str(refused.value)


def test_repr_of_settings_hides_passwords() -> None:
    store = StoreSettings(
        url="postgresql://u:s3cret@h/d",
        window_url="redis://:s3cret@h",
        context_cache_url="redis://:s3cret@h",
        graph_url="neo4j://n:s3cret@h",
        key="s3cret",
    )

    assert "s3cret" not in repr(Settings(store=store))


def test_environment_overrides_the_key() -> None:
    settings = load_settings(None, {"NEXUS_KEY": KEY, "NEXUS_STORE": "postgresql://h/d"})

    assert (settings.store.key, settings.store.url) == (KEY, "postgresql://h/d")
    assert store_key(settings.store) == KEY


def test_key_command_provides_the_key() -> None:
    command = f"{sys.executable} -c \"print('{KEY}')\""

    assert store_key(StoreSettings(key_command=command)) == KEY
    assert store_key(StoreSettings()) is None
    with pytest.raises(ConfigError, match=r"key needs .* NO_KEY"):
        store_key(StoreSettings(key="${NO_KEY}"))


def test_redis_window_with_any_records() -> None:
    store = make_store(StoreSettings(url=":memory:", window_url="redis://localhost:1/0"))

    assert isinstance(store, CompositeStore)
    assert isinstance(store.window, RedisWindow)
    store.close()


@pytest.mark.requirement("A2", "D22")
@pytest.mark.parametrize("window", [None, "redis://localhost:1/0", "redis://localhost:1/1"])
def test_redis_context_cache_shares_the_window_server(window: str | None, tmp_path: Path) -> None:
    url = "redis://localhost:1/0"
    settings = StoreSettings(url=str(tmp_path / "m.db"), window_url=window, context_cache_url=url)

    store: Any = make_store(settings)

    assert isinstance(store.contexts, RedisContextCache)
    assert store.contexts._window is store.window
    shared = window is not None and store.contexts._server is store.window._server
    assert shared == (window == url)  # one server object per URL
    store.close()


def test_missing_package_names_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [name for name in sys.modules if name.startswith("nexusmem.stores.external.redis")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "redis", None)

    with pytest.raises(MissingExtra, match=r"pip install 'nexusmem\[redis\]'"):
        make_store(StoreSettings(url=":memory:", window_url="redis://localhost"))


@pytest.mark.requirement("C2")
@pytest.mark.parametrize("folder", [None, "elsewhere"])
def test_lancedb_folder_is_configured_or_next_to_the_file(
    folder: str | None, tmp_path: Path
) -> None:
    path = str(tmp_path / folder) if folder else None
    url = str(tmp_path / "memory.db")

    store = make_store(
        StoreSettings(
            url=url, vector_index="lancedb", vector_index_path=path, approximate_search=bool(folder)
        )
    )

    assert isinstance(store.vectors, LanceVectors)
    assert store.vectors._searcher._approximate == bool(folder)
    assert lance_folder(StoreSettings(url=url, vector_index_path=path)) == tmp_path / (
        folder or "memory.lance"
    )
    store.close()


def test_lancedb_folder_survives_chdir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store = make_store(StoreSettings(url="memory.db", vector_index="lancedb"))
    assert isinstance(store.vectors, LanceVectors)

    monkeypatch.chdir("/")

    assert store.vectors._tables.folder == tmp_path / "memory.lance"
    store.close()


def test_lancedb_needs_sql_records_and_a_folder() -> None:
    with pytest.raises(ConfigError, match="SQLite file or in Postgres"):
        make_store(StoreSettings(url=":memory:", vector_index="lancedb"))
    with pytest.raises(ConfigError, match=r"vector_index_path must name the folder"):
        lance_folder(StoreSettings(url="postgresql://localhost/nexus"))
