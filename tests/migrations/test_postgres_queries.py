"""SQL of Postgres: every query is used, fits the schema and is bound to a workspace."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from tests.servers.postgres import Database

import nexusmem.stores.external
import nexusmem.stores.postgres
import nexusmem.stores.sql
from nexusmem.core.errors import StoreUnavailable
from nexusmem.stores.postgres import migrate, transaction
from nexusmem.stores.postgres.store import PostgresStore
from nexusmem.stores.query_files import HEADING, load_queries

PACKAGE = Path(nexusmem.stores.postgres.__file__).parent
SHARED = Path(nexusmem.stores.sql.__file__).parent
FEED = Path(nexusmem.stores.external.__file__).parent / "change_feed.py"
ROOT = Path(__file__).parent.parent.parent
QUERIES = load_queries("nexusmem.stores.postgres")
SCHEMA = "".join(script for _, script in migrate.migrations().values())


def run_by_name(*paths: Path) -> set[str]:
    """Return the names of all queries that these modules run."""
    return {
        node.args[0].value
        for path in paths
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("execute_query", "execute_batch", "fetch_each")
        and node.args
        and isinstance(node.args[0], ast.Constant)
    }


def test_every_shared_query_exists() -> None:
    only_sqlite = {"is_still_stored"}
    shared = run_by_name(*SHARED.rglob("*.py"), FEED) - only_sqlite

    assert len(shared) > 60
    assert sorted(shared - QUERIES.keys()) == []


def test_every_query_is_used() -> None:
    texts = {
        node.value
        for path in (*PACKAGE.rglob("*.py"), *SHARED.rglob("*.py"), FEED)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    paged = {name for name in QUERIES if name.startswith("page_")}  # looked up by record type

    assert sorted(QUERIES.keys() - texts - paged) == []


def test_query_names_are_unique() -> None:
    headings = HEADING.findall((PACKAGE / "queries.sql").read_text(encoding="utf-8"))

    assert sorted(headings) == sorted(set(headings))


def test_every_query_can_be_prepared(postgres: Database) -> None:
    PostgresStore(postgres.url).close()
    refused = []
    for name, sql in QUERIES.items():
        text = sql
        for number, value in enumerate(dict.fromkeys(re.findall(r"%\((\w+)\)s", sql)), start=1):
            text = text.replace(f"%({value})s", f"${number}")
        try:
            postgres.run(f"SET search_path = nexus, public; PREPARE q AS {text.rstrip(';')}")
        except Exception as error:  # all errors are reported  # noqa: BLE001
            refused.append(f"{name}: {error}")

    assert refused == []


@pytest.mark.requirement("A12")
@pytest.mark.parametrize("name", QUERIES)
def test_query_of_records_is_bound_to_a_workspace(name: str) -> None:
    """Defence in depth: row-level security restricts the queries as well."""
    sql = re.sub(r"--[^\n]*", "", QUERIES[name])
    reads = re.search(
        r"\b(FROM|JOIN|INTO|UPDATE)\s+(events|memories|memories_with_state|archived_memories|usage_counts|names"
        r"|conversations|postings|vectors|labels|label_scopes|links|tombstones|model_costs"
        r"|window_items|outbox"
        r"|jobs|audit|keys)\b",
        sql,
    )
    bound = ("%(workspace)s", "(r ->> 0)::bigint", "chosen.workspace", "wanted.home")

    assert (
        not reads
        or name in transaction.CROSS_WORKSPACE_QUERIES
        or any(each in sql for each in bound)
    )


def test_docs_distribute_every_table_with_workspaces() -> None:
    tables = re.findall(r"CREATE TABLE (\w+) \(\n +workspace +bigint +NOT NULL", SCHEMA)
    documented = (ROOT / "docs" / "reference" / "postgres.md").read_text(encoding="utf-8")

    assert len(tables) > 10
    assert set(re.findall(r"'nexus\.(\w+)'", documented)) == {*tables, "profiles"}


@pytest.mark.requirement("E31")
def test_newer_schema_is_rejected(postgres: Database) -> None:
    PostgresStore(postgres.url).close()
    postgres.run("INSERT INTO nexus.schema_version VALUES (9000, 'later', now())")

    with pytest.raises(StoreUnavailable, match=r"newer Nexus .*pip install -U"):
        PostgresStore(postgres.url)
