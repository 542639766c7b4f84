"""What it costs to look after many memories.

    python bench/maintain.py sweep                        10,000 workspaces of 250 memories
    python bench/maintain.py sweep --workspaces 1000      fewer
    python bench/maintain.py sweep --stores sqlite        only one of both
    python bench/maintain.py sweep --workers 2            several processes sweep the Postgres
    python bench/maintain.py consolidate                  what is said again, in all of them
    python bench/maintain.py queue                        jobs and events a second

Kills of workers are a test: pytest tests/faults/test_workers.py -m slow --kills 200

With --keep, results go to bench/results/maintain.json, under the name of what was measured.
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

sys.path.insert(0, str(Path(__file__).parent.parent))  # the servers of the tests are ours as well

import consolidating
import queueing
import sweeping
from filling import MESSAGES, fill_sqlite
from filling_postgres import fill_postgres

RESULTS = Path(__file__).parent / "results" / "maintain.json"


def sweep(given: argparse.Namespace) -> dict[str, Any]:
    """Decay, promotion and cleanup of every workspace."""
    done: dict[str, Any] = {"workspaces": given.workspaces, "memories": given.memories}
    with Progress(console=Console(stderr=True)) as progress:
        if "sqlite" in given.stores:
            with tempfile.TemporaryDirectory(dir=given.folder) as folder:
                file = str(Path(folder) / "memory.db")
                sweeping.fill(file, given.workspaces, given.memories, progress)
                done["sqlite_gigabytes"] = round(Path(file).stat().st_size / 1e9, 2)
                done["sqlite"] = sweeping.measured(file, given.workspaces)  # one writes at a time
        if "postgres" in given.stores:
            with sweeping.server(given.folder and Path(given.folder)) as running:
                made = running.database()
                admin = made.url_of("postgres")
                sweeping.fill_server(made.url, admin, given.workspaces, given.memories, progress)
                done["postgres"] = sweeping.measured(made.url, given.workspaces, given.workers)
                made.drop()
    return done


def queue(given: argparse.Namespace) -> dict[str, Any]:
    """Jobs and events of the outbox: claimed, done and finished."""
    done: dict[str, Any] = {}
    if "sqlite" in given.stores:
        with tempfile.TemporaryDirectory(dir=given.folder) as folder:
            file = str(Path(folder) / "memory.db")
            done["sqlite"] = queueing.measured(file, given.jobs, given.events)
    if "postgres" in given.stores:
        with sweeping.server() as running:
            made = running.database()
            done["postgres"] = queueing.measured(made.url, given.jobs, given.events)
            made.drop()
    return done


def consolidate(given: argparse.Namespace) -> dict[str, Any]:
    """What is said again, in every workspace for the first time, and then after news."""
    done: dict[str, Any] = {"workspaces": given.workspaces}
    with Progress(console=Console(stderr=True)) as progress:
        if "sqlite" in given.stores:
            with tempfile.TemporaryDirectory(dir=given.folder) as folder:
                file = Path(folder) / "memory.db"
                fill_sqlite(file, given.workspaces, MESSAGES, progress)
                done["sqlite"] = consolidating.measured(str(file), given.workspaces, given.workers)
        if "postgres" in given.stores:
            with sweeping.server(given.folder and Path(given.folder)) as running:
                made = running.database()
                fill_postgres(made, given.workspaces, MESSAGES, progress)
                done["postgres"] = consolidating.measured(made.url, given.workspaces, given.workers)
                made.drop()
    return done


PARTS = {"sweep": sweep, "consolidate": consolidate, "queue": queue}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=sorted(PARTS))
    parser.add_argument("--workspaces", type=int, default=10_000)
    parser.add_argument("--memories", type=int, default=250)
    parser.add_argument(
        "--workers", type=int, default=1, help="processes at once (a sweep: of Postgres)"
    )
    parser.add_argument("--jobs", type=int, default=20_000)
    parser.add_argument("--events", type=int, default=3_000)
    parser.add_argument("--stores", default="sqlite,postgres")
    parser.add_argument(
        "--folder",
        default=None,
        help="where files are made; without one, those of Postgres are in memory",
    )
    parser.add_argument("--keep", action="store_true", help="write the results down")
    given = parser.parse_args()
    results = {"python": platform.python_version(), **PARTS[given.part](given)}
    print(sweeping.show(results))
    if given.keep:
        known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        RESULTS.write_text(sweeping.show({**known, given.part: results}) + "\n")


if __name__ == "__main__":
    main()
