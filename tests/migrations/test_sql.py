"""The SQL files: one truth, every query used, every used name there."""

from __future__ import annotations

import ast
import re
import sqlite3
from importlib.resources import files
from pathlib import Path

import pytest

import nexus.stores.sql
import nexus.stores.sqlite
from nexus.stores.queries import HEADING, load_queries
from nexus.stores.sqlite import migrate

PACKAGE = Path(nexus.stores.sqlite.__file__).parent
SHARED = Path(nexus.stores.sql.__file__).parent
QUERIES = load_queries("nexus.stores.sqlite")
SCHEMA = files("nexus.stores.sqlite").joinpath("schema.sql").read_text(encoding="utf-8")


def tables(*scripts: str) -> dict[str, str]:
    """Everything these scripts make, each in one spelling."""
    connection = sqlite3.connect(":memory:")
    for script in scripts:
        connection.executescript(script)
    made = connection.execute("SELECT type || ' ' || name, sql FROM sqlite_master").fetchall()
    connection.close()
    return {name: normal(sql) for name, sql in made if sql}


def normal(sql: str) -> str:
    without_comments = re.sub(r"--[^\n]*", "", sql)
    return re.sub(r"\s*([(),])\s*", r"\1", re.sub(r"\s+", " ", without_comments)).strip()


@pytest.mark.requirement("E31")
def test_the_schema_is_where_the_migrations_lead() -> None:
    steps = [sql for _, sql in migrate.migrations().values()]

    assert tables(SCHEMA) == tables(*steps)


def test_the_comparison_sees_a_difference() -> None:
    assert tables(SCHEMA) != tables(SCHEMA, "CREATE TABLE more (x)")
    assert normal("CREATE TABLE a (\n  b TEXT  -- why\n)") == normal("CREATE TABLE a(b TEXT)")
    assert normal("a TEXT NOT NULL") != normal("a TEXT")


@pytest.mark.requirement("E31")
def test_migrations_are_numbered_without_a_gap_and_named() -> None:
    names = sorted(
        path.name for path in (PACKAGE / "migrations").iterdir() if path.suffix != ".pyc"
    )

    assert all(re.fullmatch(r"\d{4}_[a-z][a-z0-9_]*\.sql", name) for name in names)
    assert [int(name[:4]) for name in names] == list(range(1, len(names) + 1))


@pytest.mark.requirement("E31")
def test_every_key_starts_with_the_workspace() -> None:
    """Rulings 10: no key is shared, so no error and no number tells about another tenant."""
    connection = sqlite3.connect(":memory:")
    connection.executescript(SCHEMA)
    names = [
        name
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        if name not in ("schema_version", "workspaces", "profiles") and "sqlite_" not in name
    ]

    for table in names:
        for _, index, _unique, *_ in connection.execute(f"PRAGMA index_list({table})"):
            first = connection.execute(f"PRAGMA index_info({index})").fetchone()[2]
            assert first == "workspace" or index == "jobs_by_due", f"{table}.{index}"
    connection.close()
    assert len(names) > 8


def string_constants() -> dict[str, set[str]]:
    """Every text in the Python of both packages, and every name that is run as a query."""
    every: set[str] = set()
    run: set[str] = set()
    for path in (*PACKAGE.glob("*.py"), *SHARED.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                every.add(node.value)
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in ("run", "run_many", "read_each")
                and isinstance(node.args[0], ast.Constant)
            ):
                run.add(node.args[0].value)
    return {"every": every, "run": run}


def test_every_query_is_used() -> None:
    assert sorted(QUERIES.keys() - string_constants()["every"]) == []


def test_every_name_that_is_used_exists() -> None:
    run = string_constants()["run"]

    assert len(run) > 40
    assert sorted(run - QUERIES.keys()) == []


def test_no_name_is_given_twice() -> None:
    headings = HEADING.findall((PACKAGE / "queries.sql").read_text(encoding="utf-8"))

    assert sorted(headings) == sorted(set(headings))


@pytest.mark.parametrize("name", QUERIES)
def test_every_query_is_one_statement_that_fits_the_schema(name: str) -> None:
    connection = sqlite3.connect(":memory:")
    connection.executescript(SCHEMA)
    sql = QUERIES[name]
    names = set(re.findall(r":([a-z_]+)", sql))
    numbers = [int(number) for number in re.findall(r"\?(\d+)", sql)]
    bound = dict.fromkeys(names) if names else [None] * max(numbers or [sql.count("?")])

    connection.execute(f"EXPLAIN {sql}", bound)

    connection.close()


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_about_records_is_bound_to_a_workspace(name: str) -> None:
    """Statistics over several workspaces would tell one about another."""
    sql = re.sub(r"--[^\n]*", "", QUERIES[name])
    reads = re.search(
        r"\b(FROM|JOIN|INTO|UPDATE)\s+(events|memories|postings|vectors|labels|label_scopes|links"
        r"|tombstones|spending|window_items)\b",
        sql,
    )
    # the eraser's own, and the background worker's
    everybodys = {"still_kept", "due_work", "prune_window"}

    bound = (":workspace", "workspaces.name = :name", "(?", "= ?")

    assert not reads or name in everybodys or any(each in sql for each in bound)
