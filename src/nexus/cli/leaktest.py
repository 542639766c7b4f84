"""`nexus leaktest`: the proof that can be run anywhere, on stores of its own."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from .lazy import FOUND_NOTHING
from .options import json_option
from .output import message, print_json, print_table

if TYPE_CHECKING:
    from ..core.protocols import Store
    from ..testing.leaks import LeakReport

STORES = {"memory": "plain", "sqlite": "plain", "sqlite-vec": "sqlite-vec"}


@click.command()
@click.option(
    "--seconds",
    default=60.0,
    show_default=True,
    help="How long to try, in all; what runs then is finished.",
)
@click.option(
    "--store",
    "stores",
    multiple=True,
    type=click.Choice(list(STORES)),
    default=("memory", "sqlite"),
    show_default=True,
    help="Which kind of store; many.",
)
@click.option("--seed", type=int, help="Draw the same again.")
@json_option
def leaktest(seconds: float, stores: tuple[str, ...], *, seed: int | None, as_json: bool) -> None:
    """Try to make the memory leak, for a while.

    Two worlds live through the same, except for what somebody keeps private in one of them.
    Whatever anybody else asks must be answered alike in both. A difference is exit 1. It uses
    stores of its own in a temporary folder and never touches yours.

    \b
        nexus leaktest --seconds 60
        nexus leaktest --seconds 20 --store sqlite-vec
    """
    share = seconds / len(stores)
    reports = {kind: _run(kind, share, seed) for kind in stores}
    for kind, report in reports.items():
        if as_json:
            print_json({"store": kind, **asdict(report)})
        for violation in report.violations:
            message(f"{kind}:\n{violation}")
    if not as_json:
        rows = [(kind, str(report)) for kind, report in reports.items()]
        print_table(["store", "result"], rows)
    if not all(report.clean for report in reports.values()):
        sys.exit(FOUND_NOTHING)


def _run(kind: str, seconds: float, seed: int | None) -> LeakReport:
    from ..testing.leaks import run_leaktest  # noqa: PLC0415  # needs the extra

    with TemporaryDirectory(prefix="nexus-leaktest-") as folder:
        shelf = _Shelf(kind, Path(folder))
        kept = kind != "memory"  # what outlives a program needs a file
        return run_leaktest(
            seconds,
            shelf.make,
            _teller(kind),
            seed,
            reopen=shelf.reopen if kept else None,
            discard=shelf.discard if kept else None,
        )


def _teller(kind: str) -> Callable[[str], None]:
    """How far it has come, for somebody who watches."""
    watched = sys.stderr.isatty()
    return lambda text: message(f"{kind}: {text}") if watched else None


@dataclass(slots=True)
class _Shelf:
    """Empty stores of one kind, each in a file of its own."""

    kind: str
    folder: Path
    numbers: count[int] = field(default_factory=count)

    def make(self) -> Store:
        return self._open(self.folder / f"{next(self.numbers)}.db")

    def _open(self, file: Path) -> Store:
        from ..config import StoreSettings  # noqa: PLC0415
        from ..storing import make_store  # noqa: PLC0415

        url = ":memory:" if self.kind == "memory" else str(file)
        return make_store(StoreSettings(url=url, vectors=STORES[self.kind]))

    def reopen(self, store: Store) -> Store:
        file = store.files()[0]
        store.close()
        return self._open(file)

    @staticmethod
    def discard(store: Store) -> None:
        for file in store.files():
            file.unlink()
