"""`nexus doctor`: what could go wrong on this machine, and what to do about it."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from ..config import in_use, settings_file
from ..core.bounded import WAIT_SECONDS, bounded
from ..core.checkup import NOTE, OK, PROBLEM, Check
from ..core.errors import EmbedderUnavailable, NexusError, Unavailable
from ..core.urls import masked
from ..maintain.rebuild import lacking_vectors
from ..products import make_embedder
from ..providers.extras import require
from ..stores.checkups.sqlite import examine_file, examine_library, holds_todays_schema
from ..stores.sql.store import SqlStore
from ..storing import (
    check_settings,
    file_of,
    is_postgres,
    key_of,
    lance_folder,
    make_records,
    server_of,
)
from .lazy import FOUND_NOTHING
from .options import Door, json_option, store_options
from .output import message, print_json, print_table

if TYPE_CHECKING:
    from ..config import Settings, StoreSettings
    from ..core.ids import WorkspaceId
    from ..core.layers import Damage
    from ..core.protocols import Embedder
    from ..core.records import EmbeddingProfile

WORD = "heron"  # nobody's: whoever is asked over a network learns nothing by it


@click.command()
@json_option
@store_options
def doctor(door: Door, as_json: bool) -> None:
    """Look for what could go wrong on this machine and with every configured product.

    Nothing is changed or created. A problem is exit 1.

    \b
        nexus doctor
        nexus doctor --store ./memory.db --json
        nexus doctor --store postgresql://app@db/nexus
    """
    checks = [*_machine(), *_settings(door)]
    if as_json:
        for check in checks:
            print_json(asdict(check))
    else:
        print_table(["", "what", "how it is"], [(c.state, c.name, c.detail) for c in checks])
    problems = sum(check.state == PROBLEM for check in checks)
    message(f"problems: {problems}")
    if problems:
        sys.exit(FOUND_NOTHING)


def _machine() -> Iterator[Check]:
    yield Check("python", OK, f"{platform.python_version()} on {platform.system()}")
    yield from examine_library()


def _settings(door: Door) -> Iterator[Check]:
    try:
        file = settings_file(door.config)
        settings = door.settings
        check_settings(settings.store)
    except NexusError as error:
        yield Check("settings", PROBLEM, masked(str(error)))
        return
    yield Check("settings", OK, str(file) if file else "the defaults; no nexus.yaml here")
    if not settings.enabled:
        yield Check("settings", PROBLEM, "memory.enabled is false: opening is refused")
    told = set()  # several look into the store, and it is enough to hear once why they cannot
    for name, look in LOOKS.items():
        try:
            yield from look(settings)
        except NexusError as error:
            why = masked(str(error))
            if why not in told:
                yield Check(name, PROBLEM, why)
            told.add(why)


def _store(settings: Settings) -> Iterator[Check]:
    file = file_of(settings.store)
    if file and not file.exists():
        yield Check("store", NOTE, f"{file} is not there yet; `nexus init` makes it")
        return
    if file:
        yield from examine_file(file, key_of(settings.store))
    elif is_postgres(settings.store):
        yield from _postgres(settings.store)
    if (file or is_postgres(settings.store)) and not _is_ready(settings.store):
        return
    with closing(make_records(settings.store)) as store:
        names = [workspace.value for workspace in store.workspaces()]
        shown = masked(settings.store.url)
        yield Check("store", OK, f"{shown} opens; workspaces: {len(names)}")
        for workspace in store.workspaces():
            yield from _damaged(workspace, store.layers.damage(workspace))


def _damaged(workspace: WorkspaceId, damage: Iterable[Damage]) -> Iterator[Check]:
    for found in damage:
        detail = f"{workspace.value}: {found.what}; `nexus rebuild --layer {found.layer}`"
        yield Check(str(found.layer), PROBLEM, detail)


def _postgres(settings: StoreSettings) -> Iterator[Check]:
    require("psycopg", "Postgres", "postgres")
    from ..stores.checkups.postgres import examine  # noqa: PLC0415  # an extra

    yield from examine(server_of(settings), pool=settings.connections)


WINDOW = "window"


def _in_redis(name: str) -> Callable[[Settings], Iterator[Check]]:
    """What is kept under the address that this setting of the store has."""

    def look(settings: Settings) -> Iterator[Check]:
        url = getattr(settings.store, name)
        if not url:
            return
        if name != WINDOW and url == settings.store.window:
            yield Check(name, OK, "in the Redis of the window")
            return
        require("redis", "Redis", "redis")
        from ..stores.checkups.redis import examine  # noqa: PLC0415  # an extra

        yield from examine(in_use(url, f"memory.store.{name}"), name)

    return look


def _index(settings: Settings) -> Iterator[Check]:
    if settings.store.vectors != "lancedb" or not _is_ready(settings.store):
        return
    require("lancedb", "LanceDB", "lancedb")
    from ..stores.checkups.lancedb import examine  # noqa: PLC0415

    with closing(make_records(settings.store)) as records:
        if isinstance(records, SqlStore):
            yield from examine(lance_folder(settings.store), records)


def _graph(settings: Settings) -> Iterator[Check]:
    if not settings.store.graph:
        return
    require("neo4j", "Neo4j", "neo4j")
    from ..stores.checkups.neo4j import examine  # noqa: PLC0415

    url = in_use(settings.store.graph, "memory.store.graph")
    if not _is_ready(settings.store):
        yield from examine(url, None)
        return
    with closing(make_records(settings.store)) as records:
        yield from examine(url, records if isinstance(records, SqlStore) else None)


def _embedder(settings: Settings) -> Iterator[Check]:
    embedder = make_embedder(settings.embeddings)
    try:
        ours = _answering(embedder)
    except Unavailable as error:
        detail = (
            f"{settings.embeddings.provider}: {masked(str(error))}; without it only words answer"
        )
        yield Check("embedder", PROBLEM, detail)
        return
    yield Check("embedder", OK, ours.name)
    given = settings.embeddings.dimension
    if given not in (None, ours.dimension):
        detail = f"{ours.name} has {ours.dimension}: the configured {given} is not used"
        yield Check("dimension", NOTE, detail)
    if not _is_ready(settings.store):
        return
    with closing(make_records(settings.store)) as store:
        used = [store.vectors.in_use(workspace) for workspace in store.workspaces()]
        for workspace in store.workspaces():
            yield from _damaged(workspace, lacking_vectors(store, embedder, workspace))
    others = sorted({each.name for each in used if each is not None and each != ours})
    if others:
        count = sum(each is not None and each != ours for each in used)
        detail = f"workspaces that are asked with {', '.join(others)}: {count}; `nexus reembed`"
        yield Check("vectors", NOTE if settings.embeddings.changes else PROBLEM, detail)
    elif any(used):
        yield Check("vectors", OK, f"of the configured embedder, {ours.name}")


def _answering(embedder: Embedder) -> EmbeddingProfile:
    """Its profile, after it has answered: a length that was configured asks nobody."""

    def asked() -> EmbeddingProfile:
        embedder.embed([WORD])
        return embedder.profile

    return asked() if embedder.local else bounded(asked, WAIT_SECONDS, error=EmbedderUnavailable)


def _is_ready(settings: StoreSettings) -> bool:
    """Whether opening it would create and change nothing."""
    if is_postgres(settings):
        from ..stores.checkups import postgres  # noqa: PLC0415  # an extra

        return postgres.holds_todays_schema(server_of(settings))
    file = file_of(settings)
    return file is not None and file.exists() and holds_todays_schema(file, key_of(settings))


LOOKS: dict[str, Callable[[Settings], Iterator[Check]]] = {
    "store": _store,
    WINDOW: _in_redis(WINDOW),
    "contexts": _in_redis("contexts"),
    "index": _index,
    "graph": _graph,
    "embedder": _embedder,
}
