"""The options that select the viewer and the place."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("options", "scope"),
    [
        ((), "session:alice:assistant:default"),
        (("--session", "monday"), "session:alice:assistant:monday"),
        (("--session", "diary", "--private"), "private_session:alice:assistant:diary"),
        (("--dm",), "dm:alice:assistant"),
        (("--dm", "--agent", "scribe", "--user", "bob"), "dm:bob:scribe"),
        (("--room", "design"), "room:design"),
        (("--channel", "design"), "room:design"),
        (("--room", "design", "--session", "monday"), "room:design"),
    ],
)
def test_options_select_place(lines, options, scope) -> None:
    (receipt,) = lines("observe", "alice", "The kettle is on the stove.", *options)

    assert receipt["scope"] == scope


@pytest.mark.parametrize(
    ("scope", "options", "kept"),
    [
        ("session", (), "session:alice:assistant:default"),
        ("channel", (), "room:default"),
        ("channel", ("--room", "design"), "room:design"),
        ("room:design", (), "room:design"),
        ("session:alice:monday", (), "session:alice:assistant:monday"),
        ("session:alice:monday", ("--agent", "scribe"), "session:alice:scribe:monday"),
        ("session:alice:assistant:monday", (), "session:alice:assistant:monday"),
        ("dm", (), "dm:alice:assistant"),
        ("agent", (), "agent:assistant"),
        ("global", (), "workspace"),
        ("user", (), "user:alice"),
        ("profile", (), "user:alice"),
        ("project", ("--project", "apollo"), "project:apollo"),
        ("project:apollo", (), "project:apollo"),
    ],
)
def test_scope_by_kind_or_full_name(lines, scope, options, kept) -> None:
    (receipt,) = lines("remember", "The kettle is on the stove.", "--scope", scope, *options)

    assert receipt["scope"] == kept


def test_scope_out_of_reach_is_not_found(run) -> None:
    for scope, options in (
        ("session", ("--room", "design")),
        ("dm:bob:assistant", ()),
        ("user:bob", ()),
        ("project", ()),
        ("nonsense", ()),
    ):
        result = run("remember", "x", "--scope", scope, *options, code=2)
        assert result.stderr.startswith("error: ")


def test_environment_variables_select_place(lines, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("SESSION", "night"), ("WORKSPACE", "acme"), ("AGENT", "scribe")):
        monkeypatch.setenv(f"NEXUS_{name}", value)

    (receipt,) = lines("observe", "alice", "The kettle is on the stove.")

    assert (receipt["workspace"], receipt["scope"]) == ("acme", "session:alice:scribe:night")


def test_default_scope_setting_selects_place(lines, shell) -> None:
    (shell / "nexus.yaml").write_text("memory:\n  search: {default_scope: channel}\n")

    (receipt,) = lines("observe", "alice", "The kettle is on the stove.")

    assert receipt["scope"] == "room:default"


def test_dm_is_hidden_from_room_and_other_users(run) -> None:
    run("observe", "alice", "My password hint is the name of the otter.", "--dm")

    run("memory", "search", "otter", "--dm")
    run("memory", "search", "otter", "--room", "design", "--participant", "alice", code=1)
    run("memory", "search", "otter", "--dm", "--user", "bob", code=1)
    run("memory", "search", "otter", "--dm", "--workspace", "other", code=1)


def test_room_reads_profiles_and_project(lines) -> None:
    lines("remember", "Alice drinks green tea.", "--scope", "user")
    lines("remember", "Apollo ships in June.", "--scope", "project:apollo")
    in_room = ("--room", "design", "--project", "apollo")

    alone = lines("memory", "search", "tea June", *in_room)
    together = lines("memory", "search", "tea June", *in_room, "--participant", "alice")

    assert {hit["scope"] for hit in alone} == {"project:apollo"}
    assert {hit["scope"] for hit in together} == {"project:apollo", "user:alice"}


def test_user_without_login_name(lines, monkeypatch: pytest.MonkeyPatch) -> None:
    def nameless() -> str:
        raise KeyError("getpwuid(): uid not found")

    monkeypatch.delenv("NEXUS_USER")
    monkeypatch.setattr("getpass.getuser", nameless)

    (receipt,) = lines("observe", "somebody", "The kettle is on the stove.")

    assert receipt["scope"] == "session:user:assistant:default"


@pytest.mark.parametrize(
    "words",
    [
        ("memory", "search", "x", "--since", "soon"),
        ("memory", "search", "x", "--as-of", "soon"),
        ("landmarks", "--due-before", "soon"),
        ("episodes", "list", "--until", "soon"),
        ("audit", "tail", "--since", "soon"),
        ("compose", "x", "--as-of", "soon"),
        ("observe", "alice", "x", "--at", "soon"),
        ("goal", "add", "x", "--deadline", "soon"),
    ],
)
def test_every_time_option_has_the_same_error(run, words) -> None:
    said = run(*words, code=2).stderr

    assert "'soon' is not a time; write 2026-01-31 or 2026-01-31T09:00:00Z" in said


@pytest.mark.parametrize(
    "words", [("remember",), ("memory", "search"), ("memory", "import"), ("share",), ("forget",)]
)
def test_help_uses_room_and_workspace(run, words) -> None:
    shown = run(*words, "--help").stdout

    assert "--room" in shown
    assert not {"channel", "global", "PARSE_TIME"} & set(shown.replace(".", " ").split())
    assert "--channel" not in shown


def test_private_needs_a_session(run) -> None:
    result = run("observe", "alice", "x", "--dm", "--private", code=2)

    assert "--private needs --session NAME" in result.stderr


@pytest.mark.requirement("X2")
@pytest.mark.parametrize("command", [("observe", "alice"), ("remember",)], ids=" ".join)
def test_confidential_message_stays_with_its_agent(lines, command) -> None:
    lines(*command, "I prefer green tea.", "--dm")
    lines(*command, "I prefer oak desks.", "--dm", "--confidential")

    found = lines("memory", "search", "tea or desks?", "--dm", "--agent", "other")

    assert [hit["text"] for hit in found] == ["I prefer green tea."]
