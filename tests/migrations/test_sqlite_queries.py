"""SQL of SQLite: every query is used and exists, fits the schema and is bound to a workspace."""

from __future__ import annotations

import ast
import re
import sqlite3
from pathlib import Path

import pytest

import nexusmem.stores.external
import nexusmem.stores.sql
import nexusmem.stores.sqlite
from nexusmem.stores.query_files import HEADING, load_queries
from nexusmem.stores.sqlite import store

PACKAGE = Path(nexusmem.stores.sqlite.__file__).parent
SHARED = Path(nexusmem.stores.sql.__file__).parent
FEED = Path(nexusmem.stores.external.__file__).parent / "change_feed.py"
QUERIES = load_queries("nexusmem.stores.sqlite")
SCHEMA = "".join(script for _, script in store.migrations().values())


@pytest.mark.requirement("E31")
def test_migrations_are_numbered_and_named() -> None:
    names = sorted(
        path.name for path in (PACKAGE / "migrations").iterdir() if path.suffix != ".pyc"
    )

    assert all(re.fullmatch(r"\d{4}_[a-z][a-z0-9_]*\.sql", name) for name in names)
    assert [int(name[:4]) for name in names] == list(range(1, len(names) + 1))


@pytest.mark.requirement("E31")
def test_every_key_starts_with_the_workspace() -> None:
    """No key is shared, so no error and no number reveals another tenant."""
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
    """Return all string constants of the modules, and the names that are run as queries."""
    every: set[str] = set()
    run: set[str] = set()
    for path in (*PACKAGE.rglob("*.py"), *SHARED.rglob("*.py"), FEED):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                every.add(node.value)
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in ("execute_query", "execute_batch", "fetch_each")
                and isinstance(node.args[0], ast.Constant)
            ):
                run.add(node.args[0].value)
    return {"every": every, "run": run}


def test_every_query_is_used() -> None:
    assert sorted(QUERIES.keys() - string_constants()["every"]) == []


def test_every_used_query_exists() -> None:
    run = string_constants()["run"]

    assert len(run) > 40
    assert sorted(run - QUERIES.keys()) == []


def test_query_names_are_unique() -> None:
    headings = HEADING.findall((PACKAGE / "queries.sql").read_text(encoding="utf-8"))

    assert sorted(headings) == sorted(set(headings))


@pytest.mark.parametrize("name", QUERIES)
def test_every_query_can_be_prepared(name: str) -> None:
    connection = sqlite3.connect(":memory:")
    connection.executescript(SCHEMA)
    sql = QUERIES[name]
    names = set(re.findall(r":([a-z_]+)", sql))
    numbers = [int(number) for number in re.findall(r"\?(\d+)", sql)]
    bound = dict.fromkeys(names) if names else [None] * max(numbers or [sql.count("?")])

    connection.execute(f"EXPLAIN {sql}", bound)

    connection.close()


@pytest.mark.parametrize("name", QUERIES)
def test_query_of_records_is_bound_to_a_workspace(name: str) -> None:
    """Statistics over several workspaces would leak data between them."""
    sql = re.sub(r"--[^\n]*", "", QUERIES[name])
    reads = re.search(
        r"\b(FROM|JOIN|INTO|UPDATE)\s+(events|memories|postings|vectors|labels|label_scopes|links"
        r"|tombstones|model_costs|window_items)\b",
        sql,
    )
    # queries of the eraser and of the background worker
    everybodys = {"is_still_stored", "prune_window"}

    bound = (":workspace", "workspaces.name = :name", "(?", "= ?")

    assert not reads or name in everybodys or any(each in sql for each in bound)
