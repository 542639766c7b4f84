"""Creation of the configured store.

`memory.store.url` names the database with the authoritative records. A window and contexts in
Redis, a vector index in LanceDB and a graph in Neo4j are optional copies that can be rebuilt.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ..config.settings import StoreSettings, require_expanded, require_expanded_or_none
from ..core.errors import ConfigError, did_you_mean
from ..core.protocols.context_cache import SharedContextCache
from ..core.protocols.store import Store
from ..runtime.provider_sdk import require_package
from ..text.urls import is_quoted, lowercase_scheme, parse_file_url, suggest_scheme, url_scheme

if TYPE_CHECKING:
    from ..stores.external.composite_store import (
        ExternalContextCache,
        ExternalGraph,
        ExternalVectors,
        ExternalWindow,
    )
    from ..stores.sql.store import SqlStore
    from ..stores.sql.window import SqlWindow
    from ..stores.sqlite.store import SqliteStore

SQLITE_SCHEMES = ("sqlite",)
POSTGRES_SCHEMES = ("postgresql", "postgres")
REDIS_SCHEMES = tuple(
    f"redis{tls}{kind}" for kind in ("", "+sentinel", "+cluster") for tls in ("", "s")
)
NEO4J_SCHEMES = ("neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc")
VECTOR_INDEXES = ("exact", "sqlite-vec", "lancedb")
SCRATCH_CACHE_MEGABYTES = 32


def make_store(settings: StoreSettings) -> Store:
    """Return the store of the records, combined with the configured external stores."""
    check_settings(settings)
    records = make_records(settings)
    try:
        return _combine_parts(settings, records)
    except BaseException:
        records.close()
        raise


def check_settings(settings: StoreSettings) -> None:
    """Raise ConfigError for invalid store settings, before any connection is opened."""
    for setting, schemes in (
        ("window_url", REDIS_SCHEMES),
        ("context_cache_url", REDIS_SCHEMES),
        ("graph_url", NEO4J_SCHEMES),
    ):
        if address := getattr(settings, setting):
            _check_scheme(address, f"memory.store.{setting}", schemes)
    for setting in ("url", "window_url", "context_cache_url", "graph_url"):
        _check_quoted(getattr(settings, setting) or "", f"memory.store.{setting}")
    if settings.vector_index not in VECTOR_INDEXES:
        hint = did_you_mean(settings.vector_index, VECTOR_INDEXES)
        raise ConfigError(f"unknown memory.store.vector_index {settings.vector_index!r}; {hint}")
    if settings.approximate_search and (
        settings.vector_index != "lancedb" and (not is_postgres(settings) or store_key(settings))
    ):
        raise ConfigError(
            "memory.store.approximate_search needs vector_index: lancedb, or Postgres without a key"
        )


def _combine_parts(settings: StoreSettings, records: Store) -> Store:
    lance = settings.vector_index == "lancedb"
    if not (settings.window_url or settings.context_cache_url or settings.graph_url or lance):
        return records
    from ..stores.external.composite_store import CompositeStore

    window, contexts = _open_redis_parts(settings, records)
    return CompositeStore(
        records,
        vectors=_open_lancedb(settings, records) if lance else None,
        window=window,
        graph=_open_neo4j(settings, records) if settings.graph_url else None,
        contexts=contexts,
    )


def _open_redis_parts(
    settings: StoreSettings, records: Store
) -> tuple[ExternalWindow | None, ExternalContextCache | None]:
    """Return the window and the context cache; with the same URL they share connections."""
    urls = {
        name: require_expanded(url, f"memory.store.{name}")
        for name in ("window_url", "context_cache_url")
        if (url := getattr(settings, name))
    }
    if not urls:
        return None, None
    if store_key(settings):
        why = "a key is configured, but Redis would store data without encryption"
        names = " and ".join(f"memory.store.{name}" for name in urls)
        raise ConfigError(f"{why}; leave {names} out")
    from ..stores.external.redis import RedisContextCache, RedisWindow
    from ..stores.external.redis.server import make_servers

    servers = make_servers(urls.values())
    window = contexts = None
    if url := urls.get("window_url"):
        window = RedisWindow(url, records, server=servers[url])
    if url := urls.get("context_cache_url"):
        sql_records = _require_sql_store(records, "A context cache")
        contexts = RedisContextCache(url, sql_records, window=window, server=servers[url])
    return window, contexts


def get_context_cache(store: Store) -> SharedContextCache | None:
    """Return the context cache that processes share, or None."""
    from ..stores.external.composite_store import CompositeStore

    return store.contexts if isinstance(store, CompositeStore) else None


def _open_lancedb(settings: StoreSettings, records: Store) -> ExternalVectors:
    require_package("lancedb", "LanceDB", "lancedb")
    from ..stores.external.lancedb.vectors import LanceVectors

    followed = _require_sql_store(records, "LanceDB")
    return LanceVectors(lance_folder(settings), followed, approximate=settings.approximate_search)


def _open_neo4j(settings: StoreSettings, records: Store) -> ExternalGraph:
    require_package("neo4j", "Neo4j", "neo4j")
    from ..stores.external.neo4j.graph import Neo4jGraph

    address = require_expanded(settings.graph_url or "", "memory.store.graph_url")
    if store_key(settings):
        why = "a key is configured, but Neo4j would store names without encryption"
        raise ConfigError(f"{why}; leave memory.store.graph_url out")
    return Neo4jGraph(address, _require_sql_store(records, "Neo4j"))


def _require_sql_store(records: Store, product: str) -> SqlStore:
    """Return the records; raise ConfigError unless they are a SQLite file or Postgres."""
    from ..stores.sql.store import SqlStore

    if not isinstance(records, SqlStore) or records.is_in_memory:
        raise ConfigError(f"{product} needs the records in a SQLite file or in Postgres")
    return records


def lance_folder(settings: StoreSettings) -> Path:
    """Return the configured folder of the index, or else one next to the SQLite file."""
    if settings.vector_index_path:
        return Path(
            require_expanded(settings.vector_index_path, "memory.store.vector_index_path")
        ).expanduser()
    file = store_file(settings)
    if file is None:
        raise ConfigError("memory.store.vector_index_path must name the folder of LanceDB's index")
    return file.with_suffix(".lance")


def make_records(settings: StoreSettings) -> Store:
    """Open the store of `:memory:`, a path, `sqlite:///`, `postgresql://` or a plug-in."""
    url = require_expanded(settings.url, "the store")
    _check_quoted(url, "memory.store.url")
    if url == ":memory:":
        return _open_in_memory(settings.cache_megabytes)
    if file := store_file(settings):
        return _open_sqlite(settings, file)
    return _open_postgres(settings) if is_postgres(settings) else _open_plugin(settings)


def store_file(settings: StoreSettings) -> Path | None:
    """Return the path of the SQLite file, or None for another store."""
    url = require_expanded(settings.url, "the store")
    scheme = url_scheme(url)
    if url == ":memory:" or (scheme is not None and scheme not in SQLITE_SCHEMES):
        return None
    return Path(parse_file_url(url)).expanduser()


def is_postgres(settings: StoreSettings) -> bool:
    return url_scheme(driver_url(settings)) in POSTGRES_SCHEMES


def driver_url(settings: StoreSettings) -> str:
    """Return the URL of the records as the database driver expects it."""
    return lowercase_scheme(require_expanded(settings.url, "the store"))


def _open_in_memory(cache_megabytes: int) -> SqliteStore:
    from ..stores.sqlite.connections import IN_MEMORY
    from ..stores.sqlite.store import SqliteStore

    return SqliteStore(IN_MEMORY, cache_megabytes=cache_megabytes)


def _open_sqlite(settings: StoreSettings, file: Path) -> Store:
    from ..stores.sqlite.store import SqliteStore

    vectors = "exact" if settings.vector_index == "lancedb" else settings.vector_index
    cache_megabytes, key = settings.cache_megabytes, store_key(settings)
    return SqliteStore(file, vectors=vectors, cache_megabytes=cache_megabytes, key=key)


def _open_postgres(settings: StoreSettings) -> Store:
    require_package("psycopg", "Postgres", "postgres")
    require_package("psycopg_pool", "Postgres", "postgres")
    from ..stores.postgres.store import PostgresStore

    if settings.vector_index == "sqlite-vec":
        raise ConfigError("vector_index sqlite-vec needs SQLite; Postgres has exact or lancedb")
    return PostgresStore(
        driver_url(settings),
        key=store_key(settings),
        cache_megabytes=settings.cache_megabytes,
        connections=settings.max_connections,
        approximate=settings.approximate_search and settings.vector_index == "exact",
    )


def _open_plugin(settings: StoreSettings) -> Store:
    scheme = url_scheme(settings.url) or ""
    from importlib.metadata import entry_points  # slow and rarely needed

    plugins = entry_points(group="nexusmem.stores")
    if scheme not in plugins.names:
        if scheme in REDIS_SCHEMES:
            raise ConfigError(
                "Redis holds only working memory: set memory.store.window_url to this URL, and the"
                " store to a file or postgresql://"
            )
        hint = suggest_scheme(scheme, [*SQLITE_SCHEMES, *POSTGRES_SCHEMES, *sorted(plugins.names)])
        raise ConfigError(f"no store for {scheme}://; {hint} A file or :memory: are stores, too")
    _refuse_key(settings, f"{scheme}://")
    made: Store = plugins[scheme].load()(settings.url)
    return made


def _refuse_key(settings: StoreSettings, store: str) -> None:
    """Raise ConfigError if a key is configured: the user would expect encryption."""
    if store_key(settings):
        raise ConfigError(f"a key is configured, but {store} is not encrypted; leave the key out")


def change_key(settings: StoreSettings, new_key: str) -> Path:
    """Encrypt the configured file with another key and return its path."""
    file, old = store_file(settings), store_key(settings)
    if file is None:
        raise ConfigError("only an encrypted SQLite file has a key that can be changed")
    if not old:
        raise ConfigError("no key is configured: set NEXUS_KEY or memory.store.key_command")
    from ..stores.sqlite.sqlcipher import change_key as change

    change(file, old, new_key)
    return file


def store_key(settings: StoreSettings) -> str | None:
    """Return the configured encryption key, or None."""
    from ..runtime.encryption_keys import read_key  # it can run commands

    return read_key(
        require_expanded_or_none(settings.key, "memory.store.key"),
        require_expanded_or_none(settings.key_command, "memory.store.key_command"),
    )


def _check_quoted(address: str, setting: str) -> None:
    if not is_quoted(address):
        raise ConfigError(f"{setting}: write @ / ? and # in a password as %40 %2F %3F and %23")


def _check_scheme(address: str, setting: str, accepted: Sequence[str]) -> None:
    scheme = url_scheme(require_expanded(address, setting))
    if scheme is None:
        raise ConfigError(f"{setting} must be a URL such as {accepted[0]}://localhost")
    if scheme not in accepted:
        raise ConfigError(f"{setting} cannot be {scheme}://; {suggest_scheme(scheme, accepted)}")


def make_scratch_store(store: Store) -> Store:
    """Return an empty store in memory that shares the window of `store`.

    Extraction reads injected contexts from the window, to skip texts that a model repeats.
    """
    scratch = _open_in_memory(SCRATCH_CACHE_MEGABYTES)
    scratch.window = cast("SqlWindow", store.window)
    return scratch
