"""Audit log of a team: recorded reads and writes, retention and erasure."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Clock, Open
from tests.stories.conftest import Team, make_team

from nexusmem import InvalidInput, Nexus, Place, Workspace
from nexusmem.audit.recorder import MAX_WAITING_READS
from nexusmem.audit.records import AuditEntry
from nexusmem.config.settings import AuditSettings, Settings
from nexusmem.recall.query import SearchSettings
from nexusmem.stores.sqlite.store import SqliteStore

Opened = Callable[..., Team]
QUESTION = "Which database did we choose for the ledger?"


@pytest.fixture
def opened(open_nexus: Open, clock: Clock) -> Opened:
    """Return a function that opens a team at an audit level."""

    def opened(level: str, store: object = ":memory:", **more: Any) -> Team:
        audit = AuditSettings(level=level, **more.pop("audit", {}))
        return make_team(open_nexus(store, settings=Settings(audit=audit, **more)), clock)

    return opened


def entries(workspace: Workspace, action: str) -> list[AuditEntry]:
    return [each.entry for each in workspace.audit(action=action) if each.entry]


def list_actions(workspace: Workspace) -> list[str]:
    """Return the recorded actions without entries of settings and flows."""
    return [each.action for each in workspace.audit() if each.action not in ("settings", "flow")]


@pytest.mark.requirement("E27")
@pytest.mark.parametrize(
    ("level", "recorded"),
    [
        ("off", []),
        ("writes", ["forget"]),
        ("reads", ["forget", "get", "recall"]),
        ("verbose", ["forget", "get", "recall"]),
    ],
)
def test_level_decides_what_is_recorded(opened: Opened, level: str, recorded: list[str]) -> None:
    team = opened(level)
    receipts = team.tell_the_week()

    found = team.room.recall(QUESTION)
    team.room.get(found[0].memory.id)
    team.workspace.forget(event=receipts["retro"])

    assert list_actions(team.workspace) == recorded
    assert team.workspace.verify_audit().is_intact


@pytest.mark.requirement("E27", "E2")
def test_read_entry_has_actor_place_and_scopes(opened: Opened) -> None:
    team = opened("reads")
    team.tell_the_week()
    team.alices.set_value("user", "tea", "green, no sugar")

    team.alices.recall("Which tea, and what do I ask for on Friday?")

    (entry,) = entries(team.workspace, "recall")
    assert (entry.actor, entry.place) == ("scribe", str(team.alices.scope(None)))
    assert entry.people == ("alice",)
    counted = dict(entry.detail["scopes"])  # type: ignore[arg-type]
    assert counted.keys() == {"user:alice", "project:apollo", str(team.alices.scope(None))}
    assert entry.detail["elsewhere"] == counted["user:alice"] + counted["project:apollo"] > 1
    assert entry.detail["results"] == sum(counted.values())
    assert entry.detail["ms"] > 0  # type: ignore[operator]
    assert "question" not in entry.detail
    assert len(str(entry.detail["question_digest"])) == 32


@pytest.mark.requirement("E27", "E2")
@pytest.mark.parametrize(
    ("action", "read"),
    [
        ("dossiers_get", lambda place: place.dossiers.get("alice")),
        ("profile", lambda place: place.profile("alice")),
        ("entity", lambda place: place.entity("alice")),
        ("goals_list", lambda place: place.goals.list()),
        ("goals_tree", lambda place: place.goals.tree()),
    ],
)
def test_results_from_other_scopes_are_counted(
    opened: Opened, action: str, read: Callable[[Place], object]
) -> None:
    team = opened("reads")
    team.room.observe("alice", "I live in Oslo.")
    team.alices.observe("alice", "I like herring.")
    team.alices.add_fact("alice", "LIKES", "tea", scope="user")
    team.alices.goals.add("Find a flat", scope="user")

    read(team.alices)

    (entry,) = entries(team.workspace, action)
    scopes = dict(entry.detail["scopes"])  # type: ignore[arg-type]
    assert entry.detail["elsewhere"] == scopes["user:alice"] > 0
    assert scopes.keys() <= {"user:alice", str(team.alices.scope(None))}


@pytest.mark.requirement("E27", "E2")
def test_child_goals_count_with_their_scope(opened: Opened) -> None:
    team = opened("reads")
    goal = team.alices.goals.add("Find a flat", scope="user")
    team.alices.goals.add("Call the agency", scope="user", parent=goal.id)

    team.alices.goals.tree()

    (entry,) = entries(team.workspace, "goals_tree")
    assert entry.detail["scopes"] == [["user:alice", 2]]


@pytest.mark.requirement("E27")
def test_verbose_level_records_redacted_questions(
    opened: Opened,
) -> None:
    team = opened("verbose")
    team.tell_the_week()

    team.room.recall("Is AKIAIOSFODNN7EXAMPLE the key of the ledger?")
    team.room.compose(QUESTION)

    (asked,) = entries(team.workspace, "recall")
    assert asked.detail["question"] == "Is [redacted: api key] the key of the ledger?"
    (composed,) = entries(team.workspace, "compose")
    assert composed.detail["question"] == QUESTION
    assert composed.detail["results"] > 0  # type: ignore[operator]


@pytest.mark.requirement("E27")
def test_failed_read_is_recorded_once(opened: Opened) -> None:
    team = opened("reads")
    team.tell_the_week()

    with pytest.raises(LookupError):
        team.room.get_value("workspace", "colour")

    (missed,) = entries(team.workspace, "get_value")
    assert missed.detail["error"] == "NotFound"
    assert list_actions(team.workspace) == ["get_value"]  # the nested read of facts is not recorded


@pytest.mark.requirement("E28")
def test_settings_are_recorded_once_without_secrets(opened: Opened, tmp_path: Path) -> None:
    secret = "sk-not-for-anybodys-eyes"
    search = SearchSettings(
        default_threshold=0.25, reranker_api_key=secret, reranker_url="http://there"
    )
    for threshold in (0.25, 0.25, 0.5):
        team = opened(
            "writes", tmp_path / "m.db", search=replace(search, default_threshold=threshold)
        )
        team.workspace.export(StringIO())
        team.workspace.export(StringIO())

    snapshots = entries(team.workspace, "settings")
    thresholds = [each.detail["search"]["default_threshold"] for each in snapshots]  # type: ignore[index,call-overload]
    named = [each.detail["settings"] for each in entries(team.workspace, "export")]
    assert thresholds == [0.5, 0.25]
    assert named == [named[0]] * 2 + [named[-1]] * 4
    assert named[0] != named[-1]
    assert secret not in json.dumps([dict(each.detail) for each in snapshots])


@pytest.mark.requirement("E27")
def test_administrator_actions_are_recorded_with_counts(opened: Opened) -> None:
    team = opened("writes")
    team.tell_the_week()
    archive = StringIO()

    team.workspace.export(archive)
    archive.seek(0)
    team.workspace.import_(archive)
    team.workspace.retry()  # nothing had failed, so nothing was retried
    team.workspace.forget(user="bob")

    assert list_actions(team.workspace) == ["forget", "import", "export"]
    (came,) = entries(team.workspace, "import")
    assert (came.actor, came.detail["events"], came.detail["repeated"]) == ("administrator", 0, 6)
    (gone,) = entries(team.workspace, "forget")
    assert (gone.detail["what"], gone.detail["events"]) == ("user", 3)


@pytest.mark.parametrize("which", ["patterns", [7], ["paterns"]])
def test_retry_rejects_other_arguments(opened: Opened, which: Any) -> None:
    with pytest.raises(InvalidInput):
        opened("writes").workspace.retry(which)


@pytest.mark.requirement("E27", "X6")
def test_erased_person_is_erased_from_a_valid_audit_log(opened: Opened, tmp_path: Path) -> None:
    """Questions and names are erased; the fact and time of the read stay."""
    team = opened("verbose", tmp_path / "memory.db", audit={"key": "0123456789abcdef"})
    team.tell_the_week()
    team.alices.recall("When shall I ask Bartholomew for a raise of wages?")
    team.bobs.recall("Does Alice know about my operation in the hospital?")
    team.bobs.recall("Is the malice of the ledger known to anybody here?")
    before = team.workspace.verify_audit()

    report = team.workspace.forget(user="alice")

    after = team.workspace.verify_audit(anchor=before.head)
    assert (report.residue, after.problems) == (0, ())
    assert (after.entries, after.erased) == (before.entries + 1, 2)
    assert after.sealed == after.entries
    assert [each.detail["question"] for each in entries(team.workspace, "recall")] == [
        "Is the malice of the ledger known to anybody here?"
    ]
    files = b"".join(file.read_bytes() for file in tmp_path.glob("memory.db*")).lower()
    assert b"bartholomew" not in files
    assert b"hospital" not in files
    assert b"malice of the ledger" in files


@pytest.mark.requirement("E27", "X6")
def test_erased_room_is_erased_from_the_audit_log(opened: Opened, tmp_path: Path) -> None:
    team = opened("verbose", tmp_path / "memory.db")
    team.tell_the_week()
    team.room.recall("Where does Bartholomew keep the ledger?")
    team.alices.recall("What do I ask for on Friday?")

    report = team.workspace.forget(room="design")

    assert report.residue == 0
    (left,) = entries(team.workspace, "recall")
    assert left.detail["question"] == "What do I ask for on Friday?"
    files = b"".join(file.read_bytes() for file in tmp_path.glob("memory.db*")).lower()
    assert b"bartholomew" not in files


@pytest.mark.requirement("E27")
def test_queued_reads_are_written_in_batches(opened: Opened, tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    team = opened("reads", path)
    team.tell_the_week()
    team.room.recent()
    with closing(SqliteStore(path)) as beside:
        administrator = team.workspace.admin_grant
        assert beside.audit.find(administrator, limit=1) == []  # written in the background

        for _ in range(MAX_WAITING_READS):
            team.room.recent()
        kept = beside.audit.find(administrator, action="recent", limit=10_000)
        assert len(kept) == MAX_WAITING_READS

        assert len(team.workspace.audit(action="recent", limit=10_000)) == MAX_WAITING_READS + 1


@pytest.mark.requirement("E27")
def test_reads_stay_queued_while_the_store_is_unavailable(opened: Opened, tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "m.db")
    team = opened("reads", store)
    team.tell_the_week()
    team.room.recent()
    auditor = team.room._parts.audit
    store.close()

    auditor.flush()

    assert len(auditor._waiting) == 1


@pytest.mark.requirement("E27")
def test_history_merges_events_and_entries(opened: Opened, clock: Clock) -> None:
    team = opened("writes")
    first = team.room.observe("alice", "Tea is at four.")
    clock.advance(minutes=1)
    team.workspace.export(StringIO())
    clock.advance(minutes=1)
    team.room.observe("bob", "Fine.")

    found = team.workspace.audit(events=True)

    actions = [each.action for each in found if each.action != "flow"]
    assert actions == ["message", "export", "settings", "message"]
    assert found[-1].entry is not None
    assert found[-1].entry.detail == {"event": first.event_id}  # without the text


@pytest.mark.requirement("E27")
def test_history_is_followed_by_number_not_by_time(opened: Opened, clock: Clock) -> None:
    team = opened("writes")
    team.tell_the_week()
    nothing, mark = team.workspace.audit_since(events=True)
    ahead = team.room.observe("alice", "Tea is at four.", at=clock.now + timedelta(days=900))
    coming, mark = team.workspace.audit_since(mark, events=True)
    before = team.room.observe("bob", "It was at three.", at=clock.now - timedelta(days=900))
    team.workspace.export(StringIO())
    further, mark = team.workspace.audit_since(mark, events=True)

    assert nothing == []
    assert [each.entry.detail for each in coming if each.entry] == [{"event": ahead.event_id}]
    actions = [each.action for each in further if each.action != "flow"]
    assert actions == ["message", "settings", "export"]
    assert further[0].entry is not None
    assert further[0].entry.detail == {"event": before.event_id}
    assert team.workspace.audit_since(mark, events=True) == ([], mark)


@pytest.mark.requirement("E27")
def test_audit_log_of_another_workspace_is_invisible(opened: Opened) -> None:
    team = opened("verbose")
    team.tell_the_week()
    team.alices.recall(QUESTION)
    nexus = Nexus(team.room._parts)

    assert nexus.workspace("globex").audit(events=True) == []
    assert nexus.workspace("globex").verify_audit().entries == 0
