"""The days of the audit in Postgres: made ahead, never missed at midnight, dropped when over."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import date, timedelta
from threading import Event, Thread
from typing import Any

import psycopg
import pytest
from tests.servers.postgres import Database, Postgres

from nexus.maintain.trail import AHEAD, keep_days
from nexus.stores.postgres.store import PostgresStore
from nexus.testing.samples import ACME, ADMIN, NOON, OTHER, event, tell
from nexus.testing.suites.audit import DAY, done

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
    """The partitions there are, but for the rest."""
    return asked(
        database,
        "SELECT relname FROM pg_inherits JOIN pg_class ON oid = inhrelid"
        " WHERE inhparent = 'nexus.audit'::regclass AND relname <> 'audit_rest' ORDER BY 1",
    )


def in_rest(database: Database) -> int:
    (count,) = asked(database, "SELECT count(*) FROM nexus.audit_rest")
    return int(count)


@pytest.mark.requirement("X2")
def test_the_wall_shows_the_trail_only_to_who_reads_everything(
    store: PostgresStore, database: Database
) -> None:
    store.audit.append(ACME, [done("recall")])

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
def test_midnight_stops_nobody(store: PostgresStore, database: Database) -> None:
    """Past the days that were made, what is done lies in the rest until a day is made for it."""
    assert store.audit.prepare(today=TODAY, ahead=AHEAD) == {"made": AHEAD + 1, "dropped": 0}
    store.audit.append(ACME, [done("share", day) for day in range(AHEAD + 1)])
    assert in_rest(database) == 0

    with store.recording(ACME, done("share", AHEAD + 1)):
        tell(store, event("1"))
    store.audit.append(ACME, [done("share", AHEAD + 3)])
    assert in_rest(database) == 2

    later = TODAY + timedelta(days=AHEAD + 3)
    assert store.audit.prepare(today=later, ahead=1)["made"] == 3  # not the day nobody wrote in
    assert in_rest(database) == 0
    report = store.audit.verify(ACME)
    assert (report.entries, report.problems) == (AHEAD + 3, ())


@pytest.mark.requirement("E28")
def test_a_day_is_dropped_when_nobody_has_anything_in_it(
    store: PostgresStore, database: Database
) -> None:
    store.audit.prepare(today=TODAY, ahead=0)
    store.audit.append(ACME, [done()])
    store.audit.append(OTHER, [done()])
    first = days(database)

    now = NOON + 10 * DAY
    keep_days(store, ACME, now=now, retention_days=3)
    still = days(database)
    keep_days(store, OTHER, now=now, retention_days=3)
    keep_days(store, OTHER, now=now + DAY, retention_days=3)

    assert first == ["audit_20260101"]
    assert first[0] in still  # the other one's entry is there
    assert first[0] not in days(database)
    for workspace in (ACME, OTHER):
        report = store.audit.verify(workspace)
        assert (report.entries, report.dropped, report.problems) == (1, 1, ())


@pytest.mark.requirement("E28")
def test_days_are_made_and_dropped_while_others_write(store: PostgresStore) -> None:
    stop, wrong = Event(), list[BaseException]()

    def write() -> None:
        number = 0
        try:
            while not stop.is_set():
                number += 1
                with store.recording(ACME, done("share", number % 5)):
                    tell(store, event(f"{number}"))
        except BaseException as error:  # noqa: BLE001  # shown below
            wrong.append(error)

    writer = Thread(target=write)
    writer.start()
    for day in range(8):  # those that are over are dropped, if they are empty
        now = TODAY + timedelta(days=day)
        store.audit.prepare(today=now, ahead=1, before=now)
    stop.set()
    writer.join()

    report = store.audit.verify(ACME)
    assert wrong == []
    assert report.problems == ()
    assert report.entries == store.count(ADMIN)["events"] > 0


@pytest.mark.requirement("E28")
def test_whoever_may_not_make_tables_makes_days(database: Database) -> None:
    """By a function of the owner, which is all that the application's role may call."""
    PostgresStore(database.url).close()
    database.run("GRANT nexus_app TO stranger")
    try:
        with closing(PostgresStore(database.url_of("stranger"))) as store:
            assert store.audit.prepare(today=date(2026, 5, 1), ahead=2)["made"] == 3
    finally:
        database.run("REVOKE nexus_app FROM stranger")
