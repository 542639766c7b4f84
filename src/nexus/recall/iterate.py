"""A second look for questions of several steps: with what the first one brought up.

"Who painted the picture Carol keeps in her office?" finds the message about the picture, and the
message about its painter only by the picture's name. What leads on are names: those that the best
hits are about and the question lacks. Searching by all of their words would find the same again.
The best of the first look keep their places; what the second one adds comes after them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import chain, zip_longest

from ..core.access import Grant
from ..core.derive import known_as
from ..core.protocols import Store
from ..core.records import Found, Hit, MemoryKind, memory_id
from ..core.text import terms

Look = Callable[[str], Found]  # from a question to hits
Leads = Callable[[Found], Sequence[str]]  # from hits to names that lead on

LOOKED_INTO = 5  # hits whose names lead on
MOST_NAMES = 3
KEPT = 5  # hits of the first look that stay where they are; measured, `bench/iterate.py`
TURN = "turn"  # the slot of what labels a message


def iterate(
    look: Look,
    question: str,
    *,
    steps: Sequence[str] = (),
    leads: Leads | None = None,
    kept: int = KEPT,
) -> Found:
    """What the question finds, and after its best hits what its steps and leads find."""
    first = look(question)
    names = leads(first) if leads else ()
    asked = [step for step in steps if step != question]
    rounds = [look(step) for step in asked]
    if names:
        rounds.append(look(bridged(question, first, names)))
    return merged(first, rounds, kept=kept)


def leads_in(
    store: Store, grant: Grant, question: str, found: Found, people: Iterable[str] = ()
) -> list[str]:
    """Names the best hits are about that the question lacks; those of several hits first.

    People who are here lead nowhere: everybody speaks of them all the time.
    """
    ids = [id for hit in found.hits[:LOOKED_INTO] for id in _labels(hit)]
    labels = store.memories.get(grant, ids)
    asked = set(terms(question))
    here = set(map(known_as, people))
    counted: Counter[str] = Counter()
    for label in labels:
        counted.update(
            name
            for name in label.body.get("entities", ())
            if known_as(name) not in here and not set(terms(name)) <= asked
        )
    return [name for name, _ in counted.most_common(MOST_NAMES)]


def bridged(question: str, found: Found, names: Sequence[str]) -> str:
    """What the best hits leave open of a question, asked of the names they brought up.

    "Which language is Carol's project written in?" was answered as far as the project goes: it is
    called Heron. What is left is "which language written Heron".
    """
    said = set(
        chain.from_iterable(
            terms(hit.text) for hit in found.hits[:LOOKED_INTO] if _about(hit, names)
        )
    )
    left = [word for word in question.split() if not said.intersection(terms(word))]
    return " ".join([*left, *names])


def _about(hit: Hit, names: Sequence[str]) -> bool:
    text = hit.text.casefold()
    return any(name.casefold() in text for name in names)


def _labels(hit: Hit) -> list[str]:
    memory = hit.memory
    return [memory_id(MemoryKind.EPISODE, memory.scope, TURN, [event]) for event in memory.sources]


def merged(first: Found, rounds: Sequence[Found], *, kept: int = KEPT) -> Found:
    """The first hits as they are; then the best of every round in turn, each memory once."""
    best = {hit.memory.id: hit for hit in first.hits[:kept]}
    lists = [found.hits for found in rounds]
    fresh = [[hit for hit in hits if hit.memory.id not in best] for hits in lists]
    known = {hit.memory.id: hit for hit in first.hits}  # with the score of the question itself
    for hit in chain.from_iterable(zip_longest(*fresh, first.hits[kept:])):
        if hit is not None:
            best.setdefault(hit.memory.id, known.get(hit.memory.id, hit))
    return replace(
        first,
        hits=tuple(best.values()),
        total=max(found.total for found in (first, *rounds)),
        seconds=first.seconds + sum(found.seconds for found in rounds),
        degraded=tuple(
            dict.fromkeys(each for found in (first, *rounds) for each in found.degraded)
        ),
    )
