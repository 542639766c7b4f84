"""Chat messages in the forms callers have them."""

from __future__ import annotations

from typing import Any

import pytest

from nexus.compose.messages import (
    Said,
    events_of,
    key_of,
    numbered,
    question_in,
    read_messages,
    words_of,
)
from nexus.core.access import Viewer
from nexus.core.errors import InvalidInput
from nexus.core.fence import fenced
from nexus.core.ids import AgentId, UserId, WorkspaceId
from nexus.testing.samples import event

ALICE = Viewer(workspace=WorkspaceId("acme"), agent=AgentId("scribe"), user=UserId("alice"))

OPENAI = [
    {"role": "developer", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "Where is"}, {"type": "image_url"}]},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"a": 1}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "in Leeds"},
    {"role": "assistant", "content": "It is in Leeds."},
]
ANTHROPIC = [
    {"role": "user", "content": "Where is"},
    {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "c1", "name": "look", "input": {"a": 1}}],
    },
    {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": "c1",
                "content": [{"type": "text", "text": "in Leeds"}],
            }
        ],
    },
    {"role": "assistant", "content": [{"type": "text", "text": "It is in Leeds."}]},
]
RESPONSES = [
    {"role": "user", "content": [{"type": "input_text", "text": "Where is"}]},
    {"type": "reasoning", "id": "r1", "summary": []},
    {"type": "function_call", "call_id": "c1", "name": "look", "arguments": '{"a": 1}'},
    {"type": "function_call_output", "call_id": "c1", "output": "in Leeds"},
    {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "It is in Leeds."}],
    },
]


@pytest.mark.parametrize(
    "messages", [OPENAI, ANTHROPIC, RESPONSES], ids=["openai", "anthropic", "responses"]
)
def test_every_form_says_the_same(messages: list[dict[str, Any]]) -> None:
    said = [each for each in read_messages(messages) if each.role != "system"]

    assert [(each.role, each.speaker(ALICE), each.text) for each in said] == [
        ("user", "alice", "Where is"),
        ("tool", "look", "in Leeds"),
        ("assistant", "scribe", "It is in Leeds."),
    ]
    assert said[1].call["tool_call"] == "c1"
    assert "arguments" in said[1].call
    assert question_in(said) == "Where is"


def test_our_own_forms() -> None:
    said = read_messages([event("k", "hello"), {"speaker": "bob", "text": "hi", "role": "user"}])

    assert [(each.name, each.text) for each in said] == [("alice", "hello"), ("bob", "hi")]


def test_what_nexus_put_there_is_left_out() -> None:
    block = fenced("Tyler works at Anthropic.", id="c")
    said = read_messages(
        [{"role": "system", "content": block}, {"role": "user", "content": f"{block}\nHello?"}]
    )

    assert [(each.role, each.text) for each in said] == [("user", "Hello?")]


def keys_of(said: list[Said], thread: str | None = None) -> list[str]:
    words = [words_of(each, ALICE, thread) for each in said]
    return [key_of(*each) for each in zip(words, numbered(words), strict=True)]


def test_the_key_depends_on_the_words_and_not_on_the_place_in_the_list() -> None:
    chat = [Said(role="user", text=text) for text in ("one", "ok", "two", "ok")]
    keys = keys_of(chat)

    assert len(set(keys)) == 4
    assert keys_of(chat[1:]) == keys[1:]
    assert keys_of([*chat, Said(role="user", text="three")])[:4] == keys
    assert not set(keys_of(chat, "thread")) & set(keys)
    assert events_of(chat[:1], ALICE) < events_of(chat, ALICE)


def test_the_key_of_a_result_depends_on_its_call() -> None:
    calls = (
        {"tool_call": "1"},
        {"tool_call": "2"},
        {"tool_call": "1", "arguments": {"b": object()}},
    )
    results = [Said(role="tool", text="ok", name="write", call=call) for call in calls]

    assert len({words_of(each, ALICE) for each in results}) == 3


@pytest.mark.parametrize(
    "wrong",
    [
        "text",
        ["text"],
        [{"role": "robot", "content": "x"}],
        [{"content": "x"}],
        [{"type": "message", "content": "x"}],
        [{"role": "assistant", "content": "x", "tool_calls": 5}],
        [{"role": "user", "content": "half a letter: \ud800"}],
        [{"role": "user", "content": 7}],
        [{"role": "user", "content": [7]}],
        [{"role": "user", "content": [{"type": "text", "text": 7}]}],
    ],
)
def test_what_is_no_message_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidInput):
        read_messages(wrong)


def test_what_is_no_message_says_nothing_to_the_lenient() -> None:
    wrong: list[Any] = [{"role": "robot", "content": "x"}, 5, {"role": "user", "content": "Hello"}]

    assert [each.text for each in read_messages(wrong, lenient=True)] == ["Hello"]


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("\u202ebob", "⟨U+202E⟩bob"),
        ("  bob \n b ", "bob b"),
        ("\ud800", None),
        ("", None),
        (5, None),
    ],
)
def test_a_name_can_be_written_down(given: Any, name: str | None) -> None:
    (said,) = read_messages([{"role": "user", "content": "x", "name": given}])

    assert said.name == name
