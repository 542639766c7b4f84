"""Outwards from the names in a question: facts about them, and facts about what those name.

What holds counts more than what held once. A fact that was told is found itself. One that was
learned says again what a passage says: its score goes there, the more the fewer facts share its
names. Most facts name one of those who speak, and that tells no passage from another.

How much a restated passage counts was measured on LoCoMo: more than a tenth of a told fact, and
less is found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress

from ..core.access import Grant
from ..core.derive import known_as, names_in
from ..core.filters import matches
from ..core.protocols import Scored, Store
from ..core.records import Memory, MemoryKind, memory_id
from ..core.scope import Scope
from ..core.text import STOP_WORDS, WORD
from .asked import Asked, Strategy
from .interpret import BOOST, Tense, tenses

DEPTH = 2
FADING = 0.5  # a step outwards counts half
LONGEST_NAME = 4  # words
MOST_BOOST = max(BOOST.values())
MOST_FACTS = 30  # of each step, the newest
MOST_ENTITIES = 10  # records of who the names are, the newest
RARE = 3  # learned facts a name may have and still lead to each of them with full weight
MANY = 10  # and from how many on it leads to none of them
RESTATED = 0.1  # what a passage counts that a fact restates, beside a fact that was told
MOST_SOURCES = 6  # what rests on more says none of them again
MOST_LONG = 4  # long messages that are looked through for what a fact says,
MOST_PIECES = 8  # and pieces of each

Said = tuple[Scope, str]  # where, and the id of the event


def graph(store: Store) -> Strategy:
    """Both directions: a fact is reached from its subject and from its object."""

    def search(grant: Grant, asked: Asked) -> list[Scored]:
        names = set(possible_names(asked.query.question))
        if asked.query.learned:
            scores = _outwards(store, grant, asked, names, learned=True)
        else:
            scores = _outwards(store, grant, asked, names, learned=False)
            for id, score in _folded(store, grant, asked, names).items():
                scores[id] = max(score, scores.get(id, 0.0))
        passed = _passing(store, grant, asked, scores)
        return [Scored(id=id, score=scores[id]) for id in passed][: asked.depth]

    return search


def _outwards(
    store: Store, grant: Grant, asked: Asked, names: set[str], *, learned: bool
) -> dict[str, float]:
    """Facts and entities themselves, step by step; learned ones only if they are asked for."""
    walk = store.graph.around(grant, sorted(names), depth=DEPTH, limit=MOST_FACTS, learned=learned)
    scores: dict[str, float] = {}
    for step, facts in enumerate(walk):
        for id, boost in _boosts(facts, asked).items():
            scores.setdefault(id, boost * FADING**step)
    return scores


def _folded(store: Store, grant: Grant, asked: Asked, names: set[str]) -> dict[str, float]:
    """Passages that learned facts about these names restate, and facts that restate none.

    One step only: the second, measured, led to as many wrong passages as right ones.
    """
    names = names - set(map(known_as, asked.understood.people))
    if not names:
        return {}
    entities = _about(store, grant, names, MemoryKind.ENTITY, limit=MOST_ENTITIES)
    names |= {name for entity in entities for name in names_in(entity)}
    found = _about(store, grant, names, MemoryKind.FACT, limit=MOST_FACTS)
    facts = [fact for fact in found if fact.learned]
    named = {fact.id: names_in(fact) for fact in facts}
    shared = Counter(name for fact in facts for name in named[fact.id])
    worth = {id: _rarity(own & names, shared) for id, own in named.items()}
    rare = [fact for fact in facts if worth[fact.id]]
    scores: dict[str, float] = {}
    said_in: dict[Said, tuple[float, Memory]] = {}
    for fact, boost in zip(rare, _boosts(rare, asked).values(), strict=True):
        score = boost * worth[fact.id]
        if len(fact.sources) > MOST_SOURCES:
            scores[fact.id] = score
            continue
        for event in fact.sources:
            if score > said_in.get((fact.scope, event), (0.0, fact))[0]:
                said_in[fact.scope, event] = score, fact
    return scores | _passages(store, grant, said_in)


def _about(
    store: Store, grant: Grant, names: set[str], kind: MemoryKind, *, limit: int
) -> list[Memory]:
    (step,) = store.graph.around(grant, sorted(names), depth=1, limit=limit, kinds=[kind]) or [[]]
    return step


def _rarity(names: Iterable[str], shared: Mapping[str, int]) -> float:
    """How much the names say that led to a fact; those that many facts have say nothing."""
    few = [shared[name] for name in names if shared[name] <= MANY]
    return min(1.0, sum(RARE / count for count in few))


def _passages(
    store: Store, grant: Grant, said_in: Mapping[Said, tuple[float, Memory]]
) -> dict[str, float]:
    """The passage of each event, or of a long message one piece."""
    if not said_in:
        return {}
    whole = {_passage(*said): said for said in said_in}
    there = store.memories.texts(grant, list(whole)).keys()
    scores = {id: RESTATED * said_in[whole[id]][0] for id in there}
    long = sorted(set(whole) - there, key=lambda each: (-said_in[whole[each]][0], each))
    looked_at = [whole[id] for id in long[:MOST_LONG]]
    return scores | _pieces(store, grant, {said: said_in[said] for said in looked_at})


def _pieces(
    store: Store, grant: Grant, said_in: Mapping[Said, tuple[float, Memory]]
) -> dict[str, float]:
    """Of each of these long messages the piece that holds most of its fact's words."""
    pieces = {
        _passage(*said, f"{number:06}"): said for said in said_in for number in range(MOST_PIECES)
    }
    words = {said: set(WORD.findall(fact.text.casefold())) for said, (_, fact) in said_in.items()}
    best: dict[Said, tuple[int, str]] = {}
    for id, text in store.memories.texts(grant, list(pieces)).items() if pieces else ():
        low = text.casefold()
        held = sum(word in low for word in words[pieces[id]])
        best[pieces[id]] = max(best.get(pieces[id], (0, "")), (held, id))
    return {id: RESTATED * said_in[said][0] for said, (held, id) in best.items() if held}


def _passage(scope: Scope, event: str, slot: str = "") -> str:
    return memory_id(MemoryKind.PASSAGE, scope, slot, [event])


def _boosts(facts: Sequence[Memory], asked: Asked) -> dict[str, float]:
    held = tenses(facts, asked.query.now)
    return {fact.id: BOOST[held.get(fact.id, Tense.CURRENT)] / MOST_BOOST for fact in facts}


def possible_names(question: str) -> Iterator[str]:
    """Every run of up to four words that could be somebody's or something's name."""
    words: list[str] = WORD.findall(question)
    telling = [word.casefold() not in STOP_WORDS for word in words]  # a name begins and ends so
    for start in compress(range(len(words)), telling):
        for end in range(start, min(start + LONGEST_NAME, len(words))):
            if telling[end]:
                run = " ".join(words[start : end + 1])
                yield known_as(run.removesuffix("'s").removesuffix("’s"))


def _passing(store: Store, grant: Grant, asked: Asked, scores: dict[str, float]) -> list[str]:
    where = asked.query.where
    ids = sorted(scores, key=lambda each: (-scores[each], each))
    if where is None:
        return ids
    return [each.id for each in store.memories.get(grant, ids) if matches(where, each)]
