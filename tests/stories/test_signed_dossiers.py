"""Dossiers that a person would sign: sure facts, contact data, promises, versions and files."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from tests.conftest import MONDAY
from tests.stories.conftest import Team

from nexusmem import InvalidInput, NotFound
from nexusmem.core.records import Draft, MemoryKind

pytestmark = pytest.mark.requirement("B19")


def section(text: str, heading: str) -> str:
    """Return the lines below a heading."""
    return text.partition(f"## {heading}\n")[2].partition("\n## ")[0]


@pytest.mark.requirement("B8", "E19")
def test_only_sure_facts_are_stated(team: Team) -> None:
    team.room.add_fact("Sarah Chen", "WORKS_AT", "Globex", confidence=0.95)
    team.room.observe("bob", "Carol told me that Sarah Chen lives in Lisbon.")
    assert team.room.facts("Sarah Chen", "LIVES_IN")

    text = team.room.dossiers.get("Sarah Chen").text

    assert "Globex" in text
    assert "Lisbon" not in section(text, "Current facts")


@pytest.mark.requirement("E20")
def test_former_facts_follow_current_ones(team: Team) -> None:
    team.room.add_fact("Sarah Chen", "WORKS_AT", "Globex")
    team.clock.advance(days=1)
    team.room.add_fact("Sarah Chen", "WORKS_AT", "Initech")
    team.clock.advance(days=1)

    text = team.room.dossiers.get("Sarah Chen").text

    assert "Initech" in section(text, "Current facts")
    assert "- Formerly: Sarah Chen works at Globex" in section(text, "Former facts")
    assert text.index("Initech") < text.index("Globex")


@pytest.mark.requirement("E20")
def test_sentence_with_several_facts_stands_once(team: Team) -> None:
    team.room.observe("alice", "Sarah Chen works at Globex and lives in Porto.")
    team.clock.advance(days=1)
    team.room.observe("alice", "Sarah Chen moved from Porto to Faro.")
    team.clock.advance(days=1)

    text = team.room.dossiers.get("Sarah Chen").text

    known = section(text, "Current facts")
    assert known.count("works at Globex and lives in Porto") == 1
    assert section(text, "Current facts").count("moved from Porto to Faro") == 1
    former = section(text, "Former facts")
    assert "- Formerly: Sarah Chen moved from Porto to Faro. [lives in Porto]" in former


@pytest.mark.requirement("B9", "B10")
def test_heading_and_contact_name_the_person(team: Team) -> None:
    team.room.upsert_entity(
        "Sarah Chen",
        type="person",
        aliases=["Sally", "+31 6 1234 5678"],
        description="Designer of the ferry.",
    )
    team.room.add_fact("Sarah Chen", "HAS_EMAIL", value="sarah@example.com")

    text = team.room.dossiers.get("Sally").text

    assert text.startswith("# Sarah Chen (also known as Sally)\n\nDesigner of the ferry.")
    contact = section(text, "Contact")
    assert "- E-mail: sarah@example.com (stated by scribe) [1]" in contact
    assert "- Phone: +31612345678 (stated by scribe) [2]" in contact
    assert "has email" not in text


def test_open_promises_are_listed_until_they_are_over(team: Team) -> None:
    told = team.room.observe("alice", "Hello.", key="promise")
    team.room.flush()
    store = team.workspace._parts.store
    promise = Draft(
        scope=team.room.viewer.home,
        kind=MemoryKind.LANDMARK,
        text="I will send the plan to bob.",
        sources=(told.event_id,),
        slot="promise",
        learned=True,
        valid_to=MONDAY + timedelta(days=5),
        body={"kind": "commitment", "owner": "alice", "due": "2026-03-06T00:00:00.000000Z"},
    )
    store.memories.put(team.workspace.id, [promise])

    text = team.room.dossiers.get("alice").text
    assert "I will send the plan to bob. (due 2026-03-05) [1]" in section(text, "Open promises")

    team.clock.advance(days=10)
    with pytest.raises(NotFound):
        team.room.dossiers.get("alice")


@pytest.mark.requirement("B15")
def test_each_episode_is_told_once(team: Team) -> None:
    team.room.observe("alice", "Sarah Chen works at Globex.", thread="hiring")
    team.clock.advance(days=10)
    team.workspace.refresh_episodes()
    assert len(team.room.episodes(about="Sarah Chen")) > 1  # its thread, day and week

    text = team.room.dossiers.get("Sarah Chen").text

    assert section(text, "Episodes").count("- ") == 1


def test_replaced_versions_are_kept(team: Team) -> None:
    dossiers = team.room.dossiers
    team.room.add_fact("Sarah Chen", "WORKS_AT", "Globex")
    dossiers.get("Sarah Chen")
    team.clock.advance(days=1)
    team.room.add_fact("Sarah Chen", "SPEAKS", "Dutch")
    dossiers.get("Sarah Chen")

    first, second = dossiers.history("Sarah Chen")

    assert (first.version, second.version) == (1, 2)
    assert (first.replaced_at, second.replaced_at) == (second.made_at, None)
    assert ("Dutch" in first.text, "Dutch" in second.text) == (False, True)
    assert [each.id for each in dossiers.list()] == [second.id]
    assert second == dossiers.get("Sarah Chen")
    with pytest.raises(NotFound):
        team.bobs.dossiers.history("Sarah Chen")
    with pytest.raises(NotFound):
        dossiers.history("Nobody")


@pytest.mark.requirement("X6")
def test_versions_are_erased_with_their_sources(team: Team) -> None:
    dossiers = team.room.dossiers
    told = team.room.add_fact("Sarah Chen", "LIKES", "smuggled herring")
    dossiers.get("Sarah Chen")
    team.room.add_fact("Sarah Chen", "SPEAKS", "Dutch")
    dossiers.get("Sarah Chen")
    assert len(dossiers.history("Sarah Chen")) == 2

    assert team.workspace.forget(event=told).residue == 0

    dossiers.get("Sarah Chen")
    assert "herring" not in "".join(each.text for each in dossiers.history("Sarah Chen"))


@pytest.mark.requirement("X6")
def test_forgotten_dossier_takes_its_versions(team: Team) -> None:
    dossiers = team.room.dossiers
    for value in ("Dutch", "Danish"):
        team.room.add_fact("Sarah Chen", "SPEAKS", value)
        found = dossiers.get("Sarah Chen")

    assert team.workspace.forget(memory=found.id).residue == 0

    with pytest.raises(NotFound):
        dossiers.history("Sarah Chen")


@pytest.mark.requirement("B18")
def test_dossier_is_a_file_of_the_notebook(team: Team, tmp_path: Path) -> None:
    team.room.add_fact("Sarah Chen", "WORKS_AT", "Globex", key="work")
    team.room.dossiers.get("Sarah Chen")
    notebook = team.room.notebook
    path = "dossiers/Sarah Chen.md"

    (document,) = notebook.list()

    assert (document.path, document.version) == (path, 1)
    assert document.text.startswith("# Sarah Chen")
    assert "## Sources\n\n- [1] scribe, 2026-03-02, room:design (work)" in document.text
    assert notebook.sync(tmp_path).to_folder == [path]
    assert (tmp_path / path).read_text() == document.text

    team.room.add_fact("Sarah Chen", "SPEAKS", "Dutch")
    team.room.dossiers.get("Sarah Chen")
    assert [each.version for each in notebook.history(path)] == [1, 2]
    assert notebook.read(path, version=1).text == document.text
    assert notebook.sync(tmp_path).to_folder == [path]
    assert "Dutch" in (tmp_path / path).read_text()


def test_dossier_file_is_read_only(team: Team, tmp_path: Path) -> None:
    team.room.add_fact("Sarah Chen", "WORKS_AT", "Globex")
    team.room.dossiers.get("Sarah Chen")
    path = "dossiers/Sarah Chen.md"
    for change in (
        lambda: team.room.notebook.write(path, "x"),
        lambda: team.room.notebook.write("dossiers/Nobody.md", "x"),
        lambda: team.room.notebook.delete(path),
    ):
        with pytest.raises(InvalidInput, match="folder of the dossiers"):
            change()
    team.room.notebook.sync(tmp_path)
    (tmp_path / path).write_text("changed by hand")

    report = team.room.notebook.sync(tmp_path)

    assert "folder of the dossiers" in report.skipped[path]
    assert "Globex" in team.room.notebook.read(path).text


@pytest.mark.requirement("X6")
def test_file_of_an_erased_dossier_is_deleted(team: Team, tmp_path: Path) -> None:
    told = team.room.add_fact("Sarah Chen", "WORKS_AT", "Globex")
    team.room.dossiers.get("Sarah Chen")
    team.room.notebook.sync(tmp_path)
    team.workspace.forget(event=told)

    report = team.room.notebook.sync(tmp_path)

    assert report.deleted == ["dossiers/Sarah Chen.md"]
    assert team.room.notebook.list() == []


@pytest.mark.requirement("X1")
def test_dossier_file_is_listed_for_its_readers_only(team: Team) -> None:
    team.bobs.remember("Sarah Chen is my cousin.", scope="user:bob")
    team.room.add_fact("Sarah Chen", "WORKS_AT", "Globex")
    assert "cousin" in team.room.dossiers.get("Sarah Chen").text
    alone = team.workspace.room("design", agent="scribe", participants=["alice"], project="apollo")

    assert alone.notebook.list() == []
    assert alone.notebook.history("dossiers/Sarah Chen.md") == []
    assert team.room.notebook.in_scope("project").list() == []


def test_names_become_safe_paths(team: Team) -> None:
    for name in ("a/b: c?", "..", "NUL"):
        team.room.add_fact(name, "LIKES", value="tea")
        team.room.dossiers.get(name)

    paths = [each.path for each in team.room.notebook.list()]

    assert paths == ["dossiers/_.md", "dossiers/_NUL.md", "dossiers/a-b- c.md"]
