"""Derive a memory from a draft: label, trust and time are computed from its sources."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import lru_cache

from .access import Label
from .errors import InvalidInput
from .flows import FlowRule, shared_scope, widen_label
from .ids import WorkspaceId
from .records import Draft, Event, Memory, MemoryKind
from .records.dossiers import parse_reach
from .records.event import PROJECT_KEY, participants_of
from .scope import SESSION_KINDS, ScopeKind

Source = Event | Memory

COPIED_FIELDS = [field.name for field in fields(Draft) if field.name not in ("at", "flow")]


def derive_memory(workspace: WorkspaceId, draft: Draft, sources: Mapping[str, Source]) -> Memory:
    """Return the memory that `draft` becomes.

    Its label contains the draft's scope and the labels of all sources, so only readers of all
    sources may read it. A draft with a `flow` is labelled by that rule of the table of flows. The
    label of a dossier also contains every scope that its maker could read.
    Trust is that of the least trusted source, the time that of the newest source. Raise
    InvalidInput if the draft has no sources.
    """
    if not draft.sources:
        raise InvalidInput("a draft needs at least one source event or memory, got none")
    source_records = [sources[id] for id in draft.sources]
    reach = parse_reach(draft.body) if draft.kind is MemoryKind.DOSSIER else ()
    if draft.flow is not None and not _may_widen(draft, source_records):
        draft = replace(draft, flow=None)
    label = _make_label(draft, frozenset(reach).union(*map(label_of, source_records)))
    return Memory(
        id=draft.id,
        workspace=workspace,
        label=label,
        trust=min(source.trust for source in source_records),
        at=draft.at or max(source.at for source in source_records),
        recorded_at=max(source.recorded_at for source in source_records),
        **{name: getattr(draft, name) for name in COPIED_FIELDS},
    )


def _may_widen(draft: Draft, sources: Sequence[Source]) -> bool:
    """Return whether the rule of a draft fits its speaker, its project and the participants.

    A second check: learning decides, and a mistake there must not widen a record.
    """
    events = [each for each in sources if isinstance(each, Event)]
    target = draft.scope.ids[0] if draft.scope.ids else None
    if draft.flow is FlowRule.PROFILE:
        return draft.speaker == target and all(each.speaker == target for each in events)
    if draft.flow is FlowRule.PROJECT:
        return all(each.metadata.get(PROJECT_KEY) == target for each in events)
    if draft.flow is FlowRule.ROOMS:
        return all(target in participants_of(each) for each in events)
    return True


def _make_label(draft: Draft, source_scopes: Label) -> Label:
    scope = draft.scope
    if scope.kind is ScopeKind.SESSION and not scope.is_legacy_session:
        shared = shared_scope(scope)
        # A record made only of records that sessions share is shared, too.
        is_shared = scope not in source_scopes and shared in source_scopes
        if draft.flow is FlowRule.SESSIONS or (draft.flow is None and is_shared):
            return widen_label(FlowRule.SESSIONS, shared, source_scopes)
    if draft.flow is None:
        return source_scopes | {scope}
    return widen_label(draft.flow, scope, source_scopes)


def label_of(source: Source) -> Label:
    return source.label if isinstance(source, Memory) else frozenset({source.scope})


def keyword_text(memory: Memory) -> str:
    return memory.text if memory.indexed_text is None else memory.indexed_text


def is_text_searchable(memory: Memory) -> bool:
    """Return False for memories with an empty index text: only names and threads find them."""
    return memory.indexed_text != ""


def text_to_embed(memory: Memory) -> str:
    """Return the text of a memory with secrets redacted, as the embedder receives it."""
    from ..text.secrets import redact_secrets  # compiling its patterns is slow

    return redact_secrets(memory.text)


def thread_name(memory: Memory) -> str:
    """Return the conversation of a memory: the caller's thread, the session, or else its day."""
    if memory.scope.kind in SESSION_KINDS:
        return f"@{memory.scope.ids[-1]}={memory.thread or ''}"
    return f"={memory.thread}" if memory.thread else f"~{memory.at:%Y-%m-%d}"


def is_question(text: str) -> bool:
    """Return whether the last 80 characters contain a question mark."""
    return "?" in text[-80:]


INSTRUCTION_PATTERN = re.compile(
    r"^\s*(?:please\s+)?(?:always|never)\b|\b(?:from now on|going forward|my preference)\b"
    r"|\b(?:always|never)\b[^.!?\n]{0,60}\b(?:when|whenever|if|unless|use|include|provide|give|format"
    r"|answer|reply|respond|write|add|keep|show|avoid)\b"
    r"|\bi(?:'d| would)? (?:really )?(?:prefer|rather)\b"
    r"|\b(?:make sure|remember|be sure) (?:to|that) (?:always|never|you)\b"
    r"|\b(?:don't|do not) (?:ever|use|include)\b",
    re.IGNORECASE,
)


def is_instruction(memory: Memory) -> bool:
    """Return whether a person gives a lasting instruction, such as "always use metric units"."""
    return memory.role != "assistant" and bool(INSTRUCTION_PATTERN.search(memory.text))


DEFAULT_NAMED_KINDS = (
    MemoryKind.FACT,
    MemoryKind.ENTITY,
)  # kinds found by name unless the caller names others
DOCUMENT_KEY, FIRST_SLOT = "#document", "000000"  # finds the first passage of each document
MAX_FULL_NAME_CHARS = 60
FULL_NAME_PATTERN = re.compile(r"[^\W\d_][\w'’-]+(?: [^\W\d_][\w'’.-]*){1,2}")
NAME_FIELDS = {  # body fields that hold the names of a memory: a text or a list of texts
    MemoryKind.FACT: ("subject", "object"),
    MemoryKind.ENTITY: ("name", "aliases"),
    MemoryKind.EPISODE: ("entities",),
    MemoryKind.LANDMARK: ("owner",),
    MemoryKind.REVIEW: ("names",),
    MemoryKind.LINK: ("members",),
}


def names_in(memory: Memory) -> frozenset[str]:
    """Return the normalized names a memory is found by.

    A fact has its subject and object, an entity its name and aliases, an episode its entities and
    its span key. A landmark has its owner, a review the names in question, a link the ids of its
    members.
    """
    values = [memory.body.get(field) for field in NAME_FIELDS.get(memory.kind, ())]
    if is_span_episode(memory):
        values.append(span_key(str(memory.body["span"])))
    every = (
        name for each in values for name in (each if isinstance(each, list | tuple) else (each,))
    )
    return frozenset(normalize_name(name) for name in every if isinstance(name, str))


def is_span_episode(memory: Memory) -> bool:
    """Return whether a memory is an episode of a thread, session, day or week, not of one turn."""
    return memory.kind is MemoryKind.EPISODE and memory.body.get("span", "turn") != "turn"


def span_key(span: str) -> str:
    """Return the name that finds all episodes of a span: day, week, session or thread."""
    return f"#{span}"


def lookup_names(memory: Memory) -> frozenset[str]:
    """Return the names of a memory, and marked words of its names.

    These are the first and last word of each name of an entity, and the first name of each person
    whom a fact names in full. A landmark has keys that find it by what it is: `pin_keys`.
    """
    names = names_in(memory)
    if memory.kind is MemoryKind.PASSAGE:
        is_start = memory.source == "document" and memory.slot == FIRST_SLOT
        return names | {DOCUMENT_KEY} if is_start else names
    if memory.kind is MemoryKind.LANDMARK:
        from .records.landmark_status import pin_keys  # it imports this module

        return names | pin_keys(memory)
    if memory.kind is MemoryKind.FACT:
        fields = (memory.body.get(field) for field in NAME_FIELDS[MemoryKind.FACT])
        firsts = (first_name(each) for each in fields if isinstance(each, str))
        return names | {name_part_key(each) for each in firsts if each}
    if memory.kind is not MemoryKind.ENTITY:
        return names
    words = [name.split() for name in names if " " in name]
    return names | {name_part_key(part) for each in words for part in (each[0], each[-1])}


def first_name(name: str) -> str | None:
    """Return the normalized first word of a name like "Sarah Eklund"; None for other texts."""
    if len(name) > MAX_FULL_NAME_CHARS or not FULL_NAME_PATTERN.fullmatch(name):
        return None
    has_owner = "'s " in name or "’s " in name  # "Tyler's Mother" is not called Tyler
    if has_owner or not all(word[0].isupper() for word in name.split()):
        return None
    return normalize_name(name.split(maxsplit=1)[0])


def name_part_key(word: str) -> str:
    """Return the lookup key of an entity for one word of its name."""
    return f"~{word}"


@lru_cache(maxsize=10_000)  # one search normalizes the same names many times
def normalize_name(name: str) -> str:
    """Return the canonical form of a name; of a scope (`user:alice`), that of its last part."""
    normalized = unicodedata.normalize("NFKC", name)
    last = normalized.rpartition(":")[2].split() or normalized.split()
    return " ".join(last).casefold()
