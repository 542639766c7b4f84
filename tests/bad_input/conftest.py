"""Fixtures: two shared memories for each store.

In one of them nothing may change. In the other one every test has its own room.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from itertools import count
from typing import Any

import pytest

from nexusmem import Nexus, NexusError, Place, Workspace
from nexusmem.config.settings import Settings
from nexusmem.embedders.feature_hash import HashingEmbedder

STORES = ("memory", "sqlite")
NUMBERS = count()


def opened(store: str, folder: Any) -> Nexus:
    url = ":memory:" if store == "memory" else folder / "memory.db"
    return Nexus.open(url, settings=Settings(), embedder=HashingEmbedder(), background=False)


@pytest.fixture(scope="module", params=STORES)
def shared(request: pytest.FixtureRequest, tmp_path_factory: Any) -> Iterator[Nexus]:
    with opened(request.param, tmp_path_factory.mktemp("shared")) as nexus:
        yield nexus


@pytest.fixture(scope="module", params=STORES)
def scratch(request: pytest.FixtureRequest, tmp_path_factory: Any) -> Iterator[Nexus]:
    with opened(request.param, tmp_path_factory.mktemp("scratch")) as nexus:
        yield nexus


@pytest.fixture(scope="module")
def acme(shared: Nexus) -> Workspace:
    return shared.workspace("acme")


@pytest.fixture(scope="module")
def room(acme: Workspace) -> Place:
    """A room in which nothing may change."""
    place = acme.room("design", agent="scribe", participants=["alice", "bob"], project="apollo")
    place.observe("alice", "We chose PostgreSQL over MySQL, 100% sure.", key="first")
    place.set_value("user:alice", "expiry", "30m")
    place.flush()
    return place


@pytest.fixture
def own_room(scratch: Nexus) -> Place:
    """A room to which the test may write."""
    place = scratch.workspace("acme").room(f"room-{next(NUMBERS)}", participants=["alice", "bob"])
    place.observe("alice", "We chose PostgreSQL over MySQL, 100% sure.", key="first")
    return place


@pytest.fixture
def unharmed(acme: Workspace) -> Callable[[], Any]:
    @contextmanager
    def unharmed() -> Iterator[None]:
        """Assert that only a NexusError is raised, nothing is written, and no task is stuck."""
        before = exported(acme)
        with pytest.raises(NexusError) as refusal:
            yield
        assert str(refusal.value)
        assert exported(acme) == before
        assert acme.flush() == 0
        assert acme.verify().is_intact

    return unharmed


def exported(workspace: Workspace) -> str:
    out = StringIO()
    workspace.export(out, vectors=True)
    return out.getvalue()
