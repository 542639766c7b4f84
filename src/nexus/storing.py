"""Which store an address names, and what stands beside it.

`memory.store.url` says where the records are: the only copy of everything. A window and contexts
in Redis, an index of vectors in LanceDB and a graph in Neo4j stand beside them, and can be lost
and made again.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from .config import StoreSettings, in_use, in_use_if_given
from .core.errors import ConfigError
from .core.keeping import ContextKeeper
from .core.nearest import nearest
from .core.protocols import Store
from .core.urls import file_named, is_quoted, nearest_scheme, scheme_of, with_small_scheme
from .providers.extras import require

if TYPE_CHECKING:
    from .stores.beside import (
        ContextsElsewhere,
        GraphElsewhere,
        VectorsElsewhere,
        WindowElsewhere,
    )
    from .stores.inprocess_window import InProcessWindow
    from .stores.sql.store import SqlStore

SQLITE = ("sqlite",)
POSTGRES = ("postgresql", "postgres")
WINDOWS = tuple(f"redis{tls}{kind}" for kind in ("", "+sentinel", "+cluster") for tls in ("", "s"))
GRAPHS = ("neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc")
VECTORS = ("plain", "sqlite-vec", "lancedb")


def make_store(settings: StoreSettings) -> Store:
    """The records, with whatever is configured beside them."""
    check_settings(settings)
    records = make_records(settings)
    try:
        return _combined(settings, records)
    except BaseException:
        records.close()
        raise


def check_settings(settings: StoreSettings) -> None:
    """Refuse what no product can be found for, before any is asked."""
    for setting, known in (("window", WINDOWS), ("contexts", WINDOWS), ("graph", GRAPHS)):
        if address := getattr(settings, setting):
            _check_scheme(address, f"memory.store.{setting}", known)
    for setting in ("url", "window", "contexts", "graph"):
        _check_quoted(getattr(settings, setting) or "", f"memory.store.{setting}")
    if settings.vectors not in VECTORS:
        hint = nearest(settings.vectors, VECTORS)
        raise ConfigError(f"unknown memory.store.vectors {settings.vectors!r}; {hint}")
    if settings.approximate and (
        settings.vectors != "lancedb" and (not is_postgres(settings) or key_of(settings))
    ):
        raise ConfigError(
            "memory.store.approximate needs vectors: lancedb, or a Postgres without a key"
        )


def _combined(settings: StoreSettings, records: Store) -> Store:
    lance = settings.vectors == "lancedb"
    if not (settings.window or settings.contexts or settings.graph or lance):
        return records
    from .stores.beside import CombinedStore  # noqa: PLC0415

    window, contexts = _in_redis(settings, records)
    return CombinedStore(
        records,
        vectors=_lance(settings, records) if lance else None,
        window=window,
        graph=_graph(settings, records) if settings.graph else None,
        contexts=contexts,
    )


def _in_redis(
    settings: StoreSettings, records: Store
) -> tuple[WindowElsewhere | None, ContextsElsewhere | None]:
    """The window and the contexts; at one address they share its connections."""
    urls = {
        name: in_use(url, f"memory.store.{name}")
        for name in ("window", "contexts")
        if (url := getattr(settings, name))
    }
    if not urls:
        return None, None
    if key_of(settings):
        why = "a key is configured, but what lies in Redis would be readable without it"
        named = " and ".join(f"memory.store.{each}" for each in urls)
        raise ConfigError(f"{why}; leave {named} out")
    from .stores.redis import RedisContexts, RedisWindow  # noqa: PLC0415
    from .stores.redis.server import servers  # noqa: PLC0415

    at = servers(urls.values())
    window = contexts = None
    if url := urls.get("window"):
        window = RedisWindow(url, records, server=at[url])
    if url := urls.get("contexts"):
        followed = _followed(records, "A cache of contexts")
        contexts = RedisContexts(url, followed, window=window, server=at[url])
    return window, contexts


def keeper_of(store: Store) -> ContextKeeper | None:
    """Where contexts are kept for other processes, if this store has such a place."""
    from .stores.beside import CombinedStore  # noqa: PLC0415

    return store.contexts if isinstance(store, CombinedStore) else None


def _lance(settings: StoreSettings, records: Store) -> VectorsElsewhere:
    require("lancedb", "LanceDB", "lancedb")
    from .stores.lancedb.vectors import LanceVectors  # noqa: PLC0415

    followed = _followed(records, "LanceDB")
    return LanceVectors(lance_folder(settings), followed, approximate=settings.approximate)


def _graph(settings: StoreSettings, records: Store) -> GraphElsewhere:
    require("neo4j", "Neo4j", "neo4j")
    from .stores.neo4j.graph import Neo4jGraph  # noqa: PLC0415

    address = in_use(settings.graph or "", "memory.store.graph")
    if key_of(settings):
        why = "a key is configured, but the names in Neo4j would be readable without it"
        raise ConfigError(f"{why}; leave memory.store.graph out")
    return Neo4jGraph(address, _followed(records, "Neo4j"))


def _followed(records: Store, product: str) -> SqlStore:
    """Records that say in which order they were written."""
    from .stores.sql.store import SqlStore  # noqa: PLC0415

    if not isinstance(records, SqlStore):
        raise ConfigError(f"{product} stands beside the records of a SQLite file or of Postgres")
    return records


def lance_folder(settings: StoreSettings) -> Path:
    """Where the index lies: as configured, or else beside the file."""
    if settings.vectors_path:
        return Path(in_use(settings.vectors_path, "memory.store.vectors_path")).expanduser()
    file = file_of(settings)
    if file is None:
        raise ConfigError("memory.store.vectors_path must name the folder of LanceDB's index")
    return file.with_suffix(".lance")


def make_records(settings: StoreSettings) -> Store:
    """`:memory:`, a file, `sqlite:///file`, `postgresql://…`, or what a plug-in registered."""
    url = in_use(settings.url, "the store")
    _check_quoted(url, "memory.store.url")
    if url == ":memory:":
        from .stores.inprocess import InProcessStore  # noqa: PLC0415  # parts load lazily

        return InProcessStore()
    if file := file_of(settings):
        return _sqlite(settings, file)
    return _postgres(settings) if is_postgres(settings) else _plugin(settings)


def file_of(settings: StoreSettings) -> Path | None:
    """The file a memory is kept in, if it is one."""
    url = in_use(settings.url, "the store")
    scheme = scheme_of(url)
    if url == ":memory:" or (scheme is not None and scheme not in SQLITE):
        return None
    return Path(file_named(url)).expanduser()


def is_postgres(settings: StoreSettings) -> bool:
    return scheme_of(server_of(settings)) in POSTGRES


def server_of(settings: StoreSettings) -> str:
    """The address of the records, as it is handed to a driver."""
    return with_small_scheme(in_use(settings.url, "the store"))


def _sqlite(settings: StoreSettings, file: Path) -> Store:
    from .stores.sqlite.store import SqliteStore  # noqa: PLC0415

    vectors = "plain" if settings.vectors == "lancedb" else settings.vectors
    cache_megabytes, key = settings.cache_megabytes, key_of(settings)
    return SqliteStore(file, vectors=vectors, cache_megabytes=cache_megabytes, key=key)


def _postgres(settings: StoreSettings) -> Store:
    require("psycopg", "Postgres", "postgres")
    require("psycopg_pool", "Postgres", "postgres")
    from .stores.postgres.store import PostgresStore  # noqa: PLC0415

    if settings.vectors == "sqlite-vec":
        raise ConfigError("sqlite-vec is an index of SQLite; Postgres has plain or lancedb")
    return PostgresStore(
        server_of(settings),
        key=key_of(settings),
        cache_megabytes=settings.cache_megabytes,
        connections=settings.connections,
        approximate=settings.approximate and settings.vectors == "plain",
    )


def _plugin(settings: StoreSettings) -> Store:
    scheme = scheme_of(settings.url) or ""
    from importlib.metadata import entry_points  # noqa: PLC0415  # slow, and seldom needed

    plugins = entry_points(group="nexus.stores")
    if scheme not in plugins.names:
        hint = nearest_scheme(scheme, [*SQLITE, *POSTGRES, *sorted(plugins.names)])
        raise ConfigError(f"no store for {scheme}://; {hint} A file or :memory: are stores, too")
    _refuse_key(settings, f"{scheme}://")
    made: Store = plugins[scheme].load()(settings.url)
    return made


def _refuse_key(settings: StoreSettings, store: str) -> None:
    """Whoever configures a key believes that what is kept is encrypted."""
    if key_of(settings):
        raise ConfigError(f"a key is configured, but {store} is not encrypted; leave the key out")


def change_key(settings: StoreSettings, new: str) -> Path:
    """Give an encrypted memory another key; the file it is in."""
    file, old = file_of(settings), key_of(settings)
    if file is None:
        raise ConfigError("only a SQLite file is encrypted as a whole, and has one key to change")
    if not old:
        raise ConfigError("no key is configured: set NEXUS_KEY or memory.store.key_command")
    from .stores.sqlite.encrypted import change_key as change  # noqa: PLC0415

    change(file, old, new)
    return file


def key_of(settings: StoreSettings) -> str | None:
    """The key to encrypt with, if one is configured."""
    from .providers.keys import read_key  # noqa: PLC0415  # it can run commands

    return read_key(
        in_use_if_given(settings.key, "memory.store.key"),
        in_use_if_given(settings.key_command, "memory.store.key_command"),
    )


def _check_quoted(address: str, setting: str) -> None:
    if not is_quoted(address):
        raise ConfigError(f"{setting}: write @ / ? and # in a password as %40 %2F %3F and %23")


def _check_scheme(address: str, setting: str, known: Sequence[str]) -> None:
    scheme = scheme_of(in_use(address, setting))
    if scheme is None:
        raise ConfigError(f"{setting} is an address such as {known[0]}://localhost")
    if scheme not in known:
        raise ConfigError(f"{setting} cannot be {scheme}://; {nearest_scheme(scheme, known)}")


def make_scratch(store: Store) -> Store:
    """An empty store for what must leave no trace; of what models were shown it knows as much."""
    from .stores.inprocess import InProcessStore  # noqa: PLC0415

    scratch = InProcessStore()
    scratch.window = cast("InProcessWindow", store.window)
    return scratch
