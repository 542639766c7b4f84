"""Chat message formats: read roles, texts, tool calls and sizes of OpenAI, Anthropic and Nexus.

    {"role": "assistant", "content": None, "tool_calls": [{"id": "1", …}]}   OpenAI
    {"role": "assistant", "content": [{"type": "tool_use", "id": "1", …}]}   Anthropic
    {"type": "function_call", "call_id": "1", …}                             OpenAI's Responses
    {"speaker": "alice", "text": "Hello"}                                    Nexus

No function here changes a message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..core.errors import InvalidInput

RawMessage = Mapping[str, Any]
TokenCounter = Callable[[str], int]

SYSTEM_ROLES = frozenset({"system", "developer"})  # instructions for the complete conversation
RESULT_ROLES = frozenset({"tool", "function"})
TEXT_TYPES = frozenset({"text", "input_text", "output_text"})
MEDIA_TYPES = frozenset(
    {"image", "image_url", "input_image", "input_audio", "audio", "document", "file", "input_file"}
)
MEDIA_TOKENS = 1_600  # for one image or file; about the most that providers charge
FRAME_TOKENS = 4  # of each message, for its role and its end


def check_messages(messages: Sequence[RawMessage]) -> list[RawMessage]:
    """Return the messages as a list; raise InvalidInput unless every one is a mapping."""
    if isinstance(messages, str | bytes | Mapping):
        raise InvalidInput(f"messages must be a list, got {type(messages).__name__}")
    listed = list(messages)
    for each in listed:
        if not isinstance(each, Mapping):
            raise InvalidInput(f"a message must be a mapping, got {type(each).__name__}")
    return listed


def message_role(message: RawMessage) -> str:
    """Return the role of a message; without a role it is "user"."""
    role = message.get("role")
    return role if isinstance(role, str) else "user"


def is_responses_item(message: RawMessage) -> bool:
    """Return True for an item of the Responses API that is not a message: a call, reasoning, …"""
    kind = message.get("type")
    return message.get("role") is None and isinstance(kind, str) and kind != "message"


def is_tool_call(message: RawMessage) -> bool:
    return is_responses_item(message) and message["type"].endswith("_call")


def is_tool_output(message: RawMessage) -> bool:
    return is_responses_item(message) and message["type"].endswith("_call_output")


def message_text(message: RawMessage) -> str:
    """Return the spoken text of a message, without tool calls and their results."""
    if message_role(message) in RESULT_ROLES:
        return ""
    content = message.get("content", message.get("text"))
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list | tuple) else ()
    return "\n".join(filter(None, map(_block_text, blocks)))


def _block_text(block: object) -> str:
    if isinstance(block, str):
        return block
    if isinstance(block, Mapping) and block.get("type") in TEXT_TYPES:
        text = block.get("text")
        return text if isinstance(text, str) else ""
    return ""


def group_messages(messages: Sequence[RawMessage]) -> list[range]:
    """Return ranges of messages that must stay together: a tool call and all of its results.

    Providers reuse call ids in later turns, so a result belongs to the last call before it with
    the same id.
    """
    ends = list(range(len(messages)))
    called: dict[str, int] = {}
    for position, message in enumerate(messages):
        for id in _result_ids(message):
            if id in called:
                ends[called[id]] = position
        called.update(dict.fromkeys(_call_ids(message), position))
        # OpenAI rejects a reasoning item without the item that follows it.
        if is_responses_item(message) and message["type"] == "reasoning":
            ends[position] = min(position + 1, len(messages) - 1)
    groups: list[range] = []
    start = 0
    while start < len(messages):
        position, end = start, ends[start]
        while position <= end:
            end = max(end, ends[position])
            position += 1
        groups.append(range(start, end + 1))
        start = end + 1
    return groups


def _call_ids(message: RawMessage) -> Iterator[str]:
    for call in _find_mappings(message.get("tool_calls")):
        yield f"id {call.get('id')}"
    function = message.get("function_call")
    if isinstance(function, Mapping):
        yield f"function {function.get('name')}"
    if is_tool_call(message):
        yield f"id {message.get('call_id')}"
    for block in _find_mappings(message.get("content")):
        if block.get("type") == "tool_use":
            yield f"id {block.get('id')}"


def _result_ids(message: RawMessage) -> Iterator[str]:
    if message_role(message) == "tool":
        yield f"id {message.get('tool_call_id')}"
    if message_role(message) == "function":
        yield f"function {message.get('name')}"
    if is_tool_output(message):
        yield f"id {message.get('call_id')}"
    for block in _find_mappings(message.get("content")):
        if block.get("type") == "tool_result":
            yield f"id {block.get('tool_use_id')}"


def _find_mappings(value: object) -> Iterator[Mapping[str, Any]]:
    for each in value if isinstance(value, list | tuple) else ():
        if isinstance(each, Mapping):
            yield each


def message_tokens(message: RawMessage, count: TokenCounter) -> int:
    """Return an estimate of a message's tokens; it is rather too high than too low."""
    texts: list[str] = []
    media = _collect_texts(message, texts)
    return count("\n".join(texts)) + FRAME_TOKENS + MEDIA_TOKENS * media


def _collect_texts(content: object, texts: list[str]) -> int:
    """Append every text and field name to `texts`; return the number of images and files."""
    if isinstance(content, Mapping):
        if content.get("type") in MEDIA_TYPES:
            return 1
        texts += map(str, content)
        return sum(_collect_texts(value, texts) for value in content.values())
    if isinstance(content, list | tuple):
        return sum(_collect_texts(each, texts) for each in content)
    if content is not None:
        texts.append(str(content))
    return 0
