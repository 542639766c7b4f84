"""Token counting for model families, offline.

The package contains OpenAI's vocabularies o200k and cl100k. A text is split and merged as their
tokenizers do. The cost of each word is cached, so most words are looked up. Tokenizers that are not
public are estimated with the larger count of cl100k and a factor. `bench/tokens.py` measures the
error.
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

MAX_COUNTED_TEXTS = 20_000
MAX_CACHED_WORDS = 50_000
MAX_CACHED_LENGTH = 40  # characters of a cached word
MAX_MERGE_LENGTH = 64  # characters merged in one step; merging is quadratic

FAMILIES = {  # family → vocabulary, and the factor of its count
    "o200k": ("o200k", 1.0),
    "cl100k": ("cl100k", 1.0),
    "anthropic": ("cl100k", 1.2),  # its tokenizer is not public
    "other": ("cl100k", 1.2),
}
MODEL_PREFIXES = {  # prefix of a model name → family
    "gpt-3": "cl100k",
    "gpt-4-": "cl100k",
    "gpt": "o200k",
    "o1": "o200k",
    "o3": "o200k",
    "o4": "o200k",
    "claude": "anthropic",
}
VOCABULARY_FOLDER = Path(__file__).parent / "vocabularies"
SEPARATOR = b"\xff"  # never part of UTF-8

# Split patterns of the vocabularies. Letters are uppercase, lowercase or neither; `{…}` is
# replaced below.
SPLIT_PATTERNS = {
    "o200k": (
        r"[^\r\n{letter}{number}]?[{upper}]*[{lower}]+(?:'(?:[sdmtSDMT]|[lL][lL]|[vVrR][eE]))?"
        r"|[^\r\n{letter}{number}]?[{upper}]+[{lower}]*(?:'(?:[sdmtSDMT]|[lL][lL]|[vVrR][eE]))?"
        r"|[{number}]{{1,3}}"
        r"| ?[^\s{letter}{number}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    "cl100k": (
        r"'(?:[sdmtSDMT]|[lL][lL]|[vVrR][eE])|[^\r\n{letter}{number}]?[{letter}]+"
        r"|[{number}]{{1,3}}"
        r"| ?[^\s{letter}{number}]+[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
    ),
}
ASCII = {"letter": "A-Za-z", "number": "0-9", "upper": "A-Z", "lower": "a-z"}
LAST_COMMON_CHARACTER = "\uffff"  # end of the Basic Multilingual Plane
RARE_SCRIPTS = 0x20000  # end of the Supplementary Multilingual Plane
IDEOGRAPHS = (0x20000, 0x3FFFF)  # planes of rare ideographs


def count_tokens(text: str, family: str = "o200k") -> int:
    """Return the number of tokens; for tokenizers that are not public, an upper estimate."""
    return token_counter(family)(text)


@cache
def token_counter(family: str) -> Callable[[str], int]:
    """Return a function that counts the tokens of a text for one family."""
    name, factor = FAMILIES[family]
    tokens = load_vocabulary(name).count_tokens
    return tokens if factor == 1 else lambda text: ceil(tokens(text) * factor)


@cache
def line_token_counter(family: str) -> Callable[[str, str], int]:
    """Return a function that counts the tokens of a line, given as head and text."""
    name, factor = FAMILIES[family]
    tokens = load_vocabulary(name).count_line_tokens
    return tokens if factor == 1 else lambda head, text: ceil(tokens(head, text) * factor)


def tokenizer_family(model: str | None) -> str:
    """Return the tokenizer family of a model name."""
    if model is None:
        return "o200k"
    name = model.rpartition("/")[2].casefold()
    if name.startswith(("gpt-4-", "gpt-3")) or name == "gpt-4":
        return "cl100k"
    return next((kind for start, kind in MODEL_PREFIXES.items() if name.startswith(start)), "other")


class Vocabulary:
    """A tokenizer vocabulary with caches of its counts."""

    def __init__(self, name: str) -> None:
        data = zlib.decompress((VOCABULARY_FOLDER / f"{name}.zlib").read_bytes())
        self._ranks = {token: rank for rank, token in enumerate(data.split(SEPARATOR))}
        self._cuts = SPLIT_PATTERNS[name]
        self._plain = re.compile(self._cuts.format(**ASCII))
        self._counted: dict[int, int] = {}  # hash of a text → its tokens; texts are not stored
        self._word_costs = _CostCache(lambda word: self._count_pieces(f" {word}"))
        self._piece_costs = _CostCache(self._count_piece)

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens of a text, cached by its hash."""
        key = hash(text)
        count = self._counted.get(key)
        if count is None:
            if len(self._counted) >= MAX_COUNTED_TEXTS:
                self._counted.clear()
            count = self._counted[key] = self._count_words(text)
        return count

    def count_line_tokens(self, head: str, text: str) -> int:
        """Return the number of tokens of `head text` and a line end.

        Neither part may end with a space. Heads and texts repeat, so both counts are cached.
        """
        return self.count_tokens(head) + self.count_tokens(f" {text}\n")

    def _count_words(self, text: str) -> int:
        """Count word by word if single spaces separate the words: no piece crosses a space."""
        line = text.removesuffix("\n")
        words = line.split()
        if not words or " ".join(words) != line.removeprefix(" "):
            return self._count_pieces(text)
        if line is not text:
            words[-1] += "\n"
        first = 0 if line[0] == " " else self._count_pieces(words.pop(0))
        return first + sum(map(self._word_costs.__getitem__, words))

    def _count_pieces(self, text: str) -> int:
        if len(text) == 1:
            return self._piece_costs[text]
        cut = (
            self._plain
            if text.isascii()
            else _unicode_pattern(self._cuts, max(text) > LAST_COMMON_CHARACTER)
        )
        return sum(map(self._piece_costs.__getitem__, cut.findall(text)))

    def _count_piece(self, piece: str) -> int:
        if len(piece) == 1 and piece < "\x80":
            return 1
        if piece.encode(errors="replace") in self._ranks:
            return 1
        starts = range(0, len(piece), MAX_MERGE_LENGTH)
        return sum(
            count_bpe_tokens(piece[at : at + MAX_MERGE_LENGTH], self._ranks) for at in starts
        )


def count_bpe_tokens(piece: str, ranks: Mapping[bytes, int]) -> int:
    """Byte-pair encoding: merge the pair with the lowest rank until none is left."""
    data, starts = _initial_parts(piece, ranks)
    none = len(ranks)
    pairs = [ranks.get(data[at:end], none) for at, end in zip(starts, starts[2:], strict=False)]
    while pairs and (lowest := min(pairs)) < none:
        at = pairs.index(lowest)
        del starts[at + 1], pairs[at]
        if at < len(pairs):
            pairs[at] = ranks.get(data[starts[at] : starts[at + 2]], none)
        if at:
            pairs[at - 1] = ranks.get(data[starts[at - 1] : starts[at + 1]], none)
    return len(starts) - 1


def _initial_parts(piece: str, ranks: Mapping[bytes, int]) -> tuple[bytes, list[int]]:
    """Return the bytes of a piece and the starts of its parts; a letter token is one part."""
    data = piece.encode(errors="replace")
    if len(data) == len(piece):
        return data, list(range(len(data) + 1))
    starts = [0]
    for letter in piece:
        encoded, end = letter.encode(errors="replace"), starts[-1]
        is_token = encoded in ranks
        starts += [end + len(encoded)] if is_token else range(end + 1, end + len(encoded) + 1)
    return data, starts


class _CostCache(dict[str, int]):
    """Cache of token counts per word, computed on first use."""

    def __init__(self, cost: Callable[[str], int]) -> None:
        self._cost = cost

    def __missing__(self, word: str) -> int:
        cost = self._cost(word)
        if len(word) <= MAX_CACHED_LENGTH:
            if len(self) >= MAX_CACHED_WORDS:
                self.clear()
            self[word] = cost
        return cost


@cache
def load_vocabulary(name: str) -> Vocabulary:
    return Vocabulary(name)


@cache
def _unicode_pattern(cuts: str, rare: bool) -> re.Pattern[str]:
    """Return the split pattern for all scripts; without `rare` ones it is faster."""
    end = RARE_SCRIPTS if rare else ord(LAST_COMMON_CHARACTER) + 1
    return re.compile(cuts.format(**_letter_ranges(end)))


def _letter_ranges(end: int) -> dict[str, str]:
    """Return the character ranges of letters, uppercase, lowercase and numbers below `end`."""
    kinds: dict[str, list[tuple[int, int]]] = {name: [] for name in ASCII}
    rare = [(*IDEOGRAPHS, "Lo")] if end == RARE_SCRIPTS else []
    for first, last, category in (*_category_runs(end), *rare):
        for name in _letter_classes(category):
            kinds[name].append((first, last))
    return {
        name: "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)
        for name, ranges in kinds.items()
    }


def _letter_classes(category: str) -> Iterator[str]:
    if category.startswith("N"):
        yield "number"
    if category.startswith("L"):
        yield "letter"
    if category in ("Lu", "Lt", "Lm", "Lo") or category.startswith("M"):
        yield "upper"
    if category in ("Ll", "Lm", "Lo") or category.startswith("M"):
        yield "lower"


def _category_runs(end: int) -> Iterator[tuple[int, int, str]]:
    """Yield ranges of consecutive characters of one Unicode category below `end`."""
    first = 0
    for category, run in groupby(map(unicodedata.category, map(chr, range(end)))):
        length = sum(1 for _ in run)
        yield first, first + length - 1, category
        first += length
