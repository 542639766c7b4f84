"""Our own code, parsed."""

from __future__ import annotations

import ast
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "nexus"


@lru_cache
def modules() -> dict[str, ast.Module]:
    """Path below src/nexus → what it holds."""
    return {
        str(path.relative_to(SOURCE)): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(SOURCE.rglob("*.py"))
    }


def length(path: str) -> int:
    return len((SOURCE / path).read_text(encoding="utf-8").splitlines())
