"""`nexus memory …`."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

SECRET = "The otter is called Ferdinand and lives behind the mill."


@pytest.fixture
def told(run):
    run("observe", "alice", "We decided to use PostgreSQL.", "--at", "2026-01-05", "--key", "a")
    run("observe", "bob", "PostgreSQL needs a backup every night.", "--at", "2026-02-05")
    run("remember", "The staging server is called heron.", "--scope", "global")


@pytest.mark.requirement("C18")
def test_search_shows_the_best_first_with_score_and_origin(run, told) -> None:
    result = run("memory", "search", "PostgreSQL")

    first, origin, second, _ = result.stdout.splitlines()[:4]
    assert first.startswith("1. [")
    assert second.startswith("2. [")
    assert "session:alice:default · passage · " in origin
    assert " of " in result.stderr
    assert " ms" in result.stderr


@pytest.mark.requirement("C18")
def test_search_prints_one_object_a_line(lines, told) -> None:
    hits = lines("memory", "search", "decided PostgreSQL")

    assert hits[0]["text"] == "We decided to use PostgreSQL."
    assert hits[0]["event_keys"] == ["a"]
    assert hits[0]["highlights"]
    assert all(0 <= hit["score"] <= 1 for hit in hits)


@pytest.mark.requirement("C18")
@pytest.mark.parametrize(
    ("options", "texts"),
    [
        (("--limit", "1"), 1),
        (("--threshold", "1"), 0),
        (("--since", "2026-02-01", "--until", "2026-03-01"), 1),
        (("--until", "2026-01-01"), 0),
        (("--filter", '{"speaker": "bob"}'), 1),
        (("--filter", '{"OR": [{"speaker": "bob"}, {"speaker": "alice"}]}', "--limit", "2"), 2),
        (("--kind", "fact"), 3),
        (("--kind", "procedure"), 0),
        (("--scope", "session", "--limit", "2"), 2),
        (("--scope", "channel"), 0),
    ],
)
def test_search_can_be_narrowed(lines, told, options, texts) -> None:
    hits = lines("memory", "search", "PostgreSQL backup", *options, code=0 if texts else 1)

    assert len(hits) == texts


@pytest.mark.parametrize(
    "options",
    [
        ("--filter", "{"),
        ("--filter", '{"spekaer": "bob"}'),
        ("--filter", "[" * 100_000),
        ("--filter", '{"NOT":' * 400 + "{}" + "}" * 400),
        ("--limit", "0"),
        ("--limit", "1e9"),
        ("--threshold", "nan"),
        ("--since", "soon"),
        ("--kind", "rumour"),
        ("--scope", ""),
    ],
)
def test_a_search_that_makes_no_sense_is_exit_2(run, told, options) -> None:
    result = run("memory", "search", "PostgreSQL", *options, code=2)

    assert "rror: " in result.stderr


def test_a_memory_that_is_not_there_is_not_made_by_looking(run) -> None:
    for command in (("memory", "search", "x"), ("memory", "stats"), ("verify",), ("reembed",)):
        run(*command, code=2)

    assert not Path("memory.db").exists()


@pytest.fixture
def docs(shell: Path) -> Path:
    folder = shell / "docs"
    (folder / "deep" / ".git").mkdir(parents=True)
    (folder / "auth.md").write_text("# Auth\n\nWe implemented auth with signed tokens.\n")
    (folder / "deep" / "code.py").write_text("def heron():\n    return 'wading bird'\n")
    (folder / "deep" / ".git" / "config.txt").write_text(SECRET)
    (folder / ".env.txt").write_text(SECRET)
    (folder / "picture.png").write_bytes(b"\x89PNG\0")
    (folder / "noise.txt").write_bytes(b"\0\1\2\xff")
    (folder / "empty.md").write_text(" \n")
    outside = shell / "outside.txt"
    outside.write_text(SECRET)
    (folder / "link.txt").symlink_to(outside)
    (folder / "linked").symlink_to(shell, target_is_directory=True)
    return folder


@pytest.mark.requirement("C19")
def test_index_takes_text_files_and_leaves_the_rest(run, lines, docs) -> None:
    result = run("memory", "index", "docs", "--scope", "global")

    assert "indexed\t2\nrepeated\t0\nskipped\t3\n" in result.stdout
    for name, reason in (("noise.txt", "not text"), ("empty.md", "empty"), ("link.txt", "a link")):
        assert f"skipped docs/{name}: {reason}" in result.stderr
    (hit, *_) = lines("memory", "search", "how is auth implemented?", "--scope", "global")
    assert hit["metadata"]["path"] == "docs/auth.md"
    assert hit["source"] == "document"


@pytest.mark.requirement("C19")
def test_nothing_outside_the_folder_comes_in_through_a_link(run, lines, docs) -> None:
    run("memory", "index", "docs")

    assert all("Ferdinand" not in hit["text"] for hit in lines("memory", "search", "otter mill"))


@pytest.mark.requirement("C19")
def test_indexing_again_adds_only_what_is_new(lines, docs, monkeypatch) -> None:
    first = lines("memory", "index", "docs")[0]
    os.utime(docs / "auth.md", (1, 1))
    monkeypatch.chdir(docs)
    again = lines("memory", "index", ".", "--store", "../memory.db")[0]
    (docs / "auth.md").write_text("Auth is done by the gateway now.")
    changed = lines("memory", "index", ".", "--store", "../memory.db")[0]

    assert (first["indexed"], first["repeated"]) == (2, 0)
    assert (again["indexed"], again["repeated"]) == (0, 2)
    assert (changed["indexed"], changed["repeated"]) == (1, 1)


@pytest.mark.requirement("C19")
def test_a_file_that_is_named_is_taken_whatever_it_is_called(lines, docs) -> None:
    note = docs / ".note"
    note.write_text("The boat house key hangs behind the clock.")

    (counts,) = lines("memory", "index", str(note), "docs/link.txt")

    assert counts == {"indexed": 2, "repeated": 0, "skipped": 0}


@pytest.mark.requirement("C19")
def test_a_folder_without_texts_is_exit_1_and_a_missing_one_exit_2(run, shell) -> None:
    (shell / "bare").mkdir()
    os.mkfifo(shell / "pipe.txt")

    run("memory", "index", "bare", code=1)
    assert "no regular file" in run("memory", "index", "pipe.txt", code=1).stderr
    assert "no file or folder" in run("memory", "index", "nowhere", code=2).stderr


@pytest.mark.requirement("C19")
def test_what_was_forgotten_is_not_indexed_again(run, lines, docs) -> None:
    run("memory", "index", "docs/auth.md")
    (hit,) = lines("memory", "search", "signed tokens")
    run("forget", "--event", hit["sources"][0], "--yes")

    result = run("memory", "index", "docs/auth.md", code=1)

    assert "erased on request" in result.stderr


@pytest.mark.requirement("C20")
def test_stats_count_what_the_viewer_may_see(lines, told) -> None:
    (session,) = lines("memory", "stats", "--scope", "session")
    (everywhere,) = lines("memory", "stats")
    (other,) = lines("memory", "stats", "--user", "carol", "--scope", "session")
    (admin,) = lines("memory", "stats", "--as-admin", "--user", "carol")
    (named,) = lines("memory", "stats", "--as-admin", "--scope", "session:alice:default")

    assert session["events"] == named["events"] == 2
    assert everywhere["events"] == admin["events"] == 3
    assert other["events"] == 0


@pytest.mark.requirement("C21")
def test_compact_gives_back_disk_space(run, lines) -> None:
    filler = " ".join(f"word{number}" for number in range(1000))
    for number in range(5):
        run("remember", f"{number} {filler}")
    run("forget", "--user", "alice", "--yes")

    (done,) = lines("memory", "compact")

    assert done["bytes_after"] < done["bytes_before"]
    assert done["bytes_after"] == Path("memory.db").stat().st_size
    assert done["still_waiting"] == 0


def test_compact_says_nothing_of_bytes_where_there_is_no_file(lines, monkeypatch) -> None:
    monkeypatch.setenv("NEXUS_STORE", ":memory:")

    assert lines("memory", "compact") == [{"still_waiting": 0}]


def test_what_is_imported_again_is_not_counted_again(run, lines, told) -> None:
    run("memory", "export", "--as-admin", "--vectors", "--output", "one.jsonl")

    words = ("memory", "import", "one.jsonl", "--as-admin", "--store", "new.db")
    (first,), (again,) = lines(*words), lines(*words)

    assert min(first["events"], first["memories"], first["vectors"]) > 0
    assert (again["events"], again["memories"], again["vectors"]) == (0, 0, 0)
    assert again["repeated"] == first["events"]


@pytest.mark.requirement("C22")
def test_an_archive_goes_out_and_comes_back_byte_for_byte(run, told) -> None:
    run("memory", "export", "--as-admin", "--vectors", "--output", "one.jsonl")
    run("memory", "import", "one.jsonl", "--as-admin", "--store", "new.db")
    run("memory", "export", "--as-admin", "--vectors", "-o", "two.jsonl", "--store", "new.db")

    assert Path("one.jsonl").read_bytes() == Path("two.jsonl").read_bytes()


@pytest.mark.requirement("C22")
def test_export_writes_only_what_the_viewer_may_see(run, told) -> None:
    shown = run("memory", "export", "--scope", "session").stdout
    other = run("memory", "export", "--user", "carol").stdout

    assert "PostgreSQL" in shown
    assert "heron" not in shown
    assert "heron" in other
    assert "PostgreSQL" not in other
    assert all(json.loads(line) for line in shown.splitlines())


@pytest.mark.requirement("C22")
def test_importing_twice_is_importing_once(run, lines, told) -> None:
    run("memory", "export", "--scope", "session", "--output", "memories.json")

    (first,) = lines("memory", "import", "memories.json", "--scope", "global")
    (second,) = lines("memory", "import", "memories.json", "--scope", "global")

    assert (first["events"], first["repeated"]) == (2, 0)
    assert (second["events"], second["repeated"]) == (0, 2)
    assert lines("memory", "search", "backup", "--user", "carol")[0]["scope"] == "workspace"


@pytest.mark.requirement("C22")
def test_a_files_scopes_give_nobody_rights(run, lines, told) -> None:
    archive = run("memory", "export", "--as-admin").stdout

    (imported,) = lines(
        *("memory", "import", "-", "--user", "carol", "--store", "new.db"), said=archive
    )

    assert imported["out_of_reach"] == 2
    assert imported["events"] == 1


@pytest.mark.requirement("C22")
def test_seed_002s_list_of_entries_can_be_imported(lines, shell) -> None:
    entries = [{"id": "1", "content": "Use feature flags.", "metadata": {"source": "note"}}]
    (shell / "memories.json").write_text(json.dumps(entries))

    (imported,) = lines("memory", "import", "memories.json", "--scope", "global")

    assert imported["events"] == 1
    assert lines("memory", "search", "feature flags")[0]["text"] == "Use feature flags."


@pytest.mark.parametrize("content", ["", "{}", "not json", '{"type": "nexus-archive"}', "[1]"])
def test_a_file_that_is_no_archive_is_exit_2(run, shell, content) -> None:
    (shell / "broken.json").write_text(content)

    run("memory", "import", "broken.json", "--scope", "global", code=2)
    run("memory", "import", "nowhere.json", "--scope", "global", code=2)
