"""`nexus leaktest`: search for access control leaks, in temporary stores."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from . import EXIT_NEGATIVE
from .options import json_option
from .output import print_json, print_message, print_table

if TYPE_CHECKING:
    from ..core.protocols.store import Store
    from ..testing.leaks.state_machine import LeakReport

STORES = {"memory": "exact", "sqlite": "exact", "sqlite-vec": "sqlite-vec"}


@click.command()
@click.option(
    "--seconds",
    default=60.0,
    show_default=True,
    help="Total duration; the last run is completed.",
)
@click.option(
    "--store",
    "stores",
    multiple=True,
    type=click.Choice(list(STORES)),
    default=("memory", "sqlite"),
    show_default=True,
    help="Kind of store; repeatable.",
)
@click.option("--seed", type=int, help="Random seed, to repeat a run.")
@json_option
def leaktest(seconds: float, stores: tuple[str, ...], *, seed: int | None, as_json: bool) -> None:
    """Search for access control leaks, for some time.

    Two stores get the same random operations, except that one also gets a user's private data.
    Every read by another user must return the same in both. Exits with 1 if a read differs. The
    stores are temporary; yours is not used.

    \b
        nexus leaktest --seconds 60
        nexus leaktest --seconds 20 --store sqlite-vec
    """
    share = seconds / len(stores)
    reports = {kind: _test_store(kind, share, seed) for kind in stores}
    for kind, report in reports.items():
        if as_json:
            print_json({"store": kind, **asdict(report)})
        for violation in report.violations:
            print_message(f"{kind}:\n{violation}")
    if not as_json:
        rows = [(kind, str(report)) for kind, report in reports.items()]
        print_table(["store", "result"], rows)
    if not all(report.is_clean for report in reports.values()):
        sys.exit(EXIT_NEGATIVE)


def _test_store(kind: str, seconds: float, seed: int | None) -> LeakReport:
    from ..testing.leaks.state_machine import run_leaktest  # optional package

    with TemporaryDirectory(prefix="nexus-leaktest-") as folder:
        factory = _StoreFactory(kind, Path(folder))
        has_file = kind != "memory"  # only a file can be opened again
        return run_leaktest(
            seconds,
            factory.make,
            _make_reporter(kind),
            seed,
            reopen=factory.reopen if has_file else None,
            discard=factory.discard if has_file else None,
        )


def _make_reporter(kind: str) -> Callable[[str], None]:
    """Return a callback that prints the progress if standard error is a terminal."""
    is_shown = sys.stderr.isatty()
    return lambda text: print_message(f"{kind}: {text}") if is_shown else None


@dataclass(slots=True)
class _StoreFactory:
    """Creates empty stores of one kind, each in a new file."""

    kind: str
    folder: Path
    numbers: count[int] = field(default_factory=count)

    def make(self) -> Store:
        return self._open_store(self.folder / f"{next(self.numbers)}.db")

    def _open_store(self, file: Path) -> Store:
        from ..config.settings import StoreSettings  # loaded on first use
        from ..wiring.stores import make_store  # loaded on first use

        url = ":memory:" if self.kind == "memory" else str(file)
        return make_store(StoreSettings(url=url, vector_index=STORES[self.kind]))

    def reopen(self, store: Store) -> Store:
        file = store.list_files()[0]
        store.close()
        return self._open_store(file)

    @staticmethod
    def discard(store: Store) -> None:
        for file in store.list_files():
            file.unlink()
