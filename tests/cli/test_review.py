"""`nexus review` and `nexus entity`."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.requirement("B11")

DESIGN = ("--room", "design")


@pytest.fixture
def told(run) -> None:
    run("observe", "alice", "Sarah Chen works at Initech.", *DESIGN)
    run("observe", "alice", "Sarah Miller works at Globex.", *DESIGN)
    run("observe", "bob", "Sarah moved to Lisbon.", *DESIGN)


def first(lines) -> str:
    return next(
        each["id"]
        for each in lines("review", "list", *DESIGN)
        if set(each["names"]) == {"Sarah Chen", "Sarah"}
    )


@pytest.mark.usefixtures("told")
def test_reviews_are_listed_shown_accepted_and_undone(run, lines) -> None:
    id = first(lines)

    (shown,) = lines("review", "show", id, *DESIGN)
    assert {each["speaker"] for each in shown["evidence"]} == {"alice", "bob"}
    assert shown["status"] == "open"

    (accepted,) = lines("review", "accept", id, *DESIGN)
    assert (accepted["status"], accepted["decided_by"]) == ("accepted", "alice")
    (view,) = lines("entity", "show", "Sarah", *DESIGN)
    assert (view["name"], view["same_as"]) == ("Sarah Chen", ["Sarah"])
    assert {fact["text"] for fact in view["facts"]} == {
        "Sarah Chen works at Initech.",
        "Sarah moved to Lisbon.",
    }

    (undone,) = lines("review", "undo", id, *DESIGN)
    assert undone["status"] == "open"
    assert lines("entity", "show", "Sarah", *DESIGN)[0]["same_as"] == []


@pytest.mark.usefixtures("told")
def test_rejected_review_leaves_list(run, lines) -> None:
    for each in lines("review", "list", *DESIGN):
        run("review", "reject", each["id"], *DESIGN)

    run("review", "list", *DESIGN, code=1)
    assert len(lines("review", "list", "--status", "rejected", *DESIGN)) == 2


@pytest.mark.usefixtures("told")
def test_tables_and_errors(run, lines) -> None:
    id = first(lines)

    assert "Sarah may be the same as Sarah Chen" in run("review", "list", *DESIGN).stdout
    assert "Sarah moved to Lisbon." in run("review", "show", id, *DESIGN).stdout
    assert "Sarah Miller\tperson" in run("entity", "list", "--type", "person", *DESIGN).stdout
    shown = run("entity", "show", "Sarah Miller", *DESIGN).stdout
    assert "Sarah Miller works at Globex." in shown
    assert run("review", "undo", id, *DESIGN, code=2).stderr.startswith("error: review")
    assert run("review", "show", id, "--room", "kitchen", code=2).stderr.startswith("error: no rev")
    run("entity", "show", "Nobody", *DESIGN, code=2)
    run("entity", "list", "--room", "kitchen", code=1)


@pytest.mark.usefixtures("told")
def test_administrator_lists_reviews_of_all_rooms(run, lines) -> None:
    assert len(lines("review", "list", "--as-admin")) == 2
    run("review", "list", code=1)


def test_name_with_escape_sequence_is_escaped(run) -> None:
    run("observe", "mallory", "My email is eve@x.io.", *DESIGN)
    run("observe", "mallory", "Call me \x1b[31mRed.", *DESIGN)

    assert "\x1b" not in run("entity", "list", *DESIGN).stdout
    assert "\x1b" not in run("entity", "show", "mallory", *DESIGN).stdout


def test_identifiers_show_verification(run, lines) -> None:
    run("observe", "mallory", "My email is Eve@X.io.", *DESIGN)

    (view,) = lines("entity", "show", "eve@x.io", *DESIGN)
    assert view["identifiers"] == [{"kind": "email", "value": "eve@x.io", "proven": False}]
    assert "eve@x.io (email, stated)" in run("entity", "show", "mallory", *DESIGN).stdout
    assert json.loads(run("entity", "list", "--json", *DESIGN).stdout)["name"] == "mallory"
