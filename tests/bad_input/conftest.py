"""Two memories for each store, shared by all tests: in one nothing may change, and in the other
every test has a room of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from itertools import count
from typing import Any

import pytest

from nexus import Nexus, NexusError, Place, Workspace
from nexus.config import Settings
from nexus.embedders.hashing import HashingEmbedder

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
    """Where nothing may change."""
    place = acme.room("design", agent="scribe", participants=["alice", "bob"], project="apollo")
    place.observe("alice", "We chose PostgreSQL over MySQL, 100% sure.", key="first")
    place.set_fact("user:alice", "expiry", "30m")
    place.flush()
    return place


@pytest.fixture
def own_room(scratch: Nexus) -> Place:
    """Where a test may write."""
    place = scratch.workspace("acme").room(f"room-{next(NUMBERS)}", participants=["alice", "bob"])
    place.observe("alice", "We chose PostgreSQL over MySQL, 100% sure.", key="first")
    return place


@pytest.fixture
def unharmed(acme: Workspace) -> Callable[[], Any]:
    @contextmanager
    def unharmed() -> Iterator[None]:
        """Only our own errors leave, nothing was written, and nothing is stuck."""
        before = exported(acme)
        with pytest.raises(NexusError) as refusal:
            yield
        assert str(refusal.value)
        assert exported(acme) == before
        assert acme.flush() == 0
        assert acme.verify().sound

    return unharmed


def exported(workspace: Workspace) -> str:
    out = StringIO()
    workspace.export(out, vectors=True)
    return out.getvalue()
