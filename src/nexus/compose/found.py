"""Asking for hits: once, or step by step for a question that asks for several things."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

from ..core.records import Found, Hit
from .plan import CAPITAL, Plan

Look = Callable[[str], Found]  # from a question to hits

LOOKED_INTO = 3  # hits whose names lead on
MOST_LED_TO = 5  # names


def find_for(plan: Plan, look: Look) -> Found:
    """The hits for a plan. Only a question of several steps is looked into more than once."""
    first = look(plan.question)
    if not plan.iterative:
        return first
    rounds = [first, *(look(step) for step in plan.steps[1:])]
    if plan.nested and (names := list(_led_to(plan.question, first))):
        rounds.append(look(f"{plan.question} {' '.join(names)}"))
    return _merged(rounds)


def _led_to(question: str, found: Found) -> Iterator[str]:
    """Names that the first hits brought up: the answer may hang on one of them."""
    asked = question.casefold()
    texts = " . ".join(hit.text for hit in found.hits[:LOOKED_INTO])
    fresh = (name for name in CAPITAL.findall(texts) if name.casefold() not in asked)
    yield from list(dict.fromkeys(fresh))[:MOST_LED_TO]


def _merged(rounds: Sequence[Found]) -> Found:
    """The best of each round in turn, each memory once with its best score."""
    best: dict[str, Hit] = {}
    for row in zip_longest(*(found.hits for found in rounds)):
        for hit in filter(None, row):
            known = best.get(hit.memory.id)
            if known is None or hit.score > known.score:
                best[hit.memory.id] = hit
    return replace(
        rounds[0],
        hits=tuple(best.values()),
        total=max(found.total for found in rounds),
        seconds=sum(found.seconds for found in rounds),
        degraded=tuple(dict.fromkeys(each for found in rounds for each in found.degraded)),
    )
