"""Another embedder is configured: the memory goes on answering, and changes over."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Clock, Open
from tests.stories.conftest import Team, make_team

from nexus import ConfigError, EmbedderUnavailable, Nexus
from nexus.config import EmbeddingSettings, Settings
from nexus.core.ids import WorkspaceId
from nexus.core.records import EmbeddingProfile
from nexus.embedders import changing
from nexus.embedders.hashing import HashingEmbedder
from nexus.maintain import reembed as flow

ACME = WorkspaceId("acme")
QUESTION = "ledger"


class Other:
    """Like the usual one, under another name, and it can be switched off."""

    local = True

    def __init__(self, revision: str = "2", dimension: int = 64, answers: float = 1e9) -> None:
        self._inner = HashingEmbedder(dimension)
        self._revision = revision
        self.answers = answers  # so many texts, and then no more

    @property
    def profile(self) -> EmbeddingProfile:
        return replace(self._inner.profile, revision=self._revision)

    def embed(self, texts: Sequence[str]) -> Any:
        self.answers -= len(texts)
        if self.answers < 0:
            raise EmbedderUnavailable("the embedder went away")
        return self._inner.embed(texts)


@pytest.fixture(autouse=True)
def _looks_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changing, "LOOK_SECONDS", -1.0)


@pytest.fixture
def file(open_nexus: Open, tmp_path: Path, clock: Clock) -> Path:
    """A memory of the usual embedder."""
    file = tmp_path / "changing.db"
    with open_nexus(file) as nexus:
        team = make_team(nexus, clock)
        team.tell_the_week()
        team.workspace.flush()
    return file


def asked(team: Team) -> tuple[list[str], tuple[str, ...]]:
    found = team.room.recall(QUESTION)
    return [hit.memory.id for hit in found], found.degraded


def by_meaning(team: Team) -> bool:
    return any("meaning" in hit.reasons for hit in team.room.recall(QUESTION))


@pytest.mark.requirement("X9")
@pytest.mark.parametrize(
    "other", [Other(), Other(dimension=16)], ids=["same name, other revision", "other dimension"]
)
def test_a_memory_answers_by_words_until_it_has_changed_over(
    open_nexus: Open, clock: Clock, file: Path, other: Other
) -> None:
    nexus = open_nexus(file, embedder=other)
    team = make_team(nexus, clock)

    ids, degraded = asked(team)
    assert ids
    assert any(f"changing over to {other.profile.name}, 0 of" in each for each in degraded)
    assert not by_meaning(team)
    team.room.observe("alice", "The ledger has a new index.", key="new")
    team.workspace.flush()

    seen: list[tuple[int, int]] = []
    made = nexus.reembed(lambda done, total: seen.append((done, total)))

    assert seen[-1] == (made["embedded"], made["embedded"])
    assert made["switched"] == 1
    assert asked(team)[1] == ()
    assert by_meaning(team)
    assert nexus.reembed()["embedded"] == 0
    assert nexus.reembed(drop_old=True)["dropped"] > 0
    assert by_meaning(team)


@pytest.mark.requirement("X9")
def test_the_answers_are_those_of_a_memory_that_never_had_another(
    open_nexus: Open, clock: Clock, file: Path, tmp_path: Path
) -> None:
    changed = open_nexus(file, embedder=Other())
    changed.reembed()
    never = make_team(open_nexus(tmp_path / "fresh.db", embedder=Other()), clock)
    never.tell_the_week()

    def shown(team: Team) -> list[tuple[str, float, dict[str, float]]]:
        found = team.room.recall("what about the ledger and MySQL?")
        return [(hit.memory.id, hit.score, dict(hit.reasons)) for hit in found]

    assert shown(make_team(changed, clock)) == shown(never)
    assert by_meaning(never)


@pytest.mark.requirement("X9")
def test_an_embedder_that_goes_away_half_way_is_waited_for(
    open_nexus: Open, clock: Clock, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flow, "BATCH", 2)
    other = Other(answers=5)
    nexus = open_nexus(file, embedder=other)
    team = make_team(nexus, clock)

    with pytest.raises(EmbedderUnavailable):
        nexus.reembed()
    ids, degraded = asked(team)
    assert ids
    assert any(", 4 of" in each or ", 3 of" in each for each in degraded)

    other.answers = 1e9
    nexus.reembed()
    assert by_meaning(team)
    assert asked(team)[1] == ()


@pytest.mark.requirement("X9")
def test_a_process_with_the_former_embedder_goes_on_with_its_vectors_and_says_so(
    open_nexus: Open, clock: Clock, file: Path
) -> None:
    old, new = open_nexus(file), open_nexus(file, embedder=Other())
    before, after = make_team(old, clock), make_team(new, clock)
    assert asked(before)[1] == ()
    assert by_meaning(before)

    new.reembed()

    assert by_meaning(before)
    assert any("has changed over to" in each for each in asked(before)[1])
    before.room.observe("bob", "The ledger moves to another room.", key="late")
    assert asked(before)[0]
    assert asked(after)[1] == ()
    assert _missing(new, Other().profile) > 0  # what the former wrote
    new.reembed(drop_old=True)
    assert _missing(new, Other().profile) == 0
    assert old._parts.store.vectors.in_use(ACME) == Other().profile  # nobody changed it back
    ids, degraded = asked(before)  # its vectors are gone: words must do
    assert ids
    assert degraded
    assert not by_meaning(before)


def _missing(nexus: Nexus, profile: EmbeddingProfile) -> int:
    counted = nexus._parts.store.vectors.coverage(nexus.workspace("acme").administrator, profile)
    return counted["missing"]


@pytest.mark.requirement("X9")
def test_going_back_needs_only_what_is_new(open_nexus: Open, clock: Clock, file: Path) -> None:
    with open_nexus(file, embedder=Other()) as nexus:
        nexus.reembed()
        make_team(nexus, clock).room.observe("alice", "One more about the ledger.", key="more")
        nexus.workspace("acme").flush()

    back = open_nexus(file)
    made = back.reembed()

    assert 0 < made["embedded"] <= 3
    assert by_meaning(make_team(back, clock))


def test_settings_may_refuse_to_change(open_nexus: Open, clock: Clock, file: Path) -> None:
    settings = Settings(embeddings=EmbeddingSettings(on_change="refuse"))
    nexus = open_nexus(file, embedder=Other(), settings=settings)
    team = make_team(nexus, clock)

    team.room.observe("alice", "Not embedded by a stranger.", key="new")
    with pytest.raises(ConfigError, match="nexus reembed") as refusal:
        team.room.recall(QUESTION)
    assert Other().profile.name in str(refusal.value)
    with pytest.raises(ConfigError, match="nexus reembed"):
        team.room.compose(QUESTION)

    nexus.reembed()
    assert by_meaning(make_team(open_nexus(file, embedder=Other(), settings=settings), clock))


def test_a_refusal_names_what_is_in_use_and_the_work_waits(
    open_nexus: Open, clock: Clock, file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    open_nexus(file, embedder=HashingEmbedder(128)).reembed()
    settings = Settings(embeddings=EmbeddingSettings(on_change="refuse"))
    nexus = open_nexus(file, embedder=Other(), settings=settings)
    team = make_team(nexus, clock)

    with pytest.raises(ConfigError) as refusal:
        team.room.recall(QUESTION)  # also the first time, when nothing waits
    assert f"vectors of {HashingEmbedder(128).profile.name}," in str(refusal.value)
    team.room.observe("alice", "Not embedded by a stranger.", key="new")
    team.workspace.flush()

    (told,) = [each for each in caplog.records if each.name == "nexus.learn.learner"]
    assert (told.levelname, told.exc_info) == ("WARNING", None)
    (waiting,) = team.workspace.waiting()
    assert not waiting.dead
    assert "nexus reembed" in str(waiting.error)
    nexus.reembed()
    clock.advance(hours=1)
    assert team.workspace.flush() == 0


@pytest.mark.requirement("X2")
def test_how_far_it_has_come_counts_only_what_one_may_see(
    open_nexus: Open, clock: Clock, file: Path
) -> None:
    nexus = open_nexus(file, embedder=Other())
    team = make_team(nexus, clock)
    before = asked(team)[1]

    private = nexus.workspace("acme").dm("zoe")
    private.observe("zoe", "Nobody else may know that there is more to embed.", key="private")
    nexus.workspace("acme").flush()

    assert asked(team)[1] == before


@pytest.mark.requirement("X9")
def test_the_background_changes_a_memory_over_as_soon_as_somebody_asks(
    open_nexus: Open, clock: Clock, file: Path
) -> None:
    nexus = open_nexus(file, embedder=Other(), background=True)
    team = make_team(nexus, clock)

    assert asked(team)[0]
    for _ in range(300):
        if asked(team)[1] == ():
            break
        time.sleep(0.02)

    assert asked(team)[1] == ()
    assert by_meaning(team)
    assert _missing(nexus, Other().profile) == 0


@pytest.mark.requirement("E27", "X9")
def test_the_trail_of_a_workspace_tells_of_its_own_vectors(
    open_nexus: Open, tmp_path: Path
) -> None:
    """How much there is behind another wall is not its business."""
    file = tmp_path / "memory.db"
    nexus = open_nexus(file)
    for name, messages in (("small", 1), ("large", 9)):
        for number in range(messages):
            nexus.workspace(name).room("r").observe("ann", f"Heron number {number}.")
        nexus.workspace(name).flush()
    nexus.close()
    nexus = open_nexus(file, embedder=Other())

    made = nexus.reembed()
    nexus.reembed()  # there is nothing left to do, and nothing to tell

    told = {}
    for name in ("small", "large"):
        (entry,) = [e.entry for e in nexus.workspace(name).audit() if e.action == "reembed"]
        told[name] = entry.detail["counts"]
    assert told["small"]["embedded"] < told["large"]["embedded"]
    assert sum(each["embedded"] for each in told.values()) == made["embedded"]
