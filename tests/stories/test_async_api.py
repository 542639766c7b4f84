"""AsyncNexus: concurrency, and the same data as the synchronous API."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.conftest import Clock

from nexusmem import AsyncNexus, InvalidInput, Nexus, NotFound
from nexusmem.config.settings import Settings
from nexusmem.embedders.feature_hash import HashingEmbedder

OPTIONS = {"settings": Settings(), "background": False}


@pytest.mark.requirement("D20")
async def test_concurrent_writes_are_all_stored(url: str, clock: Clock) -> None:
    async with await AsyncNexus.open(url, embedder=HashingEmbedder(), **OPTIONS) as nexus:
        room = nexus.workspace("acme").room("design", participants=["alice"])

        receipts = await asyncio.gather(
            *(room.observe("alice", f"Message number {n} is here.", key=str(n)) for n in range(50))
        )

        assert len({receipt.event_id for receipt in receipts}) == 50
        assert await room.flush() == 0
        assert len(await room.recall("message number", limit=100)) == 50
        assert {event.key for event in await room.recent(100)} == set(map(str, range(50)))
        report = await nexus.workspace("acme").verify()
        assert (report.events, report.is_intact) == (50, True)


@pytest.mark.requirement("D20", "A12")
async def test_concurrent_workspaces_stay_separate(url: str) -> None:
    async with await AsyncNexus.open(url, embedder=HashingEmbedder(), **OPTIONS) as nexus:

        async def live(name: str) -> list[str]:
            room = nexus.workspace(name).room("design")
            await room.observe("alice", f"The secret of {name} is here.", key="k")
            await asyncio.sleep(0)
            return [hit.text for hit in await room.recall("secret")]

        names = [f"team-{n}" for n in range(20)]
        answers = await asyncio.gather(*map(live, names))

        assert answers == [[f"The secret of {name} is here."] for name in names]
        assert await nexus.workspaces() == sorted(names)


async def test_async_api_end_to_end(url: str, tmp_path: Path) -> None:
    async with await AsyncNexus.open(url, embedder=HashingEmbedder(), **OPTIONS) as nexus:
        acme = nexus.workspace("acme")
        dm = acme.dm("alice", agent="scribe")
        receipt = await dm.observe("alice", "I like tea very much.", key="k")
        await dm.set_value("user", "drink", "tea")
        await dm.add_fact("Alice", "LIKES", "tea")
        await dm.remember("The cup is blue.")
        await dm.add_document("# Tea\nBoil water.")
        await dm.observe_many([{"speaker": "alice", "text": "Another message."}])

        assert (await nexus.wait(receipt)).stage == "derived"
        assert (await dm.progress(receipt)).stage == "derived"
        assert await dm.get_value("user", "drink") == "tea"
        (fact,) = await dm.facts("Alice")
        assert [event.text for event in await dm.source_events(fact.id)] == [fact.text]
        assert await dm.get(fact.id) == fact
        with pytest.raises(NotFound):
            await dm.get_value("user", "food")
        with pytest.raises(InvalidInput):
            await dm.observe("alice", "")
        assert (await acme.export(tmp_path / "out.jsonl")).events == 6
        assert (await acme.import_(tmp_path / "out.jsonl")).repeated == 6
        assert (await acme.forget(user="alice")).residue == 0
        assert await acme.flush() == 0
        assert (await acme.stats())["events"] == 0
        await nexus.optimize()
        assert (await nexus.reembed())["embedded"] == 0


async def test_sync_and_async_api_share_data(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    with Nexus.open(file, embedder=HashingEmbedder(), **OPTIONS) as nexus:
        nexus.workspace("acme").room("design").observe("alice", "Told in one way.", key="k")

    async with await AsyncNexus.open(file, embedder=HashingEmbedder(), **OPTIONS) as nexus:
        (hit,) = await nexus.workspace("acme").room("design").recall("told")

    assert hit.event_keys == ("k",)
