"""How many tokens a text is to a model, without a network.

OpenAI's vocabularies lie beside us: o200k and cl100k, as they are published. A text is cut as they
cut it, and each piece is put together from their tokens. What a word costs is kept, so most words
are looked up and nothing is put together. Tokenisers that are not public are counted with the
vocabulary that needs more, and raised.
`bench/tokens.py` measures the error.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import groupby
from math import ceil
from pathlib import Path

MOST_COUNTED = 20_000
MOST_KEPT = 50_000  # words of which the cost is kept,
LONGEST_KEPT = 40  # of so many letters
LONGEST_MERGED = 64  # letters of a piece that is put together at once

FAMILIES = {  # with whose vocabulary a family is counted, and how many tokens it needs for one
    "o200k": ("o200k", 1.0),
    "cl100k": ("cl100k", 1.0),
    "anthropic": ("cl100k", 1.2),  # its tokeniser is not public
    "other": ("cl100k", 1.2),
}
NAMES = {  # how names of models begin
    "gpt-3": "cl100k",
    "gpt-4-": "cl100k",
    "gpt": "o200k",
    "o1": "o200k",
    "o3": "o200k",
    "o4": "o200k",
    "claude": "anthropic",
}
TABLES = Path(__file__).parent / "vocabularies"
SEPARATOR = b"\xff"  # no text has this byte

# Where the vocabularies cut. Letters are great or small or neither; `{…}` is put in below.
CUTS = {
    "o200k": (
        r"[^\r\n{letter}{number}]?[{great}]*[{small}]+(?:'(?:[sdmtSDMT]|[lL][lL]|[vVrR][eE]))?"
        r"|[^\r\n{letter}{number}]?[{great}]+[{small}]*(?:'(?:[sdmtSDMT]|[lL][lL]|[vVrR][eE]))?"
        r"|[{number}]{{1,3}}"
        r"| ?[^\s{letter}{number}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    "cl100k": (
        r"'(?:[sdmtSDMT]|[lL][lL]|[vVrR][eE])|[^\r\n{letter}{number}]?[{letter}]+"
        r"|[{number}]{{1,3}}"
        r"| ?[^\s{letter}{number}]+[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
    ),
}
ASCII = {"letter": "A-Za-z", "number": "0-9", "great": "A-Z", "small": "a-z"}
LAST_IN_USE = "\uffff"  # of the scripts that nearly every text is written in
RARE_SCRIPTS = 0x20000  # where they end, and
IDEOGRAPHS = (0x20000, 0x3FFFF)  # begin: rare ones, too


def count(text: str, family: str = "o200k") -> int:
    """How many tokens this is; where the tokeniser is not public, rather too many than too few."""
    return counter(family)(text)


@cache
def counter(family: str) -> Callable[[str], int]:
    """What counts the tokens of a text for one family."""
    name, factor = FAMILIES[family]
    tokens = vocabulary(name).tokens
    return tokens if factor == 1 else lambda text: ceil(tokens(text) * factor)


@cache
def line_counter(family: str) -> Callable[[str, str], int]:
    """What counts the tokens of a line, of which beginning and text are told apart."""
    name, factor = FAMILIES[family]
    tokens = vocabulary(name).line_tokens
    return tokens if factor == 1 else lambda head, text: ceil(tokens(head, text) * factor)


def family_of(model: str | None) -> str:
    """Which family a model of this name counts like."""
    if model is None:
        return "o200k"
    name = model.rpartition("/")[2].casefold()
    if name.startswith(("gpt-4-", "gpt-3")) or name == "gpt-4":
        return "cl100k"
    return next((kind for start, kind in NAMES.items() if name.startswith(start)), "other")


class Vocabulary:
    """The tokens of one family by their bytes, and what was counted with them."""

    def __init__(self, name: str) -> None:
        data = zlib.decompress((TABLES / f"{name}.zlib").read_bytes())
        self._ranks = {token: rank for rank, token in enumerate(data.split(SEPARATOR))}
        self._cuts = CUTS[name]
        self._plain = re.compile(self._cuts.format(**ASCII))
        self._counted: dict[int, int] = {}  # hash of a text → its tokens; a text is not kept
        self._after_a_space = _Known(lambda word: self._in_pieces(f" {word}"))
        self._pieces = _Known(self._merged)

    def tokens(self, text: str) -> int:
        """Counted once: the same lines are asked about in turn after turn."""
        key = hash(text)
        known = self._counted.get(key)
        if known is None:
            if len(self._counted) >= MOST_COUNTED:
                self._counted.clear()
            known = self._counted[key] = self._count(text)
        return known

    def line_tokens(self, head: str, text: str) -> int:
        """Those of `head text` and a line end, where no space stands at the end of either.

        Many lines begin alike, and the same is told in several sections: each is counted once.
        """
        return self.tokens(head) + self.tokens(f" {text}\n")

    def _count(self, text: str) -> int:
        """Word by word where single spaces stand between them: no piece reaches across one."""
        line = text.removesuffix("\n")
        words = line.split()
        if not words or " ".join(words) != line.removeprefix(" "):
            return self._in_pieces(text)
        if line is not text:
            words[-1] += "\n"
        first = 0 if line[0] == " " else self._in_pieces(words.pop(0))
        return first + sum(map(self._after_a_space.__getitem__, words))

    def _in_pieces(self, text: str) -> int:
        if len(text) == 1:
            return self._pieces[text]
        cut = self._plain if text.isascii() else _everywhere(self._cuts, max(text) > LAST_IN_USE)
        return sum(map(self._pieces.__getitem__, cut.findall(text)))

    def _merged(self, piece: str) -> int:
        if len(piece) == 1 and piece < "\x80":
            return 1
        if piece.encode(errors="replace") in self._ranks:
            return 1
        parts = range(0, len(piece), LONGEST_MERGED)
        return sum(merged(piece[at : at + LONGEST_MERGED], self._ranks) for at in parts)


def merged(piece: str, ranks: Mapping[bytes, int]) -> int:
    """Byte-pair encoding: join the pair that comes first in the vocabulary, until none is there."""
    told, starts = _begun(piece, ranks)
    none = len(ranks)
    pairs = [ranks.get(told[at:end], none) for at, end in zip(starts, starts[2:], strict=False)]
    while pairs and (lowest := min(pairs)) < none:
        at = pairs.index(lowest)
        del starts[at + 1], pairs[at]
        if at < len(pairs):
            pairs[at] = ranks.get(told[starts[at] : starts[at + 2]], none)
        if at:
            pairs[at - 1] = ranks.get(told[starts[at - 1] : starts[at + 1]], none)
    return len(starts) - 1


def _begun(piece: str, ranks: Mapping[bytes, int]) -> tuple[bytes, list[int]]:
    """Its bytes, and where each part of it begins: a letter that is a token is put together."""
    told = piece.encode(errors="replace")
    if len(told) == len(piece):
        return told, list(range(len(told) + 1))
    starts = [0]
    for letter in piece:
        spelt, end = letter.encode(errors="replace"), starts[-1]
        whole = spelt in ranks
        starts += [end + len(spelt)] if whole else range(end + 1, end + len(spelt) + 1)
    return told, starts


class _Known(dict[str, int]):
    """What words cost, worked out when they are first met: people use the same ones again."""

    def __init__(self, cost: Callable[[str], int]) -> None:
        self._cost = cost

    def __missing__(self, word: str) -> int:
        cost = self._cost(word)
        if len(word) <= LONGEST_KEPT:
            if len(self) >= MOST_KEPT:
                self.clear()
            self[word] = cost
        return cost


@cache
def vocabulary(name: str) -> Vocabulary:
    return Vocabulary(name)


@cache
def _everywhere(cuts: str, rare: bool) -> re.Pattern[str]:
    """The same cuts with the letters of all scripts; a class without rare ones is read faster."""
    end = RARE_SCRIPTS if rare else ord(LAST_IN_USE) + 1
    return re.compile(cuts.format(**_letters(end)))


def _letters(end: int) -> dict[str, str]:
    """Ranges of what are letters, great and small ones, and numbers."""
    kinds: dict[str, list[tuple[int, int]]] = {name: [] for name in ASCII}
    rare = [(*IDEOGRAPHS, "Lo")] if end == RARE_SCRIPTS else []
    for first, last, category in (*_runs(end), *rare):
        for name in _kinds_of(category):
            kinds[name].append((first, last))
    return {
        name: "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)
        for name, ranges in kinds.items()
    }


def _kinds_of(category: str) -> Iterator[str]:
    if category.startswith("N"):
        yield "number"
    if category.startswith("L"):
        yield "letter"
    if category in ("Lu", "Lt", "Lm", "Lo") or category.startswith("M"):
        yield "great"
    if category in ("Ll", "Lm", "Lo") or category.startswith("M"):
        yield "small"


def _runs(end: int) -> Iterator[tuple[int, int, str]]:
    """Stretches of characters of one category, of all scripts up to there."""
    first = 0
    for category, run in groupby(map(unicodedata.category, map(chr, range(end)))):
        length = sum(1 for _ in run)
        yield first, first + length - 1, category
        first += length
