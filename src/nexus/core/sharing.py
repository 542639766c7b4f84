"""Sharing: what is written down when somebody lets more people read a memory. Pure.

Two events are written together. The copy lies where the new readers are, and tells them the text
and who shared it. The act lies where the memory lies, for those who may read that, and says which
event is the copy, so that the copy goes when its source does.

The copy carries a seal instead of the memory's id: an id is made from the name of a place and from
keys, so whoever guesses those could see that they guessed right. Only the act knows what the seal
was made from; so nobody can write an act that claims the event of somebody else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from .canonical import text_time, time_text
from .errors import InvalidInput
from .ids import digest
from .links import Relation
from .predicates import holds_words, in_words, plain
from .records import Draft, Event, EventKind, Memory, MemoryKind

SHARE = "share"  # in the metadata of the act
SHARED_FROM = "shared_from"  # in the metadata of the copy
LANDMARK = "landmark"
DECIDED = ("kind", "owner", "due", "due_from", "wrong", "right")
ACT = ("memory", "sources", "copy", "key", "secret")
NEVER = (MemoryKind.ENTITY, MemoryKind.REVIEW, MemoryKind.LINK)  # these have no words of their own
TEXT = "A memory was shared."


def seal(secret: str) -> str:
    return digest("share", secret)


def act_key(memory: Memory, to: str, sharer: str) -> str:
    """The same memory shared with the same people by the same person is shared once."""
    return f"share/{digest('share', memory.id, to, sharer)}"


def told_along(memory: Memory) -> tuple[EventKind, dict[str, Any]]:
    """As what a memory is told again, and what goes with its words: nothing they do not say."""
    if memory.kind is MemoryKind.FACT and _says_its_fact(memory):
        edges = {"valid_from": memory.valid_from, "valid_to": memory.valid_to}
        times = {name: time_text(at) for name, at in edges.items() if at}
        told = {"fact": asdict(memory.fact), "confidence": memory.confidence, **times}
        return EventKind.FACT, told
    if memory.kind is MemoryKind.LANDMARK:
        body = {name: memory.body.get(name) for name in DECIDED}
        if not _says(memory, body["owner"]):
            body["owner"] = None
        return EventKind.NOTE, {LANDMARK: body}
    return EventKind.NOTE, {}


def _says_its_fact(memory: Memory) -> bool:
    fact = memory.fact
    if fact.exact:  # its subject is a place, and its value stands for itself
        return False
    said = (fact.subject, fact.object, None if fact.value is None else in_words(fact.value))
    return all(_says(memory, each) for each in said)


def _says(memory: Memory, words: str | None) -> bool:
    return words is None or holds_words(plain(words), plain(memory.text))


def is_copy(event: Event) -> bool:
    """Whether its words are somebody else's, or were said elsewhere: "I" may be anybody in them."""
    return SHARED_FROM in event.metadata


def check_act(told: Any) -> Mapping[str, Any]:
    """What an act of sharing says, if it is whole; an archive may hold anything."""
    whole = isinstance(told, Mapping) and told.keys() == set(ACT)
    if not whole or not all(isinstance(told[name], str) for name in ACT if name != "sources"):
        raise InvalidInput("not an act of sharing")
    if not isinstance(told["sources"], list) or not all(map(_is_text, told["sources"])):
        raise InvalidInput("not an act of sharing: its sources are ids")
    return dict(told)


def check_landmark(told: Any) -> Mapping[str, Any]:
    """What goes with the words of a shared landmark, if it is whole."""
    whole = isinstance(told, Mapping) and told.keys() == set(DECIDED)
    if not whole or not all(each is None or _is_text(each) for each in told.values()):
        raise InvalidInput("not a shared landmark")
    if not all(told[name] is None or _is_time(told[name]) for name in ("due", "due_from")):
        raise InvalidInput("not a shared landmark: when it is due is no time")
    return dict(told)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_time(text: str) -> bool:
    try:
        return bool(text_time(text))
    except ValueError:
        return False


def link_draft(act: Event, sources: tuple[str, ...]) -> Draft:
    """The link from a memory to its copy; it rests on the act and on what the memory rests on."""
    told = act.metadata[SHARE]
    return Draft(
        scope=act.scope,
        kind=MemoryKind.LINK,
        text=TEXT,
        indexed_text="",
        sources=(act.id, *sources),
        slot=SHARE,
        speaker=act.speaker,
        role=act.role,
        source=SHARE,
        learned=True,
        body={
            "relation": Relation.PROMOTED_FROM.value,
            "members": [told["memory"]],
            "copy": told["copy"],
        },
    )
