"""`nexus facts`."""

from __future__ import annotations

import pytest

IN_MARCH = ("--at", "2026-03-02T09:00:00+00:00")
IN_JUNE = ("--at", "2026-06-01T09:00:00+00:00")


@pytest.mark.requirement("B8")
def test_facts_show_what_holds_and_what_held(run, lines) -> None:
    run("observe", "ann", "I work at Hydro and live in Bergen.", *IN_MARCH)
    run("observe", "ann", "I left Hydro and work at Equinor now.", *IN_JUNE)

    rows = {(row["status"], row["predicate"]): row for row in lines("facts", "ann")}

    assert rows["now", "WORKS_AT"]["value"] == "Equinor"
    assert rows["now", "LIVES_IN"]["value"] == "Bergen"
    assert rows["before", "WORKS_AT"]["value"] == "Hydro"
    assert rows["before", "WORKS_AT"]["until"].startswith("2026-06-01")
    table = run("facts", "ann", "works at")
    assert [line.split("\t")[:3] for line in table.stdout.splitlines()] == [
        ["now", "WORKS_AT", "Equinor"],
        ["before", "WORKS_AT", "Hydro"],
    ]
    assert "2 facts" in table.stderr


def test_former_value_has_no_start_before_it_was_told(run, lines) -> None:
    run("observe", "ann", "I moved from Lund to Kiruna.", *IN_MARCH)

    rows = {row["value"]: row for row in lines("facts", "ann", "LIVES_IN")}

    assert rows["Lund"]["since"] is None
    assert rows["Kiruna"]["since"].startswith("2026-03-02")


def test_facts_at_a_time_and_as_known_then(run, lines) -> None:
    run("observe", "ann", "I work at Hydro.", *IN_MARCH)
    run("observe", "ann", "I left Hydro and work at Equinor now.", *IN_JUNE)

    then = lines("facts", "ann", "WORKS_AT", "--at", "2026-04-01")

    assert [(row["status"], row["value"]) for row in then] == [
        ("now", "Hydro"),
        ("planned", "Equinor"),
    ]
    run("facts", "ann", "WORKS_AT", "--as-of", "2026-01-01", code=1)
    run("facts", "nobody", code=1)


def test_unsure_facts_are_marked(run, lines) -> None:
    run("observe", "ann", "Bob says Tom lives in Oslo.")

    (row,) = lines("facts", "Tom")

    assert (row["status"], row["value"]) == ("unsure", "Oslo")
    assert row["confidence"] < 0.9
