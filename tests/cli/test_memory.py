"""`nexus memory`."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.answers import fact, worded
from tests.loopback import Loopback, says

from nexusmem import Nexus
from nexusmem.embedders.feature_hash import HashingEmbedder

SECRET = "The otter is called Ferdinand and lives behind the mill."


@pytest.fixture
def told(run):
    run("observe", "alice", "We decided to use PostgreSQL.", "--at", "2026-01-05", "--key", "a")
    run("observe", "bob", "PostgreSQL needs a backup every night.", "--at", "2026-02-05")
    run("remember", "The staging server is called heron.", "--scope", "global")


@pytest.mark.requirement("C18")
def test_search_prints_hits_with_score_and_origin(run, told) -> None:
    result = run("memory", "search", "PostgreSQL")

    first, origin, second, _ = result.stdout.splitlines()[:4]
    assert first.startswith("1. [")
    assert second.startswith("2. [")
    assert "session:alice:assistant:default · passage · " in origin
    assert " of " in result.stderr
    assert " ms" in result.stderr


@pytest.mark.requirement("C18")
def test_search_prints_json_lines(lines, told) -> None:
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
        (("--kind", "fact"), 2),
        (("--kind", "procedure"), 0),
        (("--scope", "session", "--limit", "2"), 2),
        (("--scope", "channel"), 0),
    ],
)
def test_search_filters(lines, told, options, texts) -> None:
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
def test_invalid_search_exits_2(run, told, options) -> None:
    result = run("memory", "search", "PostgreSQL", *options, code=2)

    assert "rror: " in result.stderr


def test_reads_create_no_store(run) -> None:
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
def test_index_reads_only_text_files(run, lines, docs) -> None:
    result = run("memory", "index", "docs", "--scope", "global")

    assert "indexed\t2\nduplicate\t0\nskipped\t3\n" in result.stdout
    for name, reason in (("noise.txt", "not text"), ("empty.md", "empty"), ("link.txt", "a link")):
        assert f"skipped docs/{name}: {reason}" in result.stderr
    (hit, *_) = lines("memory", "search", "how is auth implemented?", "--scope", "global")
    assert hit["metadata"]["path"] == "docs/auth.md"
    assert hit["source"] == "document"


@pytest.mark.requirement("C19")
def test_index_follows_no_links(run, lines, docs) -> None:
    run("memory", "index", "docs")

    assert all("Ferdinand" not in hit["text"] for hit in lines("memory", "search", "otter mill"))


@pytest.mark.requirement("C19")
def test_repeated_index_adds_only_changes(lines, docs, monkeypatch) -> None:
    first = lines("memory", "index", "docs")[0]
    os.utime(docs / "auth.md", (1, 1))
    monkeypatch.chdir(docs)
    again = lines("memory", "index", ".", "--store", "../memory.db")[0]
    (docs / "auth.md").write_text("Auth is done by the gateway now.")
    changed = lines("memory", "index", ".", "--store", "../memory.db")[0]

    assert (first["indexed"], first["duplicate"]) == (2, 0)
    assert (again["indexed"], again["duplicate"]) == (0, 2)
    assert (changed["indexed"], changed["duplicate"]) == (1, 1)


@pytest.mark.requirement("C19")
def test_explicit_file_is_always_indexed(lines, docs) -> None:
    note = docs / ".note"
    note.write_text("The boat house key hangs behind the clock.")

    (counts,) = lines("memory", "index", str(note), "docs/link.txt")

    assert counts == {"indexed": 2, "duplicate": 0, "skipped": 0}


@pytest.mark.requirement("C19")
def test_exit_codes_of_empty_and_missing_folder(run, shell) -> None:
    (shell / "bare").mkdir()
    os.mkfifo(shell / "pipe.txt")

    run("memory", "index", "bare", code=1)
    assert "not a regular file" in run("memory", "index", "pipe.txt", code=1).stderr
    assert "no file or folder" in run("memory", "index", "nowhere", code=2).stderr


@pytest.mark.requirement("C19")
def test_forgotten_document_is_not_indexed_again(run, lines, docs) -> None:
    run("memory", "index", "docs/auth.md")
    (hit,) = lines("memory", "search", "signed tokens")
    run("forget", "--event", hit["sources"][0], "--yes")

    result = run("memory", "index", "docs/auth.md", code=1)

    assert "was erased by forget; use another key" in result.stderr


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
def test_vacuum_shrinks_file(run, lines) -> None:
    filler = " ".join(f"word{number}" for number in range(1000))
    for number in range(5):
        run("remember", f"{number} {filler}")
    run("forget", "--user", "alice", "--yes")

    (done,) = lines("memory", "vacuum")

    assert done["bytes_after"] < done["bytes_before"]
    assert done["bytes_after"] == Path("memory.db").stat().st_size
    assert done["pending"] == 0


def test_vacuum_without_file_prints_no_bytes(lines, monkeypatch) -> None:
    monkeypatch.setenv("NEXUS_STORE", ":memory:")

    assert lines("memory", "vacuum") == [{"pending": 0}]


def test_repeated_import_counts_nothing(run, lines, told) -> None:
    run("memory", "export", "--as-admin", "--vectors", "--output", "one.jsonl")

    words = ("memory", "import", "one.jsonl", "--as-admin", "--store", "new.db")
    (first,), (again,) = lines(*words), lines(*words)

    assert min(first["events"], first["memories"], first["vectors"]) > 0
    assert (again["events"], again["memories"], again["vectors"]) == (0, 0, 0)
    assert again["repeated"] == first["events"]


@pytest.mark.requirement("C22")
def test_archive_round_trip_is_identical(run, told) -> None:
    run("memory", "export", "--as-admin", "--vectors", "--output", "one.jsonl")
    run("memory", "import", "one.jsonl", "--as-admin", "--store", "new.db")
    run("memory", "export", "--as-admin", "--vectors", "-o", "two.jsonl", "--store", "new.db")

    assert Path("one.jsonl").read_bytes() == Path("two.jsonl").read_bytes()


@pytest.mark.requirement("C22")
def test_export_writes_only_what_the_viewer_may_see(run, told) -> None:
    shown = run("memory", "export", "--scope", "session").stdout
    other = run("memory", "export", "--user", "carol").stdout

    assert "PostgreSQL" in shown
    assert '"type":"memory"' in shown
    assert "heron" not in shown
    assert "heron" in other
    assert "PostgreSQL" not in other
    assert all(json.loads(line) for line in shown.splitlines())


@pytest.mark.requirement("C22")
def test_import_is_idempotent(run, lines, told) -> None:
    run("memory", "export", "--scope", "session", "--output", "memories.json")

    (first,) = lines("memory", "import", "memories.json", "--scope", "global")
    (second,) = lines("memory", "import", "memories.json", "--scope", "global")

    assert (first["events"], first["repeated"]) == (2, 0)
    assert (second["events"], second["repeated"]) == (0, 2)
    assert lines("memory", "search", "backup", "--user", "carol")[0]["scope"] == "workspace"


@pytest.mark.requirement("C22")
def test_import_refuses_scopes_out_of_reach(run, lines, told) -> None:
    archive = run("memory", "export", "--as-admin").stdout

    (imported,) = lines(
        *("memory", "import", "-", "--user", "carol", "--store", "new.db"), said=archive
    )

    assert imported["out_of_reach"] == 2
    assert imported["events"] == 1


@pytest.mark.requirement("C22")
def test_list_of_seed_002_is_imported(lines, shell) -> None:
    entries = [{"id": "1", "content": "Use feature flags.", "metadata": {"source": "note"}}]
    (shell / "memories.json").write_text(json.dumps(entries))

    (imported,) = lines("memory", "import", "memories.json", "--scope", "global")

    assert imported["events"] == 1
    assert lines("memory", "search", "feature flags")[0]["text"] == "Use feature flags."


@pytest.mark.parametrize("content", ["", "{}", "not json", '{"type": "nexus-archive"}', "[1]"])
def test_invalid_archive_exits_2(run, shell, content) -> None:
    (shell / "broken.json").write_text(content)

    run("memory", "import", "broken.json", "--scope", "global", code=2)
    run("memory", "import", "nowhere.json", "--scope", "global", code=2)


def only_id(lines, question: str, *place: str) -> str:
    (hit, *_) = lines("memory", "search", question, *place)
    return hit["id"]


def test_memories_are_listed_in_pages(run, lines, told) -> None:
    first = run("memory", "list", "--kind", "passage", "--limit", "2", "--json")
    cursor = first.stderr.split("--cursor ")[1].strip().strip("'")
    rest = lines("memory", "list", "--kind", "passage", "--limit", "2", "--cursor", cursor)

    listed = [json.loads(line)["text"] for line in first.stdout.splitlines()]
    assert len(listed) == 2
    assert len(rest) == 1
    assert {*listed, rest[0]["text"]} == {
        "We decided to use PostgreSQL.",
        "PostgreSQL needs a backup every night.",
        "The staging server is called heron.",
    }
    only_bob = lines("memory", "list", "--filter", '{"speaker": "bob"}', "--kind", "passage")
    assert [each["text"] for each in only_bob] == ["PostgreSQL needs a backup every night."]
    assert "passage\t" in run("memory", "list", "--scope", "session").stdout
    run("memory", "list", "--user", "carol", "--kind", "episode", code=1)
    run("memory", "list", "--cursor", "nonsense", code=2)


def test_memory_is_corrected_and_shows_its_history(run, lines, told) -> None:
    old = only_id(lines, "staging server")

    (new,) = lines("memory", "correct", old, "The staging server is called kestrel.")

    assert new["replaces"] == old
    versions = lines("memory", "history", new["id"])
    assert [(each["text"], each["current"]) for each in versions] == [
        ("The staging server is called heron.", False),
        ("The staging server is called kestrel.", True),
    ]
    assert "current" in run("memory", "history", new["id"]).stdout
    refused = run("memory", "correct", new["id"], "It is called otter.", "--user", "carol", code=2)
    assert "author" in refused.stderr


def test_viewer_erases_a_memory_after_confirmation(run, lines, told) -> None:
    id = only_id(lines, "staging server")

    run("memory", "forget", id, said="n\n", code=1)
    assert lines("memory", "search", "heron")
    assert "author" in run("memory", "forget", id, "--yes", "--user", "carol", code=2).stderr
    assert lines("memory", "forget", id) == [{"erased": id}]

    assert "heron" not in run("memory", "export").stdout


def test_compact_is_an_alias_of_vacuum(lines, run, told) -> None:
    assert lines("memory", "compact")[0]["pending"] == 0
    assert "compact" not in run("memory", "--help").stdout


def test_forget_of_unknown_id_does_not_ask(run) -> None:
    run("remember", "The kettle is on the stove.")

    result = run("memory", "forget", "0" * 32, said="y\n", code=2)

    assert "Erase" not in result.output
    assert result.stderr == (
        f"error: no memory '{'0' * 32}' in session:alice:assistant:default;"
        " choose another place with --room, --dm or --session\n"
    )


@pytest.mark.requirement("A7")
def test_exact_value_is_shown_literally(run) -> None:
    with Nexus.open("memory.db", embedder=HashingEmbedder(), background=False) as nexus:
        place = nexus.workspace("default").dm("alice")
        place.set_value("user", "favourite_format", "two  spaces")
        (memory,) = place.facts(exact=True)
    line = 'user:alice favourite_format = "two  spaces"'

    assert line in run("memory", "show", memory.id, "--dm").stdout
    assert line in run("profile", "show", "alice", "--dm").stdout


def test_show_names_the_model_and_the_words_it_read(run, lines, shell) -> None:
    with Loopback() as server:
        llm = f'{{provider: ollama, model: small, base_url: "{server.url}"}}'
        (shell / "nexus.yaml").write_text(f"memory:\n  llm: {llm}\n")
        told = fact("Rome", subject="Carol", predicate="lives in", status="true", by="Bob")
        server.script(says(worded(facts=[told])))
        run("observe", "alice", "Bob said Carol went to Rome.", "--room", "design")

    (made,) = [
        each
        for each in lines("memory", "list", "--kind", "fact", "--room", "design")
        if each["body"]["predicate"] == "LIVES_IN"
    ]
    shown = run("memory", "show", made["id"], "--room", "design").stdout

    assert "one_pass@2:" in shown
    assert "small-2026" in shown
    assert "Bob said Carol went to Rome." in shown
    assert "told by" in shown
    assert "0.50" in shown
