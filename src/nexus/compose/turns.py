"""Chat messages as callers have them: in OpenAI's, Anthropic's or our own form.

    {"role": "assistant", "content": None, "tool_calls": [{"id": "1", …}]}   OpenAI
    {"role": "assistant", "content": [{"type": "tool_use", "id": "1", …}]}   Anthropic
    {"type": "function_call", "call_id": "1", …}                             OpenAI's Responses
    {"speaker": "alice", "text": "Hello"}                                    ours

Nothing here changes a message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..core.errors import InvalidInput

Message = Mapping[str, Any]
Count = Callable[[str], int]

STANDING = frozenset({"system", "developer"})  # what holds for the whole conversation
RESULTS = frozenset({"tool", "function"})
TEXTS = frozenset({"text", "input_text", "output_text"})
PICTURES = frozenset(
    {"image", "image_url", "input_image", "input_audio", "audio", "document", "file", "input_file"}
)
PICTURE_TOKENS = 1_600  # about the most a provider charges for one
FRAME_TOKENS = 4  # of each message: its role and where it ends


def checked(messages: Sequence[Message]) -> list[Message]:
    """The messages as a list; anything else is refused before it is looked at."""
    if isinstance(messages, str | bytes | Mapping):
        raise InvalidInput("messages is a list of messages")
    listed = list(messages)
    for each in listed:
        if not isinstance(each, Mapping):
            raise InvalidInput(f"a message is a mapping, not {type(each).__name__}")
    return listed


def role_of(message: Message) -> str:
    """Who speaks in the conversation: a message of our own form without a role is a person's."""
    role = message.get("role")
    return role if isinstance(role, str) else "user"


def is_item(message: Message) -> bool:
    """Whether it is an item of the Responses API that nobody says: a call, reasoning, …"""
    kind = message.get("type")
    return message.get("role") is None and isinstance(kind, str) and kind != "message"


def is_call(message: Message) -> bool:
    return is_item(message) and message["type"].endswith("_call")


def is_output(message: Message) -> bool:
    return is_item(message) and message["type"].endswith("_call_output")


def text_of(message: Message) -> str:
    """What somebody says in it; neither tool calls nor their results."""
    if role_of(message) in RESULTS:
        return ""
    content = message.get("content", message.get("text"))
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list | tuple) else ()
    return "\n".join(filter(None, map(_block_text, blocks)))


def _block_text(block: object) -> str:
    if isinstance(block, str):
        return block
    if isinstance(block, Mapping) and block.get("type") in TEXTS:
        text = block.get("text")
        return text if isinstance(text, str) else ""
    return ""


def groups(messages: Sequence[Message]) -> list[range]:
    """The messages in stretches that stay or go together: a tool call and all of its results.

    Providers number their calls anew in every turn, so a result belongs to the last call before
    it that has its id.
    """
    ends = list(range(len(messages)))
    called: dict[str, int] = {}
    for place, message in enumerate(messages):
        for id in _results(message):
            if id in called:
                ends[called[id]] = place
        called.update(dict.fromkeys(_calls(message), place))
        if is_item(message) and message["type"] == "reasoning":  # is refused without what follows
            ends[place] = min(place + 1, len(messages) - 1)
    made: list[range] = []
    start = 0
    while start < len(messages):
        place, end = start, ends[start]
        while place <= end:
            end = max(end, ends[place])
            place += 1
        made.append(range(start, end + 1))
        start = end + 1
    return made


def _calls(message: Message) -> Iterator[str]:
    for call in _mappings(message.get("tool_calls")):
        yield f"id {call.get('id')}"
    function = message.get("function_call")
    if isinstance(function, Mapping):
        yield f"function {function.get('name')}"
    if is_call(message):
        yield f"id {message.get('call_id')}"
    for block in _mappings(message.get("content")):
        if block.get("type") == "tool_use":
            yield f"id {block.get('id')}"


def _results(message: Message) -> Iterator[str]:
    if role_of(message) == "tool":
        yield f"id {message.get('tool_call_id')}"
    if role_of(message) == "function":
        yield f"function {message.get('name')}"
    if is_output(message):
        yield f"id {message.get('call_id')}"
    for block in _mappings(message.get("content")):
        if block.get("type") == "tool_result":
            yield f"id {block.get('tool_use_id')}"


def _mappings(given: object) -> Iterator[Mapping[str, Any]]:
    for each in given if isinstance(given, list | tuple) else ():
        if isinstance(each, Mapping):
            yield each


def size(message: Message, count: Count) -> int:
    """About how many tokens a message is to a model, rather too many than too few."""
    texts: list[str] = []
    pictures = _collect(message, texts)
    return count("\n".join(texts)) + FRAME_TOKENS + PICTURE_TOKENS * pictures


def _collect(given: object, texts: list[str]) -> int:
    """Every text in it, names included; how many pictures it shows."""
    if isinstance(given, Mapping):
        if given.get("type") in PICTURES:
            return 1
        texts += map(str, given)
        return sum(_collect(value, texts) for value in given.values())
    if isinstance(given, list | tuple):
        return sum(_collect(each, texts) for each in given)
    if given is not None:
        texts.append(str(given))
    return 0
