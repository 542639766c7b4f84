"""From a draft to a memory: what no caller may decide is computed here, from its sources."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import fields
from functools import lru_cache

from .access import Label
from .errors import InvalidInput
from .ids import WorkspaceId
from .reach import reach_of
from .records import Draft, Event, Memory, MemoryKind

Source = Event | Memory

COPIED = [field.name for field in fields(Draft) if field.name != "at"]


def derive(workspace: WorkspaceId, draft: Draft, sources: Mapping[str, Source]) -> Memory:
    """The memory this draft becomes.

    Its label is the scope's and every source's: readers of something derived are readers of all
    it rests on. A dossier is for those alone who may read all that its maker could. Its trust is
    its least trusted source's. Its time is its newest source's.
    """
    if not draft.sources:
        raise InvalidInput("a memory rests on at least one event or memory; this draft names none")
    rests_on = [sources[id] for id in draft.sources]
    reach = reach_of(draft.body) if draft.kind is MemoryKind.DOSSIER else ()
    label = frozenset({draft.scope, *reach}).union(*map(label_of, rests_on))
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


def searched_by_text(memory: Memory) -> bool:
    """Whether words and meaning lead to it; what is indexed as nothing has names and a thread."""
    return memory.indexed_text != ""


def embedded_text(memory: Memory) -> str:
    """What an embedder is shown of it: everything but secrets."""
    from .secrets import redacted  # noqa: PLC0415  # its patterns load with the first text

    return redacted(memory.text)


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


NAMED = (MemoryKind.FACT, MemoryKind.ENTITY)  # what is looked up by name, if nothing else is said
NAMES = {  # where in a body the names are that a memory is known by: a text, or a list of them
    MemoryKind.FACT: ("subject", "object"),
    MemoryKind.ENTITY: ("name", "aliases"),
    MemoryKind.EPISODE: ("entities",),
    MemoryKind.LANDMARK: ("owner",),
    MemoryKind.REVIEW: ("names",),
    MemoryKind.LINK: ("members",),
}


def names_in(memory: Memory) -> frozenset[str]:
    """What a memory is about, as it is looked up.

    A fact is about its subject and its object, an entity has its name and its aliases, an
    episode its entities and how long a time it tells of, a landmark its owner, a review the names
    it is about, and a link has the ids of what it links.
    """
    told = [memory.body.get(field) for field in NAMES.get(memory.kind, ())]
    if tells_of_time(memory):
        told.append(span_name(str(memory.body["span"])))
    every = (
        name for each in told for name in (each if isinstance(each, list | tuple) else (each,))
    )
    return frozenset(known_as(name) for name in every if isinstance(name, str))


def tells_of_time(memory: Memory) -> bool:
    """Whether it is an episode of a thread, session, day or week; the label of a turn is not."""
    return memory.kind is MemoryKind.EPISODE and memory.body.get("span", "turn") != "turn"


def span_name(span: str) -> str:
    """How the episodes of all days, weeks, sessions or threads are looked up; turns are not."""
    return f"#{span}"


def looked_up_by(memory: Memory) -> frozenset[str]:
    """Its names, and for an entity the first and the last word of each, marked as parts."""
    names = names_in(memory)
    if memory.kind is not MemoryKind.ENTITY:
        return names
    words = [name.split() for name in names if " " in name]
    return names | {part_of_name(part) for each in words for part in (each[0], each[-1])}


def part_of_name(word: str) -> str:
    """How an entity is looked up of whose name only a part was said."""
    return f"~{word}"


@lru_cache(maxsize=10_000)  # a question asks for the same names again and again
def known_as(name: str) -> str:
    """One spelling of a name; a scope (`user:alice`) is known by its last part."""
    spelt = unicodedata.normalize("NFKC", name)
    last = spelt.rpartition(":")[2].split() or spelt.split()
    return " ".join(last).casefold()
