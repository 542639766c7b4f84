"""Rebuild of derived data in an encrypted Postgres store."""

from __future__ import annotations

import pytest
from tests.conformance.test_rebuild import fill, opened, shown
from tests.encryption.conftest import KEY
from tests.servers.postgres import Database

from nexusmem.stores.postgres.store import PostgresStore

DAMAGES = {
    "keywords": (
        "DELETE FROM nexus.postings WHERE memory % 2 = 0",
        "DELETE FROM nexus.conversations",
    ),
    "graph": ("DELETE FROM nexus.names", "DELETE FROM nexus.links"),
    "vectors": ("DELETE FROM nexus.vectors WHERE memory % 2 = 0",),
}


@pytest.mark.slow
@pytest.mark.requirement("X3")
def test_rebuild_repairs_every_layer_without_plaintext(empty: Database) -> None:
    with opened(PostgresStore(empty.url, key=KEY)) as team:
        fill(team)
        before = shown(team)
        made = team.workspace.rebuild()
        assert {layer: counts["changed"] for layer, counts in made.items()} == dict.fromkeys(
            made, 0
        )
        for layer, statements in DAMAGES.items():
            for statement in statements:
                empty.run(statement)
            assert layer in {each.layer.value for each in team.workspace.check_indexes()}

            assert team.workspace.rebuild(layer)[layer]["changed"] > 0

            assert team.workspace.check_indexes() == []
        assert shown(team) == before
    terms = empty.run("SELECT DISTINCT term FROM nexus.postings")
    names = empty.run("SELECT DISTINCT name FROM nexus.names")
    assert {"ledger", "tea", "carla diaz"}.isdisjoint(word for (word,) in (*terms, *names))
