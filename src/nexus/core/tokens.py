"""How many tokens a text is to a model, without its tokeniser and without a network.

A text is cut where tokenisers cut it: words, numbers of up to three digits, marks, line ends. A
word that is known costs about one token; any other costs by its length, and so do the words of
other scripts, each at its own rate. The rates were fitted to OpenAI's o200k and raised a little.
`bench/tokens.py` measures the error.
"""

from __future__ import annotations

import re
import zipfile
from functools import cache
from pathlib import Path

MOST_COUNTED = 20_000
CAUTION = 1.01  # a budget is better kept than used up

PIECE = re.compile(
    r"""(?P<accented>[ \t]?[A-Za-z]*[À-ɏḀ-ỿ][A-Za-zÀ-ɏḀ-ỿ]*)
    |   (?P<capitals>[ \t]?[A-Z]{2,}(?![a-z]))
    |   (?P<word>[ \t]?[A-Za-z][a-z]*)
    |   (?P<digits>[0-9]{1,3})
    |   (?P<ideograph>[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff])
    |   (?P<hangul>[ ]?[\uac00-\ud7af]+)
    |   (?P<cyrillic>[ ]?[\u0400-\u052f]+)
    |   (?P<greek>[ ]?[\u0370-\u03ff\u1f00-\u1fff]+)
    |   (?P<hebrew>[ ]?[\u0590-\u05ff]+)
    |   (?P<arabic>[ ]?[\u0600-\u08ff]+)
    |   (?P<indic>[ ]?[\u0900-\u0dff]+)
    |   (?P<thai>[ ]?[\u0e00-\u0fff]+)
    |   (?P<line>\s*[\r\n]+)
    |   (?P<space>\s+)
    |   (?P<marks>[ ]?[!-/:-@\[-`{-~]+)
    |   (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
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
    known = known_words()
    tokens = 0.0
    for match in PIECE.finditer(text):
        kind = match.lastgroup or "other"
        piece = match.group()
        if kind == "word":
            word = piece.strip().lower()
            spare = max(0, len(word) - FREE_LETTERS)
            common = len(word) < 3 or word in known
            tokens += KNOWN_WORD if common else OTHER_WORD + EACH_LETTER * spare
        else:
            once, each = RATES[kind]
            tokens += once + each * len(piece.strip()) if each else once
    return tokens


@cache
def known_words() -> frozenset[str]:
    """Common English words: the vocabulary of the built-in embedder, which lies beside us."""
    with zipfile.ZipFile(TABLE) as table:
        data = table.read("vocabulary.npy")
    header = int.from_bytes(data[8:10], "little") + 10
    return frozenset(data[header:].decode().split("\n"))
