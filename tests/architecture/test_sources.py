"""No job and no rebuild can delete a source: only forgetting, and what goes on with it."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

import nexus
from nexus.core.ledger import Ledger

HOME = Path(nexus.__file__).parent
FLOWS = ("learn", "recall", "compose", "maintain", "transfer")
MAY = {
    "maintain/forget.py",
    "transfer/archive.py",  # what was forgotten elsewhere
    "learn/sharing.py",  # a copy whose source was forgotten while it was made
}


@cache
def erasing() -> set[str]:
    """Modules of flows in which something is erased."""
    return {
        file.relative_to(HOME).as_posix()
        for flow in FLOWS
        for file in HOME.joinpath(flow).rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr == "erase"
    }


@pytest.mark.requirement("X3")
def test_only_forgetting_erases() -> None:
    assert erasing() == MAY & erasing()
    assert "maintain/forget.py" in erasing()


@pytest.mark.requirement("X3")
def test_a_ledger_has_no_way_to_delete_or_change() -> None:
    ways = {name for name in vars(Ledger) if not name.startswith("_")}

    assert "append" in ways
    assert not [way for way in ways if way.startswith(("delete", "drop", "remove", "erase", "put"))]
