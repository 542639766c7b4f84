"""Notebook: documents, versions, access, and synchronization with a folder."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.conftest import Open
from tests.stories.conftest import make_team

from nexusmem import Conflict, InvalidInput, NexusError, NotFound

pytestmark = pytest.mark.requirement("B18")

HOW_TO = "how-to/release.md"


def test_every_version_is_kept_and_the_newest_is_current(team) -> None:
    pages = team.room.notebook
    first = pages.write(HOW_TO, "# Release\n\nRun the tests.\n")
    second = pages.write(HOW_TO, "# Release\n\nRun the tests, then build.\n", expected=first.hash)
    assert (first.version, second.version, second.by) == (1, 2, "scribe")
    assert pages.read(HOW_TO) == second
    assert pages.read(HOW_TO, version=1) == first
    assert pages.write(HOW_TO, second.text) == second  # an equal text is not a new version
    assert [each.path for each in pages.list()] == [HOW_TO]

    gone = pages.delete(HOW_TO)
    assert (gone.deleted, pages.list()) == (True, [])
    with pytest.raises(NotFound):
        pages.read(HOW_TO)
    assert pages.write(HOW_TO, "again", expected=None).version == 4
    assert [each.version for each in pages.history(HOW_TO)] == [1, 2, 3, 4]


def test_write_with_an_outdated_hash_is_a_conflict(team) -> None:
    pages = team.room.notebook
    first = pages.write(HOW_TO, "one")
    pages.write(HOW_TO, "two")
    with pytest.raises(Conflict, match="changed meanwhile"):
        pages.write(HOW_TO, "three", expected=first.hash)
    with pytest.raises(Conflict, match="changed meanwhile"):
        pages.write(HOW_TO, "three", expected=None)
    with pytest.raises(Conflict, match="changed meanwhile"):
        pages.delete(HOW_TO, expected=first.hash)
    assert pages.read(HOW_TO).text == "two"


def test_concurrent_writes_are_neither_lost_nor_doubled(team) -> None:
    pages = team.room.notebook
    start = pages.write("count.md", "start")

    def write(number: int) -> bool:
        try:
            pages.write("count.md", f"by {number}", expected=start.hash)
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(8) as threads:
        wrote = sum(threads.map(write, range(24)))
    assert wrote == 1
    assert [each.version for each in pages.history("count.md")] == [1, 2]


def test_only_the_newest_version_is_found(team) -> None:
    pages = team.room.notebook
    pages.write(HOW_TO, "# Release\n\nThe colour of the wharf is heron.")
    assert "heron" in team.room.recall("What is the colour of the wharf?")[0].text
    pages.write(HOW_TO, "# Release\n\nThe colour of the wharf is gannet.")
    hits = team.room.recall("What is the colour of the wharf?")
    assert ["gannet" in hit.text for hit in hits] == [True]
    assert hits[0].memory.metadata["document"]["path"] == HOW_TO
    pages.delete(HOW_TO)
    assert len(team.room.recall("What is the colour of the wharf?")) == 0


@pytest.mark.requirement("X1", "X2")
def test_notebook_is_readable_in_its_scope(team) -> None:
    team.alices.notebook.write("diary.md", "Dear diary.")
    team.room.notebook.in_scope("workspace").write("rules.md", "Be kind.")
    assert team.bobs.notebook.list() == []
    assert team.room.notebook.list() == []
    assert team.bobs.notebook.in_scope("workspace").read("rules.md").text == "Be kind."
    with pytest.raises(NexusError):
        team.bobs.notebook.in_scope("dm:alice/scribe")


def test_agent_notebook_is_available_everywhere(team) -> None:
    team.room.notebook.in_scope("agent").write("style.md", "Be brief.")
    elsewhere = team.workspace.room("kitchen", agent="scribe", participants=["bob"])
    other = team.workspace.room("design", agent="painter", participants=["alice", "bob"])
    assert elsewhere.notebook.in_scope("agent").read("style.md").text == "Be brief."
    assert other.notebook.in_scope("agent").list() == []
    assert team.room.notebook.list() == []


@pytest.mark.requirement("X6")
def test_forgotten_document_is_gone_with_its_history(team) -> None:
    pages = team.alices.notebook
    pages.write("diary.md", "I bought the heron lamp.")
    pages.write("diary.md", "I bought the gannet lamp.")
    assert team.workspace.forget(user="alice").residue == 0
    assert pages.list() == []
    assert pages.history("diary.md") == []


@pytest.mark.parametrize(
    "path",
    [
        *("", "/etc/passwd", "../up.md", "a/../b.md", "a//b.md", "./a.md", ".hidden", "a/.git/x"),
        *("a\\b", "con", "NUL.txt", "a\0b", "a\nb", "tab\t", "x" * 241, "/".join("a" * 17)),
        *("end.", "end ", "e\u0301", "a:b", "what?", 7, None, "\u202egpj.md"),
    ],
)
def test_invalid_path_is_refused(team, path) -> None:
    with pytest.raises(InvalidInput):
        team.room.notebook.write(path, "x")


def test_paths_that_differ_only_in_case_are_refused(team) -> None:
    pages = team.room.notebook
    pages.write("Notes.md", "one")
    with pytest.raises(Conflict, match="only in case"):
        pages.write("notes.md", "two")


def test_folder_and_notebook_are_synchronized(team, tmp_path: Path) -> None:
    pages = team.room.notebook
    pages.write(HOW_TO, "Run the tests.")
    (tmp_path / "ideas.md").write_text("Paint it blue.")
    did = pages.sync(tmp_path)
    assert (did.to_folder, did.to_notebook) == ([HOW_TO], ["ideas.md"])
    assert (tmp_path / HOW_TO).read_text() == "Run the tests."
    assert pages.read("ideas.md").text == "Paint it blue."
    assert pages.sync(tmp_path).change_count == 0

    (tmp_path / HOW_TO).write_text("Run all the tests.")
    pages.write("ideas.md", "Paint it green.")
    did = pages.sync(tmp_path)
    assert pages.read(HOW_TO).text == "Run all the tests."
    assert (tmp_path / "ideas.md").read_text() == "Paint it green."

    (tmp_path / "ideas.md").unlink()
    pages.delete(HOW_TO)
    did = pages.sync(tmp_path)
    assert sorted(did.deleted) == [HOW_TO, "ideas.md"]
    assert (pages.list(), (tmp_path / HOW_TO).exists()) == ([], False)


def test_conflicting_edits_are_both_kept(team, tmp_path: Path) -> None:
    pages = team.room.notebook
    pages.write("ideas.md", "Paint it blue.")
    pages.sync(tmp_path)
    pages.write("ideas.md", "Paint it green.")
    (tmp_path / "ideas.md").write_text("Paint it red.")
    did = pages.sync(tmp_path)
    assert (tmp_path / "ideas.md").read_text() == pages.read("ideas.md").text == "Paint it green."
    (copy,) = did.conflicts
    assert (tmp_path / copy).read_text() == "Paint it red."
    assert pages.sync(tmp_path).change_count == 0


def test_edited_file_survives_deletion_in_the_notebook(team, tmp_path: Path) -> None:
    pages = team.room.notebook
    pages.write("ideas.md", "Paint it blue.")
    pages.sync(tmp_path)
    pages.delete("ideas.md")
    (tmp_path / "ideas.md").write_text("Paint it red.")
    pages.sync(tmp_path)
    assert pages.read("ideas.md").text == "Paint it red."


def test_lost_state_file_loses_nothing(team, tmp_path: Path) -> None:
    pages = team.room.notebook
    pages.write("ideas.md", "Paint it blue.")
    pages.write("same.md", "Same.")
    pages.sync(tmp_path)
    (tmp_path / ".nexus-notebook.json").write_text("{broken")
    (tmp_path / "ideas.md").write_text("Paint it red.")
    did = pages.sync(tmp_path)
    assert len(did.conflicts) == 1
    texts = {file.read_text() for file in tmp_path.glob("*.md")}
    assert texts == {"Paint it blue.", "Paint it red.", "Same."}


def test_links_pipes_and_binary_files_are_skipped(team, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("do not read me")
    folder = tmp_path / "notes"
    (folder / "real").mkdir(parents=True)
    (folder / "link.md").symlink_to(secret)
    (folder / "linked").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe.md")
    (folder / "picture.md").write_bytes(b"\xff\xfe\x00")
    (folder / "bad?.md").write_text("x")
    (folder / "zeros.md").write_bytes(b"a\0b")
    (folder / "memory.db").write_text("a file of something else")
    (folder / "fine.md").write_text("fine")
    pages = team.room.notebook
    did = pages.sync(folder)
    assert did.to_notebook == ["fine.md"]
    skipped = {"link.md", "linked", "pipe.md", "picture.md", "bad?.md", "zeros.md"}
    assert did.skipped.keys() == skipped
    assert "do not read me" not in "".join(each.text for each in pages.list())


def test_link_is_not_written_through(team, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "how-to").symlink_to(outside)
    pages = team.room.notebook
    pages.write(HOW_TO, "Run the tests.")
    did = pages.sync(folder)
    assert HOW_TO in did.skipped
    assert list(outside.iterdir()) == []


def test_folder_of_another_notebook_is_refused(team, tmp_path: Path) -> None:
    team.room.notebook.write("a.md", "ours")
    team.room.notebook.sync(tmp_path)
    (tmp_path / "b.md").write_text("by hand")
    team.room.notebook.sync(tmp_path)
    with pytest.raises(Conflict, match="belongs to another notebook"):
        team.room.notebook.in_scope("workspace").sync(tmp_path)
    assert (tmp_path / "a.md").read_text() == "ours"

    (tmp_path / ".nexus-notebook.json").unlink()  # as the error message advises
    did = team.room.notebook.in_scope("workspace").sync(tmp_path)
    assert (did.to_notebook, did.deleted) == (["a.md", "b.md"], [])


def test_unknown_file_is_imported(team, tmp_path: Path, open_nexus: Open) -> None:
    team.room.notebook.write("a.md", "ours")
    team.room.notebook.sync(tmp_path)
    fresh = make_team(open_nexus(":memory:"), team.clock)

    did = fresh.room.notebook.sync(tmp_path)

    assert (did.to_notebook, did.deleted) == (["a.md"], [])
    assert (tmp_path / "a.md").read_text() == "ours"


@pytest.mark.requirement("X6")
def test_deleted_or_forgotten_document_leaves_the_folder(team, tmp_path: Path) -> None:
    pages = team.room.notebook
    pages.write("deleted.md", "one")
    event = pages.write("forgotten.md", "two").event
    pages.sync(tmp_path)
    pages.delete("deleted.md")
    team.workspace.forget(event=event)

    assert pages.sync(tmp_path).deleted == ["deleted.md", "forgotten.md"]
    assert not list(tmp_path.glob("*.md"))


def test_folder_that_became_a_link_is_not_deleted(team, tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "notes", tmp_path / "elsewhere"
    pages = team.room.notebook
    pages.write("d/b.md", "one")
    pages.write("d/deeper/c.md", "two")
    pages.sync(folder)
    (folder / "d").rename(elsewhere)
    (folder / "d").symlink_to(elsewhere)

    did = pages.sync(folder)

    assert did.change_count == 0
    assert did.skipped.keys() == {"d", "d/b.md", "d/deeper/c.md"}
    assert [each.path for each in pages.list()] == ["d/b.md", "d/deeper/c.md"]


@pytest.mark.requirement("X6")
def test_document_continues_after_its_first_versions_are_forgotten(team) -> None:
    pages = team.room.notebook
    for number in range(9):  # more than one batch
        pages.write("notes.md", f"version {number}")
    for each in pages.history("notes.md"):
        team.workspace.forget(event=each.event)
    assert pages.history("notes.md") == []
    assert pages.write("notes.md", "anew").version == 10
    assert pages.read("notes.md").text == "anew"
    assert [hit.text for hit in team.room.recall("anew")] == ["anew"]
