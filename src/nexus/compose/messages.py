"""Chat messages as callers have them: OpenAI's, Anthropic's, and our own events.

Read once into what was said by whom. What was said is known by its words and not by its place in
the list, so that a list may grow or lose its beginning; `compose.written` tells what is new in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..core.access import Viewer
from ..core.canonical import canonical_json, clean_list, clean_text
from ..core.errors import InvalidInput
from ..core.fence import unfenced
from ..core.ids import LONGEST_ID, check_name, digest
from ..core.records import NewEvent, event_id
from ..core.visible import visible
from .block import read_block
from .turns import is_call, is_item, is_output, text_of

ROLES = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
    "system": "system",
    "developer": "system",
}
TEXTS = frozenset({"text", "input_text", "output_text", "refusal"})
KEPT = frozenset({"user", "assistant", "tool"})
CALL = ("tool_call", "arguments")  # what is known of a tool's result
CHAT = "chat-"  # what the keys of these messages begin with


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One message, or one tool's result in it."""

    role: str
    text: str  # without what Nexus put there
    name: str | None = None
    call: Mapping[str, Any] = field(default_factory=dict)  # of a tool: its id and its arguments

    def speaker(self, viewer: Viewer) -> str:
        """Who said it; where nobody is named, the user or the only person here."""
        if self.name:
            return self.name
        if self.role == "assistant":
            return viewer.agent.value
        if self.role == "user" and len(viewer.people) == 1:
            return viewer.people[0].value
        return self.role


def read_messages(
    messages: Iterable[Mapping[str, Any] | NewEvent], *, lenient: bool = False
) -> list[Said]:
    """What was said in these messages, in order; nothing where only pictures or our context is.

    What is no message is refused; `lenient`, it says nothing.
    """
    calls: dict[str, Mapping[str, Any]] = {}
    said: list[Said] = []
    for message in clean_list(messages, "messages"):
        try:
            said += _said(message, calls)
        except InvalidInput:
            if not lenient:
                raise
    return [each for each in said if each.text.strip()]


def shown_in(messages: Sequence[Mapping[str, Any] | NewEvent]) -> list[Said]:
    """The same, and what a block says of messages that were left out: a model reads that, too."""
    texts = (text_of(message) for message in messages if isinstance(message, Mapping))
    blocks = filter(None, map(read_block, texts))
    lines = (line for block in blocks for line in block.lines)
    return [*read_messages(messages), *(Said(role="system", text=line) for line in lines)]


def question_in(said: Sequence[Said]) -> str:
    """The last thing a person said."""
    return next((each.text for each in reversed(said) if each.role == "user"), "")


def words_of(said: Said, viewer: Viewer, thread: str | None = None) -> str:
    """What is said by whom, as a digest; of a tool's result, also by which call."""
    call = _spelt(said.call) if said.call else ""
    return digest("said", said.role, said.speaker(viewer), thread or "", said.text, call)


def numbered(words: Sequence[str]) -> list[int]:
    """For each, how often it stands before it in the list."""
    seen: Counter[str] = Counter()
    numbers = []
    for each in words:
        numbers.append(seen[each])
        seen[each] += 1
    return numbers


def key_of(words: str, number: int) -> str:
    """The same words of the same number, in the same place, are the same event."""
    return f"{CHAT}{digest(words, str(number))}"


def events_of(said: Sequence[Said], viewer: Viewer, thread: str | None = None) -> frozenset[str]:
    """The ids these messages have, if all of them were written down and none of them before."""
    words = [words_of(each, viewer, thread) for each in said]
    keys = map(key_of, words, numbered(words))
    return frozenset(event_id(viewer.home, key) for key in keys)


def _spelt(call: Mapping[str, Any]) -> str:
    """Its one spelling; of what is no JSON, any: it is refused where it is written down."""
    try:
        return canonical_json(call)
    except (TypeError, ValueError, RecursionError):
        return repr(call)


def _said(message: object, calls: dict[str, Mapping[str, Any]]) -> list[Said]:
    """What one message says; the tools it calls are noted in `calls`."""
    if isinstance(message, NewEvent):
        return [Said(role=message.role, text=unfenced(message.text), name=message.speaker)]
    if not isinstance(message, Mapping):
        raise InvalidInput(f"a message is a mapping or an event, not {message!r:.80}")
    calls.update(_calls(message))
    return list(_read(message, calls))


def _read(message: Mapping[str, Any], calls: Mapping[str, Mapping[str, Any]]) -> Iterator[Said]:
    if "speaker" in message and "text" in message:  # as `observe_many` takes it
        role = _role(message.get("role") or "user")
        text = _text(message["text"])
        yield Said(role=role, text=unfenced(text), name=_name(message["speaker"]))
        return
    if is_item(message):
        if is_output(message):
            yield _result(message.get("call_id"), _joined(message.get("output")), calls)
        return
    role = _role(message.get("role"))
    content = message.get("content")
    parts = _parts(content)
    texts = [_text(part.get("text")) for part in parts if part.get("type") in TEXTS]
    for part in parts:
        if part.get("type") == "tool_result":
            yield _result(part.get("tool_use_id"), _joined(part.get("content")), calls)
    text = unfenced("\n".join(filter(None, texts)))
    if role == "tool":
        yield _result(message.get("tool_call_id"), text, calls, _name(message.get("name")))
    else:
        yield Said(role=role, text=text, name=_name(message.get("name")))


def _result(
    id: object, text: str, calls: Mapping[str, Mapping[str, Any]], name: str | None = None
) -> Said:
    call = calls.get(str(id), {})
    known = {"tool_call": str(id), **({"arguments": call["arguments"]} if call else {})}
    named = name or (_name(call["name"]) if call else None) or "tool"
    return Said(role="tool", text=unfenced(text), name=named, call=known if id else {})


def _calls(message: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The tools a message calls, by the id of the call."""
    called = message.get("tool_calls") or ()
    if not isinstance(called, list | tuple):
        raise InvalidInput(f"the tool calls of a message are a list, not {called!r:.80}")
    if is_call(message):
        arguments = message.get("arguments", message.get("input"))
        yield str(message.get("call_id")), {"name": message.get("name"), "arguments": arguments}
    for call in called:
        if isinstance(call, Mapping) and isinstance(function := call.get("function"), Mapping):
            told = {"name": function.get("name"), "arguments": function.get("arguments")}
            yield str(call.get("id")), told
    for part in _parts(message.get("content")):
        if part.get("type") == "tool_use":
            yield str(part.get("id")), {"name": part.get("name"), "arguments": part.get("input")}


def _parts(content: object) -> list[Mapping[str, Any]]:
    if content is None:
        return []
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list | tuple):
        raise InvalidInput(f"the content of a message is a text or a list, not {content!r:.80}")
    parts = [{"type": "text", "text": part} if isinstance(part, str) else part for part in content]
    if not all(isinstance(part, Mapping) for part in parts):
        raise InvalidInput("the parts of a message's content are mappings")
    return parts


def _joined(content: object) -> str:
    parts = _parts(content)
    return "\n".join(_text(part.get("text")) for part in parts if part.get("type") in TEXTS)


def _role(role: object) -> str:
    if role not in ROLES:
        raise InvalidInput(f"unknown role {role!r:.80}; known are {', '.join(ROLES)}")
    return ROLES[str(role)]


def _text(text: object) -> str:
    if text is None:
        return ""
    if not isinstance(text, str):
        raise InvalidInput(f"the text of a message is text, not {text!r:.80}")
    return clean_text(text)


def _name(name: object) -> str | None:
    """Who is named, with what hides spelled out; what no name can be is left out."""
    if not isinstance(name, str):
        return None
    seen = visible(" ".join(name.split()))[:LONGEST_ID].strip()
    try:
        check_name(seen, "the name")
    except InvalidInput:
        return None
    return seen
