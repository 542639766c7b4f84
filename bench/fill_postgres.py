"""Test data: one Postgres database with many workspaces, filled like `fill_sqlite.py`."""

from __future__ import annotations

from collections.abc import Sequence

import psycopg
from rich.progress import Progress
from tests.servers.postgres import Database

from fill_sqlite import COPY_BATCH, TEMPLATE_WORKSPACES, fill_templates, workspace_name

COLUMNS = """
SELECT relname, array_agg(attname::text ORDER BY attnum)
  FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
 WHERE relnamespace = 'nexus'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
   AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
 GROUP BY relname HAVING bool_or(attname = 'workspace')"""


def fill_postgres(
    database: Database,
    workspaces: int,
    messages: int,
    progress: Progress,
    max_templates: int = TEMPLATE_WORKSPACES,
) -> None:
    """Fill the templates, then copy them until there are `workspaces` workspaces."""
    templates = min(max_templates, workspaces)
    fill_templates(database.url, templates, messages, progress)
    bar = progress.add_task("copying workspaces", total=workspaces - templates)
    with psycopg.connect(database.url_of("postgres"), autocommit=True) as connection:
        connection.execute("SET synchronous_commit = off")
        connection.execute(
            "SET session_replication_role = replica"
        )  # no triggers: see `copy_workspaces`
        for start in range(templates, workspaces, COPY_BATCH):
            batch = range(start, min(start + COPY_BATCH, workspaces))
            with connection.transaction():
                copy_rows(connection, templates, batch)
            progress.advance(bar, len(batch))
        connection.execute("VACUUM ANALYZE")


def copy_rows(connection: psycopg.Connection, templates: int, workspaces: Sequence[int]) -> None:
    """Copy every row of a template to each workspace of `workspaces`, one statement per
    table.
    """
    origins = [workspace_name(number % templates) for number in workspaces]
    names = [workspace_name(number) for number in workspaces]
    connection.execute("CREATE TEMP TABLE copies (origin bigint, made bigint) ON COMMIT DROP")
    tables = dict(connection.execute(COLUMNS).fetchall())
    workspace_columns = sorted(set(tables.pop("workspaces")) - {"workspace", "name"})
    copied = ", ".join(f"template.{column}" for column in workspace_columns)
    connection.execute(
        "WITH wanted AS (SELECT * FROM unnest(%s::text[], %s::text[]) AS w (origin, name)),"
        f" made AS (INSERT INTO nexus.workspaces (name, {', '.join(workspace_columns)})"
        f" SELECT wanted.name, {copied}"
        " FROM wanted JOIN nexus.workspaces AS template ON template.name = wanted.origin"
        " RETURNING workspace, name)"
        " INSERT INTO copies SELECT template.workspace, made.workspace"
        " FROM made JOIN wanted USING (name)"
        " JOIN nexus.workspaces AS template ON template.name = wanted.origin",
        (origins, names),
    )
    for table, table_columns in tables.items():
        columns = [column for column in table_columns if column != "workspace"]
        selected = ", ".join(f"source.{column}" for column in columns)
        connection.execute(
            f"INSERT INTO nexus.{table} (workspace, {', '.join(columns)})"
            f" SELECT copies.made, {selected} FROM copies"
            f" JOIN nexus.{table} AS source ON source.workspace = copies.origin"
            " ORDER BY copies.made"
        )
