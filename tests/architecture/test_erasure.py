"""Only the listed modules erase events; no job and no rebuild does."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

import nexusmem
from nexusmem.core.protocols.ledger import Ledger

HOME = Path(nexusmem.__file__).parent
FLOWS = ("learn", "recall", "compose", "maintain", "transfer")
MAY = {
    "maintain/forget.py",
    "transfer/archive.py",  # tombstones of an imported archive
    "learn/flows/__init__.py",  # takes back copies of a message that became confidential
    "learn/extract/explicit_events.py",  # erases a shared copy if its source was erased meanwhile
}


@cache
def erasing() -> set[str]:
    """Return the modules of data flows that call `erase`."""
    return {
        file.relative_to(HOME).as_posix()
        for flow in FLOWS
        for file in HOME.joinpath(flow).rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr == "erase"
    }


@pytest.mark.requirement("X3")
def test_only_listed_modules_erase() -> None:
    assert erasing() == MAY & erasing()
    assert "maintain/forget.py" in erasing()


@pytest.mark.requirement("X3")
def test_ledger_protocol_has_no_delete_or_update() -> None:
    ways = {name for name in vars(Ledger) if not name.startswith("_")}

    assert "append" in ways
    assert not [way for way in ways if way.startswith(("delete", "drop", "remove", "erase", "put"))]
