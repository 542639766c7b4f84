"""Tokenizer: text to words, and words to sentences.

A contraction becomes two words ("don't" is "do" and "n't"), so that auxiliaries have one form. One
pass over the text finds everything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .lexicon import DETERMINERS, PRONOUNS

PLAIN = r"""
    (?P<word> [^\W\d_]+(?:[-'’][^\W\d_]+)*'? )
  | (?P<number> [$€£]?\d+(?:[.,:/-]\d+)*(?:%|[a-zA-Z]{1,2}\b)? )
  | (?P<name> \w+ )
  | (?P<gap> \n\s*)
  | (?P<mark> \.\.+ | [^\w\s] )
  | (?P<space> [^\S\n]+ )
"""
ADDRESSES = r"""
    (?P<address> [\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4} | @[A-Za-z0-9_]{2,40}
        | https?://[^\s<>"]{1,500} )
  |
"""
TOKEN_PATTERN = re.compile(ADDRESSES + PLAIN, re.VERBOSE)
# The same without group names, most common pieces first: three times as fast
GROUP_NAME = re.compile(r"\(\?P<\w+>")
COMMON_PIECES = r"[ ] | [a-zA-Z]++(?![^\W\d_]|['’-]) |"
SPLIT = re.compile(COMMON_PIECES + GROUP_NAME.sub("(?:", PLAIN), re.VERBOSE)
SPLIT_WITH_ADDRESSES = re.compile(GROUP_NAME.sub("(?:", ADDRESSES + PLAIN), re.VERBOSE)

CLITIC = re.compile(r"(?:n['’]t|['’](?:s|m|re|ve|ll|d))$")
CLITICS = ("'t", "'s", "'m", "'re", "'ve", "'ll", "'d")
CONTRACTIONS = {  # spelled without an apostrophe, or split at another position
    "cannot": ("can", "not"),
    "can't": ("ca", "n't"),
    "won't": ("wo", "n't"),
    "gonna": ("gon", "na"),
    "dont": ("do", "nt"),
    "im": ("i", "m"),
}
SENTENCE_STOPS = frozenset(".!?…。！？") | {"..", "...", "...."}
PERSON_TITLES = frozenset("mr mrs ms dr prof sgt capt rev".split())
TITLES = PERSON_TITLES | {"st", "mt"}  # followed by a name
ABBREVIATIONS = TITLES | frozenset("vs approx cf".split())
# One word of a name, with the full stop of an abbreviation: "Dr.", "J.", "Lee"
CLOSING_ABBREVIATIONS = frozenset(
    "etc jr sr inc ltd co corp dept est".split()
)  # may also end a sentence
SENTENCE_STARTERS = PRONOUNS | DETERMINERS  # 5 Main St. My boss is Tom
DOTTED_ABBREVIATIONS = frozenset(("e.g", "i.e"))
MAX_CONTRACTION_LETTERS = 40  # longer words are no contractions
MAX_CACHED_SHAPES = 20_000  # distinct pieces in the cache
MAX_SENTENCE_WORDS = 250  # words: longer sentences are cut, which bounds the run time
CLOSING_MARKS = frozenset("\"'”’)]»*")


class Token(NamedTuple):
    start: int
    end: int
    text: str
    lower: str
    kind: str


def tokenize(text: str) -> list[Token]:
    """Return every word, number, address and punctuation mark of a text, in order."""
    pattern = SPLIT_WITH_ADDRESSES if "@" in text or "://" in text else SPLIT
    found: list[Token] = []
    add, shapes = found.append, SHAPE_CACHE
    make = tuple.__new__  # half the cost of calling the class; this is the hottest line
    start = 0
    for piece in pattern.findall(text):  # whitespace pieces are included, so lengths give positions
        if piece == " ":
            start += 1
            continue
        end = start + len(piece)
        kind, low, cut = shapes[piece]
        if cut:
            middle = start + cut
            add(make(Token, (start, middle, piece[:cut], low[:cut], kind)))
            add(make(Token, (middle, end, piece[cut:], low[cut:], "clitic")))
        elif kind != "space":
            add(make(Token, (start, end, piece, low, kind)))
        start = end
    return found


class TokenShapeCache(dict[str, tuple[str, str, int]]):
    """Cache of token shapes: type of a piece, its lower case, and where a contraction is split.

    Most words repeat. Only short pieces are cached, up to a limit, so that no text makes it grow.
    """

    def __missing__(self, piece: str) -> tuple[str, str, int]:
        shape = _classify_piece(piece)
        if len(piece) < MAX_CONTRACTION_LETTERS:
            if len(self) >= MAX_CACHED_SHAPES:
                self.clear()
            self[piece] = shape
        return shape


SHAPE_CACHE = TokenShapeCache()


def _classify_piece(piece: str) -> tuple[str, str, int]:
    match = TOKEN_PATTERN.fullmatch(piece)
    kind, low = str(match.lastgroup) if match else "mark", piece.lower()
    short = ("'" in piece or "’" in piece or low in CONTRACTIONS) and len(
        piece
    ) < MAX_CONTRACTION_LETTERS
    if kind != "word" or not short:
        return kind, low, 0
    low = low.replace("’", "'")
    if low in CONTRACTIONS:
        return kind, low, len(CONTRACTIONS[low][0])
    clitic = CLITIC.search(low) if low.endswith(CLITICS) else None
    if clitic is not None and clitic.start():
        return kind, low, clitic.start()
    return kind, low.rstrip("'") or low, 0  # "thinkin'", "James'"


def split_sentences(words: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """Yield runs of words that end with a stop or a line. The stop is the last word."""
    begin = 0
    for place, word in enumerate(words):
        if place - begin >= MAX_SENTENCE_WORDS:
            yield words[begin:place]
            begin = place
        if word.kind == "word":
            continue
        if word.kind == "gap":
            if begin < place:
                yield words[begin:place]
            begin = place + 1
        elif word.text in SENTENCE_STOPS and _ends_sentence(words, place):
            yield words[begin : place + 1]
            begin = place + 1
    if begin < len(words):
        yield words[begin:]


def _ends_sentence(words: Sequence[Token], position: int) -> bool:
    """Return whether a stop ends a sentence: not after "Dr", not inside "U.S.A", not before
    another.
    """
    here = words[position]
    following = words[position + 1] if position + 1 < len(words) else None
    if following is None:
        return True
    if following.start == here.end:
        return following.text in CLOSING_MARKS and following.text not in SENTENCE_STOPS
    before = words[position - 1] if position else None
    if here.text != "." or before is None:
        return True
    if before.lower in CLOSING_ABBREVIATIONS or before.lower == "no":
        return not (
            following.text.islower() if before.lower != "no" else following.kind == "number"
        )
    if position > 2 and words[position - 2].text == "." and words[position - 2].end == before.start:
        return (
            f"{words[position - 3].lower}.{before.lower}" not in DOTTED_ABBREVIATIONS
            and not before.text.isupper()
        )
    return not is_abbreviation(words, position)


def is_abbreviation(words: Sequence[Token], position: int) -> bool:
    """Return whether a full stop belongs to a title or an initial: "Dr. Lee", "J. Lee"."""
    if not position or position + 1 >= len(words) or words[position].text != ".":
        return False
    before, following = words[position - 1], words[position + 1]
    initial = len(before.text) == 1 and before.text.isupper() and before.lower != "i"
    if before.lower in ABBREVIATIONS:
        return following.lower not in SENTENCE_STARTERS
    return initial
