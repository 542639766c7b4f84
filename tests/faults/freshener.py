"""A worker that keeps dossiers fresh, until it is done or killed. Run by path:

freshener.py STORE
"""

from __future__ import annotations

import sys
import time

from working import short, warm_up

from nexus import Nexus
from nexus.config import Settings
from nexus.core.errors import Unavailable
from nexus.embedders.hashing import HashingEmbedder
from nexus.maintain import fresh

fresh.AT_ONCE = 3  # many steps: a kill comes between two of them


def main() -> None:
    short(0.3)
    warm_up()
    (url,) = sys.argv[1:]
    with Nexus.open(
        url, settings=Settings(), embedder=HashingEmbedder(), background=False
    ) as nexus:
        print("ready", flush=True)
        while True:
            try:
                nexus.workspace("acme").run_job("dossiers")
                break
            except Unavailable:  # the lease of one who was killed
                time.sleep(0.05)
    print("done", flush=True)


if __name__ == "__main__":
    main()
