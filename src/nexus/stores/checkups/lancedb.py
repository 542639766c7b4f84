"""A look at the index of vectors that LanceDB keeps beside the records."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from ...core.checkup import NOTE, OK, Check
from ..lancedb.tables import Tables
from ..lancedb.vectors import LARGE
from ..sql.store import SqlStore

MOST_COUNTED = 10_000  # vectors of one table that are not in it yet


def examine(folder: Path, records: SqlStore) -> Iterator[Check]:
    tables = Tables(folder)
    places = tables.places()
    yield Check("lancedb", OK, f"version {version('lancedb')}")
    if not places:
        detail = f"{folder} holds no index yet: places of {LARGE:,} memories or more get one"
        yield Check("index", NOTE, detail)
        return
    size = sum(file.stat().st_size for file in tables.files())
    yield Check("index", OK, f"{folder} holds {len(places)} tables, {size:,} bytes")
    behind = _behind(tables, records)
    detail = f"{behind:,} vectors are not in it yet; until then they are searched in the records"
    yield Check("index lag", NOTE if behind else OK, detail if behind else "nothing is missing")
    tables.close()


def _behind(tables: Tables, records: SqlStore) -> int:
    names = records.feed.workspaces()
    behind = 0
    for place in tables.places():
        reached = tables.reached(place)
        after = reached.number if reached else 0
        if place.workspace in names:
            name = names[place.workspace]
            behind += len(
                records.feed.vectors(
                    name, place.label, place.profile, after=after, limit=MOST_COUNTED
                )
            )
    return behind
