"""A team of two people with a room and a DM each, and a week of messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from tests.conftest import Clock, Open

from nexusmem import Nexus, Place, Receipt, Workspace
from nexusmem.config.settings import Settings, SharingSettings


@dataclass
class Team:
    workspace: Workspace
    room: Place
    alices: Place
    bobs: Place
    clock: Clock

    def tell_the_week(self) -> dict[str, Receipt]:
        """Record messages from Monday to Friday; return their receipts by key."""
        day = {number: self.clock.now + timedelta(days=number) for number in range(5)}
        room, alices, bobs = self.room, self.alices, self.bobs
        return {
            "choice": room.observe(
                "alice",
                "We decided to use PostgreSQL instead of MySQL for the ledger.",
                at=day[0],
                key="choice",
                thread="storage",
                tags=["decision"],
                attachments=[{"name": "plan.pdf", "media_type": "application/pdf", "size": 1024}],
            ),
            "doubt": room.observe(
                "bob", "I still like MySQL for the ledger.", at=day[1], key="doubt"
            ),
            "answer": room.observe(
                "scribe",
                "Noted: the ledger goes to PostgreSQL.",
                at=day[1] + timedelta(minutes=1),
                key="answer",
            ),
            "raise": alices.observe(
                "alice", "Privately: I will ask for a raise on Friday.", at=day[2], key="raise"
            ),
            "illness": bobs.observe(
                "bob", "Between us, my surgery is on Thursday.", at=day[3], key="illness"
            ),
            "retro": room.observe("bob", "The retro is moved to Friday.", at=day[4], key="retro"),
        }


@pytest.fixture
def team(nexus: Nexus, clock: Clock) -> Team:
    return make_team(nexus, clock)


def make_team(nexus: Nexus, clock: Clock, name: str = "acme") -> Team:
    workspace = nexus.workspace(name)
    return Team(
        workspace=workspace,
        room=workspace.room(
            "design", agent="scribe", participants=["alice", "bob"], project="apollo"
        ),
        alices=workspace.dm("alice", agent="scribe", project="apollo"),
        bobs=workspace.dm("bob", agent="scribe", project="apollo"),
        clock=clock,
    )


def keys(found) -> list[str]:
    return [key for hit in found for key in hit.event_keys]


@pytest.fixture
def reopen(open_nexus: Open, tmp_path: Path) -> Callable[[SharingSettings], Workspace]:
    """Open one memory again with other flows."""
    last: list[Nexus] = []

    def opened(sharing: SharingSettings) -> Workspace:
        for nexus in last:
            nexus.close()
        last[:] = [open_nexus(str(tmp_path / "memory.db"), settings=Settings(sharing=sharing))]
        return last[0].workspace("acme")

    return opened
