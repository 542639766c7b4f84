"""The page docs/background/who-sees-what.md has the current table of flows and figures."""

from __future__ import annotations

import runpy

import pytest
from tests.architecture.sources import ROOT

from nexusmem.core.flows import FLOWS

GENERATOR = runpy.run_path(str(ROOT / "docs" / "generate_flows.py"))
PAGE = GENERATOR["PAGE"].read_text(encoding="utf-8")


@pytest.mark.parametrize("name", GENERATOR["PARTS"])
def test_generated_part_of_page_is_current(name: str) -> None:
    start, end = (GENERATOR[each].format(name=name) for each in ("START", "END"))
    part = PAGE.partition(start)[2].partition(end)[0]

    assert part.strip() == GENERATOR["PARTS"][name](), "run python docs/generate_flows.py"


def test_table_has_one_row_per_flow() -> None:
    rows = GENERATOR["render_table"]().splitlines()[2:]

    assert len(rows) == len(FLOWS)
    assert all(row.count(" | ") == 3 for row in rows)


def test_page_without_markers_is_refused() -> None:
    with pytest.raises(ValueError, match="markers"):
        GENERATOR["replace_parts"]("a page")
