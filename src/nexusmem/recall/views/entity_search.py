"""Entity search: people and things by words and by meaning.

A query is compared with names, aliases, types and descriptions by words, and with the texts of
facts and descriptions by the ranking of `recall` (keywords and vectors). Everything that is
compared is inside the grant.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ...core.access import Grant
from ...core.derive import normalize_name
from ...core.protocols.store import Store
from ...core.records import Hit, Memory, MemoryKind
from ...text.terms import query_terms
from .entities import EntityView, EntityViews, load_entity_views

SEARCHED_KINDS = (MemoryKind.FACT, MemoryKind.ENTITY)
MAX_HITS = 100  # facts and descriptions that the ranking returns
MAX_EVIDENCE = 5  # shown per entity
MIN_TEXT_SCORE = 0.3  # of a fact without a common word
NAME_WEIGHT, TYPE_WEIGHT, TEXT_WEIGHT = 1.0, 0.6, 0.8
AGREEMENT_WEIGHT = 0.1  # of several signals that agree
OBJECT_FACTOR = 0.5  # a fact says more about its subject than about its object


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityMatch:
    """An entity that matches a query, and the facts that say so."""

    entity: EntityView
    score: float  # 0 to 1
    evidence: tuple[Memory, ...] = ()  # matching facts and descriptions, best first


@dataclass(slots=True)
class _Evidence:
    score: float = 0.0
    memories: dict[str, Memory] = field(default_factory=dict)


def find_entities(
    store: Store, grant: Grant, query: str, hits: Iterable[Hit], *, type: str | None, limit: int
) -> list[EntityMatch]:
    """Return the entities that match the query, best first.

    `hits` are the facts and entity records that a search for the query returned.
    """
    terms = frozenset(query_terms(query))
    with store.snapshot():
        views = load_entity_views(store, grant)
    evidence = _collect_evidence(hits, views, terms)
    matches = [
        EntityMatch(
            entity=view,
            score=round(min(1.0, score), 4),
            evidence=tuple(evidence[key].memories.values())[:MAX_EVIDENCE]
            if key in evidence
            else (),
        )
        for key, view in _all_views(views, evidence)
        if (type is None or type in view.types)
        and (score := _score_view(view, terms, evidence.get(key))) > 0
    ]
    return sorted(matches, key=lambda each: (-each.score, each.entity.name))[:limit]


def _collect_evidence(
    hits: Iterable[Hit], views: EntityViews, terms: frozenset[str]
) -> dict[str, _Evidence]:
    """Return the matching memories of each entity, by its key; hits are best first."""
    evidence: defaultdict[str, _Evidence] = defaultdict(_Evidence)
    for hit in hits:
        if hit.score < MIN_TEXT_SCORE and terms.isdisjoint(query_terms(hit.memory.text)):
            continue
        for name, weight in _weighted_names(hit.memory):
            found = evidence[views.find_key(name)]
            found.score = max(found.score, weight * hit.score)
            found.memories.setdefault(hit.memory.id, hit.memory)
    return dict(evidence)


def _weighted_names(memory: Memory) -> Iterator[tuple[str, float]]:
    """Yield the names that a fact or a record is about, with their weight."""
    body = memory.body
    if memory.kind is MemoryKind.ENTITY:
        yield body["name"], 1.0
    elif not body.get("exact"):  # the subject of an exact value is a scope
        yield body["subject"], 1.0
        if body.get("object"):
            yield body["object"], OBJECT_FACTOR


def _all_views(
    views: EntityViews, evidence: Mapping[str, _Evidence]
) -> Iterator[tuple[str, EntityView]]:
    """Yield the recorded entities, then those that only facts name."""
    yield from views.by_key.items()
    for key, found in evidence.items():
        if key not in views.by_key:
            yield key, EntityView(name=_spelling(key, found.memories.values()))


def _spelling(key: str, memories: Iterable[Memory]) -> str:
    """Return the name as the first of these memories spells it."""
    names = (name for memory in memories for name, _ in _weighted_names(memory))
    return next((name for name in names if normalize_name(name) == key), key)


def _score_view(view: EntityView, terms: frozenset[str], evidence: _Evidence | None) -> float:
    names = _share([view.name, *view.aliases, *view.same_as], terms)
    types = _share([*view.types, view.description or ""], terms)
    text = evidence.score if evidence else 0.0
    best = max(NAME_WEIGHT * names, TYPE_WEIGHT * types, TEXT_WEIGHT * text)
    return best + AGREEMENT_WEIGHT * min(1.0, names + types + text)


def _share(texts: Sequence[str], terms: frozenset[str]) -> float:
    """Return the share of the query's terms that these texts contain."""
    if not terms:
        return 0.0
    return len(terms.intersection(query_terms(" ".join(texts)))) / len(terms)
