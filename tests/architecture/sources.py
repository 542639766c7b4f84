"""The source code of the package, parsed once for all architecture tests."""

from __future__ import annotations

import ast
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "nexusmem"


@lru_cache
def modules() -> dict[str, ast.Module]:
    """Return the syntax tree of each module, by its path below src/nexusmem."""
    return {
        str(path.relative_to(SOURCE)): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(SOURCE.rglob("*.py"))
    }
