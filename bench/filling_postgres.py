"""Many workspaces in one Postgres database, as `filling.py` makes them in a SQLite file."""

from __future__ import annotations

from collections.abc import Sequence

import psycopg
from rich.progress import Progress
from tests.servers.postgres import Database

from filling import COPIED_AT_ONCE, DIFFERENT, name_of, tell_the_first

COLUMNS = """
SELECT relname, array_agg(attname::text ORDER BY attnum)
  FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
 WHERE relnamespace = 'nexus'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
   AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
 GROUP BY relname HAVING bool_or(attname = 'workspace')"""


def fill_postgres(
    database: Database, workspaces: int, messages: int, progress: Progress, most: int = DIFFERENT
) -> None:
    different = min(most, workspaces)
    tell_the_first(database.url, different, messages, progress)
    bar = progress.add_task("copying", total=workspaces - different)
    with psycopg.connect(database.url_of("postgres"), autocommit=True) as connection:
        connection.execute("SET synchronous_commit = off")
        connection.execute("SET session_replication_role = replica")  # no triggers: see `copy`
        for start in range(different, workspaces, COPIED_AT_ONCE):
            portion = range(start, min(start + COPIED_AT_ONCE, workspaces))
            with connection.transaction():
                copy_rows(connection, different, portion)
            progress.advance(bar, len(portion))
        connection.execute("VACUUM ANALYZE")


def copy_rows(connection: psycopg.Connection, different: int, workspaces: Sequence[int]) -> None:
    origins = [name_of(number % different) for number in workspaces]
    names = [name_of(number) for number in workspaces]
    connection.execute("CREATE TEMP TABLE copies (origin bigint, made bigint) ON COMMIT DROP")
    tables = dict(connection.execute(COLUMNS).fetchall())
    given = sorted(set(tables.pop("workspaces")) - {"workspace", "name"})
    copied = ", ".join(f"known.{column}" for column in given)
    connection.execute(
        "WITH wanted AS (SELECT * FROM unnest(%s::text[], %s::text[]) AS w (origin, name)),"
        f" made AS (INSERT INTO nexus.workspaces (name, {', '.join(given)})"
        f" SELECT wanted.name, {copied}"
        " FROM wanted JOIN nexus.workspaces AS known ON known.name = wanted.origin"
        " RETURNING workspace, name)"
        " INSERT INTO copies SELECT known.workspace, made.workspace FROM made"
        " JOIN wanted USING (name) JOIN nexus.workspaces AS known ON known.name = wanted.origin",
        (origins, names),
    )
    for table, listed in tables.items():
        columns = [column for column in listed if column != "workspace"]
        taken = ", ".join(f"kept.{column}" for column in columns)
        connection.execute(
            f"INSERT INTO nexus.{table} (workspace, {', '.join(columns)})"
            f" SELECT copies.made, {taken} FROM copies"
            f" JOIN nexus.{table} AS kept ON kept.workspace = copies.origin ORDER BY copies.made"
        )
