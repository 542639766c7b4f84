"""From text to words, and from words to sentences.

Contractions become two words ("don't" is "do" and "n't"), so that the grammar meets every
auxiliary in one form. Everything is found in one pass over the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

PLAIN = r"""
    (?P<word> [^\W\d_]+(?:[-'’][^\W\d_]+)*'? )
  | (?P<number> [$€£]?\d+(?:[.,:/-]\d+)*(?:%|[a-zA-Z]{1,2}\b)? )
  | (?P<name> \w+ )
  | (?P<gap> \n\s*)
  | (?P<mark> \.\.+ | [^\w\s] )
"""
ADDRESSES = r"""
    (?P<address> [\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4} | @[A-Za-z0-9_]{2,40}
        | https?://[^\s<>"]{1,500} )
  |
"""
SPLIT = re.compile(PLAIN, re.VERBOSE)
SPLIT_WITH_ADDRESSES = re.compile(ADDRESSES + PLAIN, re.VERBOSE)

CLITIC = re.compile(r"(?:n['’]t|['’](?:s|m|re|ve|ll|d))$")
CLITICS = ("'t", "'s", "'m", "'re", "'ve", "'ll", "'d")
WHOLE = {  # spelt without, or not cut where the others are
    "cannot": ("can", "not"),
    "can't": ("ca", "n't"),
    "won't": ("wo", "n't"),
    "gonna": ("gon", "na"),
    "dont": ("do", "nt"),
    "im": ("i", "m"),
}
STOPS = frozenset(".!?…。！？") | {"..", "...", "...."}
ABBREVIATIONS = frozenset("mr mrs ms dr prof st vs etc e.g i.e jr sr no inc ltd co approx".split())
LONGEST = 40  # letters in a word that may be a contraction
LONGEST_SENTENCE = 250  # words: whoever talks on is cut, so that no reading takes for ever
CLOSING = frozenset("\"'”’)]»*")


class Token(NamedTuple):
    start: int
    end: int
    text: str
    low: str
    kind: str


def tokens(text: str) -> list[Token]:
    """Every word, number, address and mark of a text, in order."""
    pattern = SPLIT_WITH_ADDRESSES if "@" in text or "://" in text else SPLIT
    found: list[Token] = []
    make = tuple.__new__  # half the cost of calling the class, and this is the busiest line
    for match in pattern.finditer(text):
        word = match.group()
        low = word.lower()
        start, end = match.span()
        kind = match.lastgroup
        if kind == "word" and ("'" in word or "’" in word or low in WHOLE) and len(word) < LONGEST:
            found += _parts(start, end, word)
        else:
            found.append(make(Token, (start, end, word, low, kind)))
    return found


def _parts(start: int, end: int, word: str) -> list[Token]:
    low = word.lower().replace("’", "'")
    cut = 0
    if low in WHOLE:
        cut = len(WHOLE[low][0])
    elif low.endswith(CLITICS) and (clitic := CLITIC.search(low)):
        cut = clitic.start()
    if not cut:
        trimmed = low.rstrip("'")  # "thinkin'", "James'"
        return [Token(start, end, word, trimmed or low, "word")]
    middle = start + cut
    return [
        Token(start, middle, word[:cut], low[:cut], "word"),
        Token(middle, end, word[cut:], low[cut:], "clitic"),
    ]


def sentences(words: Sequence[Token]) -> Iterator[list[Token]]:
    """Runs of words that end with a stop or a line; the stop is their last."""
    current: list[Token] = []
    for place, word in enumerate(words):
        if word.kind == "gap":
            if current:
                yield current
            current = []
            continue
        current.append(word)
        if len(current) >= LONGEST_SENTENCE or (word.text in STOPS and _ends(words, place)):
            yield current
            current = []
    if current:
        yield current


def _ends(words: Sequence[Token], place: int) -> bool:
    """Whether a stop ends its sentence: not after "Dr", not inside "U.S.A", not before another."""
    here = words[place]
    following = words[place + 1] if place + 1 < len(words) else None
    if following is None:
        return True
    if following.start == here.end:
        return following.text in CLOSING and following.text not in STOPS
    before = words[place - 1] if place else None
    if here.text == "." and before is not None:
        single = len(before.text) == 1 and before.text.isupper() and before.low != "i"
        return not (single or before.low in ABBREVIATIONS)
    return True
