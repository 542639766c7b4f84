"""The SQL of Postgres: one truth, the same names as SQLite's, every query fits the schema."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest
from tests.servers.postgres import Database, Postgres

import nexus.stores.postgres
import nexus.stores.sql
from nexus.core.errors import StoreUnavailable
from nexus.stores.postgres import migrate, session
from nexus.stores.postgres.store import PostgresStore
from nexus.stores.queries import HEADING, load_queries

PACKAGE = Path(nexus.stores.postgres.__file__).parent
SHARED = Path(nexus.stores.sql.__file__).parent
ROOT = Path(__file__).parent.parent.parent
QUERIES = load_queries("nexus.stores.postgres")
SCHEMA = files("nexus.stores.postgres").joinpath("schema.sql").read_text(encoding="utf-8")

MADE = """
SELECT 'column ' || c.relname || '.' || a.attname, format_type(a.atttypid, a.atttypmod)
       || coalesce(' ' || (SELECT collname FROM pg_collation WHERE oid = a.attcollation), '')
       || CASE WHEN a.attnotnull THEN ' not null' ELSE '' END
       || coalesce(' ' || pg_get_expr(d.adbin, d.adrelid), '') || a.attidentity::text
  FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0
  LEFT JOIN pg_attrdef AS d ON d.adrelid = c.oid AND d.adnum = a.attnum
 WHERE c.relnamespace = 'nexus'::regnamespace AND c.relkind IN ('r', 'p')
UNION ALL SELECT 'table ' || relname, concat_ws(' ', relkind, relrowsecurity, relforcerowsecurity,
                                              relacl::text, reloptions::text,
                                              pg_get_partkeydef(oid),
                                              pg_get_expr(relpartbound, oid))
  FROM pg_class WHERE relnamespace = 'nexus'::regnamespace AND relkind IN ('r', 'p')
UNION ALL SELECT 'index ' || indexname, indexdef FROM pg_indexes WHERE schemaname = 'nexus'
UNION ALL SELECT 'key ' || conname, pg_get_constraintdef(oid) FROM pg_constraint
 WHERE connamespace = 'nexus'::regnamespace
UNION ALL SELECT 'policy ' || tablename || policyname, concat_ws(' ', cmd, qual, with_check)
  FROM pg_policies WHERE schemaname = 'nexus'
UNION ALL SELECT 'function ' || proname, pg_get_functiondef(oid) FROM pg_proc
 WHERE pronamespace = 'nexus'::regnamespace
UNION ALL SELECT 'trigger ' || tgname || tgrelid::regclass, pg_get_triggerdef(oid) FROM pg_trigger
 WHERE NOT tgisinternal"""


def everything(database: Database, *scripts: str) -> dict[str, str]:
    """Whatever these scripts make in an empty database."""
    database.run("CREATE SCHEMA nexus AUTHORIZATION owner")
    roles = files("nexus.stores.postgres").joinpath("roles.sql").read_text(encoding="utf-8")
    for script in (roles, *scripts):
        database.run(f"SET ROLE owner; SET search_path = nexus, public; {script}")
    return dict(database.run(MADE))


@pytest.fixture
def other(postgres_server: Postgres) -> Iterator[Database]:
    made = postgres_server.database()
    yield made
    made.drop()


@pytest.mark.requirement("E31")
def test_the_schema_is_where_the_migrations_lead(postgres: Database, other: Database) -> None:
    steps = [sql for _, sql in migrate.migrations().values()]

    made = everything(postgres, SCHEMA)

    assert made == everything(other, *steps)
    assert len(made) > 100


def test_the_comparison_sees_a_difference(postgres: Database, other: Database) -> None:
    more = "ALTER TABLE labels ALTER latest SET DEFAULT 1"

    assert everything(postgres, SCHEMA) != everything(other, SCHEMA, more)


def run_by_name(folder: Path) -> set[str]:
    """Every name that is run as a query in the Python of a package."""
    return {
        node.args[0].value
        for path in folder.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("run", "run_many", "read_each")
        and node.args
        and isinstance(node.args[0], ast.Constant)
    }


def test_whatever_the_shared_parts_run_is_there() -> None:
    shared = run_by_name(SHARED) - {"still_kept"}  # SQLite's way to look for traces

    assert len(shared) > 60
    assert sorted(shared - QUERIES.keys()) == []


def test_every_query_is_used() -> None:
    texts = {
        node.value
        for folder in (PACKAGE, SHARED)
        for path in folder.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    moved = {name for name in QUERIES if name.startswith("standing_")}  # named by their shelves

    assert sorted(QUERIES.keys() - texts - moved) == []


def test_no_name_is_given_twice() -> None:
    headings = HEADING.findall((PACKAGE / "queries.sql").read_text(encoding="utf-8"))

    assert sorted(headings) == sorted(set(headings))


def test_every_query_is_one_statement_that_fits_the_schema(postgres: Database) -> None:
    PostgresStore(postgres.url).close()
    refused = []
    for name, sql in QUERIES.items():
        text = sql
        for number, value in enumerate(dict.fromkeys(re.findall(r"%\((\w+)\)s", sql)), start=1):
            text = text.replace(f"%({value})s", f"${number}")
        try:
            postgres.run(f"SET search_path = nexus, public; PREPARE q AS {text.rstrip(';')}")
        except Exception as error:  # noqa: BLE001  # all of them are told
            refused.append(f"{name}: {error}")

    assert refused == []


@pytest.mark.requirement("A12")
@pytest.mark.parametrize("name", QUERIES)
def test_a_query_about_records_is_bound_to_a_workspace(name: str) -> None:
    """The first wall; the second one does not need it."""
    sql = re.sub(r"--[^\n]*", "", QUERIES[name])
    reads = re.search(
        r"\b(FROM|JOIN|INTO|UPDATE)\s+(events|memories|remembered|archive|uses|names|threads"
        r"|postings|vectors|labels|label_scopes|links|tombstones|spending|window_items|outbox"
        r"|jobs|audit|keys)\b",
        sql,
    )
    bound = ("%(workspace)s", "(r ->> 0)::bigint", "chosen.workspace", "wanted.home")

    assert not reads or name in session.EVERYBODYS or any(each in sql for each in bound)


def test_the_way_to_several_servers_names_every_table_of_a_tenant() -> None:
    tables = re.findall(r"CREATE TABLE (\w+) \(\n +workspace +bigint +NOT NULL", SCHEMA)
    documented = (ROOT / "docs" / "stores.md").read_text(encoding="utf-8")

    assert len(tables) > 10
    assert set(re.findall(r"'nexus\.(\w+)'", documented)) == {*tables, "profiles"}


@pytest.mark.requirement("E31")
def test_a_database_of_a_newer_nexus_is_refused(postgres: Database) -> None:
    PostgresStore(postgres.url).close()
    postgres.run("INSERT INTO nexus.schema_version VALUES (9000, 'later', now())")

    with pytest.raises(StoreUnavailable, match=r"newer Nexus .*pip install -U"):
        PostgresStore(postgres.url)
