"""Dossiers: documents about one entity or standing question, with citations.

A dossier is built from facts, landmarks, episodes and messages that one grant permits, so two
viewers may get different dossiers. It is stored as a memory; its sources are the cited memories,
and only viewers with the full grant may read it (`core.records.dossiers`). It is erased with any
of its sources. It is stale when its current material differs from the material it was built from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from ..core.access import Grant, Label
from ..core.canonical import format_time
from ..core.derive import normalize_name
from ..core.filters import Condition, Op
from ..core.ids import digest
from ..core.protocols.store import Store
from ..core.records import Draft, Json, Memory, MemoryKind, Tombstone
from ..core.records.dossiers import REACH_KEY, encode_reach
from ..core.records.memory import drop_copies
from ..core.scope import Scope
from ..recall.views.entities import EntityView, find_spellings, get_entity
from ..recall.views.fact_timeline import FactStatus, fact_statuses
from ..text.terms import mentions_name

MAX_FACTS = 60
MAX_OTHER = 20  # landmarks, episodes and messages, each
MAX_LANDMARKS = 500  # that are searched for the name
HEADINGS = {
    "known": "Current facts",
    "before": "Past facts",
    "decided": "Decisions and commitments",
    "happened": "Episodes",
    "said": "Messages",
}
MAX_LINE_CHARACTERS = 600

Narrate = Callable[
    [str, Sequence[Memory]], tuple[str, ...] | None
]  # name, memories → checked sentences of a model


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """The source of a line of a dossier."""

    number: int
    memory: str
    at: datetime
    scope: Scope
    speaker: str | None = None
    event_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Dossier:
    """A document about an entity or a standing question, with citations."""

    name: str
    text: str  # Markdown
    citations: tuple[Citation, ...]
    made_at: datetime
    id: str
    stale: bool = False  # the material has changed since


@dataclass(frozen=True, slots=True)
class DossierSubject:
    """The subject of a dossier: a name, or a standing question."""

    name: str
    question_id: str | None = None  # id of the memory that stores the question

    def slot_for(self, reach: Label) -> str:
        """Return the memory slot; each set of readers has its own dossier."""
        return digest(
            "dossier", self.question_id or normalize_name(self.name), *encode_reach(reach)
        )


@dataclass(frozen=True, slots=True)
class DossierMaterial:
    """The memories that a dossier cites, by section."""

    name: str
    aliases: tuple[str, ...]
    sections: Mapping[str, Sequence[Memory]] = field(default_factory=dict)
    name_records: Sequence[Memory] = ()  # entity records behind the name and its aliases

    @property
    def memories(self) -> list[Memory]:
        """The cited memories without duplicates, in order."""
        cited = {each.id: each for lines in self.sections.values() for each in lines}
        return list(cited.values())

    @property
    def fingerprint(self) -> str:
        """Digest that changes with any part of the material."""
        parts = [
            f"{heading}/{each.id}" for heading, lines in self.sections.items() for each in lines
        ]
        return digest(
            "dossier", self.name, *self.aliases, *parts, *(each.id for each in self.name_records)
        )


def collect_material(
    store: Store, grant: Grant, name: str, passages: Iterable[Memory], *, now: datetime
) -> DossierMaterial | None:
    """Collect everything about a name that the grant permits; None if there is nothing.

    `passages` are search results; those with sources that other sections cite are left out.
    """
    with store.snapshot():
        view = get_entity(store, grant, name, limit=MAX_FACTS)
        spellings = sorted(find_spellings(store, grant, name) | {normalize_name(name)})
        landmarks = _find_landmarks(store, grant, spellings)
        kinds = [MemoryKind.EPISODE]
        episodes = store.memories.find_by_name(grant, spellings, kinds=kinds, limit=MAX_OTHER)
    spans = [each for each in episodes if each.body.get("span") != "turn"]
    facts = [] if view is None else list(view.facts)
    statuses = fact_statuses(facts, now)
    past = [each for each in facts if statuses.get(each.id) is FactStatus.PAST]
    lines = {
        "known": [each for each in facts if each not in past],
        "before": past,
        "decided": landmarks,
        "happened": sorted(spans, key=lambda each: (each.at, each.id)),
    }
    cited = {source for part in lines.values() for each in part for source in each.sources}
    lines["said"] = [each for each in passages if not set(each.sources) <= cited][:MAX_OTHER]
    if not any(lines.values()):
        return None
    return DossierMaterial(
        view.name if view else name, _find_aliases(view), lines, _name_records(view)
    )


def _find_landmarks(store: Store, grant: Grant, spellings: Sequence[str]) -> list[Memory]:
    """Return the newest landmarks that mention one of the spellings."""
    kind = Condition("kind", Op.EQ, MemoryKind.LANDMARK)
    newest = drop_copies(store.memories.find(grant, where=kind, limit=MAX_LANDMARKS))
    naming = [each for each in newest if any(mentions_name(each.text, name) for name in spellings)]
    return naming[:MAX_OTHER]


def _find_aliases(view: EntityView | None) -> tuple[str, ...]:
    return () if view is None else tuple(dict.fromkeys([*view.aliases, *view.same_as]))


def _name_records(view: EntityView | None) -> tuple[Memory, ...]:
    """Return the oldest record of each name: the dossier is erased with any of them."""
    if view is None:
        return ()
    first = {
        name: record  # from the newest to the oldest
        for record in view.records
        for name in (record.body["name"], *record.body.get("aliases", ()))
    }
    records = [first[name] for name in (view.name, *_find_aliases(view)) if name in first]
    return tuple({record.id: record for record in records}.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class DossierRequest:
    """Scope, readers and subject of a dossier, and when a viewer last opened it."""

    home: Scope
    reach: Label
    subject: DossierSubject
    looked_at: datetime
    tombstones: frozenset[Tombstone]  # of the readers' scopes, at the time of the request


def draft_dossier(
    material: DossierMaterial, request: DossierRequest, *, now: datetime, narrate: Narrate | None
) -> Draft:
    """Return the draft of a dossier. `narrate` (a model) writes the introduction, if it can.

    The sources are the cited memories, the records of its names, and the standing question.
    """
    numbers = {each.id: number for number, each in enumerate(material.memories, start=1)}
    narrative = narrate(material.name, material.memories) if narrate else None
    text = "\n".join(_write_lines(material, numbers, narrative))
    question_id = request.subject.question_id
    named = (each.id for each in material.name_records)
    return Draft(
        scope=request.home,
        kind=MemoryKind.DOSSIER,
        text=text,
        indexed_text="",
        sources=tuple(dict.fromkeys([*numbers, *named, *([question_id] if question_id else [])])),
        slot=request.subject.slot_for(request.reach),
        at=now,
        source="dossier",
        learned=True,
        metadata={"made_by": ["model" if narrative else "template"]},
        body={**_request_body(request), "mark": material.fingerprint, "cites": list(numbers)},
    )


def draft_watch(request: DossierRequest, question_id: str, *, now: datetime) -> Draft:
    """Return the draft that makes workers refresh the answer for these readers."""
    return Draft(
        scope=request.home,
        kind=MemoryKind.DOSSIER,
        text=request.subject.name,
        indexed_text="",
        sources=(question_id,),
        slot=request.subject.slot_for(request.reach),
        at=now,
        source="question",
        learned=True,
        body=_request_body(request),
    )


def _request_body(request: DossierRequest) -> dict[str, Json]:
    return {
        "name": request.subject.name,
        "asked": request.subject.question_id,
        "looked_at": format_time(request.looked_at),
        REACH_KEY: list(encode_reach(request.reach)),
    }


def model_input(memories: Sequence[Memory]) -> tuple[list[tuple[str, str]], list[str]]:
    """Return (speaker, text) pairs for a model, and the landmark texts it must not omit."""
    turns = [(memory.speaker or "memory", memory.text) for memory in memories]
    return turns, [memory.text for memory in memories if memory.kind is MemoryKind.LANDMARK]


def _write_lines(
    material: DossierMaterial, numbers: Mapping[str, int], narrative: tuple[str, ...] | None
) -> Iterator[str]:
    yield f"# {material.name}"
    if material.aliases:
        yield f"\nAlso known as {', '.join(material.aliases)}."
    if narrative:
        yield f"\n{' '.join(narrative)}"
    for key, heading in HEADINGS.items():
        if lines := material.sections.get(key):
            yield f"\n## {heading}\n"
            yield from (f"- {_format_line(key, each)} [{numbers[each.id]}]" for each in lines)


def _format_line(key: str, memory: Memory) -> str:
    text = " ".join(memory.text.split())[:MAX_LINE_CHARACTERS]
    when = f"{memory.at:%Y-%m-%d}"
    if key == "said":
        return f"{when}, {memory.speaker or 'somebody'}: {text}"
    return f"{when}: {text}" if key in ("happened", "decided") else text


def open_dossier(store: Store, grant: Grant, memory: Memory, *, fingerprint: str | None) -> Dossier:
    """Return a stored dossier with its citations; `fingerprint` is that of its current material."""
    cited = {each.id: each for each in store.memories.get(grant, memory.body["cites"])}
    events = [source for each in cited.values() for source in each.sources]
    keys = store.ledger.load_keys(grant, events)
    citations = tuple(
        Citation(
            number=number,
            memory=id,
            at=cited[id].at,
            scope=cited[id].scope,
            speaker=cited[id].speaker,
            event_keys=tuple(keys[source] for source in cited[id].sources if source in keys),
        )
        for number, id in enumerate(memory.body["cites"], start=1)
        if id in cited
    )
    return Dossier(
        name=memory.body["name"],
        text=memory.text,
        citations=citations,
        made_at=memory.at,
        id=memory.id,
        stale=memory.body["mark"] != fingerprint,
    )
