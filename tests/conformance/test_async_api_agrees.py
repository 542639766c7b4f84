"""`Nexus` and `AsyncNexus` have the same methods."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from nexusmem import AsyncNexus, AsyncPlace, AsyncWorkspace, Nexus, Place, Workspace
from nexusmem.config.settings import Settings
from nexusmem.core.errors import NotFound
from nexusmem.embedders.feature_hash import HashingEmbedder
from nexusmem.testing.reference_store.store import ReferenceStore

FACES = [(Nexus, AsyncNexus), (Workspace, AsyncWorkspace), (Place, AsyncPlace)]
ATTRIBUTES = {Nexus: set(), Workspace: {"id"}, Place: {"viewer", "grant"}}


def public(face: type) -> set[str]:
    return {name for name in dir(face) if not name.startswith("_")}


@pytest.mark.requirement("D20")
@pytest.mark.parametrize(("sync", "awaited"), FACES, ids=lambda face: face.__name__)
def test_sync_and_async_have_the_same_methods(sync: type, awaited: type) -> None:
    assert public(sync) | ATTRIBUTES[sync] == public(awaited)


def options() -> dict[str, Any]:
    return {"settings": Settings(), "embedder": HashingEmbedder(), "background": False}


@pytest.mark.requirement("D20")
async def test_both_faces_give_the_same_answers() -> None:
    store = ReferenceStore()
    nexus = Nexus.open(store, **options())
    awaited = await AsyncNexus.open(store, **options())
    here = nexus.workspace("acme").room("design", participants=["alice"])
    there = awaited.workspace("acme").room("design", participants=["alice"])

    told = await there.observe("alice", "The heron is blue.", key="1")
    again = here.observe("alice", "The heron is blue.", key="1")
    assert (told.event_id, told.duplicate) == (again.event_id, False)
    assert again.duplicate

    found, found_there = here.recall("heron"), await there.recall("heron")
    assert found.hits == found_there.hits
    assert found.hits
    assert (there.viewer, there.scope(None)) == (here.viewer, here.scope(None))
    assert awaited.workspace("acme").id == nexus.workspace("acme").id
    assert await there.get(found[0].memory.id) == here.get(found[0].memory.id)
    assert await awaited.workspace("acme").stats() == nexus.workspace("acme").stats()
    with pytest.raises(NotFound):
        await there.get("nobody")
    await awaited.close()
    nexus.close()


@pytest.mark.requirement("D20")
async def test_many_awaited_calls_run_at_once() -> None:
    async with await AsyncNexus.open(ReferenceStore(), **options()) as nexus:
        room = nexus.workspace("acme").room("design", participants=["alice"])
        texts = [f"message {n} about herons" for n in range(50)]

        await asyncio.gather(*(room.observe("alice", t, key=t) for t in texts))

        assert (await nexus.workspace("acme").stats())["events"] == 50
