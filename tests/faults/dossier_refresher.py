"""Refreshes dossiers until it is done or killed. Run by path:

dossier_refresher.py STORE
"""

from __future__ import annotations

import sys
import time

from worker_process import shorten_leases, warm_up

from nexusmem import Nexus
from nexusmem.config.settings import Settings
from nexusmem.core.errors import Unavailable
from nexusmem.embedders.feature_hash import HashingEmbedder
from nexusmem.maintain.jobs import refresh_dossiers

refresh_dossiers.BATCH_SIZE = 3  # small batches, so that a kill hits between two steps


def main() -> None:
    shorten_leases(0.3)
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
            except Unavailable:  # waits for the lease of a killed worker
                time.sleep(0.05)
    print("done", flush=True)


if __name__ == "__main__":
    main()
