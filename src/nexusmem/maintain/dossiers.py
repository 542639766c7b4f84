"""Dossiers: documents about one entity or standing question, with citations.

A dossier states only sure facts. It is built from facts, landmarks, episodes and messages that one
grant permits, so two viewers may get different dossiers. It is stored as a memory; its sources are
the cited memories, and only viewers with the full grant may read it (`core.records.dossiers`). It
is erased with any of its sources. It is stale when its current material differs from the material
it was built from. A replaced dossier stays as an earlier version, for the same readers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice

from ..core.access import Grant, Label
from ..core.canonical import format_time, parse_time
from ..core.derive import names_in, normalize_name
from ..core.filters import Condition, Op
from ..core.ids import digest
from ..core.protocols.store import Store
from ..core.records import Draft, Json, Memory, MemoryKind, Tombstone
from ..core.records.annotations import annotate_text
from ..core.records.dossiers import REACH_KEY, encode_reach
from ..core.records.facts import is_sure
from ..core.records.landmarks import LANDMARK_TYPES, LandmarkKind, last_due_day
from ..core.records.links import load_links
from ..core.records.memory import drop_copies
from ..core.scope import Scope
from ..recall.views.entities import EntityView, find_spellings, get_entity
from ..recall.views.fact_timeline import FactStatus, fact_statuses
from ..recall.views.landmarks import build_views
from ..text.identifiers import format_identifier
from ..text.terms import mentions_name

MAX_FACTS = 60
MAX_READ_FACTS = 300  # of which the sure ones are stated
MAX_OTHER = 20  # landmarks, episodes and messages, each
MAX_LANDMARKS = 500  # that are searched for the name
CONTACT, KNOWN, BEFORE, PROMISED = "contact", "known", "before", "promised"
DECIDED, HAPPENED, SAID = "decided", "happened", "said"
HEADINGS = {
    CONTACT: "Contact",
    KNOWN: "Current facts",
    BEFORE: "Former facts",
    PROMISED: "Open promises",
    DECIDED: "Decisions and commitments",
    HAPPENED: "Episodes",
    SAID: "Messages",
}
CONTACT_NAMES = {"email": "E-mail", "phone": "Phone", "handle": "Handle", "username": "Username"}
# Facts that the heading and the section "Contact" show already
IDENTITY_PREDICATES = frozenset("HAS_EMAIL HAS_PHONE HAS_HANDLE HAS_USERNAME ALSO_KNOWN_AS".split())
VERSION, REPLACED_AT = "version", "replaced_at"  # body fields
VERSION_SOURCE = "dossier version"  # source of earlier versions
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
    version: int = 1
    replaced_at: datetime | None = None  # by the next version; None: this is the current one


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
    description: str | None = None
    outdated: frozenset[str] = frozenset()  # ids of decisions that were replaced
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
        named = (each.id for each in self.name_records)
        about = (self.name, *self.aliases, self.description or "", *sorted(self.outdated))
        return digest("dossier", *about, *parts, *named)


def collect_material(
    store: Store,
    grant: Grant,
    name: str,
    passages: Iterable[Memory],
    *,
    now: datetime,
) -> DossierMaterial | None:
    """Collect everything about a name that the grant permits; None if there is nothing.

    Facts and landmarks that are not sure are left out: their messages say who said them.
    `passages` are search results; those with sources that other sections cite are left out.
    """
    with store.snapshot():
        view = get_entity(store, grant, name, now=now, limit=MAX_READ_FACTS)
        spellings = sorted(find_spellings(store, grant, name) | {normalize_name(name)})
        landmarks = _load_landmarks(store, grant, spellings)
        kinds = [MemoryKind.EPISODE]
        episodes = store.memories.find_by_name(grant, spellings, kinds=kinds, limit=4 * MAX_OTHER)
        links = load_links(store, grant, [each.id for each in landmarks])
    views = build_views(landmarks, links, now)
    closed = frozenset(each.id for each in views if not each.is_open)
    lines = {
        CONTACT: _contact_records(view),
        **_split_facts(view, now),
        **_split_landmarks(landmarks, frozenset(spellings), closed),
        HAPPENED: _distinct_episodes(episodes),
    }
    cited = {source for part in lines.values() for each in part for source in each.sources}
    said = (each for each in passages if _is_quotable(each) and not set(each.sources) <= cited)
    lines[SAID] = [*islice(said, MAX_OTHER)]
    if not any(lines.values()):
        return None
    full, aliases = _full_name(view, name)
    return DossierMaterial(
        full,
        aliases,
        lines,
        view.description if view else None,
        frozenset(each.id for each in lines[DECIDED] if each.id in closed),
        _name_records(view),
    )


def _is_quotable(memory: Memory) -> bool:
    """Return False for records of names and for facts that are not sure."""
    is_unsure = memory.kind is MemoryKind.FACT and not is_sure(memory, memory.at)
    return memory.kind is not MemoryKind.ENTITY and not is_unsure


def _contact_records(view: EntityView | None) -> list[Memory]:
    """Return one record per address, a proven one if there is any."""
    found: dict[tuple[str, str], Memory] = {}
    for record in view.records if view else ():
        if identifier := record.body.get("identifier"):
            address = identifier["kind"], identifier["value"]
            if address not in found or identifier["proven"]:
                found[address] = record
    return [found[address] for address in sorted(found)]


def _split_facts(view: EntityView | None, now: datetime) -> dict[str, list[Memory]]:
    """Return the sure facts, current and former; addresses and aliases are shown elsewhere."""
    facts = [
        each
        for each in (view.facts if view else ())
        if each.body["predicate"] not in IDENTITY_PREDICATES
    ][:MAX_FACTS]
    statuses = fact_statuses(facts, now)
    past = {each.id for each in facts if statuses.get(each.id) is FactStatus.PAST}
    return {
        KNOWN: [each for each in facts if each.id not in past],
        BEFORE: [each for each in facts if each.id in past],
    }


def _load_landmarks(store: Store, grant: Grant, spellings: Sequence[str]) -> list[Memory]:
    """Return the newest landmarks, newest first, and all of which the entity is the owner."""
    kind = Condition("kind", Op.EQ, MemoryKind.LANDMARK)
    newest = store.memories.find(grant, where=kind, limit=MAX_LANDMARKS)
    own = store.memories.find_by_name(
        grant, spellings, kinds=[MemoryKind.LANDMARK], limit=MAX_LANDMARKS
    )
    every = {each.id: each for each in (*newest, *own)}
    by_time = sorted(every.values(), key=lambda each: each.id)
    return drop_copies(sorted(by_time, key=lambda each: each.at, reverse=True))


def _split_landmarks(
    landmarks: Sequence[Memory], spellings: frozenset[str], closed: frozenset[str]
) -> dict[str, list[Memory]]:
    """Return the open promises of the entity, and other landmarks that mention it.

    Promises that were kept or replaced are left out.
    """
    promised: list[Memory] = []
    decided: list[Memory] = []
    for each in landmarks:
        if _is_pledge(each) and not names_in(each).isdisjoint(spellings):
            promised += [each] if each.id not in closed else []
        elif any(mentions_name(each.text, name) for name in spellings):
            decided += [each] if each.id not in closed or not _is_pledge(each) else []
    return {PROMISED: promised[:MAX_OTHER], DECIDED: decided[:MAX_OTHER]}


def _is_pledge(landmark: Memory) -> bool:
    kind = landmark.body.get("kind")
    return kind in LANDMARK_TYPES and LANDMARK_TYPES[LandmarkKind(kind)].is_pledge


def _distinct_episodes(episodes: Sequence[Memory]) -> list[Memory]:
    """Return each episode once, oldest first: without days and weeks that contain another one."""
    spans = [each for each in drop_copies(episodes) if each.body.get("span", "turn") != "turn"]
    ids = {each.id for each in spans}
    finest = [each for each in spans if ids.isdisjoint(each.sources)]
    by_text = {" ".join(each.text.split()): each for each in finest[:MAX_OTHER]}
    return sorted(by_text.values(), key=lambda each: (each.at, each.id))


def _full_name(view: EntityView | None, name: str) -> tuple[str, tuple[str, ...]]:
    """Return the fullest name of an entity, and its other names."""
    if view is None:
        return name, ()
    names = list(dict.fromkeys([view.name, *view.same_as, *view.aliases]))
    key = normalize_name(view.name)
    longer = [each for each in names if key in normalize_name(each).split()]
    full = max(longer, key=lambda each: (len(each.split()), each)) if longer else view.name
    return full, tuple(each for each in names if each != full)


def _find_aliases(view: EntityView) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*view.aliases, *view.same_as]))


def _name_records(view: EntityView | None) -> tuple[Memory, ...]:
    """Return the oldest record of each name: the dossier is erased with any of them.

    The record of the description belongs to them.
    """
    if view is None:
        return ()
    first = {
        name: record  # from the newest to the oldest
        for record in view.records
        for name in (record.body["name"], *record.body.get("aliases", ()))
    }
    records = [first[name] for name in (view.name, *_find_aliases(view)) if name in first]
    described = [each for each in view.records if each.body.get("description")][:1]
    return tuple({record.id: record for record in (*records, *described)}.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class DossierRequest:
    """Scope, readers and subject of a dossier, and when a viewer last opened it."""

    home: Scope
    reach: Label
    subject: DossierSubject
    looked_at: datetime
    tombstones: frozenset[Tombstone]  # of the readers' scopes, at the time of the request


def draft_dossier(
    material: DossierMaterial,
    request: DossierRequest,
    *,
    now: datetime,
    narrate: Narrate | None,
    version: int = 1,
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
        body={
            **_request_body(request),
            "mark": material.fingerprint,
            "cites": list(numbers),
            VERSION: version,
        },
    )


def draft_version(replaced: Memory, *, now: datetime) -> Draft:
    """Return the draft that keeps a dossier as an earlier version; its sources stay the same."""
    body = {name: value for name, value in replaced.body.items() if name != "mark"}
    number = version_of(replaced)
    return Draft(
        scope=replaced.scope,
        kind=MemoryKind.DOSSIER,
        text=replaced.text,
        indexed_text="",
        sources=replaced.sources,
        slot=f"{version_prefix(replaced.slot)}{number}",
        at=replaced.at,
        source=VERSION_SOURCE,
        learned=True,
        metadata=replaced.metadata,
        body={**body, VERSION: number, REPLACED_AT: format_time(now)},
    )


def version_prefix(slot: str) -> str:
    """Return the beginning of the slots of the earlier versions of a dossier."""
    return f"{slot}#"


def version_of(memory: Memory) -> int:
    return int(memory.body.get(VERSION, 1))


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
    also = f" (also known as {', '.join(material.aliases)})" if material.aliases else ""
    yield f"# {_on_one_line(material.name + also)}"
    if material.description:
        yield f"\n{_on_one_line(material.description)}"
    if narrative:
        yield f"\n{' '.join(narrative)}"
    for key, heading in HEADINGS.items():
        if lines := material.sections.get(key):
            yield f"\n## {heading}\n"
            written: dict[str, list[int]] = {}  # a sentence that states several facts stands once
            for each in lines:
                former = key == BEFORE or each.id in material.outdated
                text = f"Formerly: {_format_line(key, each)}" if former else _format_line(key, each)
                if key == BEFORE and _is_said_of_now(each, material):
                    text = f"{text} [{_former_value(each)}]"
                written.setdefault(text, []).append(numbers[each.id])
            for text, cited in written.items():
                yield f"- {text} {''.join(f'[{number}]' for number in cited)}"


def _is_said_of_now(former: Memory, material: DossierMaterial) -> bool:
    """Return whether a sentence states a former and a current fact: "moved from A to B"."""
    return any(each.text == former.text for each in material.sections.get(KNOWN, ()))


def _former_value(memory: Memory) -> str:
    """Return relation and value of a fact: "lives in Malmö"."""
    value = memory.body.get("object") or memory.body.get("value")
    relation = str(memory.body["predicate"]).replace("_", " ").lower()
    return _on_one_line(f"{relation} {value}")


def _on_one_line(text: str) -> str:
    return " ".join(text.split())[:MAX_LINE_CHARACTERS]


def _format_line(key: str, memory: Memory) -> str:
    if memory.body.get("exact"):
        return _format_exact_value(memory)
    text = _on_one_line(annotate_text(memory))
    when = f"{memory.at:%Y-%m-%d}"
    if key == CONTACT:
        return _format_contact(memory)
    if key == PROMISED:
        due = memory.body.get("due")
        return f"{when}: {text} (due {last_due_day(parse_time(due))})" if due else f"{when}: {text}"
    if key == SAID:
        return f"{when}, {memory.speaker or 'somebody'}: {text}"
    return f"{when}: {text}" if key in (HAPPENED, DECIDED) else text


def _format_contact(record: Memory) -> str:
    identifier = record.body["identifier"]
    kind, value = identifier["kind"], identifier["value"]
    how = "verified" if identifier["proven"] else f"stated by {record.speaker or 'somebody'}"
    return f"{CONTACT_NAMES.get(kind, kind)}: {format_identifier(kind, value)} ({how})"


def format_document(dossier: Dossier) -> str:
    """Return a dossier with the list of its sources, as a Markdown file."""
    sources = (f"- {format_citation(each)}" for each in dossier.citations)
    return "\n".join([dossier.text, "\n## Sources\n", *sources, ""])


def format_citation(citation: Citation) -> str:
    """Return a citation on one line: number, speaker, date, scope and keys of its events."""
    who = f"{citation.speaker}, " if citation.speaker else ""
    keys = f" ({', '.join(citation.event_keys)})" if citation.event_keys else ""
    return f"[{citation.number}] {who}{citation.at:%Y-%m-%d}, {citation.scope}{keys}"


def _format_exact_value(memory: Memory) -> str:
    """Return an exact value literally; a value too long for a line is named, never cut."""
    if len(memory.text) <= MAX_LINE_CHARACTERS:
        return memory.text
    key = f"{memory.body['subject']} {memory.body['predicate']}"
    return f"{key} (a value of more than {MAX_LINE_CHARACTERS} characters)"


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
    replaced = memory.body.get(REPLACED_AT)
    return Dossier(
        name=memory.body["name"],
        text=memory.text,
        citations=citations,
        made_at=memory.at,
        id=memory.id,
        stale=memory.body.get("mark") != fingerprint,
        version=version_of(memory),
        replaced_at=parse_time(replaced) if replaced else None,
    )
