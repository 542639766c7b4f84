"""Test data: one SQLite file with many workspaces.

A few template workspaces are filled through the public API. All others are row-by-row copies of
a template under their own workspace number. Workspaces are sampled by Zipf's law: the second is
sampled half as often as the first.
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path

from rich.progress import Progress

from chat_generator import PEOPLE, ChatGenerator
from nexusmem import Nexus, Place
from nexusmem.config.settings import Settings

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
MESSAGES = 71  # per workspace; with the memories learned from them it holds 250 memories
TEMPLATE_WORKSPACES = 100  # template workspaces: more than the caches hold
COPY_BATCH = 50  # workspaces per transaction

ReportProgress = Callable[[int], None]


def open_nexus(
    target: Path | str, clock: Callable[[], datetime], *, background: bool = True
) -> Nexus:
    """Open a client with default settings; receipts are written in the background."""
    return Nexus.open(target, settings=Settings(), clock=clock, background=background)


def get_room(nexus: Nexus, workspace: int) -> Place:
    return nexus.workspace(workspace_name(workspace)).room("talk", participants=PEOPLE)


def workspace_name(workspace: int) -> str:
    return f"team-{workspace:05d}"


def fill_workspace(nexus: Nexus, workspace: int, messages: int) -> None:
    """Write `messages` messages to a workspace and index them.

    Raise RuntimeError if some messages could not be indexed.
    """
    place = get_room(nexus, workspace)
    place.observe_many(ChatGenerator(workspace).make_messages(messages, NOW))
    if failed := nexus.workspace(workspace_name(workspace)).flush():
        raise RuntimeError(f"could not index {failed} messages")


def fill_templates(target: Path | str, templates: int, messages: int, progress: Progress) -> None:
    """Fill the template workspaces."""
    bar = progress.add_task("filling templates", total=templates)
    with open_nexus(target, lambda: NOW, background=False) as nexus:
        for number in range(templates):
            fill_workspace(nexus, number, messages)
            progress.advance(bar)


# SQLite


def fill_sqlite(
    path: Path,
    workspaces: int,
    messages: int,
    progress: Progress,
    max_templates: int = TEMPLATE_WORKSPACES,
) -> None:
    """Fill the templates, then copy them until the file holds `workspaces` workspaces."""
    templates = min(max_templates, workspaces)
    fill_templates(path, templates, messages, progress)
    bar = progress.add_task("copying workspaces", total=workspaces - templates)
    copy_workspaces(
        path, templates, range(templates, workspaces), lambda done: progress.advance(bar, done)
    )


def copy_workspaces(
    path: Path, templates: int, workspaces: Sequence[int], report_progress: ReportProgress
) -> None:
    """Copy every row of a template to each workspace of `workspaces`.

    Rows refer to each other only within a workspace, so the workspace number is the only change.
    """
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA cache_size = -200000")
        statements, workspace_statement = (
            list(copy_statements(connection)),
            copy_workspace_statement(connection),
        )
        triggers = connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall()
        for name, _ in triggers:  # they maintain counters, which are copied as rows
            connection.execute(f"DROP TRIGGER {name}")
        numbers = dict(connection.execute("SELECT name, workspace FROM workspaces"))
        for start in range(0, len(workspaces), COPY_BATCH):
            batch = workspaces[start : start + COPY_BATCH]
            connection.execute("BEGIN")
            for number in batch:
                origin = numbers[workspace_name(number % templates)]
                row = {"origin": origin, "name": workspace_name(number)}
                (row["number"],) = connection.execute(workspace_statement, row).fetchone()
                for statement in statements:
                    connection.execute(statement, row)
            connection.execute("COMMIT")
            report_progress(len(batch))
        for _, sql in triggers:
            connection.execute(sql)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def copy_workspace_statement(connection: sqlite3.Connection) -> str:
    """Return the statement that copies a row of table `workspaces` under another name."""
    columns = [row[1] for row in connection.execute("PRAGMA table_info(workspaces)")]
    names = ", ".join(column for column in columns if column not in ("workspace", "name"))
    return (
        f"INSERT INTO workspaces (name, {names}) SELECT :name, {names} FROM workspaces"
        " WHERE workspace = :origin RETURNING workspace"
    )


def copy_statements(connection: sqlite3.Connection) -> Iterator[str]:
    """Yield one statement per table that copies the rows of a workspace."""
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    for (table,) in tables:
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        if "workspace" in columns and table != "workspaces":
            copied_columns = [column for column in columns if column != "workspace"]
            names = ", ".join(copied_columns)
            yield (
                f"INSERT INTO {table} (workspace, {names})"
                f" SELECT :number, {names} FROM {table} WHERE workspace = :origin"
            )


# Sampling of workspaces


class ZipfSampler:
    """Sampler of numbers below `count`; the n-th is n times as rare as the first."""

    def __init__(self, count: int, seed: int) -> None:
        self._random = random.Random(seed)
        self._count = count
        self._sums = list(accumulate(1 / rank for rank in range(1, count + 1)))

    def __call__(self) -> int:
        (number,) = self._random.choices(range(self._count), cum_weights=self._sums)
        return number


def make_workspace_sampler(workspaces: int, seed: int) -> Callable[[], int]:
    """Return a Zipf sampler of workspaces; frequent ones are spread over the file."""
    order = list(range(workspaces))
    random.Random(seed).shuffle(order)
    rank = ZipfSampler(workspaces, seed)
    return lambda: order[rank()]
