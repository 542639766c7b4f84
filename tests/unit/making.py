"""Records for tests, each with what the test is about and a plausible rest."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as some

from nexusmem.core.derive import derive_memory
from nexusmem.core.ids import WorkspaceId
from nexusmem.core.records import Draft, Event, Memory, MemoryKind
from nexusmem.core.scope import Scope, ScopeKind

ACME = WorkspaceId("acme")
ROOM = Scope.room("design")
DM = Scope.dm("alice", "scribe")
PROJECT = Scope.project("apollo")
NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)

NASTY = "a:b%3A%25%/\\'\"*?`{}[]$^~|<>,;. 中é😀\u0301%_"

names = some.text(
    some.characters(exclude_categories=("Cc", "Cs", "Cf", "Zs", "Zl", "Zp"))
    | some.sampled_from(NASTY),
    min_size=1,
    max_size=12,
).filter(lambda name: name == name.strip() and name)

scopes = some.one_of(
    some.just(Scope.workspace()),
    *(
        some.builds(Scope, some.just(kind), some.tuples(names))
        for kind in (
            ScopeKind.ROOM,
            ScopeKind.USER,
            ScopeKind.PROJECT,
            ScopeKind.AGENT,
            ScopeKind.PRIVATE,
        )
    ),
    *(
        some.builds(Scope, some.just(kind), some.tuples(names, names))
        for kind in (ScopeKind.DM, ScopeKind.SESSION)  # the latter without its agent
    ),
    *(
        some.builds(Scope, some.just(kind), some.tuples(names, names, names))
        for kind in (ScopeKind.SESSION, ScopeKind.PRIVATE_SESSION)
    ),
)

numbers = some.integers() | some.floats(allow_nan=False, allow_infinity=False)
texts = some.text(some.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=20)
json_values = some.recursive(
    some.none() | some.booleans() | numbers | texts,
    lambda inner: some.lists(inner, max_size=4) | some.dictionaries(texts, inner, max_size=4),
    max_leaves=8,
)


def event(text: str = "We chose PostgreSQL.", **rest: Any) -> Event:
    told: dict[str, Any] = {
        "workspace": ACME,
        "scope": ROOM,
        "speaker": "alice",
        "text": text,
        "at": NOON,
        "recorded_at": NOON,
        "key": "k",
    }
    return Event(**{**told, **rest})


def memory(text: str = "We chose PostgreSQL.", **rest: Any) -> Memory:
    """What a draft with these fields becomes; any other field of a memory is replaced after."""
    drafted = {field.name for field in fields(Draft)} & rest.keys()
    source = rest.pop("source_event", None) or event(text)
    told: dict[str, Any] = {
        "scope": ROOM,
        "kind": MemoryKind.PASSAGE,
        "text": text,
        "sources": (source.id,),
    }
    draft = Draft(**{**told, **{name: rest.pop(name) for name in drafted}})
    assert not rest
    return derive_memory(ACME, draft, {source.id: source})
