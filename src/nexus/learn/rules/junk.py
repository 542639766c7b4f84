"""Text that cannot teach anything: repetition, noise, greetings, code, quoted mail, data."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .lexicon import ENGLISH, FOREIGN, words
from .tokens import Token

FENCE = re.compile(r"^[ \t]*(```|~~~)", re.MULTILINE)
QUOTED_LINE = re.compile(r"^[ \t]*>[^\n]*", re.MULTILINE)
WROTE = re.compile(r"^[ \t]*On [^\n]{4,160}\bwrote:[ \t]*$", re.MULTILINE)  # above a quoted mail
MANY, FRESH = 40, 0.2  # words, and the share of them that must be different ones
FEW = 3
LONG, SPOKEN = 100, 0.03  # words, and the share of small ones in anything people write
BLOB = re.compile(r"[A-Za-z0-9+/=_%-]{40,}")  # encoded data
LONGEST_WORD = 40
GARBLED = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ufffd]")
MOST_GARBLED = 0.05  # of the characters

GREETINGS = words(
    """hi hello hey hiya dear good thanks thank cheers bye goodbye see welcome congrats
    congratulations oh wow sorry nice great happy merry take talk"""
)
PLEASANTRIES = GREETINGS | words(
    """morning afternoon evening night day you ya later soon again tomorrow care a lot so much very
    well for your how are is it going what's up all everyone everybody team folks guys there and to
    meet my god gosh please ok okay sure yes no yeah lol haha new year christmas luck weekend"""
)


def told(text: str) -> str:
    """The speaker's own words; code, data and quoted lines become spaces, so that places stay."""
    kept = QUOTED_LINE.sub(_blank, text) if ">" in text else text
    kept = WROTE.sub(_blank, kept) if " wrote:" in kept else kept
    if max(map(len, kept.split()), default=0) >= LONGEST_WORD:
        kept = BLOB.sub(_blank, kept)
    fences = (
        [match.start() for match in FENCE.finditer(kept)] if "```" in kept or "~~~" in kept else []
    )
    pieces, place = [], 0
    for opened, closed in zip(fences[::2], [*fences[1::2], len(kept)], strict=False):
        pieces += [kept[place:opened], " " * (closed - opened)]
        place = closed
    return "".join([*pieces, kept[place:]])


def _blank(found: re.Match[str]) -> str:
    return " " * len(found.group())


def is_junk(text: str, all_words: Sequence[Token]) -> bool:
    """Whether nothing is to be learned here, not even a name."""
    return is_repetition(all_words) or is_greeting(all_words) or is_noise(text, all_words)


def is_noise(text: str, all_words: Sequence[Token]) -> bool:
    """Bytes that are no text, or so many words without a "the" that nobody wrote them."""
    garbled = not text.isprintable() or "\ufffd" in text
    if garbled and len(GARBLED.findall(text)) > MOST_GARBLED * len(text):
        return True
    if len(all_words) <= LONG:
        return False
    small = sum(word.low in ENGLISH and len(word.low) > 1 for word in all_words)
    return small < SPOKEN * len(all_words)


def is_greeting(all_words: Sequence[Token]) -> bool:
    """Hello, thanks or goodbye to somebody, and nothing else."""
    if len(all_words) > MANY or not all_words or all_words[0].low not in GREETINGS:
        return False
    return all(
        word.low in PLEASANTRIES or word.kind == "mark" or word.text[:1].isupper()
        for word in all_words
    )


def is_repetition(words: Sequence[Token]) -> bool:
    return len(words) > MANY and len({word.low for word in words}) < FRESH * min(len(words), 400)


def is_english(words: Sequence[Token]) -> bool:
    """Small words tell languages apart; very short texts are given the benefit of the doubt."""
    low = [word.low for word in words if word.kind == "word"]
    if not low:
        return False
    if not any(map(str.isascii, low)):
        return False
    foreign = sum(map(FOREIGN.__contains__, low))
    english = sum(map(ENGLISH.__contains__, low))
    return foreign <= english if foreign else (english > 0 or len(low) <= FEW * 2)
