"""A program that makes derived layers again, until it is done or killed. Run by path:

rebuilder.py FILE reembed|rebuild
"""

from __future__ import annotations

import sys

from nexus import Nexus
from nexus.config import Settings
from nexus.embedders.hashing import HashingEmbedder
from nexus.maintain import rebuild, reembed

reembed.BATCH = rebuild.AT_ONCE = 5  # many transactions: a kill comes between two of them


def main() -> None:
    path, what = sys.argv[1:]
    embedder = HashingEmbedder(96 if what == "reembed" else 64)
    with Nexus.open(path, settings=Settings(), embedder=embedder, background=False) as nexus:
        print("ready", flush=True)
        if what == "reembed":
            nexus.reembed()
        else:
            nexus.workspace("acme").rebuild()
    print("done", flush=True)


if __name__ == "__main__":
    main()
