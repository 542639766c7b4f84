"""What is known of somebody or something, woven into one document with its sources.

A dossier is made of facts, decisions, episodes and what was said, inside one viewer's grant; so two
viewers may have two. It is kept as a memory that rests on everything it cites, for those who may
read all that its maker could (`core.reach`), and goes when some of what it cites goes. It is stale
when what it would be made of now is not what it was made of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from ..core.access import Grant, Label
from ..core.canonical import time_text
from ..core.derive import known_as
from ..core.filters import Condition, Op
from ..core.ids import digest
from ..core.protocols import Store
from ..core.reach import REACH, spelt_reach
from ..core.records import Draft, Json, Memory, MemoryKind, Tombstone
from ..core.scope import Scope
from ..core.text import speaks_of
from ..recall.entities import EntityView, entity, names_of
from ..recall.interpret import Tense, tenses

MOST_FACTS = 60
MOST_OTHER = 20  # decisions, episodes, sayings
MOST_LANDMARKS = 500  # looked through
HEADINGS = {
    "known": "What is known",
    "before": "What was so before",
    "decided": "Decisions and promises",
    "happened": "What happened",
    "said": "What was said",
}
LONGEST_LINE = 600

Narrate = Callable[[str, Sequence[Memory]], tuple[str, ...] | None]  # by a model, checked


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """What a line of a dossier rests on."""

    number: int
    memory: str
    at: datetime
    scope: Scope
    speaker: str | None = None
    event_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Dossier:
    """A document about somebody or something, with its sources."""

    name: str
    text: str  # Markdown
    citations: tuple[Citation, ...]
    made_at: datetime
    id: str
    stale: bool = False  # what it rests on has changed since


@dataclass(frozen=True, slots=True)
class Subject:
    """What a dossier is about: a name, or a standing question."""

    name: str
    asked: str | None = None  # the id of the memory in which it was asked for good

    def slot(self, reach: Label) -> str:
        """For everybody whom it is made for, it is another one."""
        return digest("dossier", self.asked or known_as(self.name), *spelt_reach(reach))


@dataclass(frozen=True, slots=True)
class Material:
    """What a dossier would be made of now, by heading."""

    name: str
    also: tuple[str, ...]
    lines: Mapping[str, Sequence[Memory]] = field(default_factory=dict)
    names: Sequence[Memory] = ()  # what its name and the others were read from

    @property
    def memories(self) -> list[Memory]:
        """Each once, in the order it is told."""
        found = {each.id: each for lines in self.lines.values() for each in lines}
        return list(found.values())

    @property
    def mark(self) -> str:
        """Changes when anything a dossier is made of changes."""
        parts = [f"{heading}/{each.id}" for heading, lines in self.lines.items() for each in lines]
        return digest("dossier", self.name, *self.also, *parts, *(each.id for each in self.names))


def material(
    store: Store, grant: Grant, name: str, said: Iterable[Memory], *, now: datetime
) -> Material | None:
    """What may be known under a name from here; `said` is what a search for it finds."""
    with store.moment():
        view = entity(store, grant, name, limit=MOST_FACTS)
        spellings = sorted(names_of(store, grant, name) | {known_as(name)})
        landmarks = _landmarks(store, grant, spellings)
        kinds = [MemoryKind.EPISODE]
        episodes = store.memories.named(grant, spellings, kinds=kinds, limit=MOST_OTHER)
    told = [each for each in episodes if each.body.get("span") != "turn"]
    facts = [] if view is None else list(view.facts)
    held = tenses(facts, now)
    past = [each for each in facts if held.get(each.id) is Tense.PAST]
    lines = {
        "known": [each for each in facts if each not in past],
        "before": past,
        "decided": landmarks,
        "happened": sorted(told, key=lambda each: (each.at, each.id)),
    }
    again = {source for part in lines.values() for each in part for source in each.sources}
    lines["said"] = [each for each in said if not set(each.sources) <= again][:MOST_OTHER]
    if not any(lines.values()):
        return None
    return Material(view.name if view else name, _also(view), lines, _naming(view))


def _landmarks(store: Store, grant: Grant, spellings: Sequence[str]) -> list[Memory]:
    """The newest decisions and promises that name it."""
    kind = Condition("kind", Op.EQ, MemoryKind.LANDMARK)
    newest = store.memories.find(grant, where=kind, limit=MOST_LANDMARKS)
    naming = [each for each in newest if any(speaks_of(each.text, name) for name in spellings)]
    return naming[:MOST_OTHER]


def _also(view: EntityView | None) -> tuple[str, ...]:
    return () if view is None else tuple(dict.fromkeys([*view.aliases, *view.same_as]))


def _naming(view: EntityView | None) -> tuple[Memory, ...]:
    """The oldest record of each name: if one goes, so does what tells it."""
    if view is None:
        return ()
    first = {
        name: record  # from the newest to the oldest
        for record in view.records
        for name in (record.body["name"], *record.body.get("aliases", ()))
    }
    told = [first[name] for name in (view.name, *_also(view)) if name in first]
    return tuple({record.id: record for record in told}.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """Where a dossier shall lie, for whom it is, and since when somebody last looked at it."""

    home: Scope
    reach: Label
    subject: Subject
    looked_at: datetime
    stones: frozenset[Tombstone]  # of those for whom it is, when it was begun


def draft(material: Material, order: Order, *, now: datetime, narrate: Narrate | None) -> Draft:
    """The dossier to keep. A model tells the beginning, if there is one and it invents nothing.

    It rests on what it cites and on whoever said its names, and the answer to a question on the
    question, too: it holds its words.
    """
    numbers = {each.id: place for place, each in enumerate(material.memories, start=1)}
    told = narrate(material.name, material.memories) if narrate else None
    text = "\n".join(_written(material, numbers, told))
    asked = order.subject.asked
    named = (each.id for each in material.names)
    return Draft(
        scope=order.home,
        kind=MemoryKind.DOSSIER,
        text=text,
        indexed_text="",
        sources=tuple(dict.fromkeys([*numbers, *named, *([asked] if asked else [])])),
        slot=order.subject.slot(order.reach),
        at=now,
        source="dossier",
        learned=True,
        metadata={"made_by": ["model" if told else "template"]},
        body={**_ordered(order), "mark": material.mark, "cites": list(numbers)},
    )


def watch(order: Order, asked: str, *, now: datetime) -> Draft:
    """What tells a worker that this question shall be answered for these readers."""
    return Draft(
        scope=order.home,
        kind=MemoryKind.DOSSIER,
        text=order.subject.name,
        indexed_text="",
        sources=(asked,),
        slot=order.subject.slot(order.reach),
        at=now,
        source="question",
        learned=True,
        body=_ordered(order),
    )


def _ordered(order: Order) -> dict[str, Json]:
    return {
        "name": order.subject.name,
        "asked": order.subject.asked,
        "looked_at": time_text(order.looked_at),
        REACH: list(spelt_reach(order.reach)),
    }


def in_words(memories: Sequence[Memory]) -> tuple[list[tuple[str, str]], list[str]]:
    """What a model is shown of these: who said what, and what it must not leave out."""
    said = [(memory.speaker or "memory", memory.text) for memory in memories]
    return said, [memory.text for memory in memories if memory.kind is MemoryKind.LANDMARK]


def _written(
    material: Material, numbers: Mapping[str, int], told: tuple[str, ...] | None
) -> Iterator[str]:
    yield f"# {material.name}"
    if material.also:
        yield f"\nAlso known as {', '.join(material.also)}."
    if told:
        yield f"\n{' '.join(told)}"
    for key, heading in HEADINGS.items():
        if lines := material.lines.get(key):
            yield f"\n## {heading}\n"
            yield from (f"- {_line(key, each)} [{numbers[each.id]}]" for each in lines)


def _line(key: str, memory: Memory) -> str:
    text = " ".join(memory.text.split())[:LONGEST_LINE]
    when = f"{memory.at:%Y-%m-%d}"
    if key == "said":
        return f"{when}, {memory.speaker or 'somebody'}: {text}"
    return f"{when}: {text}" if key in ("happened", "decided") else text


def opened(store: Store, grant: Grant, memory: Memory, *, mark: str | None) -> Dossier:
    """A kept dossier with its citations; `mark` is what it would have now."""
    cited = {each.id: each for each in store.memories.get(grant, memory.body["cites"])}
    events = [source for each in cited.values() for source in each.sources]
    keys = store.ledger.keys(grant, events)
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
        stale=memory.body["mark"] != mark,
    )
