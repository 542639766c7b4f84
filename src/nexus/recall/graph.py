"""Outwards from the names in a question: facts about them, and facts about what those name.

What holds counts more than what held once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..core.access import Grant
from ..core.derive import known_as, names_in
from ..core.filters import matches
from ..core.protocols import Scored, Store
from ..core.records import Memory
from ..core.text import STOP_WORDS, WORD
from .asked import Asked, Strategy
from .interpret import BOOST, Tense, tenses

DEPTH = 2
FADING = 0.5  # a step outwards counts half
LONGEST_NAME = 4  # words
MOST_BOOST = max(BOOST.values())
MOST_FACTS = 30  # of each step, the newest
MOST_NAMES = 50  # followed from one step to the next


def graph(store: Store) -> Strategy:
    """Both directions: a fact is reached from its subject and from its object."""

    def search(grant: Grant, asked: Asked) -> list[Scored]:
        scores: dict[str, float] = {}
        known: set[str] = set()
        names = set(possible_names(asked.query.question))
        for step in range(DEPTH):
            facts = store.memories.named(grant, sorted(names), limit=MOST_FACTS) if names else []
            held = tenses(facts, asked.query.now)
            for fact in facts:
                boost = BOOST[held.get(fact.id, Tense.CURRENT)] / MOST_BOOST
                scores.setdefault(fact.id, boost * FADING**step)
            known |= names
            names = set(sorted(_reached(facts) - known)[:MOST_NAMES])
        passed = _passing(store, grant, asked, scores)
        return [Scored(id=id, score=scores[id]) for id in passed][: asked.depth]

    return search


def possible_names(question: str) -> Iterator[str]:
    """Every run of up to four words that could be somebody's or something's name."""
    words = [match.group() for match in WORD.finditer(question)]
    for start in range(len(words)):
        for end in range(start + 1, min(start + LONGEST_NAME, len(words)) + 1):
            run = words[start:end]
            if not {run[0].casefold(), run[-1].casefold()} & STOP_WORDS:
                yield known_as(" ".join(run).removesuffix("'s").removesuffix("’s"))


def _reached(facts: Iterable[Memory]) -> set[str]:
    return {name for fact in facts for name in names_in(fact)}


def _passing(store: Store, grant: Grant, asked: Asked, scores: dict[str, float]) -> list[str]:
    where = asked.query.where
    ids = sorted(scores, key=lambda each: (-scores[each], each))
    if where is None:
        return ids
    return [each.id for each in store.memories.get(grant, ids) if matches(where, each)]
