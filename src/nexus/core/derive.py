"""From a draft to a memory: what no caller may decide is computed here, from its sources."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import fields

from .access import Label
from .errors import InvalidInput
from .ids import WorkspaceId
from .records import Draft, Event, Memory, MemoryKind

Source = Event | Memory

COPIED = [field.name for field in fields(Draft) if field.name != "at"]


def derive(workspace: WorkspaceId, draft: Draft, sources: Mapping[str, Source]) -> Memory:
    """The memory this draft becomes.

    Its label is the scope's and every source's: readers of something derived are readers of all
    it rests on. Its trust is its least trusted source's. Its time is its newest source's.
    """
    if not draft.sources:
        raise InvalidInput("a memory rests on at least one event or memory; this draft names none")
    rests_on = [sources[id] for id in draft.sources]
    label = frozenset({draft.scope}).union(*map(label_of, rests_on))
    return Memory(
        id=draft.id,
        workspace=workspace,
        label=label,
        trust=min(source.trust for source in rests_on),
        at=draft.at or max(source.at for source in rests_on),
        recorded_at=max(source.recorded_at for source in rests_on),
        **{name: getattr(draft, name) for name in COPIED},
    )


def label_of(source: Source) -> Label:
    return source.label if isinstance(source, Memory) else frozenset({source.scope})


def keyword_text(memory: Memory) -> str:
    return memory.text if memory.indexed_text is None else memory.indexed_text


def thread_name(memory: Memory) -> str:
    """The conversation a memory is part of: the thread its caller named, or else its day."""
    return f"={memory.thread}" if memory.thread else f"~{memory.at:%Y-%m-%d}"


def asks(text: str) -> bool:
    """Whether a text ends with a question, give or take a closing remark."""
    return "?" in text[-80:]


DIRECTION = re.compile(
    r"^\s*(?:please\s+)?(?:always|never)\b|\b(?:from now on|going forward|my preference)\b"
    r"|\b(?:always|never)\b[^.!?\n]{0,60}\b(?:when|whenever|if|unless|use|include|provide|give|format"
    r"|answer|reply|respond|write|add|keep|show|avoid)\b"
    r"|\bi(?:'d| would)? (?:really )?(?:prefer|rather)\b"
    r"|\b(?:make sure|remember|be sure) (?:to|that) (?:always|never|you)\b"
    r"|\b(?:don't|do not) (?:ever|use|include)\b",
    re.IGNORECASE,
)


def directs(memory: Memory) -> bool:
    """Whether a person says how things shall be done: it matters whenever they are done."""
    return memory.role != "assistant" and bool(DIRECTION.search(memory.text))


def names_in(memory: Memory) -> frozenset[str]:
    """What a fact or an entity is about, as it is looked up."""
    body = memory.body
    if memory.kind is MemoryKind.FACT:
        names = [body.get("subject"), body.get("object")]
    elif memory.kind is MemoryKind.ENTITY:
        names = [body.get("name"), *body.get("aliases", ())]
    else:
        names = []
    return frozenset(known_as(name) for name in names if isinstance(name, str))


def known_as(name: str) -> str:
    """One spelling of a name; a scope (`user:alice`) is known by its last part."""
    return " ".join(unicodedata.normalize("NFKC", name).rpartition(":")[2].casefold().split())
