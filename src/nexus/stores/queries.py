"""Named queries: SQL lives in `.sql` files, under `-- name --` headings."""

from __future__ import annotations

import re
from importlib.resources import files

HEADING = re.compile(r"^-- (\w+) --$", re.MULTILINE)


def load_queries(package: str, name: str = "queries.sql") -> dict[str, str]:
    text = files(package).joinpath(name).read_text(encoding="utf-8")
    _, *parts = HEADING.split(text)
    return dict(zip(parts[::2], map(str.strip, parts[1::2]), strict=True))
