"""Import contracts and the cost of importing the package."""

from __future__ import annotations

import logging
import subprocess
import sys
import tomllib

import pytest
from importlinter.cli import lint_imports
from tests.architecture.sources import ROOT


def test_import_contracts_hold(capsys, monkeypatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "path", [*sys.path])

    status = lint_imports(config_filename="pyproject.toml", no_cache=True, no_logo=True)
    for logger in logging.root.manager.loggerDict.values():  # import-linter disables all loggers
        if isinstance(logger, logging.Logger):
            logger.disabled = False

    assert status == 0, capsys.readouterr().out


def test_import_contract_covers_every_module() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

    layers, *others = settings["tool"]["importlinter"]["contracts"]

    assert layers["exhaustive"]
    assert "core" in layers["layers"][-1]
    assert layers["layers"][0] == "cli"
    assert len(others) >= 3


@pytest.mark.parametrize(
    "code",
    [
        "import nexusmem",
        "import nexusmem; nexusmem.Nexus, nexusmem.Viewer, nexusmem.InvalidInput",
        "import nexusmem.place.place, nexusmem.transfer.archive, nexusmem.maintain.forget",
    ],
)
def test_import_loads_no_heavy_module(code: str) -> None:
    heavy = (
        "numpy asyncio yaml click rich openai anthropic google onnxruntime snowballstemmer sqlite3"
        " httpx httpx2 nexusmem.learn.rules nexusmem.learn.pipeline nexusmem.learn.episodes"
        " nexusmem.text.secrets nexusmem.text.dates nexusmem.compose.composer nexusmem.evaluation"
    )
    script = f"import sys; {code}; print(*[m for m in {heavy.split()!r} if m in sys.modules])"

    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert run.stdout.split() == []


def test_import_has_no_side_effects(tmp_path) -> None:
    """Importing changes no file, environment variable, thread or log handler."""
    script = (
        "import os, sys, threading, logging, warnings\n"
        "before = dict(os.environ), threading.active_count(), list(logging.root.handlers)\n"
        "import nexusmem, nexusmem.aio, nexusmem.wiring.build, nexusmem.config.settings\n"
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


def test_async_classes_load_on_access() -> None:
    script = "import nexusmem, sys; nexusmem.AsyncNexus; assert 'asyncio' in sys.modules"

    subprocess.run([sys.executable, "-c", script], check=True)
