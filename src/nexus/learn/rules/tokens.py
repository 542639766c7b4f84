"""From text to words, and from words to sentences.

Contractions become two words ("don't" is "do" and "n't"), so that the grammar meets every
auxiliary in one form. Everything is found in one pass over the text.
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
KINDS = re.compile(ADDRESSES + PLAIN, re.VERBOSE)
# The same without their names, and the most common pieces first: that cuts three times as fast
NAMELESS = re.compile(r"\(\?P<\w+>")
COMMON = r"[ ] | [a-zA-Z]++(?![^\W\d_]|['’-]) |"
SPLIT = re.compile(COMMON + NAMELESS.sub("(?:", PLAIN), re.VERBOSE)
SPLIT_WITH_ADDRESSES = re.compile(NAMELESS.sub("(?:", ADDRESSES + PLAIN), re.VERBOSE)

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
OF_PEOPLE = frozenset("mr mrs ms dr prof sgt capt rev".split())
TITLES = OF_PEOPLE | {"st", "mt"}  # a name follows
ABBREVIATIONS = TITLES | frozenset("vs approx cf".split())
# One word of a name, with the full stop of what is shortened: "Dr.", "J.", "Lee"
NAMED = rf"(?:(?:{'|'.join(title.capitalize() for title in sorted(TITLES))}|[A-Z])\.|[A-Z][\w'’-]*)"
CLOSED = frozenset("etc jr sr inc ltd co corp dept est".split())  # may end their sentence, too
STARTING = PRONOUNS | DETERMINERS  # 5 Main St. My boss is Tom
DOTTED = frozenset(("e.g", "i.e"))
LONGEST = 40  # letters in a word that may be a contraction
REMEMBERED = 20_000  # different pieces whose shape is kept at hand
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
    add, shapes = found.append, SHAPES
    make = tuple.__new__  # half the cost of calling the class, and this is the busiest line
    start = 0
    for piece in pattern.findall(text):  # spaces are pieces, too: so the lengths tell the places
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


class Shapes(dict[str, tuple[str, str, int]]):
    """What kind a piece of text is, its small letters, and where a contraction is cut in two.

    Most words come again and again, so what was found out is kept; short pieces only, and so many
    of them, that no text makes it grow.
    """

    def __missing__(self, piece: str) -> tuple[str, str, int]:
        shape = _shape(piece)
        if len(piece) < LONGEST:
            if len(self) >= REMEMBERED:
                self.clear()
            self[piece] = shape
        return shape


SHAPES = Shapes()


def _shape(piece: str) -> tuple[str, str, int]:
    match = KINDS.fullmatch(piece)
    kind, low = str(match.lastgroup) if match else "mark", piece.lower()
    short = ("'" in piece or "’" in piece or low in WHOLE) and len(piece) < LONGEST
    if kind != "word" or not short:
        return kind, low, 0
    low = low.replace("’", "'")
    if low in WHOLE:
        return kind, low, len(WHOLE[low][0])
    clitic = CLITIC.search(low) if low.endswith(CLITICS) else None
    if clitic is not None and clitic.start():
        return kind, low, clitic.start()
    return kind, low.rstrip("'") or low, 0  # "thinkin'", "James'"


def sentences(words: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """Runs of words that end with a stop or a line; the stop is their last."""
    begin = 0
    for place, word in enumerate(words):
        if place - begin >= LONGEST_SENTENCE:
            yield words[begin:place]
            begin = place
        if word.kind == "word":
            continue
        if word.kind == "gap":
            if begin < place:
                yield words[begin:place]
            begin = place + 1
        elif word.text in STOPS and _ends(words, place):
            yield words[begin : place + 1]
            begin = place + 1
    if begin < len(words):
        yield words[begin:]


def _ends(words: Sequence[Token], place: int) -> bool:
    """Whether a stop ends its sentence: not after "Dr", not inside "U.S.A", not before another."""
    here = words[place]
    following = words[place + 1] if place + 1 < len(words) else None
    if following is None:
        return True
    if following.start == here.end:
        return following.text in CLOSING and following.text not in STOPS
    before = words[place - 1] if place else None
    if here.text != "." or before is None:
        return True
    if before.low in CLOSED or before.low == "no":
        return not (following.text.islower() if before.low != "no" else following.kind == "number")
    if place > 2 and words[place - 2].text == "." and words[place - 2].end == before.start:
        return f"{words[place - 3].low}.{before.low}" not in DOTTED and not before.text.isupper()
    return not is_shortened(words, place)


def is_shortened(words: Sequence[Token], place: int) -> bool:
    """Whether the full stop here only shortens a title or a first name: "Dr. Lee", "J. Lee"."""
    if not place or place + 1 >= len(words) or words[place].text != ".":
        return False
    before, following = words[place - 1], words[place + 1]
    initial = len(before.text) == 1 and before.text.isupper() and before.low != "i"
    if before.low in ABBREVIATIONS:
        return following.low not in STARTING
    return initial
