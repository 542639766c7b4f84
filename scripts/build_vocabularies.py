"""Build the tables for counting tokens from OpenAI's published vocabularies.

    python scripts/build_vocabularies.py FOLDER

The folder must contain `o200k_base.tiktoken.gz` and `cl100k_base.tiktoken.gz` from the wheel of
`bpe-openai`. Their SHA-256 is verified, and the output is reproducible.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import hashlib
import sys
import zlib
from pathlib import Path

OFFICIAL = {  # SHA-256, from tiktoken
    "o200k": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "cl100k": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
}
TARGET = Path(__file__).parents[1] / "src/nexusmem/text/vocabularies"
SEPARATOR = b"\xff"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("folder", type=Path)
    folder = options.parse_args().folder
    for name, official in OFFICIAL.items():
        table = gzip.decompress((folder / f"{name}_base.tiktoken.gz").read_bytes())
        if hashlib.sha256(table).hexdigest() != official:
            sys.exit(f"{name}: not the published vocabulary")
        (TARGET / f"{name}.zlib").write_bytes(zlib.compress(join_tokens(table), 9))


def join_tokens(table: bytes) -> bytes:
    """Return the tokens of more than one byte, in the order of their ranks."""
    lines = (line.split() for line in table.splitlines() if line)
    ranked = sorted((int(rank), base64.b64decode(token)) for token, rank in lines)
    return SEPARATOR.join(token for _, token in ranked if len(token) > 1)


if __name__ == "__main__":
    main()
