"""Maintenance of many memories: sweep, consolidation and job queue.

    python bench/maintain.py sweep                        10,000 workspaces of 250 memories
    python bench/maintain.py sweep --workspaces 1000      fewer workspaces
    python bench/maintain.py sweep --stores sqlite        only one store
    python bench/maintain.py sweep --workers 2            several processes sweep Postgres
    python bench/maintain.py consolidate                  duplicates in all workspaces
    python bench/maintain.py queue                        jobs and events per second

A test kills workers: pytest tests/faults/test_workers.py -m slow --kills 200

With --keep, results are saved to bench/results/maintain.json under the name of the part.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

sys.path.insert(0, str(Path(__file__).parent.parent))  # for tests.servers

import consolidate_workspaces
import job_queue
import sweep_workspaces
from fill_postgres import fill_postgres
from fill_sqlite import MESSAGES, fill_sqlite

RESULTS = Path(__file__).parent / "results" / "maintain.json"


def measure_sweep(options: argparse.Namespace) -> dict[str, Any]:
    """Measure decay, promotion and cleanup of all workspaces."""
    results: dict[str, Any] = {"workspaces": options.workspaces, "memories": options.memories}
    with Progress(console=Console(stderr=True)) as progress:
        if "sqlite" in options.stores:
            with tempfile.TemporaryDirectory(dir=options.folder) as folder:
                file = str(Path(folder) / "memory.db")
                sweep_workspaces.fill_file(file, options.workspaces, options.memories, progress)
                results["sqlite_gigabytes"] = round(Path(file).stat().st_size / 1e9, 2)
                results["sqlite"] = sweep_workspaces.measure(
                    file, options.workspaces
                )  # SQLite has one writer
        if "postgres" in options.stores:
            with sweep_workspaces.start_server(options.folder and Path(options.folder)) as postgres:
                database = postgres.database()
                admin = database.url_of("postgres")
                sweep_workspaces.fill_server(
                    database.url, admin, options.workspaces, options.memories, progress
                )
                results["postgres"] = sweep_workspaces.measure(
                    database.url, options.workspaces, options.workers
                )
                database.drop()
    return results


def measure_queue(options: argparse.Namespace) -> dict[str, Any]:
    """Measure claiming and finishing of jobs and outbox events."""
    results: dict[str, Any] = {}
    if "sqlite" in options.stores:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            file = str(Path(folder) / "memory.db")
            results["sqlite"] = job_queue.measure(file, options.jobs, options.events)
    if "postgres" in options.stores:
        with sweep_workspaces.start_server() as postgres:
            database = postgres.database()
            results["postgres"] = job_queue.measure(database.url, options.jobs, options.events)
            database.drop()
    return results


def measure_consolidation(options: argparse.Namespace) -> dict[str, Any]:
    """Measure consolidation of all workspaces, and of those with new messages."""
    results: dict[str, Any] = {"workspaces": options.workspaces}
    with Progress(console=Console(stderr=True)) as progress:
        if "sqlite" in options.stores:
            with tempfile.TemporaryDirectory(dir=options.folder) as folder:
                file = Path(folder) / "memory.db"
                fill_sqlite(file, options.workspaces, MESSAGES, progress)
                results["sqlite"] = consolidate_workspaces.measure(
                    str(file), options.workspaces, options.workers
                )
        if "postgres" in options.stores:
            with sweep_workspaces.start_server(options.folder and Path(options.folder)) as postgres:
                database = postgres.database()
                fill_postgres(database, options.workspaces, MESSAGES, progress)
                results["postgres"] = consolidate_workspaces.measure(
                    database.url, options.workspaces, options.workers
                )
                database.drop()
    return results


PARTS = {"sweep": measure_sweep, "consolidate": measure_consolidation, "queue": measure_queue}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", choices=sorted(PARTS), help="part to measure")
    parser.add_argument("--workspaces", type=int, default=10_000, help="number of workspaces")
    parser.add_argument("--memories", type=int, default=250, help="memories per workspace")
    parser.add_argument(
        "--workers",
        type=int,
        default=1,
        help="worker processes (a sweep uses them only on Postgres)",
    )
    parser.add_argument("--jobs", type=int, default=20_000, help="jobs for `queue`")
    parser.add_argument("--events", type=int, default=3_000, help="events for `queue`")
    parser.add_argument("--stores", default="sqlite,postgres", help="stores to measure")
    parser.add_argument(
        "--folder",
        default=None,
        help="folder for temporary files (default: Postgres data in memory)",
    )
    parser.add_argument("--keep", action="store_true", help="save the results")
    options = parser.parse_args()
    results = {"python": platform.python_version(), **PARTS[options.part](options)}
    print(sweep_workspaces.to_json(results))
    if options.keep:
        saved = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        RESULTS.write_text(sweep_workspaces.to_json({**saved, options.part: results}) + "\n")


if __name__ == "__main__":
    main()
