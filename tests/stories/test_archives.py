"""Export and import of archives, within the access of the caller."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from tests.conftest import MONDAY, Clock, Open
from tests.stories.conftest import Team, keys, make_team

from nexusmem import Scope, Workspace
from nexusmem.core.records import Draft, EventKind, MemoryKind, Trust
from nexusmem.embedders.feature_hash import HashingEmbedder


def exported(workspace: Workspace, **options) -> str:
    out = StringIO()
    workspace.export(out, **options)
    return out.getvalue()


def fill(team: Team) -> None:
    told = team.tell_the_week()
    team.room.set_value("user:alice", "expiry", {"minutes": 30, "ünï": [None, 1.5, "\u202e"]})
    team.room.add_fact("Tyler", "WORKS_AT", "Anthropic", confidence=0.25, stated=False)
    team.alices.remember("A note to myself.", tags=["own"])
    team.room.add_document("# Guide\nStart heron.\n# End\nStop heron.", scope="project", key="doc")
    team.workspace.session("s:1", user="bob").observe("bob", "In a session.", key="k:%")
    team.workspace.flush()
    store = team.room._parts.store
    (episode,) = store.memories.put(
        team.workspace.id,
        [
            Draft(
                scope=team.room.viewer.home,
                kind=MemoryKind.EPISODE,
                text="They argued about the ledger.",
                sources=(told["choice"].event_id, told["doubt"].event_id),
                valid_from=MONDAY,
            )
        ],
    )
    store.memories.put(
        team.workspace.id,
        [
            Draft(
                scope=team.room.viewer.home,
                kind=MemoryKind.EPISODE,
                text="A week of arguments.",
                sources=(episode.id,),
                at=MONDAY,  # older than its sources, so it comes first in the file
            )
        ],
    )


@pytest.mark.parametrize("vectors", [False, True], ids=["plain", "with vectors"])
@pytest.mark.parametrize("target", ["memory", "sqlite"])
def test_export_import_export_gives_the_same_bytes(
    team: Team, open_nexus: Open, tmp_path: Path, target: str, vectors: bool
) -> None:
    fill(team)
    first = exported(team.workspace, vectors=vectors)
    file = tmp_path / "archive.jsonl"
    report = team.workspace.export(file, vectors=vectors)
    assert file.read_text(encoding="utf-8") == first
    assert bool(report.vectors) is vectors

    where = ":memory:" if target == "memory" else tmp_path / "other.db"
    other = open_nexus(where).workspace("another-name")
    imported = other.import_(file)

    assert exported(other, vectors=vectors) == first
    assert imported.events == report.events
    assert imported.memories == report.memories
    assert imported.out_of_reach == imported.conflicting == imported.forgotten == 0
    assert other.verify().is_intact


def test_second_import_changes_nothing(team: Team, open_nexus: Open) -> None:
    fill(team)
    archive = exported(team.workspace, vectors=True)
    other = open_nexus().workspace("acme")
    first = other.import_(StringIO(archive))
    before = exported(other, vectors=True)

    second = other.import_(StringIO(archive))

    assert (second.events, second.repeated) == (0, first.events)
    assert exported(other, vectors=True) == before
    assert other.verify().events == first.events


def test_imported_records_have_the_same_readers(team: Team, open_nexus: Open) -> None:
    fill(team)
    other = make_team(open_nexus(), Clock())

    other.workspace.import_(StringIO(exported(team.workspace)))

    question = "ledger raise surgery postgresql heron"
    for mine, theirs in zip(
        (team.room, team.alices, team.bobs), (other.room, other.alices, other.bobs), strict=True
    ):
        assert [(h.text, h.score, h.event_keys) for h in mine.recall(question)] == [
            (h.text, h.score, h.event_keys) for h in theirs.recall(question)
        ]
        assert mine.facts() == theirs.facts()
    assert other.room.get_value("user:alice", "expiry") == team.room.get_value(
        "user:alice", "expiry"
    )


@pytest.mark.requirement("A12")
def test_viewer_exports_only_readable_records(team: Team) -> None:
    fill(team)

    mine = exported(team.workspace, grant=team.alices.grant)

    told = [json.loads(line) for line in mine.splitlines()[1:]]
    keys = {record["key"] for record in told if record["type"] == "event"}
    assert "raise" in keys
    assert not keys & {"choice", "doubt", "answer", "illness", "retro"}
    assert "surgery" not in mine
    assert "I still like MySQL" not in mine  # it is part of Bob's profile only
    retro = {record["scope"] for record in told if "retro" in json.dumps(record)}
    assert retro == {"project:apollo"}  # it was said in a room of her project
    assert {record["scope"] for record in told} <= {str(s) for s in team.alices.grant.scopes}


@pytest.mark.requirement("A12")
def test_viewer_imports_only_into_readable_scopes(team: Team, open_nexus: Open) -> None:
    fill(team)
    archive = exported(team.workspace, vectors=True)
    other = make_team(open_nexus(), Clock())

    imported = other.workspace.import_(StringIO(archive), grant=other.alices.grant)
    other.workspace.flush()

    assert imported.out_of_reach > 0
    everything = other.workspace.admin_grant
    store = other.room._parts.store
    written = {event.scope for event in store.ledger.find(everything)}
    assert written <= other.alices.grant.scopes
    assert all(
        memory.label <= other.alices.grant.scopes for memory in store.memories.find(everything)
    )
    assert other.bobs.recent() == other.room.recent() == []
    assert keys(other.alices.recall("raise")) == ["raise"]


@pytest.mark.requirement("X1")
def test_only_an_administrator_imports_trust(team: Team, open_nexus: Open) -> None:
    team.alices.observe("alice", "I said this myself.", key="k")
    archive = exported(team.workspace)
    trusted, doubted = (make_team(open_nexus(), Clock()) for _ in range(2))

    trusted.workspace.import_(StringIO(archive))
    doubted.workspace.import_(StringIO(archive), grant=doubted.alices.grant)

    assert trusted.alices.recent()[0].trust is Trust.DIRECT
    assert doubted.alices.recent()[0].trust is Trust.EXTERNAL
    assert doubted.alices.recall("said myself")[0].memory.trust is Trust.EXTERNAL


def test_archive_can_be_imported_into_one_scope(team: Team, open_nexus: Open) -> None:
    fill(team)
    archive = exported(team.workspace, vectors=True)
    other = make_team(open_nexus(), Clock())

    other.workspace.import_(StringIO(archive), scope=Scope.room("design"))

    store = other.room._parts.store
    scopes = {event.scope for event in store.ledger.find(other.workspace.admin_grant)}
    assert scopes == {Scope.room("design")}
    assert "raise" in keys(other.room.recall("raise friday"))


@pytest.mark.requirement("X6")
def test_conflicting_key_is_counted_and_skipped(team: Team, open_nexus: Open) -> None:
    team.room.observe("alice", "The original words.", key="k")
    team.room.observe("alice", "Another message.", key="k2")
    other = make_team(open_nexus(), Clock())
    other.room.observe("alice", "Different words here.", key="k")

    imported = other.workspace.import_(StringIO(exported(team.workspace)))

    assert (imported.conflicting, imported.events) == (1, 1)
    assert {event.text for event in other.room.recent()} == {
        "Different words here.",
        "Another message.",
    }


@pytest.mark.requirement("C22", "C6")
def test_export_format_of_the_seed_is_read(team: Team) -> None:
    """Seed 002 section 2.1: a JSON list of entries with content, metadata and times."""
    entries = [
        {
            "id": "e1",
            "session_id": "s1",
            "channel_id": "c1",
            "agent_id": "scribe",
            "content": "We use JWT with 30 minutes expiry.",
            "metadata": {
                "source": "message",
                "role": "user",
                "tags": ["auth"],
                "extra": {"stars": 5},
            },
            "created_at": "2025-01-15T10:30:00.123456789Z",
            "updated_at": "2025-01-15T10:30:00Z",
        },
        {"content": "A bare entry about JWT.", "created_at": "2025-01-16T10:30:00"},
    ]

    imported = team.workspace.import_(StringIO(json.dumps(entries)))
    again = team.workspace.import_(StringIO(json.dumps(entries)))

    assert (imported.events, again.events, again.repeated) == (2, 0, 2)
    found = {hit.text: hit.memory for hit in team.room.recall("jwt")}
    first = found["We use JWT with 30 minutes expiry."]
    assert (first.tags, first.thread, first.metadata["extra"]) == (("auth",), "s1", {"stars": 5})
    assert first.at.isoformat() == "2025-01-15T10:30:00.123456+00:00"
    assert first.trust is Trust.EXTERNAL
    assert found["A bare entry about JWT."].at.isoformat() == "2025-01-16T10:30:00+00:00"
    (source,) = team.room.source_events(first.id)
    assert source.kind is EventKind.NOTE


def test_vectors_of_another_embedder_are_skipped(team: Team, open_nexus: Open) -> None:
    fill(team)
    other = make_team(open_nexus(embedder=HashingEmbedder(32)), Clock())

    other.workspace.import_(StringIO(exported(team.workspace, vectors=True)))

    assert {"vector", "keyword"} <= other.room.recall("postgresql")[0].reasons.keys()


def test_progress_is_reported(team: Team, open_nexus: Open) -> None:
    fill(team)
    seen: list[tuple[int, int]] = []

    open_nexus().workspace("acme").import_(
        StringIO(exported(team.workspace)), report=lambda done, total: seen.append((done, total))
    )

    assert seen[-1][0] == seen[-1][1] > 0
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
