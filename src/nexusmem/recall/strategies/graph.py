"""Graph strategy: facts about the names in a question, and facts about the names in those facts.

Current facts score higher than outdated ones. An explicit fact is a result itself. A derived fact
restates a passage, so its score goes to the passage. That score is lower the more facts share its
names: most facts name one of the speakers, which distinguishes no passage from another. A fact
that is not sure is no result, and no path leads through it; keywords and vectors still find it.

The weight of restated passages was measured on LoCoMo: above a tenth of an explicit fact, recall
falls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress

from ...core.access import Grant
from ...core.derive import names_in, normalize_name
from ...core.filters import matches_filter
from ...core.protocols.graph import traverse_names
from ...core.protocols.memories import ScoredId
from ...core.protocols.store import Store
from ...core.records import Memory, MemoryKind, memory_id
from ...core.records.facts import is_sure
from ...core.scope import Scope
from ...text.terms import STOP_WORDS, WORD
from ..strategy_run import PreparedQuestion, Strategy
from ..views.fact_timeline import STATUS_BOOST, FactStatus, fact_statuses

WALK_DEPTH = 2
STEP_DECAY = 0.5  # factor of the score per step
MAX_NAME_WORDS = 4
MAX_BOOST = max(STATUS_BOOST.values())
MAX_FACTS_PER_STEP = 30  # the newest facts of each step
MAX_ENTITIES = 10  # the newest entity records of the names
FULL_WEIGHT_FACTS = 3  # a name with up to this many derived facts has full weight
MAX_FACTS_PER_NAME = 10  # a name with more derived facts is ignored
RESTATED_WEIGHT = 0.1  # weight of a restated passage, relative to an explicit fact
MAX_SOURCES = 6  # a fact with more source events is a summary and restates none of them
MAX_LONG_MESSAGES = 4  # number of long messages to compare with a fact
MAX_PIECES = 8  # compared passages of a long message

EventRef = tuple[Scope, str]  # scope and event id


def graph_strategy(store: Store) -> Strategy:
    """Return the strategy that follows facts from subject to object and back."""

    def search(grant: Grant, question: PreparedQuestion) -> list[ScoredId]:
        names = set(possible_names(question.query.question))
        if question.query.includes_learned:
            scores = _walk_facts(store, grant, question, names, learned=True)
        else:
            scores = _walk_facts(store, grant, question, names, learned=False)
            for id, score in _score_restated_passages(store, grant, question, names).items():
                scores[id] = max(score, scores.get(id, 0.0))
        ids = _rank_and_filter(store, grant, question, scores)
        return [ScoredId(id=id, score=scores[id]) for id in ids][: question.depth]

    return search


def _walk_facts(
    store: Store, grant: Grant, question: PreparedQuestion, names: set[str], *, learned: bool
) -> dict[str, float]:
    """Return scores of facts and entities, step by step; derived ones only if `learned`."""

    def lookup(wanted: Sequence[str]) -> list[Memory]:
        (step,) = store.graph.traverse(
            grant, wanted, depth=1, limit=MAX_FACTS_PER_STEP, learned=learned
        ) or [[]]
        now = question.query.now
        return [each for each in step if each.kind is not MemoryKind.FACT or is_sure(each, now)]

    walk = traverse_names(grant, names, lookup, depth=WALK_DEPTH)
    scores: dict[str, float] = {}
    for step, facts in enumerate(walk):
        for id, boost in _status_boosts(facts, question).items():
            scores.setdefault(id, boost * STEP_DECAY**step)
    return scores


def _score_restated_passages(
    store: Store, grant: Grant, question: PreparedQuestion, names: set[str]
) -> dict[str, float]:
    """Return scores of passages that derived facts about these names restate.

    Facts with too many sources to restate one are returned themselves. Only one step: the second
    step led to as many wrong passages as right ones when measured.
    """
    names = names - set(map(normalize_name, question.analysis.people))
    if not names:
        return {}
    entities = _load_records_about(store, grant, names, MemoryKind.ENTITY, limit=MAX_ENTITIES)
    names |= {name for entity in entities for name in names_in(entity)}
    records = _load_records_about(store, grant, names, MemoryKind.FACT, limit=MAX_FACTS_PER_STEP)
    facts = [fact for fact in records if fact.learned]
    names_by_fact = {fact.id: names_in(fact) for fact in facts}
    fact_counts = Counter(name for fact in facts for name in names_by_fact[fact.id])
    rarity = {id: _name_rarity(own & names, fact_counts) for id, own in names_by_fact.items()}
    rare = [fact for fact in facts if rarity[fact.id]]
    scores: dict[str, float] = {}
    best_facts: dict[EventRef, tuple[float, Memory]] = {}
    for fact, boost in zip(rare, _status_boosts(rare, question).values(), strict=True):
        score = boost * rarity[fact.id]
        if len(fact.sources) > MAX_SOURCES:
            scores[fact.id] = score
            continue
        for event in fact.sources:
            if score > best_facts.get((fact.scope, event), (0.0, fact))[0]:
                best_facts[fact.scope, event] = score, fact
    return scores | _score_passages(store, grant, best_facts)


def _load_records_about(
    store: Store, grant: Grant, names: set[str], kind: MemoryKind, *, limit: int
) -> list[Memory]:
    (step,) = store.graph.traverse(grant, sorted(names), depth=1, limit=limit, kinds=[kind]) or [[]]
    return step


def _name_rarity(names: Iterable[str], fact_counts: Mapping[str, int]) -> float:
    """Return a weight from 0 to 1: higher the fewer facts share these names."""
    few = [fact_counts[name] for name in names if fact_counts[name] <= MAX_FACTS_PER_NAME]
    return min(1.0, sum(FULL_WEIGHT_FACTS / count for count in few))


def _score_passages(
    store: Store, grant: Grant, best_facts: Mapping[EventRef, tuple[float, Memory]]
) -> dict[str, float]:
    """Return scores of the passages of these events; of a long message its best passage."""
    if not best_facts:
        return {}
    event_of = {_passage_id(*event): event for event in best_facts}
    existing = store.memories.load_texts(grant, list(event_of)).keys()
    scores = {id: RESTATED_WEIGHT * best_facts[event_of[id]][0] for id in existing}
    # A long message has several numbered passages and none with the empty slot.
    long = sorted(set(event_of) - existing, key=lambda each: (-best_facts[event_of[each]][0], each))
    events = [event_of[id] for id in long[:MAX_LONG_MESSAGES]]
    return scores | _score_pieces(store, grant, {event: best_facts[event] for event in events})


def _score_pieces(
    store: Store, grant: Grant, best_facts: Mapping[EventRef, tuple[float, Memory]]
) -> dict[str, float]:
    """Return for each long message the passage with the most words of its fact."""
    pieces = {
        _passage_id(*event, f"{number:06}"): event
        for event in best_facts
        for number in range(MAX_PIECES)
    }
    words = {
        event: set(WORD.findall(fact.text.casefold())) for event, (_, fact) in best_facts.items()
    }
    best: dict[EventRef, tuple[int, str]] = {}
    for id, text in store.memories.load_texts(grant, list(pieces)).items() if pieces else ():
        lowercase = text.casefold()
        count = sum(word in lowercase for word in words[pieces[id]])
        best[pieces[id]] = max(best.get(pieces[id], (0, "")), (count, id))
    return {
        id: RESTATED_WEIGHT * best_facts[event][0] for event, (count, id) in best.items() if count
    }


def _passage_id(scope: Scope, event: str, slot: str = "") -> str:
    return memory_id(MemoryKind.PASSAGE, scope, slot, [event])


def _status_boosts(facts: Sequence[Memory], question: PreparedQuestion) -> dict[str, float]:
    statuses = fact_statuses(facts, question.query.now)
    return {
        fact.id: STATUS_BOOST[statuses.get(fact.id, FactStatus.CURRENT)] / MAX_BOOST
        for fact in facts
    }


def possible_names(question: str) -> Iterator[str]:
    """Yield every run of up to MAX_NAME_WORDS words that may be a name, normalized."""
    words: list[str] = WORD.findall(question)
    is_content = [word.casefold() not in STOP_WORDS for word in words]
    for start in compress(range(len(words)), is_content):  # names have no stop word at either end
        for end in range(start, min(start + MAX_NAME_WORDS, len(words))):
            if is_content[end]:
                run = " ".join(words[start : end + 1])
                yield normalize_name(run.removesuffix("'s").removesuffix("’s"))


def _rank_and_filter(
    store: Store, grant: Grant, question: PreparedQuestion, scores: dict[str, float]
) -> list[str]:
    where = question.query.where
    ids = sorted(scores, key=lambda each: (-scores[each], each))
    if where is None:
        return ids
    return [each.id for each in store.memories.get(grant, ids) if matches_filter(where, each)]
