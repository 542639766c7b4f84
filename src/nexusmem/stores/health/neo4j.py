"""Health checks of the Neo4j mirror."""

from __future__ import annotations

from collections.abc import Iterator

from neo4j.exceptions import DriverError, Neo4jError

from neo4j import Driver

from ...core.errors import StoreUnavailable
from ...runtime.health import NOTE, OK, PROBLEM, HealthCheck, measure_latency
from ...runtime.timeouts import call_with_deadline
from ...text.urls import mask_passwords
from ..external.neo4j.mirror import CYPHER, GraphReplicator, Neo4jAddress, Neo4jMirror
from ..sql.store import SqlStore

TIMEOUT_SECONDS = 5.0


def check_health(url: str, records: SqlStore | None) -> Iterator[HealthCheck]:
    """Yield checks of the connection and, with `records`, of the replication lag."""
    address = Neo4jAddress.from_url(url)
    driver = address.make_driver()
    try:
        yield from call_with_deadline(
            lambda: list(_check_server(url, driver, address.database, records)),
            TIMEOUT_SECONDS,
            error=StoreUnavailable,
        )
    except (DriverError, Neo4jError, OSError, StoreUnavailable) as error:
        why = mask_passwords(" ".join(str(error).split()))
        detail = (
            f"{mask_passwords(url)} does not answer ({why}); Nexus traverses the records instead"
        )
        yield HealthCheck("graph", PROBLEM, detail)
    finally:
        driver.close()


def _check_server(
    url: str, driver: Driver, database: str | None, records: SqlStore | None
) -> Iterator[HealthCheck]:
    server = driver.get_server_info()
    with driver.session(database=database) as session:
        latency = measure_latency(lambda: session.run("RETURN 1").consume())
        yield HealthCheck("graph", OK, f"{mask_passwords(url)} answers, {latency}")
        yield HealthCheck("neo4j", OK, f"{server.agent}, protocol {server.protocol_version}")
        if records is None:
            return
        replicator = GraphReplicator(records.change_feed, Neo4jMirror(url))
        behind = 0
        for workspace, counter in records.change_feed.workspace_counters().items():
            row = session.run(
                CYPHER["load_progress"], {"home": replicator.graph_key(workspace)}
            ).single()
            behind += max(0, counter - ((row and row["reached"]) or 0))
    detail = f"{behind:,} writes behind the records; traversals read them from the records"
    yield HealthCheck("graph lag", NOTE if behind else OK, detail if behind else "up to date")
