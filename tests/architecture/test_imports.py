"""Imports point down, and importing costs little."""

from __future__ import annotations

import subprocess
import sys
import tomllib

import pytest
from importlinter.cli import lint_imports
from tests.architecture.sources import ROOT


def test_the_contracts_are_kept(capsys, monkeypatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "path", [*sys.path])

    status = lint_imports(config_filename="pyproject.toml", no_cache=True, no_logo=True)

    assert status == 0, capsys.readouterr().out


def test_every_module_is_in_a_layer() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

    layers, *others = settings["tool"]["importlinter"]["contracts"]

    assert layers["exhaustive"]
    assert layers["layers"][-1] == "core"
    assert layers["layers"][0] == "cli"
    assert len(others) >= 3


@pytest.mark.parametrize(
    "code",
    [
        "import nexus",
        "import nexus; nexus.Nexus, nexus.Viewer, nexus.InvalidInput",
        "import nexus.place, nexus.transfer.archive, nexus.maintain.forget, nexus.recall.answer",
    ],
)
def test_importing_nexus_loads_nothing_heavy(code: str) -> None:
    heavy = (
        "numpy asyncio yaml click rich openai anthropic google onnxruntime snowballstemmer sqlite3"
        " httpx httpx2 nexus.learn.rules nexus.learn.drafting nexus.learn.episodes"
        " nexus.core.secrets nexus.core.dates nexus.compose.compose nexus.evaluation"
    )
    script = f"import sys; {code}; print(*[m for m in {heavy.split()!r} if m in sys.modules])"

    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert run.stdout.split() == []


def test_importing_nexus_has_no_effects(tmp_path) -> None:
    """No file, no environment, no thread, no handler."""
    script = (
        "import os, sys, threading, logging, warnings\n"
        "before = dict(os.environ), threading.active_count(), list(logging.root.handlers)\n"
        "import nexus, nexus.aio, nexus.wiring, nexus.config\n"
        "after = dict(os.environ), threading.active_count(), list(logging.root.handlers)\n"
        "assert before == after\n"
    )

    subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        check=True,
        cwd=tmp_path,
        env={"HOME": str(tmp_path), "PATH": ""},
    )

    assert list(tmp_path.iterdir()) == []


def test_the_awaited_face_is_there_when_asked_for() -> None:
    script = "import nexus, sys; nexus.AsyncNexus; assert 'asyncio' in sys.modules"

    subprocess.run([sys.executable, "-c", script], check=True)
