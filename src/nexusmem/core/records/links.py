"""Links: memories that relate other memories to each other.

The sources of a link are the memories it links, so only readers of all of them may read it. Erasing
one of them erases the link. No text search finds a link: it is looked up by the ids of its members.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from enum import StrEnum
from typing import Any

from ...text.predicates import contains_words, normalize_phrase, value_text
from ..access import Grant
from ..canonical import format_time, parse_time
from ..errors import InvalidInput
from ..filters import And, Condition, Op
from ..ids import digest
from ..protocols.store import Store
from . import Draft, Event, EventKind, Memory, MemoryKind, Trust

MAX_LINKS = 10_000  # per lookup


class LinkRelation(StrEnum):
    """Relation between the members of a link."""

    SAME_AS = "same_as"  # the members state the same; the link represents all of them
    PROMOTED_FROM = "promoted_from"  # the member was shared; the link names its copy
    CLOSES = "closes"  # a message ended the member, a landmark; the link has its new status


def find_links(
    store: Store, grant: Grant, ids: Iterable[str], relation: LinkRelation
) -> dict[str, Memory]:
    """Return the links of one relation that contain these memories, by the id of the member."""
    wanted = list(ids)
    return select_links(load_links(store, grant, wanted), wanted, relation)


def load_links(store: Store, grant: Grant, ids: Iterable[str]) -> list[Memory]:
    """Return all links that contain these memories, newest first."""
    wanted = sorted(set(ids))
    if not wanted:
        return []
    kinds = [MemoryKind.LINK]
    return store.memories.find_by_name(grant, wanted, kinds=kinds, limit=MAX_LINKS)


def select_links(
    links: Iterable[Memory], ids: Iterable[str], relation: LinkRelation
) -> dict[str, Memory]:
    """Return the links of one relation that contain these memories, by the id of the member."""
    members = set(ids)
    return {
        member: link
        for link in links
        if link.body.get("relation") == relation
        for member in link.body["members"]
        if member in members
    }


def statement_count(link: Memory) -> int:
    """Return the number of independent statements that a SAME_AS link represents."""
    return int(link.body.get("said", 1))


def drop_duplicates(memories: Iterable[Memory], links: Mapping[str, Memory]) -> list[Memory]:
    """Return the memories without those linked as the same to an earlier one."""
    first: dict[str, Memory] = {}
    for memory in memories:
        link = links.get(memory.id)
        first.setdefault(link.id if link else memory.id, memory)
    return list(first.values())


def share_event_ids(links: Iterable[Memory]) -> list[str]:
    """Return the ids of the share and copy events of these links, which are erased with them."""
    return [
        event
        for link in links
        if link.kind is MemoryKind.LINK and link.body.get("relation") == LinkRelation.PROMOTED_FROM
        for event in (link.sources[0], link.body["copy"])
    ]


SHARE = "share"  # metadata key of the share event
SHARED_FROM = "shared_from"  # metadata key of the copy
LANDMARK = "landmark"
LANDMARK_FIELDS = ("kind", "owner", "due", "due_from", "wrong", "right")
SHARE_FIELDS = ("memory", "sources", "copy", "key", "secret")
UNSHAREABLE_KINDS = (
    MemoryKind.ENTITY,
    MemoryKind.REVIEW,
    MemoryKind.LINK,
)  # these have no text to copy
LINK_TEXT = "A memory was shared."
FIRST_PERSON = re.compile(r"\b(?:I|me|my|mine|myself)\b", re.IGNORECASE)


def share_seal(secret: str) -> str:
    return digest("share", secret)


def share_key(memory: Memory, to: str, sharer: str) -> str:
    """Return the idempotency key of sharing a memory once per audience and sharer."""
    return f"share/{digest('share', memory.id, to, sharer)}"


def copy_content(memory: Memory, sharer: str) -> tuple[EventKind, dict[str, Any]]:
    """Return the event kind and metadata of a copy that `sharer` makes.

    The metadata contains nothing that the text of the memory does not state. "I" states the
    name of the sharer, if the sharer said it.
    """
    if memory.kind is MemoryKind.FACT and _states_its_fact(memory, sharer):
        bounds = {"valid_from": memory.valid_from, "valid_to": memory.valid_to}
        times = {name: format_time(at) for name, at in bounds.items() if at}
        metadata = {"fact": asdict(memory.fact), "confidence": memory.confidence, **times}
        return EventKind.FACT, metadata
    if memory.kind is MemoryKind.LANDMARK:
        body = {name: memory.body.get(name) for name in LANDMARK_FIELDS}
        if not _names_person(memory, body["owner"], sharer):
            body["owner"] = None
        return EventKind.NOTE, {LANDMARK: body}
    return EventKind.NOTE, {}


def _states_its_fact(memory: Memory, sharer: str) -> bool:
    fact = memory.fact
    if fact.exact:  # its subject is a scope, which the text does not name
        return False
    terms = (fact.object, None if fact.value is None else value_text(fact.value))
    return _names_person(memory, fact.subject, sharer) and all(
        _contains_text(memory, each) for each in terms
    )


def _names_person(memory: Memory, name: str | None, sharer: str) -> bool:
    """Return whether the text names a person, by name or as the "I" of the sharer."""
    if _contains_text(memory, name):
        return True
    same = {normalize_phrase(each or "") for each in (name, memory.speaker, sharer)}
    return len(same) == 1 and FIRST_PERSON.search(memory.text) is not None


def _contains_text(memory: Memory, words: str | None) -> bool:
    return words is None or contains_words(normalize_phrase(words), normalize_phrase(memory.text))


def is_shared_copy(event: Event) -> bool:
    """Return whether an event is a shared copy; "I" in its text may mean another person."""
    return SHARED_FROM in event.metadata


def check_share(data: Any) -> Mapping[str, Any]:
    """Return the data of a share event; raise InvalidInput if it is incomplete."""
    is_complete = isinstance(data, Mapping) and data.keys() == set(SHARE_FIELDS)
    if not is_complete or not all(
        isinstance(data[name], str) for name in SHARE_FIELDS if name != "sources"
    ):
        raise InvalidInput(f"a share needs exactly these fields: {', '.join(SHARE_FIELDS)}")
    if not isinstance(data["sources"], list) or not all(map(_is_text, data["sources"])):
        raise InvalidInput("the sources of a share must be a list of ids")
    return dict(data)


def check_shared_landmark(data: Any) -> Mapping[str, Any]:
    """Return the data of a shared landmark; raise InvalidInput if it is incomplete."""
    is_complete = isinstance(data, Mapping) and data.keys() == set(LANDMARK_FIELDS)
    if not is_complete or not all(each is None or _is_text(each) for each in data.values()):
        raise InvalidInput(
            f"a shared landmark needs these text fields: {', '.join(LANDMARK_FIELDS)}"
        )
    if not all(data[name] is None or _is_time(data[name]) for name in ("due", "due_from")):
        raise InvalidInput("due and due_from of a shared landmark must be times or null")
    return dict(data)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_time(text: str) -> bool:
    try:
        return bool(parse_time(text))
    except ValueError:
        return False


def share_link_draft(share: Event, sources: tuple[str, ...]) -> Draft:
    """Return the link from a shared memory to its copy.

    Its sources are the share event and the sources of the memory.
    """
    data = share.metadata[SHARE]
    return Draft(
        scope=share.scope,
        kind=MemoryKind.LINK,
        text=LINK_TEXT,
        indexed_text="",
        sources=(share.id, *sources),
        slot=SHARE,
        speaker=share.speaker,
        role=share.role,
        source=SHARE,
        learned=True,
        body={
            "relation": LinkRelation.PROMOTED_FROM.value,
            "members": [data["memory"]],
            "copy": data["copy"],
        },
    )


REVIEW = "review"  # metadata key of a decision: the id of the review
DECISION = "decision"  # metadata key: accept, reject or undo
NUMBER = "number"  # metadata key: the number of earlier decisions
MISREADING = "misreading"  # kind of a review: a model rejected a fact of the rules


class ReviewDecision(StrEnum):
    ACCEPT = "accept"
    REJECT = "reject"
    UNDO = "undo"


def list_decisions(store: Store, grant: Grant, review: str) -> list[Event]:
    """Return all decisions about a review, oldest first, without those of external trust."""
    about = (
        Condition("kind", Op.EQ, EventKind.REVIEW),
        Condition(f"metadata.{REVIEW}", Op.EQ, review),
    )
    found = store.ledger.find(grant, where=And(about))
    trusted = [event for event in found if event.trust > Trust.EXTERNAL]
    return sorted(trusted, key=lambda event: (int(event.metadata[NUMBER]), event.id))
