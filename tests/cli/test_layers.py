"""`nexus layers`."""

from __future__ import annotations

import pytest

HERE = ("--room", "design", "--participant", "alice")


@pytest.mark.requirement("D1")
def test_layers_of_an_empty_memory(run) -> None:
    run("observe", "bob", "Hello there.", "--room", "another")

    result = run("layers", *HERE, code=1)

    assert [line.split("\t")[1] for line in result.stdout.splitlines()[1:]] == ["0"] * 5


@pytest.mark.requirement("D1")
def test_layers_are_listed_with_examples(run, lines) -> None:
    run("observe", "alice", "We decided to use \x1b[31mPostgreSQL.", *HERE)

    shown = run("layers", *HERE).stdout
    found = lines("layers", *HERE)
    (window,) = lines("layers", "L1", *HERE, "--examples", "1")

    assert shown.splitlines()[0] == "layer\titems\toldest\tnewest"
    assert "PostgreSQL." in shown
    assert "\x1b" not in shown
    assert [each["layer"] for each in found] == ["L0", "L1", "L2", "L3", "L4"]
    assert window["count"] >= 1
    assert len(window["examples"]) == 1
    assert window["oldest"] <= window["newest"]
    run("layers", "L9", *HERE, code=2)
