"""Loader of `.sql` files: named queries under `-- name --` headings, numbered migrations."""

from __future__ import annotations

import re
from importlib.resources import files

HEADING = re.compile(r"^-- (\w+) --$", re.MULTILINE)


def load_queries(package: str, name: str = "queries.sql") -> dict[str, str]:
    text = files(package).joinpath(name).read_text(encoding="utf-8")
    _, *parts = HEADING.split(text)
    return dict(zip(parts[::2], map(str.strip, parts[1::2]), strict=True))


def load_migrations(package: str) -> dict[int, tuple[str, str]]:
    """Return {version: (description, SQL)} in ascending order."""
    folder = files(package).joinpath("migrations")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return {
        int(name[:4]): (name[5:-4], folder.joinpath(name).read_text(encoding="utf-8"))
        for name in names
    }
