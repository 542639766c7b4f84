"""`nexus notebook`."""

from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = pytest.mark.requirement("B18")


def test_notebook_commands(run, lines, tmp_path: Path) -> None:
    run("notebook", "write", "a/b.md", said="Hello.\n")
    (listed,) = lines("notebook", "list")
    assert (listed["path"], listed["version"]) == ("a/b.md", 1)
    assert run("notebook", "read", "a/b.md").output == "Hello.\n"
    run("notebook", "write", "a/b.md", "--if-hash", "0" * 64, said="x", code=2)
    run("notebook", "write", "a/b.md", "--if-hash", listed["hash"], said="Goodbye.")
    assert [each["version"] for each in lines("notebook", "history", "a/b.md")] == [1, 2]
    assert run("notebook", "read", "a/b.md", "--version", "1").output == "Hello.\n"

    (did,) = lines("notebook", "sync", str(tmp_path / "notes"))
    assert did["to_folder"] == ["a/b.md"]
    assert "0 changed" in run("notebook", "sync", str(tmp_path / "notes")).output
    run("notebook", "delete", "a/b.md")
    assert "no document" in run("notebook", "list", code=1).output
