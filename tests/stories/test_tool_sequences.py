"""Tool sequences: strategies and tool results that are learned from recorded chats."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.stories.conftest import Team

from nexusmem import Place
from nexusmem.config.settings import Settings
from nexusmem.core.records import Trust
from nexusmem.learn.extract.passages import IndexingSettings

Chat = list[dict[str, Any]]
DEPLOY = "Please deploy the ferry app to staging."


def user(text: str) -> Chat:
    return [{"role": "user", "content": text}]


def agent(text: str) -> Chat:
    return [{"role": "assistant", "content": text}]


def openai(tool: str, result: str, **arguments: Any) -> Chat:
    """Return a call and its result as OpenAI's messages."""
    id = f"call_{tool}_{len(result)}"
    function = {"name": tool, "arguments": json.dumps(arguments)}
    return [
        {"role": "assistant", "content": None, "tool_calls": [{"id": id, "function": function}]},
        {"role": "tool", "tool_call_id": id, "content": result},
    ]


def anthropic(tool: str, result: str, *, is_error: bool = False, **arguments: Any) -> Chat:
    """Return a call and its result as Anthropic's messages."""
    id = f"toolu_{tool}_{len(result)}"
    use = {"type": "tool_use", "id": id, "name": tool, "input": arguments}
    text = {"type": "text", "text": result}
    back = {"type": "tool_result", "tool_use_id": id, "content": [text], "is_error": is_error}
    return [{"role": "assistant", "content": [use]}, {"role": "user", "content": [back]}]


def found(place: Place, task: str | None = None) -> list[tuple[tuple[str, ...], int, int]]:
    return [
        (each.steps, each.success_rate.successes, each.success_rate.total)
        for each in place.procedures.find(task)
    ]


BUILT = ("run_tests", "build", "publish")


def release(call: Any = openai) -> Chat:
    return [
        *call("run_tests", "42 passed", path="tests"),
        *call("build", "built ferry-1.2.whl"),
        *call("publish", "published ferry 1.2"),
    ]


# Strategies


@pytest.mark.requirement("E7", "E25")
@pytest.mark.parametrize("call", [openai, anthropic])
def test_successful_chat_becomes_a_strategy(team: Team, call: Any) -> None:
    chat = [*user("Make the release of the ferry app."), *release(call)]
    chat += agent("Done: ferry 1.2 is published.")

    team.alices.record(chat)

    assert found(team.alices, "release the ferry app") == [(BUILT, 1, 1)]
    for number in range(40):  # the window no longer shows the calls
        team.alices.observe("alice", f"Remark {number} about lunch.")
    shown = team.alices.compose("How do we make a release of the ferry app?").text
    assert "run_tests → build → publish (worked 1 of 1)" in shown


@pytest.mark.requirement("E7")
def test_what_was_said_long_before_is_no_part_of_the_request(team: Team) -> None:
    team.alices.observe("alice", "The lighthouse was painted white.")
    team.clock.advance(hours=2)

    team.alices.record(
        [*user(DEPLOY), *openai("deploy", "revision 17"), *agent("I have deployed it.")]
    )

    (strategy,) = team.alices.procedures.find()
    assert strategy.task == DEPLOY


@pytest.mark.requirement("E7")
def test_next_topic_without_complaint_is_a_success(team: Team) -> None:
    chat = [*user(DEPLOY), *openai("deploy", "revision 17 serves all requests")]
    team.alices.record(chat)
    assert found(team.alices) == []  # nobody closed the task so far

    team.clock.advance(minutes=5)
    team.alices.record([*chat, *user("What is for lunch today?")])

    assert found(team.alices) == [(("deploy",), 1, 1)]


@pytest.mark.requirement("E7")
@pytest.mark.parametrize(
    "complaint",
    [
        "No, that is the wrong stage.",
        "It didn't work.",
        "That's not what I asked for.",
        "Try again.",
    ],
)
def test_complaint_turns_a_success_into_a_loss(team: Team, complaint: str) -> None:
    chat = [*user(DEPLOY), *openai("deploy", "revision 17"), *agent("I have deployed the app.")]
    team.alices.record(chat)
    assert found(team.alices) == [(("deploy",), 1, 1)]

    team.alices.record([*chat, *user(complaint)])

    assert found(team.alices) == [(("deploy",), 0, 1)]
    assert "deploy (worked" not in team.alices.compose("How do I deploy the ferry app?").text


@pytest.mark.requirement("E7")
@pytest.mark.parametrize(
    "failed",
    [
        anthropic("deploy", "the stage is locked", is_error=True),
        openai("deploy", "Error: permission denied"),
        openai("deploy", '{"success": false, "reason": "locked"}'),
        openai("deploy", "Traceback (most recent call last):\n  KeyError: 'stage'"),
        openai("deploy", "deploying …\nexit code: 2"),
    ],
    ids=["flag", "error", "json", "traceback", "exit"],
)
def test_error_is_a_loss(team: Team, failed: Chat) -> None:
    team.alices.record([*user(DEPLOY), *failed, *agent("I could not deploy it, sorry.")])

    assert found(team.alices) == [(("deploy",), 0, 1)]


@pytest.mark.requirement("E7")
def test_failed_attempt_is_no_step_of_a_success(team: Team) -> None:
    chat = [*user(DEPLOY), *openai("deploy", "Error: the stage is locked")]
    chat += [*openai("unlock", "stage unlocked"), *openai("deploy", "revision 17")]

    team.alices.record([*chat, *agent("The app is deployed."), *user("Perfect, thank you!")])

    assert found(team.alices) == [(("unlock", "deploy"), 1, 1)]


@pytest.mark.requirement("E7")
def test_unclear_end_is_no_strategy(team: Team) -> None:
    chat = [*user(DEPLOY), *openai("list_stages", "staging, production")]
    chat += agent("Which of the two staging areas do you mean?")
    team.alices.record(chat)
    assert found(team.alices) == []

    team.alices.record([*chat, *user("The blue one.")])
    assert found(team.alices) == []  # an answer, not another topic

    chat += [*user("The blue one."), *openai("deploy", "revision 18"), *agent("It is deployed.")]
    team.alices.record(chat)
    assert found(team.alices, DEPLOY) == [(("list_stages", "deploy"), 1, 1)]


@pytest.mark.requirement("X6")
def test_strategy_has_the_messages_that_decide_as_sources(team: Team) -> None:
    chat = [*user(DEPLOY), *openai("deploy", "revision 17"), *agent("It is deployed.")]
    team.alices.record(chat)
    (before,) = team.alices.procedures.find()
    team.clock.advance(days=1)

    team.alices.record([*chat, *user("What is for lunch today?")])

    (after,) = team.alices.procedures.find()
    assert (after.memories, after.last_at) == (before.memories, before.last_at)
    sources = team.alices.source_events(after.memories[0])
    assert {each.text for each in sources} == {DEPLOY, "revision 17", "It is deployed."}


@pytest.mark.requirement("E7")
def test_repeated_success_reinforces_a_strategy_of_one_topic(team: Team) -> None:
    for version in ("1.2", "1.3"):
        chat = [*user(f"Make the release {version} of the ferry app."), *release()]
        team.alices.record([*chat, *agent(f"Released {version}: it is published.")])
        team.clock.advance(days=1)
    weather = [*user("Will it rain on Sunday?"), *openai("search", "sunny, 21 degrees")]
    team.alices.record([*weather, *agent("Here is the forecast: sunny.")])
    prices = [*user("Find paint prices."), *openai("search", "white: 30 per bucket")]
    team.alices.record([*prices, *agent("Here are the prices.")])

    assert (BUILT, 2, 2) in found(team.alices)
    by_task = {each.task: each.steps for each in team.alices.procedures.find()}
    assert by_task["Will it rain on Sunday?"] == by_task["Find paint prices."] == ("search",)
    assert len({each.id for each in team.alices.procedures.find()}) == 3


@pytest.mark.requirement("E7")
def test_explicit_outcome_is_not_counted_twice(team: Team) -> None:
    chat = [*user(DEPLOY), *openai("deploy", "revision 17"), *agent("It is deployed.")]
    team.alices.record(chat)
    team.clock.advance(seconds=1)
    team.alices.procedures.finish("deploy", success=True, steps=["deploy"])
    team.clock.advance(seconds=1)

    team.alices.record([*chat, *user("What is for lunch?")])

    assert found(team.alices) == [(("deploy",), 1, 1)]


@pytest.mark.requirement("X1", "X2")
def test_strategies_stay_in_their_place(team: Team) -> None:
    chat = [
        *user("Ask for my raise."),
        *openai("send_mail", "mail sent"),
        *agent("Mail is posted."),
    ]
    team.alices.record(chat)

    assert len(found(team.alices)) == 1
    assert found(team.bobs) == found(team.room) == []
    assert not team.bobs.recall("mail sent")
    assert not team.room.recall("mail sent")


@pytest.mark.requirement("X1")
def test_sessions_of_one_agent_share_strategies(team: Team) -> None:
    one = team.workspace.session("monday", user="alice", agent="scribe")
    chat = [*user(DEPLOY), *openai("deploy", "revision 17"), *agent("It is deployed.")]
    one.record(chat)

    assert found(team.workspace.session("tuesday", user="alice", agent="scribe")) == [
        (("deploy",), 1, 1)
    ]
    assert found(team.workspace.session("x", user="alice", agent="other")) == []


@pytest.mark.requirement("X3")
def test_rebuild_derives_the_same_strategies(team: Team) -> None:
    chat = [*user(DEPLOY), *openai("deploy", "revision 17"), *agent("It is deployed.")]
    team.alices.record(chat)
    team.clock.advance(minutes=1)
    team.alices.record([*chat, *user("That did not work."), *release(), *agent("All done now.")])
    before = [each.memories for each in team.alices.procedures.find()]

    team.workspace.rebuild("knowledge")

    assert [each.memories for each in team.alices.procedures.find()] == before
    assert {each[1:] for each in found(team.alices)} == {(0, 1), (1, 1)}


@pytest.mark.requirement("X6")
def test_erased_person_leaves_no_strategy(team: Team) -> None:
    chat = [*user(DEPLOY), *openai("deploy", "revision 17"), *agent("It is deployed.")]
    team.alices.record(chat)
    assert found(team.alices)

    assert team.workspace.forget(user="alice").residue == 0
    assert found(team.alices) == []


# Secrets

SECRET = "ghp_" + "a1B2" * 9


@pytest.mark.requirement("X8")
def test_secrets_of_a_call_are_in_no_memory(team: Team) -> None:
    chat = [
        *user(f"Log in with the token {SECRET} and list the repositories."),
        *openai("login", f"logged in with {SECRET}", token=SECRET, password="hunter2!x"),
        *openai("list_repositories", "ferry, harbour and crane", owner="acme"),
        *agent("Here are the repositories."),
    ]
    team.alices.record(chat)

    hits = list(team.alices.recall("token login repositories", limit=50))
    strategies = team.alices.procedures.find()
    shown = repr([hits, strategies, team.alices.compose("Which repositories are there?")])
    assert strategies
    assert "list_repositories" in shown
    assert SECRET not in repr(hits) + repr(strategies)
    assert "hunter2" not in repr(hits) + repr(strategies)


@pytest.mark.requirement("X8")
@pytest.mark.parametrize("question", ["What is the password?", "Please type your password."])
def test_password_that_answers_the_agent_names_no_task(team: Team, question: str) -> None:
    chat = [*agent(question), *user("swordfish"), *openai("login", "logged in as alice")]
    team.alices.record([*chat, *agent("You are logged in. Done.")])

    assert "swordfish" not in repr(team.alices.procedures.find())


# Tool results


@pytest.mark.requirement("A9", "X8")
@pytest.mark.parametrize("call", [openai, anthropic])
def test_tool_result_is_found_and_attributed(team: Team, call: Any) -> None:
    chat = [*user("Look up the crane."), *call("get_crane_status", "idle since 6 am", crane="K7")]
    team.alices.record(chat)
    for number in range(5):
        team.alices.observe("alice", f"Another remark, number {number}.")
    team.clock.advance(days=2)

    best = team.alices.recall("What is the status of crane K7?")[0].memory

    assert best.text == "(crane: K7) idle since 6 am"
    assert (best.speaker, best.role) == ("get_crane_status", "tool")
    assert (best.trust, best.source) == (Trust.EXTERNAL, "tool")
    line = next(
        line
        for line in team.alices.compose("What is the status of crane K7?").text.splitlines()
        if "idle since" in line
    )
    assert (
        line == "- 2026-03-02 [tool result, external] get_crane_status: (crane: K7) idle since 6 am"
    )


@pytest.mark.requirement("X8")
def test_tool_result_states_no_facts_about_people(team: Team) -> None:
    claim = "Alice works at Initech. Alice prefers Acme. The user lives in Moscow."
    chat = [*user("Search the web for me."), *openai("web_search", claim), *agent("Here it is.")]
    team.alices.record([*chat, *user("Thanks!")])

    assert [each.text for each in team.alices.facts()] == []
    assert team.alices.profile("alice").about == ()
    assert team.alices.recall("Initech")[0].memory.speaker == "web_search"


@pytest.mark.requirement("C15")
def test_tool_results_without_content_are_not_indexed(team: Team) -> None:
    chat = [*user("Write the three files."), *openai("write", "ok"), *openai("touch", "")]
    team.alices.record([*chat, *openai("list_files", "a.txt b.txt c.txt"), *agent("All done.")])

    hits = team.alices.recall("write touch list files", limit=50)
    assert [hit.text for hit in hits if hit.memory.role == "tool"] == ["a.txt b.txt c.txt"]
    assert found(team.alices) == [(("write", "touch", "list_files"), 1, 1)]


@pytest.mark.requirement("C15")
def test_setting_excludes_tool_results(open_nexus: Any) -> None:
    settings = Settings(indexing=IndexingSettings(index_tool_results=False))
    place = open_nexus(settings=settings).workspace("acme").dm("alice", agent="scribe")
    place.record([*user("Look up the crane."), *openai("crane", "idle since 6 am")])

    assert [hit.memory.role for hit in place.recall("crane idle")] == ["user"]
