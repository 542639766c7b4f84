"""What is known of somebody or something, woven into one document with its sources.

A dossier is made of facts, decisions, episodes and what was said, inside one viewer's grant; so two
viewers may have two. It is kept as a memory that rests on everything it cites: it is readable only
where all of that is, and goes when some of it goes. It is stale when what it would be made of now
is not what it was made of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from ..core.access import Grant
from ..core.derive import known_as
from ..core.filters import Condition, Every, Op
from ..core.ids import digest
from ..core.protocols import Store
from ..core.questions import QUESTION
from ..core.records import Draft, Memory, MemoryKind
from ..core.scope import Scope
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
class Material:
    """What a dossier would be made of now, by heading."""

    name: str
    also: tuple[str, ...]
    lines: Mapping[str, Sequence[Memory]] = field(default_factory=dict)

    @property
    def memories(self) -> list[Memory]:
        """Each once, in the order it is told."""
        found = {each.id: each for lines in self.lines.values() for each in lines}
        return list(found.values())

    @property
    def mark(self) -> str:
        """Changes when anything a dossier is made of changes."""
        parts = [f"{heading}/{each.id}" for heading, lines in self.lines.items() for each in lines]
        return digest("dossier", self.name, *self.also, *parts)


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
    return Material(view.name if view else name, _also(view), lines)


def _landmarks(store: Store, grant: Grant, names: Sequence[str]) -> list[Memory]:
    """The newest decisions and promises that name it."""
    kind = Condition("kind", Op.EQ, MemoryKind.LANDMARK)
    newest = store.memories.find(grant, where=kind, limit=MOST_LANDMARKS)
    return [each for each in newest if any(name in known_as(each.text) for name in names)][
        :MOST_OTHER
    ]


def _also(view: EntityView | None) -> tuple[str, ...]:
    return () if view is None else tuple(dict.fromkeys([*view.aliases, *view.same_as]))


def kept(store: Store, grant: Grant, home: Scope, name: str | None = None) -> list[Memory]:
    """The dossiers that lie in a place and may be seen, of one name or of all."""
    kind = Condition("kind", Op.EQ, MemoryKind.DOSSIER)
    here = Condition("scope", Op.EQ, str(home))
    found = store.memories.find(grant, where=Every((kind, here)))
    made = [each for each in found if QUESTION not in each.body]
    wanted = None if name is None else known_as(name)
    return [each for each in made if wanted in (None, each.slot)]


def standing(store: Store, grant: Grant, home: Scope) -> list[str]:
    """The questions that are asked in a place for good, oldest first."""
    kind = Condition("kind", Op.EQ, MemoryKind.DOSSIER)
    told = store.memories.find(grant.within([home]), where=kind)
    asked: dict[str, bool] = {}
    for each in sorted(told, key=lambda each: (each.at, each.recorded_at, each.id)):
        if QUESTION in each.body:
            asked[each.body[QUESTION]] = not each.body.get("dropped", False)
    return [question for question, still in asked.items() if still]


def draft(
    material: Material, home: Scope, name: str, *, now: datetime, narrate: Narrate | None
) -> Draft:
    """The dossier to keep. A model tells the beginning, if there is one and it invents nothing."""
    numbers = {each.id: place for place, each in enumerate(material.memories, start=1)}
    told = narrate(material.name, material.memories) if narrate else None
    text = "\n".join(_written(material, numbers, told))
    return Draft(
        scope=home,
        kind=MemoryKind.DOSSIER,
        text=text,
        indexed_text="",
        sources=tuple(numbers),
        slot=known_as(name),
        at=now,
        source="dossier",
        learned=True,
        metadata={"made_by": ["model" if told else "template"]},
        body={"name": name, "mark": material.mark, "cites": list(numbers)},
    )


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
