"""Neighbourhood of an entity: the entities that facts connect with it, ring by ring.

Each ring is one lookup in the graph of the store, so Neo4j answers it where it is configured. The
spellings of an entity are one node: a fact about "Sally" leads to Sarah Chen if that is her alias.
Facts outside the grant lead nowhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from ...core.access import Grant
from ...core.derive import normalize_name
from ...core.errors import InvalidInput
from ...core.protocols.store import Store
from ...core.records import Memory, MemoryKind
from ...core.records.facts import is_sure
from ...core.records.memory import drop_copies
from ...text.predicates import WE
from .entities import EntityNames, EntityView, get_entity, resolve_names
from .fact_timeline import FactStatus, fact_statuses

MAX_DEPTH = 4
MAX_NODES_PER_RING = 50  # entities whose facts the next ring reads
MAX_FACTS_PER_RING = 500
MAX_STEPS = 3  # facts between two connected names
MAX_CONNECTED = 1_000  # entities that the search for a connection reaches from each side


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """An entity in the neighbourhood of another one."""

    name: str
    distance: int  # facts between both; 1: a fact names both


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """A fact that connects two entities."""

    subject: str
    predicate: str
    object: str
    fact: Memory
    is_past: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbourhood:
    """An entity with its neighbours, nearest first, and the facts between them."""

    center: EntityView
    depth: int
    neighbours: tuple[Neighbour, ...] = ()
    relations: tuple[Relation, ...] = ()  # in the order in which they were reached
    is_complete: bool = True  # False: a limit was reached, so there may be more


class _Nodes:
    """The entities of one traversal, with one node for all spellings of an entity."""

    def __init__(self, store: Store, grant: Grant) -> None:
        self._store = store
        self._grant = grant
        self._by_spelling: dict[str, EntityNames] = {}

    def resolve(self, names: Iterable[str]) -> list[EntityNames]:
        """Return the entities of these names, in the same order."""
        wanted = list(names)
        keys = [normalize_name(name) for name in wanted]
        spelled = dict(zip(keys, wanted, strict=True))
        new = {key: name for key, name in spelled.items() if key not in self._by_spelling}
        found = resolve_names(self._store, self._grant, list(new.values())) if new else []
        for key, entity in zip(new, found, strict=True):
            known = self._by_spelling.get(normalize_name(entity.name), entity)
            for spelling in (key, *entity.spellings):
                self._by_spelling.setdefault(spelling, known)
        return [self._by_spelling[key] for key in keys]


def get_neighbourhood(
    store: Store, grant: Grant, name: str, *, depth: int, limit: int, now: datetime
) -> Neighbourhood | None:
    """Return up to `limit` entities within `depth` facts of the named one; None if unknown.

    Denied and unsure facts connect nothing. Raise InvalidInput unless depth is from 1 to MAX_DEPTH.
    """
    if isinstance(depth, bool) or not isinstance(depth, int) or not 1 <= depth <= MAX_DEPTH:
        raise InvalidInput(f"depth must be between 1 and {MAX_DEPTH}, got {depth!r:.80}")
    with store.snapshot():
        center = get_entity(store, grant, name, limit=1)
        if center is None:
            return None
        walk = _Walk(store, grant, limit, now)
        walk.run(name, depth)
    statuses = fact_statuses([each.fact for each in walk.relations], now)
    return Neighbourhood(
        center=center,
        depth=depth,
        neighbours=tuple(
            Neighbour(name=each, distance=distance)
            for each, distance in walk.distances.items()
            if distance
        ),
        relations=tuple(
            Relation(
                subject=each.subject,
                predicate=each.predicate,
                object=each.object,
                fact=each.fact,
                is_past=statuses.get(each.fact.id) is FactStatus.PAST,
            )
            for each in walk.relations
        ),
        is_complete=walk.is_complete,
    )


def find_connection(
    store: Store,
    grant: Grant,
    first: Sequence[str],
    second: Sequence[str],
    *,
    now: datetime,
) -> tuple[Relation, ...]:
    """Return the shortest path of sure facts between two entities, from the first to the second.

    Each entity is given by its spellings. A path has at most MAX_STEPS facts; without one the
    result is empty. Of several shortest paths, one without past facts comes first, then one of
    newer facts.
    """
    with store.snapshot():
        nodes = _Nodes(store, grant)
        sides = [_Walk(store, grant, MAX_CONNECTED, now, nodes) for _ in range(2)]
        for walk, names in zip(sides, (first, second), strict=True):
            walk.start(_distinct(nodes.resolve(names)))
        met = _meet(*sides)
    if not met:
        return ()
    facts = [each.fact for walk in sides for each in walk.relations]
    statuses = fact_statuses(facts, now)
    paths = [
        (*reversed(_trace(sides[0], name, statuses)), *_trace(sides[1], name, statuses))
        for name in met
    ]
    return min(paths, key=lambda path: _path_key(path, statuses))


def _distinct(entities: Iterable[EntityNames]) -> list[EntityNames]:
    return list({each.name: each for each in entities}.values())


def _meet(left: _Walk, right: _Walk) -> list[str]:
    """Grow the smaller side ring by ring; return the entities in the middle of shortest paths."""
    if left.distances.keys() & right.distances.keys():
        return []  # both names mean one entity
    for _ in range(MAX_STEPS):
        growing = min((side for side in (left, right) if side.ring), key=_ring_size, default=None)
        if growing is None:
            return []
        growing.add_next_ring()
        if met := sorted(left.distances.keys() & right.distances.keys()):
            steps = {name: left.distances[name] + right.distances[name] for name in met}
            return [name for name in met if steps[name] == min(steps.values())]
    return []


def _ring_size(walk: _Walk) -> int:
    return len(walk.ring)


def _trace(walk: _Walk, name: str, statuses: Mapping[str, FactStatus]) -> list[Relation]:
    """Return the facts from an entity back to the start of a walk."""
    path: list[Relation] = []
    while distance := walk.distances[name]:
        nearer = [
            each
            for each in walk.relations
            if name in (each.subject, each.object)
            and walk.distances.get(_other_end(each, name)) == distance - 1
        ]
        path.append(min(nearer, key=lambda each: _path_key((each,), statuses)))
        name = _other_end(path[-1], name)
    return path


def _other_end(relation: Relation, name: str) -> str:
    return relation.object if relation.subject == name else relation.subject


def _path_key(
    path: Sequence[Relation], statuses: Mapping[str, FactStatus]
) -> tuple[int, int, float, tuple[str, ...]]:
    past = sum(statuses.get(each.fact.id) is FactStatus.PAST for each in path)
    newest = max((each.fact.at.timestamp() for each in path), default=0.0)
    return len(path), past, -newest, tuple(each.fact.id for each in path)


class _Walk:
    """One breadth-first traversal from an entity."""

    def __init__(
        self, store: Store, grant: Grant, limit: int, now: datetime, nodes: _Nodes | None = None
    ) -> None:
        self._store = store
        self._grant = grant
        self._limit = limit
        self._now = now
        self._nodes = nodes or _Nodes(store, grant)
        self.ring: list[EntityNames] = []  # the entities found last
        self.depth = 0
        self._seen: set[str] = set()  # ids of facts
        self.distances: dict[str, int] = {}  # name → distance, in the order of discovery
        self.relations: list[Relation] = []
        self.is_complete = True

    def run(self, name: str, depth: int) -> None:
        self.start(self._nodes.resolve([name]))
        while self.ring and self.depth < depth:
            self.add_next_ring()

    def start(self, ring: list[EntityNames]) -> None:
        """Begin at these names of one entity."""
        self.ring = ring
        self.distances.update((each.name, 0) for each in ring)

    def add_next_ring(self) -> None:
        """Read the facts about the entities found last."""
        ring, self.depth = self.ring, self.depth + 1
        if len(ring) > MAX_NODES_PER_RING:
            ring, self.is_complete = ring[:MAX_NODES_PER_RING], False
        self.ring = self._add_ring(ring, self.depth)

    def _add_ring(self, ring: Sequence[EntityNames], distance: int) -> list[EntityNames]:
        """Add the relations of these entities; return the entities that are new."""
        new: list[EntityNames] = []
        for fact, (subject, object) in self._load_edges(ring):
            added = [each for each in (subject, object) if each.name not in self.distances]
            if len(self.distances) + len(added) > self._limit + 1:
                self.is_complete = False
                continue
            for each in added:
                self.distances.setdefault(each.name, distance)
            new += added
            predicate = str(fact.body["predicate"])
            self.relations.append(
                Relation(subject=subject.name, predicate=predicate, object=object.name, fact=fact)
            )
        return new

    def _load_edges(
        self, ring: Sequence[EntityNames]
    ) -> Iterator[tuple[Memory, tuple[EntityNames, EntityNames]]]:
        """Yield the new facts about these entities that connect two different ones."""
        names = sorted({spelling for entity in ring for spelling in entity.spellings})
        kinds, limit = [MemoryKind.FACT], MAX_FACTS_PER_RING
        steps = self._store.graph.traverse(self._grant, names, depth=1, limit=limit, kinds=kinds)
        found = steps[0] if steps else []
        if len(found) == MAX_FACTS_PER_RING:
            self.is_complete = False
        facts = [each for each in drop_copies(found) if self._is_edge(each)]
        ends = self._nodes.resolve(
            name for each in facts for name in (each.body["subject"], each.body["object"])
        )
        for fact, subject, object in zip(facts, ends[::2], ends[1::2], strict=True):
            self._seen.add(fact.id)
            if subject.name != object.name:
                yield fact, (subject, object)

    def _is_edge(self, fact: Memory) -> bool:
        body = fact.body
        is_relation = bool(body.get("object")) and not body.get("negated") and not body.get("exact")
        if WE in (body["subject"], body.get("object")):  # whom it means depends on the speaker
            return False
        return is_relation and fact.id not in self._seen and is_sure(fact, self._now)
