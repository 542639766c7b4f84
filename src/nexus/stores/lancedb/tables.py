"""The Lance tables in their folder: one for each label and profile, and how far it has come.

A table of its own for every label means that nobody's search depends on what others keep, that
no filter is ever written, and that what was erased is gone with its table: LanceDB leaves
deleted rows in its files, also when it compacts them, unless they are many.

LanceDB does not flush what it writes, so that is done here, and a small file is replaced
afterwards that says which version of the table to trust. It holds numbers only.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np

from ...core.errors import MissingExtra, StoreUnavailable
from ...core.protocols import Floats
from ..sql.codes import Ints
from ..sql.feed import NewVectors

NAME = re.compile(r"w(\d+)_l(\d+)_p(\d+)")
METRIC: Final = "dot"  # its distance is 1 minus the score, whatever the exact lengths
PATIENCE_SECONDS = 60.0  # for another process that is writing a batch


class IndexFailed(StoreUnavailable):
    """The index beside the records could not be read or written; the records can."""


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Which vectors a table holds."""

    workspace: int
    label: int
    profile: int

    def __str__(self) -> str:
        return f"w{self.workspace:d}_l{self.label:d}_p{self.profile:d}"


@dataclass(frozen=True, slots=True)
class Reached:
    """How far a table has come, and the version of it that this is true of."""

    version: int
    number: int  # it has every vector of its place up to this one
    generation: int  # of the label, when it was last compared with the records
    rows: int
    appended: int = 0  # times since it was compacted
    indexed: bool = False


class Tables:
    """Everything in the folder. Whoever writes holds `alone`."""

    def __init__(self, folder: Path) -> None:
        if find_spec("lancedb") is None:
            raise MissingExtra("LanceDB", "lancedb")
        self.folder = folder.absolute()  # wherever the process goes later
        self._database: Any = None
        self._known: dict[Place, tuple[tuple[int, int], Reached]] = {}
        self._opened: dict[Place, tuple[Reached, Any]] = {}
        self._writing = threading.Lock()

    def places(self) -> list[Place]:
        """Every table there is, also one that was not finished."""
        files = self.folder.iterdir() if self.folder.is_dir() else ()
        found = (NAME.fullmatch(file.stem) for file in files)
        return sorted({Place(*map(int, match.groups())) for match in found if match})

    def reached(self, place: Place) -> Reached | None:
        """How far this table has come; None where there is none to trust."""
        file = self._note(place)
        try:
            stat = file.stat()
            stamp = (stat.st_mtime_ns, stat.st_ino)
            known = self._known.get(place)
            if known is None or known[0] != stamp:
                known = stamp, Reached(**json.loads(file.read_bytes()))
                self._known[place] = known
        except (OSError, ValueError, TypeError):
            return None
        return known[1]

    def neighbours(
        self, place: Place, reached: Reached, asked: Floats, limit: int, *, effort: int | None
    ) -> tuple[Ints, Floats]:
        """The numbers of the nearest and their distances, nearest first.

        By the index where one was built, with so much effort; exact where none is given.
        """
        with self._failures(place):
            search = self._table(place, reached).search(asked, vector_column_name="vector")
            search = search.distance_type(METRIC).limit(limit).select(["number", "_distance"])
            search = search.bypass_vector_index() if effort is None else search.ef(effort)
            found = search.to_arrow()
            return found["number"].to_numpy(), found["_distance"].to_numpy()

    def numbers(self, place: Place, reached: Reached) -> Ints:
        """The numbers of all vectors in it."""
        with self._failures(place):
            table = self._table(place, reached)
            found: Ints = table.search().select(["number"]).to_arrow()["number"].to_numpy()
            return found

    def newest(self, place: Place, reached: Reached) -> Floats:
        """The vector it has come to."""
        with self._failures(place):
            # The only filter in this package: an integer of our own.
            newest = self._table(place, reached).search().where(f"number = {reached.number:d}")
            found: Floats = np.array(newest.to_arrow()["vector"].to_pylist(), dtype=np.float32)
            return found.reshape(-1)

    def append(
        self, place: Place, reached: Reached | None, vectors: NewVectors, generation: int
    ) -> None:
        with self._failures(place):
            rows = _arrow(vectors)
            if reached is None:
                self.drop(place)
                table = self._lance().create_table(str(place), rows)
            else:
                table = self._for_writing(place, reached)
                table.add(rows)
            self._write(
                place,
                Reached(
                    version=table.version,
                    number=int(vectors.numbers[-1]),
                    generation=generation,
                    rows=table.count_rows(),
                    appended=reached.appended + 1 if reached else 0,
                    indexed=reached.indexed if reached else False,
                ),
            )

    def compared(self, place: Place, reached: Reached, generation: int) -> None:
        """Nothing of it was gone when the label had come to this generation."""
        told = {**asdict(reached), "generation": generation}
        self._write(place, Reached(**told))

    def compact(self, place: Place, reached: Reached) -> None:
        """Few large files instead of many small ones, and no old version."""
        with self._failures(place), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a reader may fail: it asks the records then
            table = self._for_writing(place, reached)
            table.optimize(cleanup_older_than=timedelta(0), delete_unverified=True)
            table.checkout_latest()
            told = {**asdict(reached), "version": table.version, "appended": 0}
            self._write(place, Reached(**told))

    def index(self, place: Place, reached: Reached) -> None:
        """Build the approximate index; takes about a millisecond for each vector."""
        with self._failures(place):
            from lancedb.index import HnswSq  # noqa: PLC0415  # an extra

            table = self._for_writing(place, reached)
            # One graph for the whole label: partitions that are not looked at lose neighbours.
            table.create_index("vector", config=HnswSq(distance_type=METRIC, num_partitions=1))
            table.checkout_latest()
            told = {**asdict(reached), "version": table.version, "indexed": True}
            self._write(place, Reached(**told))

    def drop(self, place: Place) -> None:
        """Remove the table with everything it ever held."""
        self._note(place).unlink(missing_ok=True)
        self.forget(place)
        folder = self.folder / f"{place}.lance"
        with self._failures(place):
            if folder.exists():
                shutil.rmtree(folder)

    def forget(self, place: Place) -> None:
        """Open it anew when it is next asked."""
        self._known.pop(place, None)
        self._opened.pop(place, None)

    def files(self) -> list[Path]:
        if not self.folder.is_dir():
            return []
        return sorted(file for file in self.folder.rglob("*") if file.is_file())

    def files_of(self, workspace: int) -> list[Path]:
        """The files of every table of one workspace."""
        own = [f"{place}.lance" for place in self.places() if place.workspace == workspace]
        return [file for file in self.files() if file.relative_to(self.folder).parts[0] in own]

    def close(self) -> None:
        self._opened.clear()
        self._database = None

    @contextmanager
    def alone(self, *, patience_seconds: float = 0.0) -> Iterator[bool]:
        """Whether nobody else writes here meanwhile, in this process or another one."""
        deadline = time.monotonic() + patience_seconds
        if not self._writing.acquire(timeout=max(patience_seconds, 0.001)):
            yield False
            return
        try:
            with self._locked_file(deadline) as locked:
                yield locked
        finally:
            self._writing.release()

    @contextmanager
    def _locked_file(self, deadline: float) -> Iterator[bool]:
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with (self.folder / "lock").open("ab") as file:
            while not _lock(file.fileno()):
                if time.monotonic() >= deadline:
                    yield False
                    return
                time.sleep(0.01)
            yield True  # closing the file unlocks it

    def _lance(self) -> Any:
        if self._database is None:
            import lancedb  # noqa: PLC0415  # it takes seconds to load

            self._database = lancedb.connect(self.folder)
        return self._database

    def _table(self, place: Place, reached: Reached) -> Any:
        """The table at the version that is known to be whole."""
        opened = self._opened.get(place)
        if opened is None or opened[0] != reached:
            table = self._lance().open_table(str(place))
            table.checkout(reached.version)
            if table.count_rows() != reached.rows:
                raise IndexFailed(f"{self.folder}: {place} has lost rows")
            opened = reached, table
            self._opened[place] = opened
        return opened[1]

    def _for_writing(self, place: Place, reached: Reached) -> Any:
        table = self._lance().open_table(str(place))
        if table.version != reached.version:  # somebody was killed before he could note it
            table.checkout(reached.version)
            table.restore()
        return table

    def _write(self, place: Place, reached: Reached) -> None:
        """On disk, before anybody trusts it."""
        folder = self.folder / f"{place}.lance"
        for path in (*folder.rglob("*"), folder):
            _flush(path)
        file = self._note(place)
        new = file.with_suffix(".new")
        new.write_text(json.dumps(asdict(reached)))
        _flush(new)
        new.replace(file)
        _flush(self.folder)

    def _note(self, place: Place) -> Path:
        return self.folder / f"{place}.json"

    @contextmanager
    def _failures(self, place: Place) -> Iterator[None]:
        """LanceDB raises many kinds of errors, and none of them is worth failing for."""
        try:
            yield
        except IndexFailed:
            self.forget(place)
            raise
        except Exception as error:
            self.forget(place)
            raise IndexFailed(f"{self.folder}: {place}: {error}") from error


def _arrow(vectors: NewVectors) -> Any:
    import pyarrow as pa  # noqa: PLC0415  # comes with lancedb

    dimension = vectors.table.shape[1]
    flat = pa.array(np.ascontiguousarray(vectors.table, dtype=np.float32).reshape(-1))
    columns = [pa.array(vectors.numbers), pa.FixedSizeListArray.from_arrays(flat, dimension)]
    return pa.Table.from_arrays(columns, names=["number", "vector"])


def _lock(descriptor: int) -> bool:
    if sys.platform == "win32":
        return True  # what two processes append twice is found once
    import fcntl  # noqa: PLC0415  # not on Windows

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _flush(path: Path) -> None:
    if path.is_file():
        with path.open("rb+") as file:
            os.fsync(file.fileno())
    elif os.name != "nt":  # Windows flushes no folders
        descriptor = os.open(path, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)
