"""`nexus doctor`: check this machine and every configured product."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from ..config.settings import find_settings_file, require_expanded
from ..core.errors import EmbedderUnavailable, NexusError, Unavailable
from ..maintain.rebuild import find_missing_vectors
from ..runtime.health import NOTE, OK, PROBLEM, HealthCheck
from ..runtime.provider_sdk import require_package
from ..runtime.timeouts import WAIT_SECONDS, call_with_deadline
from ..stores.health.sqlite import (
    check_file,
    check_library,
    check_sqlite_vec,
    has_current_schema,
)
from ..stores.sql.store import SqlStore
from ..text.urls import mask_passwords
from ..wiring.providers import make_embedder
from ..wiring.stores import (
    check_settings,
    driver_url,
    is_postgres,
    lance_folder,
    make_records,
    store_file,
    store_key,
)
from . import EXIT_NEGATIVE
from .options import CommandTarget, json_option, store_options
from .output import print_json, print_message, print_table

if TYPE_CHECKING:
    from ..config.settings import Settings, StoreSettings
    from ..core.ids import WorkspaceId
    from ..core.protocols.embedder import Embedder
    from ..core.protocols.index_repair import IndexDamage
    from ..core.records import EmbeddingProfile

PROBE_TEXT = "heron"  # embedded as a test; no user data leaves the machine


@click.command()
@json_option
@store_options
def doctor(target: CommandTarget, as_json: bool) -> None:
    """Check this machine and every configured product.

    Nothing is changed or created. Exits with 1 if there is a problem.

    \b
        nexus doctor
        nexus doctor --store ./memory.db --json
        nexus doctor --store postgresql://app@db/nexus
    """
    checks = [*_check_machine(), *_check_configuration(target)]
    if as_json:
        for check in checks:
            print_json(asdict(check))
    else:
        rows = [(c.state, c.name, c.detail) for c in checks]
        print_table(["state", "check", "detail"], rows, header=True)
    problems = sum(check.state == PROBLEM for check in checks)
    print_message(f"problems: {problems}")
    if problems:
        sys.exit(EXIT_NEGATIVE)


def _check_machine() -> Iterator[HealthCheck]:
    yield HealthCheck("python", OK, f"{platform.python_version()} on {platform.system()}")
    yield from check_library()


def _check_configuration(target: CommandTarget) -> Iterator[HealthCheck]:
    try:
        file = find_settings_file(target.config)
        settings = target.settings
        check_settings(settings.store)
    except NexusError as error:
        yield HealthCheck("settings", PROBLEM, mask_passwords(str(error)))
        return
    yield HealthCheck(
        "settings", OK, str(file) if file else "defaults; no nexus.yaml in this folder"
    )
    if not settings.enabled:
        yield HealthCheck(
            "settings", PROBLEM, "memory.enabled is false: the store cannot be opened"
        )
    errors = set()  # several checks open the store: report each error once
    for name, check in CHECKS_BY_PART.items():
        try:
            yield from check(settings)
        except NexusError as error:
            why = mask_passwords(str(error))
            if why not in errors:
                yield HealthCheck(name, PROBLEM, why)
            errors.add(why)


def _check_sqlite_vec(settings: Settings) -> Iterator[HealthCheck]:
    if settings.store.vector_index == "sqlite-vec":
        yield from check_sqlite_vec()


def _check_store(settings: Settings) -> Iterator[HealthCheck]:
    file = store_file(settings.store)
    if file and not file.exists():
        yield HealthCheck("store", NOTE, f"{file} does not exist; `nexus init` creates it")
        return
    if file:
        yield from check_file(file, store_key(settings.store))
    elif is_postgres(settings.store):
        yield from _check_postgres(settings.store)
    if (file or is_postgres(settings.store)) and not _is_ready(settings.store):
        return
    with closing(make_records(settings.store)) as store:
        names = [workspace.value for workspace in store.list_workspaces()]
        shown = mask_passwords(settings.store.url)
        yield HealthCheck("store", OK, f"{shown} opens; workspaces: {len(names)}")
        for workspace in store.list_workspaces():
            yield from _damage_checks(workspace, store.indexes.find_damage(workspace))


def _damage_checks(workspace: WorkspaceId, damage: Iterable[IndexDamage]) -> Iterator[HealthCheck]:
    for found in damage:
        detail = f"{workspace.value}: {found.problem}; `nexus rebuild --layer {found.layer}`"
        yield HealthCheck(str(found.layer), PROBLEM, detail)


def _check_postgres(settings: StoreSettings) -> Iterator[HealthCheck]:
    require_package("psycopg", "Postgres", "postgres")
    from ..stores.health.postgres import check_health  # optional package

    yield from check_health(driver_url(settings), pool_size=settings.max_connections)


def _make_redis_check(name: str, setting: str) -> Callable[[Settings], Iterator[HealthCheck]]:
    """Return the check of the Redis server that this setting of the store names."""

    def check_redis(settings: Settings) -> Iterator[HealthCheck]:
        url = getattr(settings.store, setting)
        if not url:
            return
        if setting != "window_url" and url == settings.store.window_url:
            yield HealthCheck(name, OK, "uses the Redis of the window")
            return
        require_package("redis", "Redis", "redis")
        from ..stores.health.redis import check_health  # optional package

        yield from check_health(require_expanded(url, f"memory.store.{setting}"), name)

    return check_redis


def _check_lancedb(settings: Settings) -> Iterator[HealthCheck]:
    if settings.store.vector_index != "lancedb" or not _is_ready(settings.store):
        return
    require_package("lancedb", "LanceDB", "lancedb")
    from ..stores.health.lancedb import check_health  # loaded on first use

    with closing(make_records(settings.store)) as records:
        if isinstance(records, SqlStore):
            yield from check_health(lance_folder(settings.store), records)


def _check_graph(settings: Settings) -> Iterator[HealthCheck]:
    if not settings.store.graph_url:
        return
    require_package("neo4j", "Neo4j", "neo4j")
    from ..stores.health.neo4j import check_health  # loaded on first use

    url = require_expanded(settings.store.graph_url, "memory.store.graph_url")
    if not _is_ready(settings.store):
        yield from check_health(url, None)
        return
    with closing(make_records(settings.store)) as records:
        yield from check_health(url, records if isinstance(records, SqlStore) else None)


def _check_embedder(settings: Settings) -> Iterator[HealthCheck]:
    embedder = make_embedder(settings.embeddings)
    try:
        ours = _probe_profile(embedder)
    except Unavailable as error:
        why = mask_passwords(str(error))
        detail = f"{settings.embeddings.provider}: {why}; only keyword search works without it"
        yield HealthCheck("embedder", PROBLEM, detail)
        return
    yield HealthCheck("embedder", OK, ours.name)
    given = settings.embeddings.dimension
    if given not in (None, ours.dimension):
        detail = f"{ours.name} has {ours.dimension}; the configured {given} is ignored"
        yield HealthCheck("dimension", NOTE, detail)
    if not _is_ready(settings.store):
        return
    with closing(make_records(settings.store)) as store:
        used = [store.vectors.active_profile(workspace) for workspace in store.list_workspaces()]
        for workspace in store.list_workspaces():
            yield from _damage_checks(workspace, find_missing_vectors(store, embedder, workspace))
    others = sorted({each.name for each in used if each is not None and each != ours})
    if others:
        count = sum(each is not None and each != ours for each in used)
        detail = f"{count} workspaces use vectors of {', '.join(others)}; run `nexus reembed`"
        yield HealthCheck(
            "vectors", NOTE if settings.embeddings.switches_automatically else PROBLEM, detail
        )
    elif any(used):
        yield HealthCheck("vectors", OK, f"made by the configured embedder {ours.name}")


def _probe_profile(embedder: Embedder) -> EmbeddingProfile:
    """Embed a test text and return the profile; a configured dimension alone proves nothing."""

    def embed_probe() -> EmbeddingProfile:
        embedder.embed([PROBE_TEXT])
        return embedder.profile

    return (
        embed_probe()
        if embedder.is_local
        else call_with_deadline(embed_probe, WAIT_SECONDS, error=EmbedderUnavailable)
    )


def _is_ready(settings: StoreSettings) -> bool:
    """Return whether the store exists with the current schema: then opening changes nothing."""
    if is_postgres(settings):
        from ..stores.health import postgres  # optional package

        return postgres.has_current_schema(driver_url(settings))
    file = store_file(settings)
    return file is not None and file.exists() and has_current_schema(file, store_key(settings))


CHECKS_BY_PART: dict[str, Callable[[Settings], Iterator[HealthCheck]]] = {
    "sqlite-vec": _check_sqlite_vec,
    "store": _check_store,
    "window": _make_redis_check("window", "window_url"),
    "contexts": _make_redis_check("contexts", "context_cache_url"),
    "index": _check_lancedb,
    "graph": _check_graph,
    "embedder": _check_embedder,
}
