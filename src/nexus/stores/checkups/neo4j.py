"""A look at the Neo4j that mirrors the links between memories."""

from __future__ import annotations

from collections.abc import Iterator

from neo4j.exceptions import DriverError, Neo4jError

from neo4j import Driver

from ...core.bounded import bounded
from ...core.checkup import NOTE, OK, PROBLEM, Check, latency
from ...core.errors import StoreUnavailable
from ...core.urls import masked
from ..neo4j.follower import Follower
from ..neo4j.mirror import CYPHER, Address, Mirror
from ..sql.store import SqlStore

PATIENCE_SECONDS = 5.0


def examine(url: str, records: SqlStore | None) -> Iterator[Check]:
    """Whether it answers and, where there are records to follow, how far it is behind them."""
    address = Address.of(url)
    driver = address.driver()
    try:
        yield from bounded(
            lambda: list(_examined(url, driver, address.database, records)),
            PATIENCE_SECONDS,
            error=StoreUnavailable,
        )
    except (DriverError, Neo4jError, OSError, StoreUnavailable) as error:
        why = masked(" ".join(str(error).split()))
        detail = f"{masked(url)} does not answer ({why}); Nexus walks the records instead"
        yield Check("graph", PROBLEM, detail)
    finally:
        driver.close()


def _examined(
    url: str, driver: Driver, database: str | None, records: SqlStore | None
) -> Iterator[Check]:
    server = driver.get_server_info()
    with driver.session(database=database) as session:
        answers = latency(lambda: session.run("RETURN 1").consume())
        yield Check("graph", OK, f"{masked(url)} answers, {answers}")
        yield Check("neo4j", OK, f"{server.agent}, protocol {server.protocol_version}")
        if records is None:
            return
        follower = Follower(records.feed, Mirror(url))
        behind = 0
        for workspace, counter in records.feed.counters().items():
            row = session.run(CYPHER["followed"], {"home": follower.home(workspace)}).single()
            behind += max(0, counter - ((row and row["reached"]) or 0))
    detail = f"{behind:,} writes behind the records; until then they are walked, too"
    yield Check("graph lag", NOTE if behind else OK, detail if behind else "nothing is missing")
