"""Bringing a database to today's schema.

An empty one gets `schema.sql`, an older one the migrations it has not had. It is done by whoever
has the rights to; an application that has not only looks whether it was. Several processes may
start at once: one of them does it, and the others wait.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from importlib.resources import files
from typing import Any

import psycopg
from psycopg import Connection, errors, sql

from ...core.canonical import time_text
from ...core.errors import StoreUnavailable
from ...core.urls import masked
from ..queries import load_migrations
from .connections import ROLE, explained
from .session import SQL

OLDEST_SERVER = 130_000  # 13: transactions have numbers that can be asked for
OLDEST_VECTOR = (0, 5)

migrations = partial(load_migrations, __package__)


@dataclass(frozen=True, slots=True)
class Home:
    """Where a database keeps what we need to know of pgvector."""

    schema_of_vector: str
    vector: int  # the type's number


def bring_up_to_date(url: str) -> Home:
    """Apply what is missing."""
    where = masked(url)
    try:
        with psycopg.connect(url, application_name="nexus") as connection:
            _check_server(connection, where)
            connection.execute(SQL["lock_schema"])
            _migrate(connection, where)
            return _home(connection, where)
    except psycopg.Error as error:
        raise explained(where, error) from error


def _check_server(connection: Connection[Any], where: str) -> None:
    version = connection.info.server_version
    if version < OLDEST_SERVER:
        raise StoreUnavailable(
            f"{where} is PostgreSQL {version // 10_000}; Nexus needs 13 or newer"
        )


def _migrate(connection: Connection[Any], where: str) -> None:
    steps = migrations()
    (there,) = connection.execute(SQL["has_schema"]).fetchone() or (False,)
    if not there:
        _found(connection, where)
        missing = list(steps)
    else:
        home = _home(connection, where)
        _look_in(connection, home.schema_of_vector)
        known = [version for (version,) in connection.execute(SQL["versions"])]
        if max(known) > max(steps):
            raise StoreUnavailable(
                f"{where} was written by a newer Nexus (schema {max(known)}, this one knows"
                f" {max(steps)}): upgrade with pip install -U nexus-memory"
            )
        missing = [version for version in steps if version not in known]
        for version in missing:
            connection.execute(steps[version][1].encode())
    now = time_text(datetime.now(UTC))
    for version in missing:
        row = {"version": version, "description": steps[version][0], "applied_at": now}
        connection.execute(SQL["add_version"], row)


def _found(connection: Connection[Any], where: str) -> None:
    """Make everything in a database that has nothing of ours."""
    try:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        connection.execute(_script("roles.sql"))
        connection.execute("CREATE SCHEMA nexus")
        _look_in(connection, _home(connection, where).schema_of_vector)
        connection.execute(_script("schema.sql"))
    except (errors.InsufficientPrivilege, errors.FeatureNotSupported, errors.UndefinedFile) as why:
        raise StoreUnavailable(
            f"{where} is not prepared for Nexus, and this user may not do it"
            f" ({why.diag.message_primary})."
            " Let an administrator open it once with Nexus, or run in this database: CREATE"
            f" EXTENSION vector; CREATE ROLE {ROLE} NOLOGIN; GRANT {ROLE} TO <user>; GRANT CREATE"
            " ON DATABASE <database> TO <user>"
        ) from why


def _look_in(connection: Connection[Any], schema_of_vector: str) -> None:
    place = sql.Identifier(schema_of_vector)
    connection.execute(sql.SQL("SET LOCAL search_path = nexus, {}").format(place))


def _script(name: str) -> bytes:
    return files(__package__).joinpath(name).read_bytes()


def _home(connection: Connection[Any], where: str) -> Home:
    row = connection.execute(SQL["extension"]).fetchone()
    if row is None:
        raise StoreUnavailable(f"{where} has no pgvector any more; run CREATE EXTENSION vector")
    schema, version = row
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST_VECTOR:
        raise StoreUnavailable(f"{where} has pgvector {version}; Nexus needs 0.5 or newer")
    (vector,) = connection.execute(SQL["vector_type"]).fetchone() or (0,)
    return Home(schema, vector)
