"""Bringing a file to today's schema.

A new file gets `schema.sql`. An older one gets the migrations it has not had, each in its own
transaction. A file from a newer Nexus is refused rather than guessed at.
"""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from functools import partial
from importlib.resources import files

from ...core.canonical import time_text
from ...core.errors import StoreUnavailable
from ..queries import load_migrations
from .connections import Connection, Connections

migrations = partial(load_migrations, __package__)


def bring_up_to_date(connections: Connections) -> list[int]:
    """Apply what is missing; returns the versions that were."""
    return connections.write(_bring_up_to_date)


def _bring_up_to_date(connection: Connection) -> list[int]:
    steps = migrations()
    known = _versions(connection)
    if known and max(known) > max(steps):
        raise StoreUnavailable(
            f"the file was written by a newer Nexus (schema {max(known)}, this one knows"
            f" {max(steps)}): upgrade with pip install -U nexus-memory"
        )
    if not known:
        schema = files(__package__).joinpath("schema.sql").read_text(encoding="utf-8")
        _run(connection, schema)
        missing = list(steps)
    else:
        missing = [version for version in steps if version not in known]
        for version in missing:
            _run(connection, steps[version][1])
    now = time_text(datetime.now(UTC))
    for version in missing:
        row = {"version": version, "description": steps[version][0], "applied_at": now}
        connection.run("add_version", row)
    return missing


def _versions(connection: Connection) -> list[int]:
    tables = "SELECT name FROM sqlite_master WHERE type = 'table'"
    names = {name for (name,) in connection.execute(tables)}
    return [v for (v,) in connection.run("versions")] if names else []


def _run(connection: Connection, script: str) -> None:
    """`executescript` would commit first; this stays inside the transaction."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            connection.execute(statement)
            statement = ""
