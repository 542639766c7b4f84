"""A look at a Postgres: whether it answers, what it has, who we are there and what we may do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import psycopg
from psycopg import Connection
from psycopg.conninfo import make_conninfo

from ...core.checkup import NOTE, OK, PROBLEM, Check, latency
from ...core.urls import masked
from ..postgres.connections import (
    LOCK_SECONDS,
    MOST_CONNECTIONS,
    ROLE,
    STATEMENT_SECONDS,
    with_settings,
)
from ..postgres.migrate import OLDEST_SERVER, OLDEST_VECTOR, migrations
from ..queries import load_queries
from .sqlite import schema_of, waiting_work

PATIENCE_SECONDS = 3
SHORTEST_MILLISECONDS = 1_000  # for a statement: less ends what is only slow today
NEWEST = max(migrations())
SQL = load_queries(__package__, "postgres.sql")


def holds_todays_schema(url: str) -> bool:
    """Whether the database answers, and opening the memory in it would change nothing."""
    try:
        with _connected(url) as connection:
            there = _one(connection, "tables")[0]
            return bool(there and _one(connection, "version")[0] == NEWEST)
    except psycopg.Error:
        return False


def examine(url: str, *, pool: int = MOST_CONNECTIONS) -> Iterator[Check]:
    shown = masked(url)
    try:
        with _connected(url) as connection:
            answers = latency(lambda: _one(connection, "ping"))
            yield Check("store", OK, f"{shown} answers, {answers}")
            yield from _server(connection)
            yield _limits(connection, pool)
            _one(connection, "be_quick", {"limit": f"{PATIENCE_SECONDS}s"})
            yield from _user(connection)
            if not _one(connection, "tables")[0]:
                yield _unprepared(connection)
                return
            yield from _schema(connection)
            yield from _worker_role(connection)
            yield from _walls(connection)
            yield from _work(connection)
    except psycopg.Error as error:
        why = masked(" ".join(str(error).split()))
        yield Check("store", PROBLEM, f"{shown}: {why}")


def _connected(url: str) -> Connection[Any]:
    """As the store connects: what the address says of limits holds for both."""
    address = make_conninfo(url, connect_timeout=PATIENCE_SECONDS, application_name="nexus doctor")
    limits = {
        "statement_timeout": f"{STATEMENT_SECONDS:.0f}s",
        "lock_timeout": f"{LOCK_SECONDS:.0f}s",
    }
    return psycopg.connect(with_settings(address, limits, {}), autocommit=True)


def _one(connection: Connection[Any], name: str, values: Mapping[str, str] | None = None) -> Any:
    return connection.execute(SQL[name].encode(), values).fetchone()


def _server(connection: Connection[Any]) -> Iterator[Check]:
    version = connection.info.server_version
    spelt = f"version {version // 10_000}.{version % 10_000}"
    if version < OLDEST_SERVER:
        yield Check("postgres", PROBLEM, f"{spelt} is too old: Nexus needs 13 or newer")
    else:
        yield Check("postgres", OK, spelt)
    yield _vector(_one(connection, "extension"))


def _limits(connection: Connection[Any], pool: int) -> Check:
    most, reserved, used = _one(connection, "connections")
    left = most - reserved - used
    takes = f"each process of Nexus takes up to {pool} (memory.store.connections)"
    statement, lock = _one(connection, "timeouts")
    ends = f"statements end {_after(statement)}, waits for locks {_after(lock)}"
    detail = f"{left} of {most} are free; {takes}; {ends}"
    if 0 < statement < SHORTEST_MILLISECONDS:
        return Check("connections", PROBLEM, f"{detail}: too soon; see options= in the address")
    return Check("connections", OK if left >= pool else NOTE, detail)


def _after(milliseconds: int) -> str:
    return f"after {milliseconds / 1000:g} s" if milliseconds else "never"


def _vector(row: tuple[str | None, str] | None) -> Check:
    if row is None:
        detail = "not on the server: install its package (postgresql-…-pgvector) there"
        return Check("pgvector", PROBLEM, detail)
    installed, available = row
    if installed is None:
        detail = f"{available} is there but not installed here: CREATE EXTENSION vector;"
        return Check("pgvector", PROBLEM, detail)
    if tuple(int(part) for part in installed.split(".")[:2]) < OLDEST_VECTOR:
        oldest = ".".join(map(str, OLDEST_VECTOR))
        detail = f"{installed} is too old, Nexus needs {oldest}: ALTER EXTENSION vector UPDATE;"
        return Check("pgvector", PROBLEM, detail)
    return Check("pgvector", OK, f"version {installed}")


def _user(connection: Connection[Any]) -> Iterator[Check]:
    """Whoever holds the address: nobody who stands above the walls."""
    user, _, superuser, bypasses, _, _ = _one(connection, "who")
    if superuser or bypasses:
        what = "is a superuser" if superuser else "has BYPASSRLS"
        detail = f"{user} {what}, whom no wall stops: CREATE ROLE app LOGIN; GRANT {ROLE} TO app;"
        yield Check("user", PROBLEM, f"{detail} and connect as app")
    else:
        yield Check("user", OK, f"{user}, bound by row-level security")


def _unprepared(connection: Connection[Any]) -> Check:
    """A database that has nothing of ours, and whether this user may prepare it."""
    user, database, superuser, _, may_create, may_make_roles = _one(connection, "who")
    role = _one(connection, "worker_role", {"role": ROLE})
    missing = []
    if not may_create:
        missing.append(f'GRANT CREATE ON DATABASE "{database}" TO "{user}";')
    if role is None and not (superuser or may_make_roles):
        missing.append(f'CREATE ROLE {ROLE} NOLOGIN; GRANT {ROLE} TO "{user}";')
    elif role is not None and not role[2]:
        missing.append(f'GRANT {ROLE} TO "{user}";')
    if missing:
        detail = f"is not prepared, and {user} may not prepare it: {' '.join(missing)}"
        return Check("schema", PROBLEM, detail)
    return Check("schema", NOTE, "nothing is there yet; the first opening prepares it")


def _schema(connection: Connection[Any]) -> Iterator[Check]:
    if not _one(connection, "usage", {"role": ROLE})[0]:
        yield Check("rights", PROBLEM, f"GRANT USAGE ON SCHEMA nexus TO {ROLE};")
    try:
        (version,) = _one(connection, "version")
        (sealed,) = _one(connection, "vault")
    except psycopg.errors.InsufficientPrivilege:
        return  # what is missing is said with the rights
    kept = "contents, with a key for each person" if sealed else "no; a key would (NEXUS_KEY)"
    yield Check("encrypted", OK if sealed else NOTE, kept)
    yield schema_of(version, NEWEST)


def _worker_role(connection: Connection[Any]) -> Iterator[Check]:
    """The role all work is done as, and what it lacks."""
    role = _one(connection, "worker_role", {"role": ROLE})
    if role is None:
        yield Check("role", PROBLEM, f"{ROLE} is not there: CREATE ROLE {ROLE} NOLOGIN;")
        return
    superuser, bypasses, member = role
    if superuser or bypasses:
        detail = f"{ROLE} stands above the walls: ALTER ROLE {ROLE} NOSUPERUSER NOBYPASSRLS;"
        yield Check("role", PROBLEM, detail)
    if not member:
        user = _one(connection, "who")[0]
        yield Check("role", PROBLEM, f'{user} may not work as {ROLE}: GRANT {ROLE} TO "{user}";')
    rows = connection.execute(SQL["rights"].encode(), {"role": ROLE}).fetchall()
    if owned := [table for table, owner, *_ in rows if owner == ROLE]:
        detail = f"{ROLE} owns {', '.join(owned)}: ALTER TABLE nexus.{owned[0]} OWNER TO another;"
        yield Check("role", PROBLEM, detail)
    lacking = [(table, right) for table, _, rights, _ in rows for right in rights]
    for table, right in lacking:
        yield Check("rights", PROBLEM, f"GRANT {right} ON nexus.{table} TO {ROLE};")
    around = [table for table, _, _, open_by_itself in rows if open_by_itself]
    if around:  # a policy of the parent does not bind whoever asks a partition itself
        lines = f"REVOKE ALL ON nexus.{around[0]} FROM {ROLE}, PUBLIC;"
        yield Check("rights", PROBLEM, f"{len(around)} partitions are open by themselves: {lines}")
    if not lacking and not around:
        yield Check("rights", OK, f"{ROLE} has what it needs, and owns nothing")


def _walls(connection: Connection[Any]) -> Iterator[Check]:
    rows = connection.execute(SQL["walls"].encode()).fetchall()
    down = [
        (table, on and policy)
        for table, on, forced, policy in rows
        if not (on and forced and policy)
    ]
    for table, bound in down:
        what = "binds everybody but its owner" if bound else "is open"
        detail = f"{table} {what}: ALTER TABLE nexus.{table} ENABLE ROW LEVEL SECURITY,"
        yield Check("walls", PROBLEM, f"{detail} FORCE ROW LEVEL SECURITY;")
    if not down:
        yield Check("walls", OK, f"row-level security is forced on all {len(rows)} tables")


def _work(connection: Connection[Any]) -> Iterator[Check]:
    """Asked as the background worker asks: names of workspaces and numbers, no contents."""
    try:
        with connection.transaction():
            for step in ("as_worker", "in_schema", "serve"):
                connection.execute(SQL[step].encode())
            rows = connection.execute(SQL["waiting"].encode()).fetchall()
    except psycopg.errors.InsufficientPrivilege:
        return
    yield from (waiting_work(*row) for row in rows)
