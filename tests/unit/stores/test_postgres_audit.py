"""Daily partitions of the audit log in Postgres."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import date, timedelta
from threading import Event, Thread
from typing import Any

import psycopg
import pytest
from tests.servers.postgres import Database, Postgres

from nexusmem.audit.chain import DAYS_AHEAD, apply_retention
from nexusmem.stores.postgres.store import PostgresStore
from nexusmem.testing.samples import ACME, ADMIN, NOON, OTHER, append_events, make_event
from nexusmem.testing.suites.audit import DAY, make_entry

TODAY = NOON.date()


@pytest.fixture
def database(postgres_server: Postgres) -> Iterator[Database]:
    made = postgres_server.database()
    yield made
    made.drop()


@pytest.fixture
def store(database: Database) -> Iterator[PostgresStore]:
    with closing(PostgresStore(database.url)) as store:
        yield store


def asked(database: Database, query: str) -> list[Any]:
    with psycopg.connect(database.url_of("postgres")) as connection:
        return [row[0] for row in connection.execute(query.encode())]


def days(database: Database) -> list[str]:
    """Return the daily partitions, without the default partition."""
    return asked(
        database,
        "SELECT relname FROM pg_inherits JOIN pg_class ON oid = inhrelid"
        " WHERE inhparent = 'nexus.audit'::regclass AND relname <> 'audit_rest' ORDER BY 1",
    )


def in_rest(database: Database) -> int:
    (count,) = asked(database, "SELECT count(*) FROM nexus.audit_rest")
    return int(count)


@pytest.mark.requirement("X2")
def test_only_administrator_grant_reads_audit(store: PostgresStore, database: Database) -> None:
    store.audit.append(ACME, [make_entry("recall")])

    def seen(**settings: str) -> int:
        with psycopg.connect(database.url, options="-c role=nexus_app") as connection:
            for name, value in settings.items():
                connection.execute("SELECT set_config(%s, %s, false)", (f"nexus.{name}", value))
            (count,) = connection.execute("SELECT count(*) FROM nexus.audit").fetchone()  # type: ignore[misc]
            return int(count)

    (number,) = asked(database, "SELECT workspace FROM nexus.workspaces")
    assert seen(workspace=f"{{{number}}}") == 0
    assert seen(workspace=f"{{{number}}}", every_label="false") == 0
    assert seen(workspace=f"{{{number}}}", every_label="true") == 1
    assert seen(workspace=f"{{{number + 1}}}", every_label="true") == 0


@pytest.mark.requirement("E28")
def test_entries_without_partition_are_stored(store: PostgresStore, database: Database) -> None:
    """The default partition takes entries until the partition of their day exists."""
    assert store.audit.prepare_days(today=TODAY, ahead=DAYS_AHEAD) == {
        "made": DAYS_AHEAD + 1,
        "dropped": 0,
    }
    store.audit.append(ACME, [make_entry("share", day) for day in range(DAYS_AHEAD + 1)])
    assert in_rest(database) == 0

    with store.with_audit_entry(ACME, make_entry("share", DAYS_AHEAD + 1)):
        append_events(store, make_event("1"))
    store.audit.append(ACME, [make_entry("share", DAYS_AHEAD + 3)])
    assert in_rest(database) == 2

    later = TODAY + timedelta(days=DAYS_AHEAD + 3)
    assert (
        store.audit.prepare_days(today=later, ahead=1)["made"] == 3
    )  # no partition for a day without entries
    assert in_rest(database) == 0
    report = store.audit.verify(ACME)
    assert (report.entries, report.problems) == (DAYS_AHEAD + 3, ())


@pytest.mark.requirement("E28")
def test_empty_day_is_dropped(store: PostgresStore, database: Database) -> None:
    store.audit.prepare_days(today=TODAY, ahead=0)
    store.audit.append(ACME, [make_entry()])
    store.audit.append(OTHER, [make_entry()])
    first = days(database)

    now = NOON + 10 * DAY
    apply_retention(store, ACME, now=now, retention_days=3)
    still = days(database)
    apply_retention(store, OTHER, now=now, retention_days=3)
    apply_retention(store, OTHER, now=now + DAY, retention_days=3)

    assert first == ["audit_20260101"]
    assert first[0] in still  # has an entry of the other workspace
    assert first[0] not in days(database)
    for workspace in (ACME, OTHER):
        report = store.audit.verify(workspace)
        assert (report.entries, report.dropped, report.problems) == (1, 1, ())


@pytest.mark.requirement("E28")
def test_partitions_change_during_writes(store: PostgresStore) -> None:
    stop, wrong = Event(), list[BaseException]()

    def write() -> None:
        number = 0
        try:
            while not stop.is_set():
                number += 1
                with store.with_audit_entry(ACME, make_entry("share", number % 5)):
                    append_events(store, make_event(f"{number}"))
        except BaseException as error:  # shown below  # noqa: BLE001
            wrong.append(error)

    writer = Thread(target=write)
    writer.start()
    for day in range(8):  # empty partitions of past days are dropped
        now = TODAY + timedelta(days=day)
        store.audit.prepare_days(today=now, ahead=1, before=now)
    stop.set()
    writer.join()

    report = store.audit.verify(ACME)
    assert wrong == []
    assert report.problems == ()
    assert report.entries == store.count_records(ADMIN)["events"] > 0


@pytest.mark.requirement("E28")
def test_role_without_create_privilege_makes_partitions(database: Database) -> None:
    """A function of the owner creates the partitions; the role may only call it."""
    PostgresStore(database.url).close()
    database.run("GRANT nexus_app TO stranger")
    try:
        with closing(PostgresStore(database.url_of("stranger"))) as store:
            assert store.audit.prepare_days(today=date(2026, 5, 1), ahead=2)["made"] == 3
    finally:
        database.run("REVOKE nexus_app FROM stranger")
