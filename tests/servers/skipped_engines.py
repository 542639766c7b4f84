"""Skips of tests whose engine is missing, and one line for each such engine after a test run.

A run with skipped engines is green, but proves less. The line makes the gap visible:

    SKIPPED ENGINE: postgres: PostgreSQL cannot run here: … (199 tests)
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NoReturn

import pytest

SKIP_REASON = re.compile(
    r"(?:Skipped: )?(?:engine (?P<engine>\S+): (?P<reason>.+)"
    r"|(?P<no_extra>the extra (?P<extra>\S+) is not installed))",
    re.DOTALL,
)


def skip_engine(engine: str, reason: object) -> NoReturn:
    """Skip the current test because `engine` is missing, with a reason the summary recognizes."""
    pytest.skip(f"engine {engine}: {reason}")


def summary_lines(reports: Iterable[Any]) -> list[str]:
    """Return one line for each engine and reason in these reports of skipped tests and files."""
    skipped: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for report in reports:
        text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        if match := SKIP_REASON.fullmatch(text.strip()):
            engine = match["engine"] or match["extra"]
            reason = " ".join((match["reason"] or match["no_extra"]).split())
            # Each xdist worker reports a skipped file once, so node ids are counted, not reports.
            unit = "test" if isinstance(report, pytest.TestReport) else "test file"
            skipped[engine, reason][report.nodeid] = unit
    return [
        f"SKIPPED ENGINE: {engine}: {reason} ({_count_units(list(units.values()))})"
        for (engine, reason), units in sorted(skipped.items())
    ]


def _count_units(units: list[str]) -> str:
    counts = {unit: units.count(unit) for unit in sorted(set(units))}
    return ", ".join(f"{n} {unit}{'' if n == 1 else 's'}" for unit, n in counts.items())


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the lines; pytest-xdist calls this hook in the controlling process only."""
    for line in summary_lines(terminalreporter.stats.get("skipped", [])):
        terminalreporter.write_line(line, red=True, bold=True)
