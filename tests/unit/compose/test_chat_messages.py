"""Parsing of chat messages in the formats of providers."""

from __future__ import annotations

from typing import Any

import pytest

from nexusmem.core.access import Viewer
from nexusmem.core.errors import InvalidInput
from nexusmem.core.ids import AgentId, UserId, WorkspaceId
from nexusmem.observe.chat_messages import (
    NO_OUTPUT,
    ChatMessage,
    derive_event_ids,
    hash_message,
    last_question,
    message_key,
    occurrence_numbers,
    parse_messages,
)
from nexusmem.testing.samples import make_event
from nexusmem.text.fence import fence_text

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
def test_every_format_parses_to_the_same_messages(messages: list[dict[str, Any]]) -> None:
    said = [each for each in parse_messages(messages) if each.role != "system"]

    assert [(each.role, each.speaker_for(ALICE), each.text) for each in said] == [
        ("user", "alice", "Where is"),
        ("tool", "look", "in Leeds"),
        ("assistant", "scribe", "It is in Leeds."),
    ]
    assert said[1].call["tool_call"] == "c1"
    assert "arguments" in said[1].call
    assert last_question(said) == "Where is"


def test_nexus_formats_are_parsed() -> None:
    said = parse_messages(
        [make_event("k", "hello"), {"speaker": "bob", "text": "hi", "role": "user"}]
    )

    assert [(each.name, each.text) for each in said] == [("alice", "hello"), ("bob", "hi")]


def test_fenced_blocks_are_removed() -> None:
    block = fence_text("Tyler works at Anthropic.", id="c")
    said = parse_messages(
        [{"role": "system", "content": block}, {"role": "user", "content": f"{block}\nHello?"}]
    )

    assert [(each.role, each.text) for each in said] == [("user", "Hello?")]


def keys_of(said: list[ChatMessage], thread: str | None = None) -> list[str]:
    words = [hash_message(each, ALICE, thread) for each in said]
    return [message_key(*each) for each in zip(words, occurrence_numbers(words), strict=True)]


def test_key_depends_on_words_and_not_on_position() -> None:
    chat = [ChatMessage(role="user", text=text) for text in ("one", "ok", "two", "ok")]
    keys = keys_of(chat)

    assert len(set(keys)) == 4
    assert keys_of(chat[1:]) == keys[1:]
    assert keys_of([*chat, ChatMessage(role="user", text="three")])[:4] == keys
    assert not set(keys_of(chat, "thread")) & set(keys)
    assert derive_event_ids(chat[:1], ALICE) < derive_event_ids(chat, ALICE)


def test_key_of_a_tool_result_depends_on_its_call() -> None:
    calls = (
        {"tool_call": "1"},
        {"tool_call": "2"},
        {"tool_call": "1", "arguments": {"b": object()}},
    )
    results = [ChatMessage(role="tool", text="ok", name="write", call=call) for call in calls]

    assert len({hash_message(each, ALICE) for each in results}) == 3


@pytest.mark.requirement("E6")
@pytest.mark.parametrize(
    "message",
    [
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "1", "is_error": True}],
        },
        {"role": "tool", "tool_call_id": "1", "content": "", "status": "error"},
        {"type": "function_call_output", "call_id": "1", "output": "", "status": "incomplete"},
    ],
)
def test_failed_call_without_output_is_kept(message: dict[str, Any]) -> None:
    (result,) = [each for each in parse_messages([message]) if each.role == "tool"]

    assert (result.text, result.call) == (NO_OUTPUT, {"tool_call": "1", "is_error": True})


def test_successful_call_has_no_error_flag() -> None:
    message = {"role": "tool", "tool_call_id": "1", "content": "in Leeds", "status": "completed"}

    assert parse_messages([message])[0].call == {"tool_call": "1"}


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
def test_invalid_message_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidInput):
        parse_messages(wrong)


def test_lenient_parsing_skips_invalid_messages() -> None:
    wrong: list[Any] = [{"role": "robot", "content": "x"}, 5, {"role": "user", "content": "Hello"}]

    assert [each.text for each in parse_messages(wrong, lenient=True)] == ["Hello"]


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
def test_parsed_name_is_a_valid_speaker(given: Any, name: str | None) -> None:
    (said,) = parse_messages([{"role": "user", "content": "x", "name": given}])

    assert said.name == name
