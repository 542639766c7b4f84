"""Switching to another embedder while recall continues."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Clock, Open
from tests.stories.conftest import Team, make_team

from nexusmem import ConfigError, EmbedderUnavailable, Nexus
from nexusmem.config.settings import EmbeddingSettings, Settings
from nexusmem.core.ids import WorkspaceId
from nexusmem.core.records import EmbeddingProfile
from nexusmem.embedders import switchover
from nexusmem.embedders.feature_hash import HashingEmbedder
from nexusmem.maintain.jobs import re_embed as flow

ACME = WorkspaceId("acme")
QUESTION = "ledger"


class OtherEmbedder:
    """The test embedder with another revision; it fails after `answers` texts."""

    is_local = True

    def __init__(self, revision: str = "2", dimension: int = 64, answers: float = 1e9) -> None:
        self._inner = HashingEmbedder(dimension)
        self._revision = revision
        self.answers = answers  # texts before it fails

    @property
    def profile(self) -> EmbeddingProfile:
        return replace(self._inner.profile, revision=self._revision)

    def embed(self, texts: Sequence[str]) -> Any:
        self.answers -= len(texts)
        if self.answers < 0:
            raise EmbedderUnavailable("the embedder failed")
        return self._inner.embed(texts)


@pytest.fixture(autouse=True)
def _check_state_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(switchover, "CHECK_INTERVAL_SECONDS", -1.0)


@pytest.fixture
def file(open_nexus: Open, tmp_path: Path, clock: Clock) -> Path:
    """A store with vectors of the test embedder."""
    file = tmp_path / "changing.db"
    with open_nexus(file) as nexus:
        team = make_team(nexus, clock)
        team.tell_the_week()
        team.workspace.flush()
    return file


def recall_ids(team: Team) -> tuple[list[str], tuple[str, ...]]:
    found = team.room.recall(QUESTION)
    return [hit.memory.id for hit in found], found.degraded


def uses_vectors(team: Team) -> bool:
    return any("vector" in hit.reasons for hit in team.room.recall(QUESTION))


@pytest.mark.requirement("X9")
@pytest.mark.parametrize(
    "other",
    [OtherEmbedder(), OtherEmbedder(dimension=16)],
    ids=["same name, other revision", "other dimension"],
)
def test_keywords_are_searched_until_the_switch(
    open_nexus: Open, clock: Clock, file: Path, other: OtherEmbedder
) -> None:
    nexus = open_nexus(file, embedder=other)
    team = make_team(nexus, clock)

    ids, degraded = recall_ids(team)
    assert ids
    assert any(f"switching to {other.profile.name}, 0 of" in each for each in degraded)
    assert not uses_vectors(team)
    team.room.observe("alice", "The ledger has a new index.", key="new")
    team.workspace.flush()

    seen: list[tuple[int, int]] = []
    made = nexus.reembed(lambda done, total: seen.append((done, total)))

    assert seen[-1] == (made["embedded"], made["embedded"])
    assert made["switched"] == 1
    assert recall_ids(team)[1] == ()
    assert uses_vectors(team)
    assert nexus.reembed()["embedded"] == 0
    assert nexus.reembed(delete_old=True)["dropped"] > 0
    assert uses_vectors(team)


@pytest.mark.requirement("X9")
def test_hits_after_the_switch_match_a_fresh_memory(
    open_nexus: Open, clock: Clock, file: Path, tmp_path: Path
) -> None:
    changed = open_nexus(file, embedder=OtherEmbedder())
    changed.reembed()
    never = make_team(open_nexus(tmp_path / "fresh.db", embedder=OtherEmbedder()), clock)
    never.tell_the_week()

    def shown(team: Team) -> list[tuple[str, float, dict[str, float]]]:
        found = team.room.recall("what about the ledger and MySQL?")
        return [(hit.memory.id, hit.score, dict(hit.reasons)) for hit in found]

    assert shown(make_team(changed, clock)) == shown(never)
    assert uses_vectors(never)


@pytest.mark.requirement("X9")
def test_switch_continues_after_a_failure(
    open_nexus: Open, clock: Clock, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flow, "BATCH", 2)
    other = OtherEmbedder(answers=5)
    nexus = open_nexus(file, embedder=other)
    team = make_team(nexus, clock)

    with pytest.raises(EmbedderUnavailable):
        nexus.reembed()
    ids, degraded = recall_ids(team)
    assert ids
    assert any(", 4 of" in each or ", 3 of" in each for each in degraded)

    other.answers = 1e9
    nexus.reembed()
    assert uses_vectors(team)
    assert recall_ids(team)[1] == ()


@pytest.mark.requirement("X9")
def test_process_with_the_old_embedder_continues_and_is_degraded(
    open_nexus: Open, clock: Clock, file: Path
) -> None:
    old, new = open_nexus(file), open_nexus(file, embedder=OtherEmbedder())
    before, after = make_team(old, clock), make_team(new, clock)
    assert recall_ids(before)[1] == ()
    assert uses_vectors(before)

    new.reembed()

    assert uses_vectors(before)
    assert any("was switched to" in each for each in recall_ids(before)[1])
    before.room.observe("bob", "The ledger moves to another room.", key="late")
    assert recall_ids(before)[0]
    assert recall_ids(after)[1] == ()
    assert (
        _missing(new, OtherEmbedder().profile) > 0
    )  # written by the process with the old embedder
    new.reembed(delete_old=True)
    assert _missing(new, OtherEmbedder().profile) == 0
    assert old._parts.store.vectors.active_profile(ACME) == OtherEmbedder().profile  # not reverted
    ids, degraded = recall_ids(before)  # its vectors are deleted: only keywords are searched
    assert ids
    assert degraded
    assert not uses_vectors(before)


def _missing(nexus: Nexus, profile: EmbeddingProfile) -> int:
    counted = nexus._parts.store.vectors.coverage(nexus.workspace("acme").admin_grant, profile)
    return counted["missing"]


@pytest.mark.requirement("X9")
def test_switching_back_embeds_only_new_memories(
    open_nexus: Open, clock: Clock, file: Path
) -> None:
    with open_nexus(file, embedder=OtherEmbedder()) as nexus:
        nexus.reembed()
        make_team(nexus, clock).room.observe("alice", "One more about the ledger.", key="more")
        nexus.workspace("acme").flush()

    back = open_nexus(file)
    made = back.reembed()

    assert 0 < made["embedded"] <= 3
    assert uses_vectors(make_team(back, clock))


def test_settings_can_refuse_the_switch(open_nexus: Open, clock: Clock, file: Path) -> None:
    settings = Settings(embeddings=EmbeddingSettings(on_change="refuse"))
    nexus = open_nexus(file, embedder=OtherEmbedder(), settings=settings)
    team = make_team(nexus, clock)

    team.room.observe("alice", "Not embedded by a stranger.", key="new")
    with pytest.raises(ConfigError, match="nexus reembed") as refusal:
        team.room.recall(QUESTION)
    assert OtherEmbedder().profile.name in str(refusal.value)
    with pytest.raises(ConfigError, match="nexus reembed"):
        team.room.compose(QUESTION)

    nexus.reembed()
    assert uses_vectors(
        make_team(open_nexus(file, embedder=OtherEmbedder(), settings=settings), clock)
    )


def test_refusal_names_the_active_profile_and_work_waits(
    open_nexus: Open, clock: Clock, file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    open_nexus(file, embedder=HashingEmbedder(128)).reembed()
    settings = Settings(embeddings=EmbeddingSettings(on_change="refuse"))
    nexus = open_nexus(file, embedder=OtherEmbedder(), settings=settings)
    team = make_team(nexus, clock)

    with pytest.raises(ConfigError) as refusal:
        team.room.recall(QUESTION)  # also the first time, without pending work
    assert f"vectors of {HashingEmbedder(128).profile.name}," in str(refusal.value)
    team.room.observe("alice", "Not embedded by a stranger.", key="new")
    team.workspace.flush()

    (record,) = [each for each in caplog.records if each.name == "nexusmem.learn.pipeline"]
    assert (record.levelname, record.exc_info) == ("WARNING", None)
    (waiting,) = team.workspace.pending_work()
    assert not waiting.is_dead
    assert "nexus reembed" in str(waiting.error)
    nexus.reembed()
    clock.advance(hours=1)
    assert team.workspace.flush() == 0


@pytest.mark.requirement("X2")
def test_progress_counts_only_visible_memories(open_nexus: Open, clock: Clock, file: Path) -> None:
    nexus = open_nexus(file, embedder=OtherEmbedder())
    team = make_team(nexus, clock)
    before = recall_ids(team)[1]

    private = nexus.workspace("acme").dm("zoe")
    private.observe("zoe", "Nobody else may know that there is more to embed.", key="private")
    nexus.workspace("acme").flush()

    assert recall_ids(team)[1] == before


@pytest.mark.requirement("X9")
def test_background_worker_switches_on_first_recall(
    open_nexus: Open, clock: Clock, file: Path
) -> None:
    nexus = open_nexus(file, embedder=OtherEmbedder(), background=True)
    team = make_team(nexus, clock)

    assert recall_ids(team)[0]
    for _ in range(300):
        if recall_ids(team)[1] == ():
            break
        time.sleep(0.02)

    assert recall_ids(team)[1] == ()
    assert uses_vectors(team)
    assert _missing(nexus, OtherEmbedder().profile) == 0


@pytest.mark.requirement("E27", "X9")
def test_audit_of_a_workspace_counts_its_own_vectors(open_nexus: Open, tmp_path: Path) -> None:
    """It must not reveal counts of other workspaces."""
    file = tmp_path / "memory.db"
    nexus = open_nexus(file)
    for name, messages in (("small", 1), ("large", 9)):
        for number in range(messages):
            nexus.workspace(name).room("r").observe("ann", f"Heron number {number}.")
        nexus.workspace(name).flush()
    nexus.close()
    nexus = open_nexus(file, embedder=OtherEmbedder())

    made = nexus.reembed()
    nexus.reembed()  # nothing to do and nothing to audit

    counts = {}
    for name in ("small", "large"):
        (entry,) = [e.entry for e in nexus.workspace(name).audit() if e.action == "reembed"]
        counts[name] = entry.detail["counts"]
    assert counts["small"]["embedded"] < counts["large"]["embedded"]
    assert sum(each["embedded"] for each in counts.values()) == made["embedded"]
