"""Every tenant table in Postgres has row-level security, according to the catalog."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from tests.leaks.postgres_catalog import find_defects, reads_setting_per_row
from tests.servers.postgres import Database, Postgres

from nexusmem.stores.postgres.store import PostgresStore

Connection = psycopg.Connection[Any]

BOUND = "workspace = ANY ((SELECT nullif(current_setting('nexus.workspace', true), ''))::bigint[])"
WALLED = f"""
CREATE TABLE diary (workspace bigint NOT NULL, day integer, told text,
                    PRIMARY KEY (workspace, day));
ALTER TABLE diary ENABLE ROW LEVEL SECURITY;
ALTER TABLE diary FORCE ROW LEVEL SECURITY;
CREATE POLICY bound ON diary USING ({BOUND});
GRANT SELECT ON diary TO nexus_app"""

# Changes that somebody could make, and the expected defect.
DEFECTS = {
    "a table without anything": ("CREATE TABLE diary (told text)", "no policy"),
    "row-level security off": (
        f"{WALLED}; ALTER TABLE diary DISABLE ROW LEVEL SECURITY",
        "row-level security is off",
    ),
    "not forced": (f"{WALLED}; ALTER TABLE diary NO FORCE ROW LEVEL SECURITY", "not forced"),
    "no policy": (f"{WALLED}; DROP POLICY bound ON diary", "no policy"),
    "a policy that lets everything through": (
        f"{WALLED}; DROP POLICY bound ON diary; CREATE POLICY bound ON diary USING (true)",
        "does not compare the workspace",
    ),
    "a second policy beside the first": (
        f"{WALLED}; CREATE POLICY wide ON diary FOR SELECT USING (day > 0)",
        "does not compare the workspace",
    ),
    "rows of others may be written": (
        f"{WALLED}; ALTER POLICY bound ON diary WITH CHECK (true)",
        "WITH CHECK of the policy bound does not compare",
    ),
    "the setting is asked for once a row": (
        (
            f"{WALLED}; ALTER POLICY bound ON diary"
            " USING (workspace = current_setting('nexus.workspace')::bigint)"
        ),
        "once a row",
    ),
    "a key of its own": (
        f"{WALLED}; ALTER TABLE diary ADD UNIQUE (day, workspace)",
        "starts with day",
    ),
    "a foreign key into any workspace": (
        f"{WALLED}; ALTER TABLE diary ADD told_in bigint REFERENCES workspaces (workspace)",
        "the foreign key",
    ),
    "a partition that is reached directly": (
        "GRANT SELECT ON memories_0 TO nexus_app",
        "memories_0: row-level security is off",
    ),
    "a plain view": ("CREATE VIEW everything AS SELECT * FROM memories", "a plain view"),
    "a materialized view": (
        "CREATE MATERIALIZED VIEW everything AS SELECT * FROM memories",
        "everything: row-level security is off",
    ),
    "a function with its owner's rights": (
        (
            "CREATE FUNCTION peek() RETURNS bigint LANGUAGE sql SECURITY DEFINER"
            " AS 'SELECT count(*) FROM memories'"
        ),
        "SECURITY DEFINER",
    ),
    "a wall of ours taken away": (
        "ALTER TABLE memories NO FORCE ROW LEVEL SECURITY",
        "memories: row-level security is not forced",
    ),
    "a role above the walls": ("ALTER ROLE nexus_app BYPASSRLS", "above row-level security"),
}


@pytest.fixture(scope="module")
def database(postgres_server: Postgres) -> Iterator[Database]:
    made = postgres_server.database()
    PostgresStore(made.url).close()
    yield made
    made.drop()


@pytest.fixture
def connection(database: Database) -> Iterator[Connection]:
    """Yield a connection. Changes to the database are rolled back."""
    with psycopg.connect(database.url_of("postgres")) as connection:
        connection.execute("SET search_path = nexus, public")
        yield connection
        connection.rollback()


@pytest.mark.requirement("X2")
def test_every_table_has_row_level_security(connection: Connection) -> None:
    assert find_defects(connection) == []


@pytest.mark.requirement("X2")
@pytest.mark.parametrize("defect", DEFECTS)
def test_missing_policy_is_detected(defect: str, connection: Connection) -> None:
    statements, said = DEFECTS[defect]

    connection.execute(statements)

    assert any(said in complaint for complaint in find_defects(connection))


def test_isolated_table_has_no_defect(connection: Connection) -> None:
    connection.execute(WALLED)

    assert find_defects(connection) == []


@pytest.mark.requirement("X10")
def test_text_columns_use_binary_collation(connection: Connection) -> None:
    """The order of a language would differ between servers and from the other stores."""
    texts = connection.execute(
        "SELECT attrelid::regclass::text, attname, collname FROM pg_attribute"
        " JOIN pg_class ON pg_class.oid = attrelid AND relkind IN ('r', 'p')"
        " JOIN pg_collation ON pg_collation.oid = attcollation"
        " WHERE relnamespace = 'nexus'::regnamespace AND relname <> 'schema_version'"
    ).fetchall()

    assert len(texts) > 20
    assert [row for row in texts if row[2] != "C"] == []


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (
            "(workspace = ANY (( SELECT (NULLIF(current_setting('a'::text, true), ''::text))::b)))",
            0,
        ),
        ("(workspace = (current_setting('a'::text))::bigint)", 1),
        ("((x = ( SELECT current_setting('a'::text))) OR (y = current_setting('b'::text)))", 1),
        ("(x = ( SELECT current_setting(')'::text) || current_setting('c'::text)))", 0),
    ],
)
def test_setting_read_per_row_is_detected(expression: str, expected: int) -> None:
    assert reads_setting_per_row(expression) == bool(expected)
