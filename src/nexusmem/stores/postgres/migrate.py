"""Schema migration of a Postgres database.

An empty database gets all migrations, an older one the missing ones. A user without the
privileges only checks that nothing is missing. An advisory lock serializes several processes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from importlib.resources import files
from typing import Any

import psycopg
from psycopg import Connection, errors, sql

from ...core.canonical import format_time
from ...core.errors import StoreUnavailable
from ...text.urls import mask_passwords
from ..query_files import load_migrations
from .connections import ROLE, to_store_error
from .transaction import SQL

MIN_SERVER_VERSION = 130_000  # 13: the first with pg_current_xact_id
MIN_PGVECTOR_VERSION = (0, 5)

migrations = partial(load_migrations, __package__)


@dataclass(frozen=True, slots=True)
class VectorExtension:
    """Schema and type oid of pgvector in a database."""

    schema: str
    type_oid: int


def migrate_database(url: str) -> VectorExtension:
    """Create or migrate the schema and return the vector extension.

    Raise StoreUnavailable if the server is too old, or the user lacks privileges.
    """
    where = mask_passwords(url)
    try:
        with psycopg.connect(url, application_name="nexus") as connection:
            _check_server(connection, where)
            connection.execute(SQL["lock_schema"])
            _apply_migrations(connection, where)
            return _find_vector_extension(connection, where)
    except psycopg.Error as error:
        raise to_store_error(where, error) from error


def _check_server(connection: Connection[Any], where: str) -> None:
    version = connection.info.server_version
    if version < MIN_SERVER_VERSION:
        raise StoreUnavailable(
            f"{where} is PostgreSQL {version // 10_000}; Nexus needs 13 or newer"
        )


def _apply_migrations(connection: Connection[Any], where: str) -> None:
    steps = migrations()
    (has_schema,) = connection.execute(SQL["has_schema"]).fetchone() or (False,)
    if not has_schema:
        _create_schema(connection, where, [script for _, script in steps.values()])
        missing = list(steps)
    else:
        home = _find_vector_extension(connection, where)
        _set_search_path(connection, home.schema)
        applied = [version for (version,) in connection.execute(SQL["versions"])]
        if max(applied) > max(steps):
            raise StoreUnavailable(
                f"{where} was written by a newer Nexus (schema {max(applied)}, this one supports"
                f" {max(steps)}): upgrade with pip install -U nexusmem"
            )
        missing = [version for version in steps if version not in applied]
        for version in missing:
            connection.execute(steps[version][1].encode())
    now = format_time(datetime.now(UTC))
    for version in missing:
        row = {"version": version, "description": steps[version][0], "applied_at": now}
        connection.execute(SQL["add_version"], row)


def _create_schema(connection: Connection[Any], where: str, scripts: Sequence[str]) -> None:
    """Create extension, role, schema and tables in an empty database."""
    try:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        connection.execute(files(__package__).joinpath("roles.sql").read_bytes())
        connection.execute("CREATE SCHEMA nexus")
        _set_search_path(connection, _find_vector_extension(connection, where).schema)
        for script in scripts:
            connection.execute(script.encode())
    except (errors.InsufficientPrivilege, errors.FeatureNotSupported, errors.UndefinedFile) as why:
        raise StoreUnavailable(
            f"{where} is not prepared for Nexus, and this user lacks the privileges to do it"
            f" ({why.diag.message_primary})."
            " An administrator must open it once with Nexus, or run in this database: CREATE"
            f" EXTENSION vector; CREATE ROLE {ROLE} NOLOGIN; GRANT {ROLE} TO <user>; GRANT CREATE"
            " ON DATABASE <database> TO <user>"
        ) from why


def _set_search_path(connection: Connection[Any], vector_schema: str) -> None:
    path = sql.SQL("SET LOCAL search_path = nexus, {}").format(sql.Identifier(vector_schema))
    connection.execute(path)


def _find_vector_extension(connection: Connection[Any], where: str) -> VectorExtension:
    row = connection.execute(SQL["find_extension"]).fetchone()
    if row is None:
        raise StoreUnavailable(f"{where} has no pgvector; run CREATE EXTENSION vector")
    schema, version = row
    if tuple(int(part) for part in version.split(".")[:2]) < MIN_PGVECTOR_VERSION:
        raise StoreUnavailable(f"{where} has pgvector {version}; Nexus needs 0.5 or newer")
    (vector,) = connection.execute(SQL["vector_type"]).fetchone() or (0,)
    return VectorExtension(schema, vector)
