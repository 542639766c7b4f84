"""Health checks of a Postgres store: connection, versions, privileges and row-level security."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import psycopg
from psycopg import Connection
from psycopg.conninfo import make_conninfo

from ...runtime.health import NOTE, OK, PROBLEM, HealthCheck, measure_latency
from ...text.urls import mask_passwords
from ..postgres.connections import (
    LOCK_SECONDS,
    MAX_CONNECTIONS,
    ROLE,
    STATEMENT_SECONDS,
    with_settings,
)
from ..postgres.migrate import MIN_PGVECTOR_VERSION, MIN_SERVER_VERSION, migrations
from ..query_files import load_queries
from .sqlite import check_pending_work, check_schema_version

TIMEOUT_SECONDS = 3
MIN_TIMEOUT_MILLISECONDS = 1_000  # a shorter one cancels statements of a busy server
NEWEST_VERSION = max(migrations())
SQL = load_queries(__package__, "postgres.sql")


def has_current_schema(url: str) -> bool:
    """Return whether the database answers and has the newest schema."""
    try:
        with _open_connection(url) as connection:
            has_tables = _fetch_one(connection, "tables")[0]
            return bool(has_tables and _fetch_one(connection, "version")[0] == NEWEST_VERSION)
    except psycopg.Error:
        return False


def check_health(url: str, *, pool_size: int = MAX_CONNECTIONS) -> Iterator[HealthCheck]:
    """Yield the checks of the database at `url`."""
    masked_url = mask_passwords(url)
    try:
        with _open_connection(url) as connection:
            latency = measure_latency(lambda: _fetch_one(connection, "ping"))
            yield HealthCheck("store", OK, f"{masked_url} answers, {latency}")
            yield from _check_server(connection)
            yield _check_limits(connection, pool_size)
            _fetch_one(connection, "set_timeout", {"limit": f"{TIMEOUT_SECONDS}s"})
            yield from _check_user(connection)
            if not _fetch_one(connection, "tables")[0]:
                yield _check_preparation(connection)
                return
            yield from _check_schema(connection)
            yield from _check_worker_role(connection)
            yield from _check_row_security(connection)
            yield from _check_queue(connection)
    except psycopg.Error as error:
        why = mask_passwords(" ".join(str(error).split()))
        yield HealthCheck("store", PROBLEM, f"{masked_url}: {why}")


def _open_connection(url: str) -> Connection[Any]:
    """Connect like the store: options of the URL apply to both."""
    address = make_conninfo(url, connect_timeout=TIMEOUT_SECONDS, application_name="nexus doctor")
    limits = {
        "statement_timeout": f"{STATEMENT_SECONDS:.0f}s",
        "lock_timeout": f"{LOCK_SECONDS:.0f}s",
    }
    return psycopg.connect(with_settings(address, limits, {}), autocommit=True)


def _fetch_one(
    connection: Connection[Any], name: str, values: Mapping[str, str] | None = None
) -> Any:
    return connection.execute(SQL[name].encode(), values).fetchone()


def _check_server(connection: Connection[Any]) -> Iterator[HealthCheck]:
    version = connection.info.server_version
    text = f"version {version // 10_000}.{version % 10_000}"
    if version < MIN_SERVER_VERSION:
        yield HealthCheck("postgres", PROBLEM, f"{text} is too old: Nexus needs 13 or newer")
    else:
        yield HealthCheck("postgres", OK, text)
    yield _check_pgvector(_fetch_one(connection, "extension"))


def _check_limits(connection: Connection[Any], pool_size: int) -> HealthCheck:
    max_connections, reserved, used = _fetch_one(connection, "connections")
    free = max_connections - reserved - used
    usage = f"each process of Nexus uses up to {pool_size} (memory.store.max_connections)"
    statement, lock = _fetch_one(connection, "timeouts")
    timeouts = (
        f"statements time out {_format_timeout(statement)}, lock waits {_format_timeout(lock)}"
    )
    detail = f"{free} of {max_connections} are free; {usage}; {timeouts}"
    if 0 < statement < MIN_TIMEOUT_MILLISECONDS:
        return HealthCheck("connections", PROBLEM, f"{detail}: too short; see options= in the URL")
    return HealthCheck("connections", OK if free >= pool_size else NOTE, detail)


def _format_timeout(milliseconds: int) -> str:
    return f"after {milliseconds / 1000:g} s" if milliseconds else "never"


def _check_pgvector(row: tuple[str | None, str] | None) -> HealthCheck:
    if row is None:
        detail = "not available: install its package (postgresql-…-pgvector) on the server"
        return HealthCheck("pgvector", PROBLEM, detail)
    installed, available = row
    if installed is None:
        detail = f"{available} is available but not installed: CREATE EXTENSION vector;"
        return HealthCheck("pgvector", PROBLEM, detail)
    if tuple(int(part) for part in installed.split(".")[:2]) < MIN_PGVECTOR_VERSION:
        oldest = ".".join(map(str, MIN_PGVECTOR_VERSION))
        detail = f"{installed} is too old, Nexus needs {oldest}: ALTER EXTENSION vector UPDATE;"
        return HealthCheck("pgvector", PROBLEM, detail)
    return HealthCheck("pgvector", OK, f"version {installed}")


def _check_user(connection: Connection[Any]) -> Iterator[HealthCheck]:
    """Check that the user of the URL cannot bypass row-level security."""
    user, _, superuser, bypasses, _, _ = _fetch_one(connection, "who")
    if superuser or bypasses:
        what = "is a superuser" if superuser else "has BYPASSRLS"
        detail = f"{user} {what}, which bypasses row-level security: CREATE ROLE app LOGIN;"
        yield HealthCheck("user", PROBLEM, f"{detail} GRANT {ROLE} TO app; and connect as app")
    else:
        yield HealthCheck("user", OK, f"{user}, bound by row-level security")


def _check_preparation(connection: Connection[Any]) -> HealthCheck:
    """Check whether this user may create the schema in an empty database."""
    user, database, superuser, _, may_create, may_make_roles = _fetch_one(connection, "who")
    role = _fetch_one(connection, "worker_role", {"role": ROLE})
    missing = []
    if not may_create:
        missing.append(f'GRANT CREATE ON DATABASE "{database}" TO "{user}";')
    if role is None and not (superuser or may_make_roles):
        missing.append(f'CREATE ROLE {ROLE} NOLOGIN; GRANT {ROLE} TO "{user}";')
    elif role is not None and not role[2]:
        missing.append(f'GRANT {ROLE} TO "{user}";')
    if missing:
        detail = f"does not exist, and {user} may not create it: {' '.join(missing)}"
        return HealthCheck("schema", PROBLEM, detail)
    return HealthCheck("schema", NOTE, "does not exist yet; the first opening creates it")


def _check_schema(connection: Connection[Any]) -> Iterator[HealthCheck]:
    if not _fetch_one(connection, "usage", {"role": ROLE})[0]:
        yield HealthCheck("privileges", PROBLEM, f"GRANT USAGE ON SCHEMA nexus TO {ROLE};")
    try:
        (version,) = _fetch_one(connection, "version")
        (encrypted,) = _fetch_one(connection, "is_encrypted")
    except psycopg.errors.InsufficientPrivilege:
        return  # reported by the check of privileges
    detail = "contents, with one key per person" if encrypted else "no; set NEXUS_KEY to encrypt"
    yield HealthCheck("encrypted", OK if encrypted else NOTE, detail)
    yield check_schema_version(version, NEWEST_VERSION)


def _check_worker_role(connection: Connection[Any]) -> Iterator[HealthCheck]:
    """Check the role of the store and its privileges."""
    role = _fetch_one(connection, "worker_role", {"role": ROLE})
    if role is None:
        yield HealthCheck("role", PROBLEM, f"{ROLE} does not exist: CREATE ROLE {ROLE} NOLOGIN;")
        return
    superuser, bypasses, member = role
    if superuser or bypasses:
        detail = f"{ROLE} bypasses row-level security: ALTER ROLE {ROLE} NOSUPERUSER NOBYPASSRLS;"
        yield HealthCheck("role", PROBLEM, detail)
    if not member:
        user = _fetch_one(connection, "who")[0]
        yield HealthCheck(
            "role", PROBLEM, f'{user} is not a member of {ROLE}: GRANT {ROLE} TO "{user}";'
        )
    rows = connection.execute(SQL["privileges"].encode(), {"role": ROLE}).fetchall()
    if owned := [table for table, owner, *_ in rows if owner == ROLE]:
        detail = f"{ROLE} owns {', '.join(owned)}: ALTER TABLE nexus.{owned[0]} OWNER TO another;"
        yield HealthCheck("role", PROBLEM, detail)
    lacking = [(table, right) for table, _, rights, _ in rows for right in rights]
    for table, right in lacking:
        yield HealthCheck("privileges", PROBLEM, f"GRANT {right} ON nexus.{table} TO {ROLE};")
    accessible = [table for table, _, _, open_by_itself in rows if open_by_itself]
    if accessible:  # policies of the parent do not apply to queries of a partition
        remedy = f"REVOKE ALL ON nexus.{accessible[0]} FROM {ROLE}, PUBLIC;"
        yield HealthCheck(
            "privileges", PROBLEM, f"{len(accessible)} partitions are directly accessible: {remedy}"
        )
    if not lacking and not accessible:
        yield HealthCheck("privileges", OK, f"{ROLE} has the required privileges and owns nothing")


def _check_row_security(connection: Connection[Any]) -> Iterator[HealthCheck]:
    rows = connection.execute(SQL["row_security"].encode()).fetchall()
    unprotected = [
        (table, on and policy)
        for table, on, forced, policy in rows
        if not (on and forced and policy)
    ]
    for table, bound in unprotected:
        what = "does not apply to its owner" if bound else "is off"
        detail = (
            f"{table}: row-level security {what}: ALTER TABLE nexus.{table} ENABLE ROW LEVEL"
            " SECURITY, FORCE ROW LEVEL SECURITY;"
        )
        yield HealthCheck("row security", PROBLEM, detail)
    if not unprotected:
        yield HealthCheck(
            "row security", OK, f"row-level security is forced on all {len(rows)} tables"
        )


def _check_queue(connection: Connection[Any]) -> Iterator[HealthCheck]:
    """Yield the pending work by workspace; reads names and numbers, but no contents."""
    try:
        with connection.transaction():
            for step in ("set_role", "set_schema", "bind_all_workspaces"):
                connection.execute(SQL[step].encode())
            rows = connection.execute(SQL["pending_work"].encode()).fetchall()
    except psycopg.errors.InsufficientPrivilege:
        return
    yield from (check_pending_work(*row) for row in rows)
