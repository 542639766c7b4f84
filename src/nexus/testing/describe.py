"""What was done, for people to read."""

from __future__ import annotations

from dataclasses import fields
from textwrap import shorten
from typing import Any

from ..core.access import Viewer
from .operations import Operation


def described(operation: Operation) -> str:
    """One line for people."""
    viewer: Viewer | None = getattr(operation, "viewer", None)
    where = f"from {viewer.home} of {viewer.workspace.value!r}: " if viewer else ""
    told = {f.name: getattr(operation, f.name) for f in fields(operation)}  # type: ignore[arg-type]
    shown = [
        f"{name}={_shown(value)}"
        for name, value in told.items()
        if name not in ("viewer", "label", "tells", "workspace") and value is not None
    ]
    return f"{where}{type(operation).__name__.lower()} {', '.join(shown)}"


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_shown, value))})"
    lines = str(value).count("\n")
    return f"<{lines} lines>" if lines > 1 else shorten(str(value), 80, placeholder="…")
