"""Health checks of the LanceDB vector index."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from ...runtime.health import NOTE, OK, HealthCheck
from ..external.lancedb.tables import LanceTables
from ..external.lancedb.vectors import MIN_DOCUMENTS
from ..sql.store import SqlStore

MAX_COUNTED = 10_000  # missing vectors of one table


def check_health(folder: Path, records: SqlStore) -> Iterator[HealthCheck]:
    """Yield checks of version, size and replication lag."""
    tables = LanceTables(folder)
    table_ids = tables.list_tables()
    yield HealthCheck("lancedb", OK, f"version {version('lancedb')}")
    if not table_ids:
        detail = (
            f"{folder} has no index yet: labels with {MIN_DOCUMENTS:,} memories or more get one"
        )
        yield HealthCheck("index", NOTE, detail)
        return
    size = sum(file.stat().st_size for file in tables.list_files())
    yield HealthCheck("index", OK, f"{folder} has {len(table_ids)} tables, {size:,} bytes")
    missing = _count_missing(tables, records)
    detail = f"{missing:,} vectors are not indexed yet; searches read them from the records"
    yield HealthCheck("index lag", NOTE if missing else OK, detail if missing else "up to date")
    tables.close()


def _count_missing(tables: LanceTables, records: SqlStore) -> int:
    names = records.change_feed.workspace_ids()
    missing = 0
    for table_id in tables.list_tables():
        progress = tables.load_progress(table_id)
        after = progress.number if progress else 0
        if table_id.workspace in names:
            name = names[table_id.workspace]
            missing += len(
                records.change_feed.read_vectors(
                    name, table_id.label, table_id.profile, after=after, limit=MAX_COUNTED
                )
            )
    return missing
