"""The parts of a text that answer to the question's words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .text import terms

SENTENCE = re.compile(r"[^.!?…\n]+[.!?…]*")
LONGEST = 200
MOST = 3


def highlights(text: str, wanted: Sequence[str]) -> tuple[str, ...]:
    """Up to three sentences that hold the most of the wanted terms, in reading order."""
    asked = set(wanted)
    scored = []
    for place, match in enumerate(SENTENCE.finditer(text[:20_000])):
        sentence = match.group().strip()
        matched = len(asked.intersection(terms(sentence)))
        if matched:
            scored.append((-matched, place, sentence))
    best = sorted(sorted(scored)[:MOST], key=lambda each: each[1])
    return tuple(_shortened(sentence) for _, _, sentence in best)


def _shortened(sentence: str) -> str:
    return sentence if len(sentence) <= LONGEST else sentence[: LONGEST - 1].rstrip() + "…"
