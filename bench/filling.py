"""Many workspaces in one store, quickly: a few are told, all others are copies of them.

A copy has every row of its original under a workspace number of its own: ten thousand walls with
the same furniture. Which workspace is asked follows Zipf's law: the second is asked half as often
as the first.
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

from chatter import PEOPLE, Chatter
from nexus import Nexus, Place
from nexus.config import Settings

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
MESSAGES = 71  # told in a workspace: with what is learned from them it holds 250 memories
DIFFERENT = 100  # workspaces that are told; the others are copies: too many to be remembered
COPIED_AT_ONCE = 50  # workspaces

Say = Callable[[int], None]


def opened(where: Path | str, clock: Callable[[], datetime], *, background: bool = True) -> Nexus:
    """As anybody opens it: receipts are written down in the background."""
    return Nexus.open(where, settings=Settings(), clock=clock, background=background)


def room(nexus: Nexus, workspace: int) -> Place:
    return nexus.workspace(name_of(workspace)).room("talk", participants=PEOPLE)


def name_of(workspace: int) -> str:
    return f"team-{workspace:05d}"


def tell(nexus: Nexus, workspace: int, messages: int) -> None:
    place = room(nexus, workspace)
    place.observe_many(Chatter(workspace).messages(messages, NOW))
    if stuck := nexus.workspace(name_of(workspace)).flush():
        raise RuntimeError(f"{stuck} messages could not be indexed")


def tell_the_first(where: Path | str, different: int, messages: int, progress: Progress) -> None:
    bar = progress.add_task("telling", total=different)
    with opened(where, lambda: NOW, background=False) as nexus:
        for number in range(different):
            tell(nexus, number, messages)
            progress.advance(bar)


# SQLite


def fill_sqlite(
    path: Path, workspaces: int, messages: int, progress: Progress, most: int = DIFFERENT
) -> None:
    different = min(most, workspaces)
    tell_the_first(path, different, messages, progress)
    bar = progress.add_task("copying", total=workspaces - different)
    copy(path, different, range(different, workspaces), lambda done: progress.advance(bar, done))


def copy(path: Path, different: int, workspaces: Sequence[int], say: Say) -> None:
    """Every row of a workspace under another number: no table mixes two of them."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA cache_size = -200000")
        statements, itself = list(copying(connection)), copying_itself(connection)
        triggers = connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall()
        for name, _ in triggers:  # they count what is written, and copies are counted already
            connection.execute(f"DROP TRIGGER {name}")
        numbers = dict(connection.execute("SELECT name, workspace FROM workspaces"))
        for start in range(0, len(workspaces), COPIED_AT_ONCE):
            portion = workspaces[start : start + COPIED_AT_ONCE]
            connection.execute("BEGIN")
            for number in portion:
                origin = numbers[name_of(number % different)]
                made = {"origin": origin, "name": name_of(number)}
                (made["number"],) = connection.execute(itself, made).fetchone()
                for statement in statements:
                    connection.execute(statement, made)
            connection.execute("COMMIT")
            say(len(portion))
        for _, sql in triggers:
            connection.execute(sql)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def copying_itself(connection: sqlite3.Connection) -> str:
    """The row of a workspace, under another name."""
    columns = [row[1] for row in connection.execute("PRAGMA table_info(workspaces)")]
    names = ", ".join(column for column in columns if column not in ("workspace", "name"))
    return (
        f"INSERT INTO workspaces (name, {names}) SELECT :name, {names} FROM workspaces"
        " WHERE workspace = :origin RETURNING workspace"
    )


def copying(connection: sqlite3.Connection) -> Iterator[str]:
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    for (table,) in tables:
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        if "workspace" in columns and table != "workspaces":
            others = [column for column in columns if column != "workspace"]
            names = ", ".join(others)
            yield (
                f"INSERT INTO {table} (workspace, {names})"
                f" SELECT :number, {names} FROM {table} WHERE workspace = :origin"
            )


# Which workspace is asked


class Zipf:
    """Numbers below `count`, the n-th of them n times as rare as the first."""

    def __init__(self, count: int, seed: int) -> None:
        self._random = random.Random(seed)
        self._count = count
        self._sums = list(accumulate(1 / rank for rank in range(1, count + 1)))

    def __call__(self) -> int:
        (number,) = self._random.choices(range(self._count), cum_weights=self._sums)
        return number


def shuffled(workspaces: int, seed: int) -> Callable[[], int]:
    """By Zipf's law, and the favourites are anywhere in the file."""
    order = list(range(workspaces))
    random.Random(seed).shuffle(order)
    rank = Zipf(workspaces, seed)
    return lambda: order[rank()]
