"""Text that cannot teach anything: repetition, code, quoted mail, other languages."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .lexicon import ENGLISH, FOREIGN
from .tokens import Token

FENCE = re.compile(r"^[ \t]*(```|~~~)", re.MULTILINE)
QUOTED_LINE = re.compile(r"^[ \t]*>[^\n]*", re.MULTILINE)
MANY, FRESH = 40, 0.2  # words, and the share of them that must be different ones
FEW = 3


def told(text: str) -> str:
    """The speaker's own words; code and quoted lines become spaces, so that places stay."""
    kept = QUOTED_LINE.sub(lambda line: " " * len(line.group()), text) if ">" in text else text
    fences = (
        [match.start() for match in FENCE.finditer(kept)] if "```" in kept or "~~~" in kept else []
    )
    pieces, place = [], 0
    for opened, closed in zip(fences[::2], [*fences[1::2], len(kept)], strict=False):
        pieces += [kept[place:opened], " " * (closed - opened)]
        place = closed
    return "".join([*pieces, kept[place:]])


def is_repetition(words: Sequence[Token]) -> bool:
    return len(words) > MANY and len({word.low for word in words}) < FRESH * min(len(words), 400)


def is_english(words: Sequence[Token]) -> bool:
    """Small words tell languages apart; very short texts are given the benefit of the doubt."""
    low = [word.low for word in words if word.kind == "word"]
    if not low:
        return False
    if not any(each.isascii() for each in low):
        return False
    foreign = sum(each in FOREIGN for each in low)
    english = sum(each in ENGLISH for each in low)
    return foreign <= english if foreign else (english > 0 or len(low) <= FEW * 2)
