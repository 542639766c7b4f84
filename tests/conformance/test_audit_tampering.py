"""Tampering with the audit log is reported by `verify`.

A writer with access to the database can also write a complete new chain with valid hashes. Only a
key that the writer lacks, or a head stored outside of the database, reveals that.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from nexusmem.audit.chain import AuditLink, build_links, parse_entry
from nexusmem.core.hash_chain import GENESIS
from nexusmem.stores.sqlite.store import SqliteStore
from nexusmem.testing.samples import ACME, NOON, OTHER
from nexusmem.testing.suites.audit import DAY, KEY, make_entry

Tamper = Callable[[sqlite3.Connection], None]
COLUMNS = "number, at, action, content, salt, commitment, hash, seal"
LAST = 8


def sql(*statements: str) -> Tamper:
    def tamper(file: sqlite3.Connection) -> None:
        for statement in statements:
            assert file.execute(statement).rowcount > 0, statement

    return tamper


def links(file: sqlite3.Connection) -> list[AuditLink]:
    rows = file.execute(f"SELECT {COLUMNS} FROM audit WHERE workspace = 1 ORDER BY number")
    return [AuditLink(**dict(zip(COLUMNS.split(", "), row, strict=True))) for row in rows]


def rewrite(file: sqlite3.Connection, kept: Sequence[AuditLink], *, end: bool = True) -> None:
    """Replace the stored chain and its head by this one."""
    file.execute("DELETE FROM audit WHERE workspace = 1")
    for each in kept:
        values = (1, each.day, *(getattr(each, name) for name in COLUMNS.split(", ")))
        marks = ", ".join("?" * len(values))
        file.execute(f"INSERT INTO audit (workspace, day, {COLUMNS}) VALUES ({marks})", values)
    if end:
        last = kept[-1]
        sets = "UPDATE workspaces SET audit_count = ?, audit_head = ? WHERE workspace = 1"
        file.execute(sets, (last.number, last.hash))


def forge_an_edit(file: sqlite3.Connection) -> None:
    """Edit an entry and its commitment, but not the later hashes."""
    there = links(file)
    (forged,) = build_links(4, there[3].hash, [make_entry("share", 2, actor="somebody")], None)
    rewrite(file, [*there[:4], replace(forged, hash=there[4].hash), *there[5:]])


def insert(file: sqlite3.Connection) -> None:
    """Add a correctly linked entry; only the head stored in the workspace differs."""
    there = links(file)
    rewrite(
        file,
        [*there, *build_links(LAST, there[-1].hash, [make_entry("share", 4)], None)],
        end=False,
    )


def insert_in_the_middle(file: sqlite3.Connection) -> None:
    there = links(file)
    extra = build_links(4, there[3].hash, [make_entry("share", 2)], None)
    moved = [replace(each, number=each.number + 1) for each in there[4:]]
    rewrite(file, [*there[:4], *extra, *moved])


def reorder(file: sqlite3.Connection) -> None:
    there = links(file)
    third, fourth = replace(there[3], number=3), replace(there[2], number=4)
    rewrite(file, [*there[:2], third, fourth, *there[4:]])


def fork(file: sqlite3.Connection) -> None:
    """Replace the chain from the fifth entry on; the workspace still has the old head."""
    there = links(file)
    branch = build_links(5, there[4].hash, [make_entry("share", 3)] * 3, None)
    rewrite(file, [*there[:5], *branch], end=False)


def drop(days: str) -> Tamper:
    return sql(f"DELETE FROM audit WHERE workspace = 1 AND day {days}")


# Detected without a key or an anchor.
MUTATIONS: dict[str, Tamper] = {
    "edit: a word": sql(
        "UPDATE audit SET content = replace(content, 'scribe', 'nobody')"
        " WHERE workspace = 1 AND number = 5"
    ),
    "edit: with its commitment": forge_an_edit,
    "edit: the action": sql("UPDATE audit SET action = 'x' WHERE workspace = 1 AND number = 5"),
    "edit: the time": sql(
        "UPDATE audit SET at = replace(at, 'T12', 'T13') WHERE workspace = 1 AND number = 5"
    ),
    "edit: of an erased one, too": sql(
        "UPDATE audit SET at = replace(at, 'T12', 'T13') WHERE workspace = 1 AND number = 2"
    ),
    "delete": sql("DELETE FROM audit WHERE workspace = 1 AND number = 5"),
    "delete: an erased one": sql("DELETE FROM audit WHERE workspace = 1 AND number = 2"),
    "insert: at the end": insert,
    "insert: in the middle": insert_in_the_middle,
    "reorder": reorder,
    "tail cut": sql("DELETE FROM audit WHERE workspace = 1 AND number > 6"),
    "tail cut: and the length": sql(
        "DELETE FROM audit WHERE workspace = 1 AND number > 6",
        "UPDATE workspaces SET audit_count = 6 WHERE workspace = 1",
    ),
    "the length alone": sql("UPDATE workspaces SET audit_count = 9 WHERE workspace = 1"),
    "segment drop: the oldest days": drop("< '2026-01-03'"),
    "segment drop: a day in the middle": drop("= '2026-01-02'"),
    "segment drop: all days": drop("> ''"),
    "fork": fork,
    "re-genesis: an end that nothing leads to": sql(
        "UPDATE workspaces SET audit_head = zeroblob(32) WHERE workspace = 1"
    ),
    "from another workspace": sql(
        "DELETE FROM audit WHERE workspace = 1 AND number = 1",
        "UPDATE audit SET workspace = 1 WHERE workspace = 2",
    ),
}


def cut_with_its_end(file: sqlite3.Connection) -> None:
    rewrite(file, links(file)[:6])


def fork_with_its_end(file: sqlite3.Connection) -> None:
    there = links(file)
    rewrite(file, [*there[:5], *build_links(5, there[4].hash, [make_entry("share", 3)] * 3, None)])


def begin_anew(file: sqlite3.Connection) -> None:
    """Write the complete chain again without one of its entries."""
    entries = [parse_entry(each.content) for each in links(file) if each.content]
    rewrite(file, build_links(0, GENESIS, entries[:-1], None))


def pretend_retention(file: sqlite3.Connection) -> None:
    """Drop days and add a retention entry, as the real job does."""
    there = links(file)
    last = {"day": there[3].day, "first": 1, "last": 4, "hash": there[3].hash.hex()}
    detail = {"before": "2026-01-03", "through": 4, "days": [last]}
    told = make_entry("retention", 4, actor="worker", detail=detail)
    rewrite(file, [*there[4:], *build_links(LAST, there[-1].hash, [told], None)])


# Detected only with a key or an anchor.
CAREFUL: dict[str, tuple[Tamper, set[str]]] = {
    "tail cut": (cut_with_its_end, {"anchor"}),
    "fork": (fork_with_its_end, {"anchor", "key"}),
    "re-genesis": (begin_anew, {"anchor", "key"}),
    "segment drop": (pretend_retention, {"key"}),
}


def filled(path: Path, key: bytes | None = None) -> str:
    """Write two entries on each of four days, erase one, and return the head."""
    with closing(SqliteStore(path)) as store:
        store.audit.configure(writes=True, key=key)
        for day in range(4):
            store.audit.append(
                ACME, [make_entry("share", day), make_entry("recall", day, people=("bob",))]
            )
        store.audit.append(OTHER, [make_entry()])
        store.audit.erase_contents(ACME, [2])
        report = store.audit.verify(ACME)
        assert report.is_intact
        return report.head


def problems(path: Path, key: bytes | None = None, anchor: str | None = None) -> tuple[str, ...]:
    with closing(SqliteStore(path)) as store:
        store.audit.configure(writes=True, key=key)
        return store.audit.verify(ACME, anchor=anchor).problems


@pytest.mark.requirement("E27")
@pytest.mark.parametrize("mutation", MUTATIONS)
def test_tampering_is_detected(mutation: str, tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    filled(path)

    with closing(sqlite3.connect(path)) as file, file:
        MUTATIONS[mutation](file)

    assert problems(path)


@pytest.mark.requirement("E27")
@pytest.mark.parametrize("mutation", CAREFUL)
def test_rewritten_chain_is_detected_by_key_or_anchor(mutation: str, tmp_path: Path) -> None:
    """The documentation lists these cases; it must not promise more or less."""
    tamper, noticed_by = CAREFUL[mutation]
    found = {}
    for name, key in (("nothing", None), ("key", KEY), ("anchor", None)):
        path = tmp_path / f"{name}.db"
        head = filled(path, key)
        with closing(sqlite3.connect(path)) as file, file:
            tamper(file)
        found[name] = problems(path, key, head if name == "anchor" else None)

    assert {name for name, noticed in found.items() if noticed} == noticed_by


@pytest.mark.requirement("E28")
def test_retention_and_erasure_are_not_tampering(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    head = filled(path, KEY)
    with closing(SqliteStore(path)) as store:
        store.audit.configure(writes=True, key=KEY)
        now = NOON + timedelta(days=4)
        store.audit.apply_retention(ACME, before=(NOON + 2 * DAY).date(), now=now)
        store.audit.erase_contents(ACME, [5, 6])

    assert problems(path, KEY) == ()
    assert problems(path, KEY, head) == ()


@pytest.mark.requirement("E28")
def test_remaining_entries_must_follow_the_dropped_ones(tmp_path: Path) -> None:
    """The anchors of the retention entry name the predecessor of the first remaining entry."""
    path = tmp_path / "memory.db"
    filled(path)
    with closing(SqliteStore(path)) as store:
        store.audit.configure(writes=True)
        store.audit.apply_retention(ACME, before=(NOON + 2 * DAY).date(), now=NOON + 4 * DAY)

    with closing(sqlite3.connect(path)) as file, file:
        left = links(file)
        entries = [parse_entry(each.content) for each in left if each.content]
        rewrite(file, build_links(left[0].number - 1, GENESIS, entries, None))

    (noticed,) = problems(path)
    assert "no retention entry covers those before it" in noticed


def test_report_names_the_tampered_entry(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    filled(path)
    with closing(sqlite3.connect(path)) as file, file:
        MUTATIONS["edit: a word"](file)

    assert problems(path) == ("entry 5 was changed",)
