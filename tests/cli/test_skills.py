"""`nexus skills export`: the commands in the files work."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from nexusmem.core.filters import FIELDS
from nexusmem.core.records import MemoryKind
from nexusmem.transfer.skills import DESCRIPTION, KINDS, NAME, READING, WRITING

pytestmark = pytest.mark.requirement("B26")

PLACE = ("--room", "design", "--agent", "scribe", "--user", "alice")


def commands(folder: Path) -> list[list[str]]:
    lines = (folder / "QUERIES.md").read_text().splitlines()
    return [shlex.split(line)[1:] for line in lines if line.startswith("nexus ")]


def test_commands_in_skill_files_work(run, tmp_path: Path) -> None:
    run("skills", "export", str(tmp_path), *PLACE)
    found = commands(tmp_path)
    assert len(found) == len(READING) + len(WRITING)
    writing, reading = found[len(READING) :], found[: len(READING)]
    for words in writing:
        run(*words)
    run("observe", "alice", "I live in Lisbon.", *PLACE)
    run("notebook", "write", "a.md", *PLACE, said="Hello.")
    nothing = [words[:2] for words in reading if ran(run, words) == 1]
    assert nothing in ([], [["episodes", "list"]])  # the conversation has not ended


def ran(run, words: list[str]) -> int:
    try:
        run(*words)
    except AssertionError:
        run(*words, code=1)
        return 1
    return 0


def test_schema_explains_every_kind_and_field(run, tmp_path: Path) -> None:
    run("skills", "export", str(tmp_path), *PLACE)
    schema = (tmp_path / "SCHEMA.md").read_text()
    assert set(KINDS) == set(MemoryKind)
    assert all(f"`{name}`" in schema for name in FIELDS)
    assert "room=design" in (tmp_path / "SKILL.md").read_text()


def test_skill_has_front_matter(run, tmp_path: Path) -> None:
    run("skills", "export", str(tmp_path), *PLACE)

    _, front, _ = (tmp_path / "SKILL.md").read_text().split("---\n", 2)

    assert yaml.safe_load(front) == {"name": NAME, "description": DESCRIPTION}


@pytest.mark.requirement("A12")
def test_scripts_are_bound_to_their_place(run, tmp_path: Path) -> None:
    place = ["--workspace=the lab", "--user=alice", "--agent=scribe", "--dm"]
    run("skills", "export", str(tmp_path), *place)

    for name, command in {"search.sh": ["memory", "search"], "write.sh": ["remember"]}.items():
        *_, line = (tmp_path / name).read_text().splitlines()
        assert shlex.split(line) == ["exec", "nexus", *command, *place, "--", "$*"]
    assert all(words[-len(place) :] == place for words in commands(tmp_path))


@pytest.mark.slow
@pytest.mark.requirement("A12")
def test_scripts_read_only_their_place(run, tmp_path: Path) -> None:
    run("observe", "bob", "The wharf gate is blue.", "--room", "design")
    run("remember", "The surprise for Bob is a heron lamp.", "--dm", "--user", "alice")
    run("skills", "export", str(tmp_path), "--room", "design", "--agent", "scribe")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"

    def search(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [tmp_path / "search.sh", *words],
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
        )

    assert "The wharf gate is blue." in search("what colour is the wharf gate?").stdout
    assert "lamp" not in search("what is the surprise for Bob?").stdout
    assert "lamp" not in search("surprise", "--room=", "--dm", "--user=alice").stdout


def test_existing_file_is_not_overwritten(run, tmp_path: Path) -> None:
    (tmp_path / "SKILL.md").write_text("mine")
    run("skills", "export", str(tmp_path), code=2)
    assert (tmp_path / "SKILL.md").read_text() == "mine"
