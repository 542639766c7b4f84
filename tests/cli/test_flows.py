"""`nexus flows`, and `nexus memory show --why`."""

from __future__ import annotations

from pathlib import Path

import pytest

OWN = "I prefer green tea."


@pytest.fixture
def write_config(tmp_path: Path):
    def write_config(text: str) -> str:
        (tmp_path / "sharing.yaml").write_text(text)
        return str(tmp_path / "sharing.yaml")

    return write_config


@pytest.mark.requirement("E1")
def test_show_prints_the_table_with_the_settings(lines, write_config) -> None:
    config = write_config("memory: {sharing: {agents: none, workspaces: {acme: {rooms: true}}}}")

    rows = {row["setting"]: row for row in lines("flows", "show", "--config", config)}
    of_acme = {
        row["setting"]: row["value"]
        for row in lines("flows", "show", "--workspace", "acme", "--config", config)
    }

    assert rows["agents"]["value"] == "none"
    assert rows["agents"]["allowed"] == "none, profile, everything"
    assert rows["rooms"]["value"] == "false"
    assert (of_acme["agents"], of_acme["rooms"]) == ("none", "true")


@pytest.mark.requirement("E1")
def test_apply_shows_what_was_said_before_the_flow_was_on(lines, write_config) -> None:
    config = write_config("memory: {sharing: {agents: none}}")
    lines("observe", "alice", OWN, "--dm", "--config", config)
    find = ("memory", "search", "tea", "--dm", "--agent", "other")
    assert lines(*find, code=1) == []

    (counts,) = lines("flows", "apply")

    assert counts["workspace"] == "default"
    assert counts["changed"] > 0
    (hit,) = lines(*find)
    assert hit["text"] == OWN


def test_apply_names_known_workspaces(run, lines) -> None:
    lines("observe", "alice", OWN)

    result = run("flows", "apply", "--workspace", "nosuch", code=2)

    assert "no messages in workspace 'nosuch'; workspaces with messages: default" in result.stderr


@pytest.mark.requirement("E1")
def test_why_names_the_rule(run, lines) -> None:
    lines("observe", "alice", OWN, "--session", "monday")
    (hit,) = lines("memory", "search", "tea", "--session", "friday")

    shown = run("memory", "show", hit["id"], "--why", "--session", "friday").stdout

    assert "you told the same agent in another session (sessions)" in shown
