"""Tests of forget, verify, doctor, init, reembed, models, completion and the help texts."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NoReturn

import click
import pytest
from tests.embedders.conftest import tiny_model

from nexusmem.cli import COMMANDS, nexus
from nexusmem.config.settings import load_settings
from nexusmem.core.errors import MissingExtra
from nexusmem.embedders.onnx import MODELS, LocalModel
from nexusmem.maintain import forget as forgetting
from nexusmem.stores.health import sqlite as checkup
from nexusmem.stores.sqlite import sqlite_vec, store

SECRET = "The otter is called Ferdinand and lives behind the mill."


def test_forget_user_leaves_no_residue(run, lines) -> None:
    run("observe", "alice", SECRET, "--room", "design")
    run("observe", "bob", "The mill wheel turns again since Monday.", "--room", "design")

    (report,) = lines("forget", "--user", "alice")

    assert (report["erased_events"], report["residue"]) == (1, 0)
    assert report["erased_memories"] > 1  # the message and the facts learned from it
    assert b"Ferdinand" not in Path("memory.db").read_bytes()
    run(
        "memory",
        "search",
        "Ferdinand otter",
        "--room",
        "design",
        "--filter",
        '{"speaker":"alice"}',
        code=1,
    )


@pytest.mark.parametrize("what", ["room", "event", "memory"])
def test_forget_room_event_or_memory(run, lines, what) -> None:
    run("observe", "alice", SECRET, "--room", "design")
    (hit,) = lines("memory", "search", "otter", "--room", "design")
    names = {"room": "design", "event": hit["sources"][0], "memory": hit["id"]}

    result = run("forget", f"--{what}", names[what], "--yes")

    assert "residue\t0" in result.stdout
    run("memory", "search", "otter", "--room", "design", code=1)


def test_forget_asks_for_confirmation(run) -> None:
    run("observe", "alice", SECRET)

    declined = run("forget", "--user", "alice", said="n\n", code=1)
    run("memory", "search", "otter")
    run("forget", "--user", "alice", said="y\n")

    assert "Erase user alice in workspace default" in declined.stderr
    run("memory", "search", "otter", code=1)


def test_forget_needs_exactly_one_target(run) -> None:
    run("forget", code=2)
    run("forget", "--user", "alice", "--room", "design", "--yes", code=2)


def test_residue_exits_1(run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("observe", "alice", SECRET)
    real = forgetting.ForgetReport

    def with_residue(**told: object) -> forgetting.ForgetReport:
        return real(**{**told, "residue": 2, "by_file": {"memory.db": 2}})

    monkeypatch.setattr(forgetting, "ForgetReport", with_residue)

    result = run("forget", "--user", "alice", "--yes", code=1)

    assert "residue\t2" in result.stdout
    assert "files searched\t2" in result.stdout
    assert "2 traces are left" in result.stderr


def test_verify_checks_all_workspaces_or_one(run, lines) -> None:
    run("remember", SECRET, "--workspace", "acme")
    run("remember", SECRET, "--workspace", "other")

    both = lines("verify")
    (one,) = lines("verify", "--workspace", "acme")

    assert [report["workspace"] for report in both] == ["acme", "other"]
    sound = {"problems": [], "damaged": []}
    assert one == {"workspace": "acme", "events": 1, "erased": 0, **sound}
    assert "acme\t1\t0\tintact" in run("verify").stdout


def test_verify_detects_changed_event(run) -> None:
    run("remember", SECRET)
    with closing(sqlite3.connect("memory.db")) as connection, connection:
        connection.execute("UPDATE events SET content = replace(content, 'otter', 'beaver')")

    result = run("verify", code=1)

    assert "default: event 1 was changed" in result.stderr


def test_doctor_finds_no_problem_in_new_store(run, lines) -> None:
    run("init", "--store", "memory.db")
    run("remember", SECRET)

    checks = {check["name"]: check for check in lines("doctor")}

    assert checks["schema"]["detail"].startswith("version ")
    assert checks["journal"]["detail"] == "journal_mode wal"
    assert checks["settings"]["detail"] == "nexus.yaml"
    assert "configured embedder" in checks["vectors"]["detail"]
    assert {check["state"] for check in checks.values()} == {"ok", "note"}
    assert not any(name.startswith("sqlite-vec") for name in checks)


def test_doctor_has_notes_about_sqlite_vec_if_configured(lines, shell) -> None:
    (shell / "nexus.yaml").write_text("memory: {store: {vector_index: sqlite-vec}}")

    names = [check["name"] for check in lines("doctor")]

    assert "sqlite-vec" in names
    assert sum(name.startswith("sqlite-vec: ") for name in names) == 4


@pytest.mark.parametrize(
    ("command", "header"),
    [
        ("verify", "workspace\tevents\terased\tledger\tindexes"),
        ("doctor", "state\tcheck\tdetail"),
        ("jobs", "job\tevery\tlast run\ttook\tresult\tdue\tstate"),
        ("quota", "quota\tused\tlimit\tresets"),
    ],
)
def test_piped_table_starts_with_column_names(run, command, header) -> None:
    run("remember", SECRET)

    assert run(command).stdout.splitlines()[0] == header


def test_forget_of_unknown_person_finds_nothing(run, lines) -> None:
    run("remember", SECRET)

    result = run("forget", "--user", "nobody", "--yes", code=1)

    assert (result.stdout, result.stderr) == ("", "nothing was found for user 'nobody'\n")
    (report,) = lines("forget", "--user", "nobody", code=1)
    assert report["erased_events"] == 0


def test_index_damage_is_detected_and_repaired(run, lines, shell) -> None:
    run("remember", SECRET)
    with closing(sqlite3.connect(shell / "memory.db")) as file, file:
        file.execute("DELETE FROM postings")

    (seen,) = lines("verify", code=1)
    checks = {check["name"]: check for check in lines("doctor", code=1)}
    mended = {row["layer"]: row for row in lines("rebuild")}

    assert seen["damaged"][0].startswith("keywords: ")
    assert "nexus rebuild --layer keywords" in checks["keywords"]["detail"]
    assert mended["keywords"]["changed"] > 0
    assert mended["graph"]["changed"] == 0
    lines("verify")
    lines("doctor")
    assert {row["changed"] for row in lines("rebuild", "--layer", "keywords")} == {0}


def test_doctor_creates_no_file(lines) -> None:
    checks = {check["name"]: check for check in lines("doctor")}

    assert "does not exist" in checks["store"]["detail"]
    assert not Path("memory.db").exists()


def test_reembed_after_change_of_embedder(run, lines, shell) -> None:
    run("remember", SECRET)
    run("observe", "alice", "I live in Lisbon.")
    (shell / "nexus.yaml").write_text("memory:\n  embeddings: {provider: hashing}\n")

    vectors = [check for check in lines("doctor") if check["name"] == "vectors"]
    (later,) = lines("reembed", "--background")
    (made,) = lines("reembed", "--delete-old")

    assert vectors[0]["state"] == "note"
    assert "nexus reembed" in vectors[0]["detail"]
    assert later == {"scheduled": 1}
    assert made["embedded"] == made["dropped"] > 1
    assert made["switched"] == 1
    assert [check["state"] for check in lines("doctor") if check["name"] == "vectors"] == ["ok"]


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"no database at all, just text " * 40, "or not a memory"), (b"", "the file is empty")],
)
def test_doctor_does_not_change_foreign_file(lines, shell, content, said) -> None:
    (shell / "memory.db").write_bytes(content)

    (problem,) = [check for check in lines("doctor", code=1) if check["state"] == "problem"]

    assert problem["name"] == "file"
    assert said in problem["detail"]
    assert {file.name: file.read_bytes() for file in shell.iterdir()} == {"memory.db": content}


def test_doctor_does_not_migrate_old_file(run, lines, shell, monkeypatch) -> None:
    run("remember", SECRET)
    before = (shell / "memory.db").read_bytes()
    later = {**store.migrations(), 2: ("later", "CREATE TABLE later (x TEXT) STRICT;")}
    monkeypatch.setattr(store, "migrations", lambda: later)
    monkeypatch.setattr(checkup, "NEWEST_VERSION", 2)

    checks = {check["name"]: check for check in lines("doctor")}

    assert checks["schema"]["state"] == "note"
    assert checks["schema"]["detail"] == "version 1; the next opening migrates it to 2"
    assert (shell / "memory.db").read_bytes() == before


def test_missing_extra_creates_no_file(run, lines, shell, monkeypatch) -> None:
    monkeypatch.setattr(sqlite_vec, "load_driver", missing)
    (shell / "nexus.yaml").write_text("memory: {store: {vector_index: sqlite-vec}}")

    run("remember", SECRET, code=2)

    assert not (shell / "memory.db").exists()


def test_doctor_reports_store_error_once(run, lines, shell, monkeypatch) -> None:
    run("remember", SECRET)
    monkeypatch.setattr(sqlite_vec, "load_driver", missing)
    (shell / "nexus.yaml").write_text("memory: {store: {vector_index: sqlite-vec}}")

    (problem,) = [check for check in lines("doctor", code=1) if check["state"] == "problem"]

    assert "pip install 'nexusmem[sqlite-vec]'" in problem["detail"]


def missing() -> NoReturn:
    raise MissingExtra("sqlite-vec", "sqlite-vec")


def test_doctor_notes_wrong_dimension(lines, shell) -> None:
    (shell / "nexus.yaml").write_text("memory: {dimension: 1536}")

    checks = {check["name"]: check for check in lines("doctor")}

    assert checks["dimension"]["state"] == "note"
    assert "the configured 1536 is ignored" in checks["dimension"]["detail"]


def test_unknown_embedder_suggests_nearest(lines, shell) -> None:
    (shell / "nexus.yaml").write_text("memory: {embeddings: {provider: opnai}}")

    (problem,) = [check for check in lines("doctor", code=1) if check["state"] == "problem"]

    assert "did you mean openai?" in problem["detail"]


def test_doctor_reports_invalid_settings(run, shell) -> None:
    (shell / "nexus.yaml").write_text("memory:\n  embeddngs: {}\n")

    assert "did you mean memory.embeddings?" in run("doctor", code=1).stdout
    assert "did you mean memory.embeddings?" in run("memory", "stats", code=2).stderr


def test_init_writes_settings_and_creates_store(lines, shell, monkeypatch) -> None:
    monkeypatch.delenv("NEXUS_STORE")

    (made,) = lines("init", "--store", "notes/memory.db")

    assert made == {"config": "nexus.yaml", "store": "notes/memory.db"}
    assert load_settings("nexus.yaml", {}).store.url == "notes/memory.db"
    assert (shell / "notes" / "memory.db").exists()


def test_init_replaces_file_only_with_force(run, shell) -> None:
    (shell / "nexus.yaml").write_text("# mine\n")

    refused = run("init", code=2)
    kept = (shell / "nexus.yaml").read_text()
    run("init", "--force")

    assert "--force" in refused.stderr
    assert kept == "# mine\n"
    assert (shell / "nexus.yaml").read_text().startswith("# Settings of Nexus")


def test_init_can_be_repeated(run, shell) -> None:
    run("init", "--store", "memory.db")
    written = (shell / "nexus.yaml").read_text()

    run("init", "--store", "memory.db")

    assert (shell / "nexus.yaml").read_text() == written
    assert "--force" in run("init", "--store", "other.db", code=2).stderr


def test_init_print_writes_nothing(run, shell) -> None:
    shown = run("init", "--print").stdout

    assert shown.startswith("# Settings of Nexus")
    assert list(shell.iterdir()) == []


@pytest.fixture
def tiny(shell: Path, monkeypatch: pytest.MonkeyPatch) -> LocalModel:
    """A small model in the table, whose official files are in the folder `official`."""
    monkeypatch.setenv("NEXUS_MODELS", str(shell / "models"))
    model, _ = tiny_model(shell / "official")
    monkeypatch.setitem(MODELS, "tiny", model)
    return model


def test_model_is_pulled_listed_and_removed(lines, shell: Path, tiny: LocalModel) -> None:
    folder = str(shell / "models" / "tiny-1")
    states = {row["name"]: row["state"] for row in lines("models", "list")}
    assert states == {"gte-small": "not pulled", "minilm": "not pulled", "tiny": "not pulled"}

    assert lines("models", "pull", "tiny", "--from", "official") == [
        {"model": "tiny", "embedder": tiny.profile.name, "folder": folder}
    ]

    (row,) = [row for row in lines("models", "list") if row["name"] == "tiny"]
    assert (row["state"], row["folder"]) == ("pulled", folder)
    assert lines("models", "remove", "tiny")[0]["removed"] == "tiny"
    assert not Path(folder).exists()


def test_folder_of_models_is_a_setting(run, shell: Path, tiny: LocalModel, monkeypatch) -> None:
    monkeypatch.delenv("NEXUS_MODELS")
    (shell / "nexus.yaml").write_text("memory: {embeddings: {models_folder: here}}")

    run("models", "pull", "tiny", "--from", "official")

    assert (shell / "here" / "tiny-1").is_dir()


def test_model_commands_explain_what_is_wrong(run, tiny: LocalModel) -> None:
    assert "accepted: gte-small, minilm" in run("models", "pull", "gte", code=2).stderr
    assert "no tiny in" in run("models", "remove", "tiny", code=2).stderr
    both = run("models", "pull", "tiny", "--from", "hub", "--from", "official", code=2).stderr
    assert "--from takes one of hub and index, or paths" in both
    down = run("models", "pull", "tiny", "--from", "hub", "--hub", "http://127.0.0.1:9", code=3)
    assert "cannot be reached" in down.stderr
    empty = run("models", "pull", "tiny", "--from", ".", code=0)
    assert "tiny" in empty.stdout  # found below this folder


def test_missing_local_model_names_the_command(run, shell: Path, tiny: LocalModel) -> None:
    (shell / "nexus.yaml").write_text("memory: {embeddings: {provider: local}}")

    said = run("observe", "alice", "Tea is served.", code=2).stderr

    assert "run `nexus models pull gte-small`" in said


@pytest.mark.parametrize("shell_name", ["bash", "zsh", "fish"])
def test_completion_script_of_each_shell(run, shell_name) -> None:
    assert "_NEXUS_COMPLETE" in run("completion", shell_name).stdout


def test_unknown_command_suggests_nearest(run) -> None:
    assert "did you mean 'nexus doctor'?" in run("docter", code=2).stderr
    assert "did you mean 'nexus memory search'?" in run("serach", code=2).stderr


def every_command(group: click.Group = nexus, at: str = "nexus"):
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield f"{at} {name}", command
        if isinstance(command, click.Group):
            yield from every_command(command, f"{at} {name}")


def test_every_command_has_help_with_an_example(run) -> None:
    for line, _ in every_command():
        shown = run(*line.split()[1:], "--help").stdout
        assert f"    {line} " in shown or f"    {line}\n" in shown, line


def test_command_list_matches_help_of_commands() -> None:
    context = click.Context(nexus)

    for name, lazy in COMMANDS.items():
        command = nexus.get_command(context, name)
        assert command is not None
        assert (command.help or "").startswith(lazy.help.rstrip("."))


def test_commands_that_print_results_can_print_json() -> None:
    groups = {
        "flows",
        "audit",
        "dossier",
        "eval",
        "jobs",
        "memory",
        "models",
        "completion",
        "entity",
        "review",
        "sessions",
        "window",
        "episodes",
        "goal",
        "notebook",
        "procedure",
        "profile",
        "skills",
    }
    silent = {f"nexus {name}" for name in groups}

    for line, command in every_command():
        options = {option for parameter in command.params for option in parameter.opts}
        assert line in silent or "--json" in options, line


@pytest.mark.slow
def test_leaktest_finds_no_leak(lines) -> None:
    (report,) = lines("leaktest", "--seconds", "1", "--store", "memory", "--seed", "1")

    assert report["violations"] == []
    assert report["runs"] > 0
    assert report["seed"] == 1


def test_leak_exits_1(run, monkeypatch: pytest.MonkeyPatch) -> None:
    leaks = pytest.importorskip("nexusmem.testing.leaks.state_machine")
    found = leaks.Violation(
        script=("alice tells a secret",),
        observation="bob asks",
        with_secrets="1",
        without_secrets="0",
    )
    report = leaks.LeakReport(seed=7, violations=[found])
    monkeypatch.setattr(leaks, "run_leaktest", lambda *_, **__: report)

    result = run("leaktest", "--seconds", "1", "--store", "sqlite", code=1)

    assert "1. alice tells a secret" in result.stderr
    assert "1 LEAK" in result.stdout


def test_init_does_not_write_password(run) -> None:
    shown = run("init", "--store", "postgresql://app:s3cret@db/nexus", "--print")

    assert "s3cret" not in shown.output
    assert 'url: "${NEXUS_STORE}"' in shown.stdout
    assert "set NEXUS_STORE" in shown.stderr
