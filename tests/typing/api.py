"""Type-checked only: the public API as users write it, synchronous and asynchronous."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import assert_type

from nexusmem import (
    AgentId,
    AsyncNexus,
    AsyncPlace,
    AsyncWorkspace,
    Attachment,
    Event,
    Goal,
    Grant,
    Hit,
    Hits,
    InvalidInput,
    Memory,
    MemoryPage,
    MemoryVersion,
    Nexus,
    NexusError,
    Place,
    Progress,
    Receipt,
    Scope,
    Stage,
    UserId,
    Viewer,
    Workspace,
    WorkspaceId,
)
from nexusmem.core.protocols.embedder import Embedder, Floats
from nexusmem.core.protocols.store import Store
from nexusmem.core.records import EmbeddingProfile
from nexusmem.embedders.feature_hash import HashingEmbedder
from nexusmem.maintain.forget import ForgetReport
from nexusmem.recall.views.landmarks import LandmarkView
from nexusmem.stores.sqlite.store import SqliteStore
from nexusmem.testing.reference_store.store import ReferenceStore
from nexusmem.transfer.archive import ExportReport, ImportReport


def plain() -> None:
    with Nexus.open("memory.db") as nexus:
        assert_type(nexus, Nexus)
        acme = nexus.workspace("acme")
        assert_type(acme, Workspace)
        room = acme.room("design", agent="scribe", participants=["alice", "bob"], project="apollo")
        assert_type(room, Place)
        receipt = room.observe(
            "alice",
            "We decided to use PostgreSQL instead of MySQL.",
            at=datetime(2026, 3, 2, tzinfo=UTC),
            key="msg-17",
            thread="storage",
            tags=["decision"],
            metadata={"stars": 5},
            attachments=[Attachment(name="plan.pdf"), {"name": "b.pdf"}],
        )
        assert_type(receipt, Receipt)
        assert_type(receipt.stage, Stage)
        assert_type(nexus.wait(receipt), Progress)
        room.remember("The staging server is called heron.", scope="project")
        room.add_document("# Guide\nStart heron.", key="guide")
        room.set_value("user:alice", "preferred_jwt_expiry", {"minutes": 30})
        room.add_fact("Tyler", "WORKS_AT", "Anthropic", confidence=0.9, stated=False)
        room.observe_many([{"speaker": "alice", "text": "Hello."}])
        found = room.recall(
            "which database did we choose?",
            limit=10,
            threshold=0.2,
            where={"OR": [{"speaker": "alice"}, {"metadata.stars": {"gte": 4}}]},
            since=datetime(2026, 1, 1, tzinfo=UTC),
        )
        assert_type(found, Hits)
        assert_type(found[0], Hit)
        assert_type(found[:2], tuple[Hit, ...])
        for hit in found:
            assert_type(hit.score, float)
            assert_type(hit.text, str)
            assert_type(hit.memory, Memory)
            assert_type(hit.highlights, tuple[str, ...])
            assert_type(hit.event_keys, tuple[str, ...])
            assert_type(room.source_events(hit.memory.id), list[Event])
        assert_type(room.recent(), list[Event])
        assert_type(room.facts("Tyler"), list[Memory])
        me = nexus.user("alice", session="monday")
        assert_type(me, Place)
        page = me.memories("fact", where={"speaker": "alice"}, limit=20)
        assert_type(page, MemoryPage)
        assert_type(me.memories(cursor=page.cursor).items, tuple[Memory, ...])
        assert_type(me.correct(page.items[0].id, "I live in Bonn."), Memory)
        assert_type(me.history(page.items[0].id), list[MemoryVersion])
        assert_type(me.landmarks("decision", owner="alice", open=True), list[LandmarkView])
        me.forget(receipt)
        assert_type(me.goals.add("Ship it"), Goal)
        assert_type(me.notebook.in_scope("project").read("a.md").text, str)
        assert_type(room.flush(), int)
        assert_type(acme.forget(user="alice"), ForgetReport)
        assert_type(acme.export(Path("out.jsonl"), vectors=True), ExportReport)
        assert_type(acme.import_("out.jsonl", scope=Scope.room("design")), ImportReport)
        assert_type(nexus.workspaces(), list[str])


async def awaited() -> None:
    async with await AsyncNexus.open("memory.db") as nexus:
        acme = nexus.workspace("acme")
        assert_type(acme, AsyncWorkspace)
        room = acme.room("design", agent="scribe", participants=["alice"])
        assert_type(room, AsyncPlace)
        receipt = await room.observe("alice", "Hello there.", key="k")
        assert_type(receipt, Receipt)
        assert_type(await room.recall("hello", limit=3), Hits)
        assert_type(await room.recent(5), list[Event])
        assert_type(await nexus.wait(receipt), Progress)
        assert_type(await nexus.user("alice").memories(), MemoryPage)
        assert_type(await room.goals.list(), list[Goal])
        assert_type(await acme.forget(room="design"), ForgetReport)
        assert_type(await acme.export("out.jsonl"), ExportReport)


def viewer() -> Grant:
    asks = Viewer(workspace=WorkspaceId("acme"), agent=AgentId("scribe"), user=UserId("alice"))
    grant = asks.grant()
    assert_type(grant.narrow_to([Scope.user("alice")]), Grant)
    return grant


def refused(room: Place) -> str:
    try:
        room.observe("alice", "")
    except InvalidInput as error:
        return str(error)
    except NexusError:
        raise
    return ""


class Mine:
    """A user-supplied embedder."""

    is_local = True
    profile = EmbeddingProfile(provider="mine", model="m", dimension=8)

    def embed(self, texts: Sequence[str]) -> Floats:
        return HashingEmbedder(8).embed(texts)


def parts_fit_their_protocols() -> None:
    embedders: list[Embedder] = [Mine(), HashingEmbedder()]
    stores: list[Store] = [ReferenceStore(), SqliteStore("memory.db")]
    Nexus.open(stores[0], embedder=embedders[0], background=False)
