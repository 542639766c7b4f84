"""How many tokens a text is to a model, without its tokeniser and without a network.

A text is cut where tokenisers cut it: words, numbers of up to three digits, marks, line ends. A
word that is known costs about one token; any other costs by its length, and so do the words of
other scripts, each at its own rate. The rates were fitted to OpenAI's o200k and raised a little.
`bench/tokens.py` measures the error.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

MOST_COUNTED = 20_000
MOST_KEPT = 50_000  # words of which the cost is kept,
LONGEST_KEPT = 40  # of so many letters
CAUTION = 1.01  # a budget is better kept than used up

PIECES = {  # kind of piece: what it looks like; the first that fits is meant
    "accented": r"[ \t]?[A-Za-z]*[À-ɏḀ-ỿ][A-Za-zÀ-ɏḀ-ỿ]*",
    "capitals": r"[ \t]?[A-Z]{2,}(?![a-z])",
    "word": r"[ \t]?[A-Za-z][a-z]*",
    "digits": r"[0-9]{1,3}",
    "ideograph": r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]",
    "hangul": r"[ ]?[\uac00-\ud7af]+",
    "cyrillic": r"[ ]?[\u0400-\u052f]+",
    "greek": r"[ ]?[\u0370-\u03ff\u1f00-\u1fff]+",
    "hebrew": r"[ ]?[\u0590-\u05ff]+",
    "arabic": r"[ ]?[\u0600-\u08ff]+",
    "indic": r"[ ]?[\u0900-\u0dff]+",
    "thai": r"[ ]?[\u0e00-\u0fff]+",
    "line": r"\s*[\r\n]+",
    "space": r"\s+",
    "marks": r"[ ]?[!-/:-@\[-`{-~]+",
    "other": r".",
}
LOOKS = {kind: re.compile(looks, re.DOTALL) for kind, looks in PIECES.items()}
PIECE = re.compile("|".join(PIECES.values()), re.DOTALL)
KNOWN_WORD = 0.92
OTHER_WORD, EACH_LETTER, FREE_LETTERS = 0.2, 0.40, 4
RATES = {  # kind of piece: (each piece, each letter)
    "accented": (0.0, 0.44),
    "capitals": (1.0, 0.0),
    "digits": (1.0, 0.0),
    "ideograph": (0.68, 0.0),
    "hangul": (0.49, 0.46),
    "cyrillic": (0.45, 0.22),
    "greek": (0.48, 0.33),
    "hebrew": (0.46, 0.33),
    "arabic": (0.45, 0.22),
    "indic": (0.44, 0.25),
    "thai": (0.5, 0.36),
    "line": (0.35, 0.0),
    "space": (0.45, 0.0),
    "marks": (0.96, 0.04),
    "other": (1.05, 0.0),
}
FAMILIES = {  # how many tokens a family needs where o200k needs one
    "o200k": 1.0,
    "cl100k": 1.05,
    "anthropic": 1.2,  # its tokeniser is not public
    "other": 1.2,
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
TABLE = Path(__file__).parents[1] / "embedders" / "potion" / "potion.npz"


def count(text: str, family: str = "o200k") -> int:
    """About how many tokens this is, rather too many than too few."""
    return int(_tokens(text) * CAUTION * FAMILIES[family] + 0.5)


def family_of(model: str | None) -> str:
    """Which family a model of this name counts like."""
    if model is None:
        return "o200k"
    name = model.rpartition("/")[2].casefold()
    if name.startswith(("gpt-4-", "gpt-3")) or name == "gpt-4":
        return "cl100k"
    return next((kind for start, kind in NAMES.items() if name.startswith(start)), "other")


_counted: dict[int, float] = {}  # hash of a text → its tokens; a text is not kept for that


def _tokens(text: str) -> float:
    """Counted once: the same lines are asked about in turn after turn."""
    key = hash(text)
    if key not in _counted:
        if len(_counted) >= MOST_COUNTED:
            _counted.clear()
        _counted[key] = _count(text)
    return _counted[key]


def _count(text: str) -> float:
    """Word by word where single spaces stand between them: no piece reaches across one."""
    line = text.removesuffix("\n")
    words = line.split()
    if not words or " ".join(words) != line:
        return _in_pieces(text)
    end = 0.0 if line is text else RATES["line"][0]
    return _in_pieces(words[0]) + sum(map(_after_a_space.__getitem__, words[1:])) + end


def _in_pieces(text: str) -> float:
    return sum(map(_pieces.__getitem__, PIECE.findall(text)))


class _Known(dict[str, float]):
    """What words cost, worked out when they are first met: people use the same ones again."""

    def __init__(self, cost: Callable[[str], float]) -> None:
        self._cost = cost

    def __missing__(self, word: str) -> float:
        cost = self._cost(word)
        if len(word) <= LONGEST_KEPT:
            if len(self) >= MOST_KEPT:
                self.clear()
            self[word] = cost
        return cost


def _cost(piece: str) -> float:
    kind = next(kind for kind, looks in LOOKS.items() if looks.fullmatch(piece))
    if kind == "word":
        word = piece.strip().lower()
        spare = max(0, len(word) - FREE_LETTERS)
        common = len(word) < 3 or word in known_words()
        return KNOWN_WORD if common else OTHER_WORD + EACH_LETTER * spare
    once, each = RATES[kind]
    return once + each * len(piece.strip()) if each else once


_pieces = _Known(_cost)
_after_a_space = _Known(lambda word: _in_pieces(f" {word}"))


@cache
def known_words() -> frozenset[str]:
    """Common English words: the vocabulary of the built-in embedder, which lies beside us."""
    with zipfile.ZipFile(TABLE) as table:
        data = table.read("vocabulary.npy")
    header = int.from_bytes(data[8:10], "little") + 10
    return frozenset(data[header:].decode().split("\n"))
