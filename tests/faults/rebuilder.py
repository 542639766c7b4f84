"""Rebuilds derived data until it is done or killed. Run by path:

rebuilder.py FILE reembed|rebuild
"""

from __future__ import annotations

import sys

from nexusmem import Nexus
from nexusmem.config.settings import Settings
from nexusmem.embedders.feature_hash import HashingEmbedder
from nexusmem.maintain import rebuild
from nexusmem.maintain.jobs import re_embed

re_embed.BATCH = rebuild.BATCH_SIZE = (
    5  # small batches, so that a kill hits between two transactions
)


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
